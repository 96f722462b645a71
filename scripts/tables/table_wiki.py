"""Questions that people asked of tables of Wikipedia: right, wrong and withheld, of each system.

WikiTableQuestions (see `lib/wiki_tables.py`): each table is read as somebody's file, and each
question is asked over its table alone. Nothing that ships learnt from any of them. Answers count as
right where their values are those of the data set.

    python scripts/tables/table_wiki.py --wiki-tables WikiTableQuestions --questions 1000
    OPENAI_BASE_URL=... python scripts/tables/table_wiki.py --questions 100 --llm MODEL

A minute a thousand questions on two cores without a model.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jaxkg.answer import Answer
from jaxkg.experiments.registry import build
from jaxkg.records import Question
from jaxkg.systems.exam import examined
from jaxkg.systems.parts import Parts

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.measure import share
from lib.record import Record, arguments
from lib.replies import model_of, reply_options
from lib.wiki_tables import TESTED, TableQuestion, answers_all, table_graphs, table_questions

ARMS: dict[str, tuple[str, Any, dict[str, str]]] = {
    "reader": ("reader", None, {}),
    "reader, views alone": ("reader", None, {"choose": "views"}),
    "reader, model where unsure": ("reader", "unsure", {}),
    "reader, model always": ("reader", "always", {}),
    "llm-planned, SELECT": ("llm-planned", "unsure", {"ask": "sql"}),
}


def grade(answer: Answer, wanted: Sequence[str]) -> str:
    """What an answer is: right, wrong, withheld, failed."""
    if answer.error is not None:
        return "failed"
    if answer.abstained is not None or not answer.entities:
        return "withheld"
    found = [one.name or one.entity for one in answer.entities]
    return "right" if answers_all(found, wanted) else "wrong"


def drawn(
    tables: dict[Path, list[TableQuestion]], count: int, seed: int
) -> dict[Path, list[TableQuestion]]:
    """Some questions of a split with their tables, by the tables' names."""
    every = [(path, one) for path, asked in tables.items() for one in asked]
    some = set(random.Random(seed).sample(range(len(every)), min(count, len(every))))
    found: dict[Path, list[TableQuestion]] = {}
    for place, (path, one) in enumerate(every):
        if place in some:
            found.setdefault(path, []).append(one)
    return found


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__, data=False)
    parser.add_argument("--wiki-tables", type=Path, default=Path("WikiTableQuestions"))
    parser.add_argument("--split", default=TESTED)
    parser.add_argument("--questions", type=int, default=1_000)
    parser.add_argument(
        "--arms",
        nargs="+",
        choices=[*ARMS],
        help="default: all; without --llm, those without a model",
    )
    parser.add_argument("--llm", help="the model's name at the endpoint")
    reply_options(parser)
    options = parser.parse_args(argv)
    model = model_of(options) if options.llm else None
    part = f"{options.split}-{options.llm}" if options.llm else options.split
    record = Record(__file__, options, part=part)
    if model is not None and (exam := examined(model)) is not None:
        record.note(exam.line)
    without = [name for name, (_, ask, _) in ARMS.items() if ask is None]
    names = options.arms or (list(ARMS) if model else without)
    some = drawn(
        table_questions(options.wiki_tables, options.split), options.questions, options.seed
    )
    grades: dict[str, list[str]] = {name: [] for name in names}
    calls = Counter[str]()
    unread = sum(map(len, some.values()))
    for place, (_, kg, asked) in enumerate(table_graphs(some), start=1):
        unread -= len(asked)
        base = Parts(kg, lambda *_: None, repair=True, seed=options.seed)
        questions = [Question(one.id, one.text) for one in asked]
        for name in names:
            system, ask, wishes = ARMS[name]
            parts = base.beside(None if ask is None else model, wishes, ask_model=ask or "never")
            answers = build(system, parts).system.answer(questions)
            grades[name] += [grade(a, one.answers) for a, one in zip(answers, asked)]
            calls[name] += sum(answer.usage.calls for answer in answers)
        print(f"  {place} of {len(some)} tables", file=sys.stderr, flush=True)
    table = record.table("arm", "questions", "right", "wrong", "withheld", "failed", "calls")
    for name, told in grades.items():
        told += ["failed"] * unread
        shares = (share(np.array(told) == kind, options.seed) for kind in
                  ("right", "wrong", "withheld", "failed"))  # fmt: skip
        table.add(name, len(told), *shares, calls[name] / len(told))
    record.note(f"{unread} questions about tables that could not be read, counted as failed")
    if model is not None:
        record.note(f"{model.model}; {options.server}; temperature 0, one repair")
    record.save()


if __name__ == "__main__":
    main()
