"""Order and comparison by values, on top of relation paths read step by step: CWQ's training part.

Learns by which values a question orders or compares from CWQ's training questions, whose gold
subgraphs hold the value; a third of them is held out. Then CWQ's dev questions are asked with and
without it, over three graphs: the pooled one alone, where few of their values are; with the
evidence of the training questions; and with that of the dev questions themselves, where often the
right entity alone has a value. The `WEIGHTS` of `jaxkg.systems.value_conditions` and its setting
`values` come from here. Eight minutes on two CPU cores.

    python scripts/study/study_value_conditions.py --ranker runs/steps
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from jaxkg.kg import KnowledgeGraph
from jaxkg.learn.ranker.steps import StepRanker
from jaxkg.records import Question
from jaxkg.systems.stepped import SteppedPaths, SteppedSettings
from jaxkg.systems.value_conditions import (
    VIEWS,
    WEIGHTS,
    ValueConditions,
    asked_of_values,
)
from jaxkg.text.best import encoder_kept
from jaxkg.text.states import TokenReader

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.measure import measure_answers
from lib.record import Record, arguments, numbers
from lib.rows import row
from lib.sets import sets

METRICS = ("hits_at_1", "f1", "grounded")
_DATE = re.compile(r"(?:date )?(\d{4})(?: (\d\d))?(?: (\d\d))?")


def evidence(data: Path, *names: str) -> dict[str, list[tuple[str, str, str]]]:
    """Of each question its gold triples that are whole, dates written as such."""
    found = {}
    for name in names:
        lines = (data / f"question_graphs/{name}.jsonl").read_text(encoding="utf-8").splitlines()
        for raw in map(json.loads, lines):
            triples = [(h, r, _value(t)) for h, r, t in raw["triples"]]
            found[raw["id"]] = [t for t in triples if not {"?", "none"} & {*t}]
    return found


def _value(text: str) -> str:
    match = _DATE.fullmatch(text)
    return "-".join(filter(None, match.groups())) if match else text


def last_part(relation: str) -> str:
    """What the gold subgraphs always have of a relation."""
    return relation.rsplit(".", 1)[-1]


def examples(
    qa: SteppedPaths, conditions: ValueConditions, questions: Sequence[Question], gold: dict
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """[P, V] views and [P] right ones, of each question of which some path is right."""
    views, right = [], []
    for question, answer in zip(questions, qa.answer(questions)):
        asked = asked_of_values(question.text)
        nodes = np.unique([qa.kg.entity(each.entity) for each in answer.entities])
        if asked is None or len(nodes) < 2:
            continue
        paths = conditions.paths(nodes)
        parts = {last_part(relation) for _, relation, _ in gold[question.id]}
        goal = np.array([last_part(path.relations[-1]) in parts for path in paths], bool)
        if goal.any():
            views.append(conditions.views(question.text, asked, paths))
            right.append(goal)
    return views, right


def fit(views: Sequence[np.ndarray], right: Sequence[np.ndarray], steps: int) -> np.ndarray:
    """[V] weights by which the right paths score above the others: a softmax regression."""
    weights = np.zeros(len(VIEWS))
    for _ in range(steps):
        gain = -1e-5 * weights
        for some, goal in zip(views, right):
            odds = np.exp(some @ weights - np.max(some @ weights))
            wanted = odds * goal / np.sum(odds * goal)
            gain += (wanted - odds / np.sum(odds)) @ some / len(views)
        weights += 10 * gain
    return weights


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__)
    parser.add_argument("--ranker", type=Path, required=True, help="from table_steps.py, on CWQ")
    numbers(parser, steps=400, limit=20_000)
    options = parser.parse_args(argv)
    record, world = Record(__file__, options), sets("webqsp", options.data)
    ranker, reader = StepRanker.open(options.ranker), TokenReader.open()
    encoder, data = encoder_kept("minilm"), options.data
    pool = [world.kg.triple(number) for number in range(world.kg.num_triples)]

    def asking(triples: Sequence[tuple[str, str, str]], **settings: float | None) -> SteppedPaths:
        kg = KnowledgeGraph.from_triples([*pool, *triples])
        made = SteppedSettings(**settings)  # pyright: ignore
        return SteppedPaths.build(kg, ranker, reader, encoder, settings=made)

    gold = evidence(data, "cwq_train", "webqsp_train")
    known = sorted({triple for some in gold.values() for triple in some})
    questions = world.questions("cwq", "train", limit=options.limit)
    questions = [question for question in questions if asked_of_values(question.text)]
    qa = asking(known, share=SteppedSettings().among, values=None)
    views, right = examples(qa, ValueConditions(qa.sets, encoder), questions, gold)
    cut = 2 * len(views) // 3
    weights = fit(views[:cut], right[:cut], options.steps)
    for told, used in (("learned", weights), ("shipped", WEIGHTS)):
        hits = [goal[np.argmax(some @ used)] for some, goal in zip(views[cut:], right[cut:])]
        record.note(
            f"{told} weights {dict(zip(VIEWS, used.round(1).tolist()))}: the right values for "
            f"{np.mean(hits):.3f} of {len(hits):,} questions held out, {cut:,} were learnt from"
        )

    dev = world.questions("cwq", "dev", limit=options.limit)
    own = sorted({t for some in evidence(data, "cwq_dev").values() for t in some})
    table = record.table("graph", "questions", "number", "values", *METRICS)
    graphs = {"pooled": [], "with training evidence": known, "with dev evidence": [*known, *own]}
    for graph, triples in graphs.items():
        for values in (None, SteppedSettings().values):
            qa = asking(triples, values=values)
            answers = qa.answer(dev)
            some = [i for i, each in enumerate(dev) if asked_of_values(each.text)]
            for name, rows in (("all", range(len(dev))), ("of values", some)):
                few = [dev[i] for i in rows]
                found = measure_answers(
                    iter([answers[i] for i in rows]), few, qa.kg, directed=False
                )
                used = "left alone" if values is None else f"from {values:g}"
                table.add(graph, name, len(few), used, *row(found, METRICS))
    record.save()


if __name__ == "__main__":
    main()
