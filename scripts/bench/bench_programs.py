"""Compiled programs of a first question and of an evaluation, system by system.

    python scripts/bench/bench_programs.py --parts runs/parts
    python scripts/bench/bench_programs.py --parts runs/parts --sets pq-2h webqsp

Every system is built with no program at hand and asked one question of a set, then, built anew with
none, the first thousand; programs that building it wants count. Trained parts lie where `jaxkg
compare --parts` looks for them, `FOLDER/SET/KIND`; a planner that is not there is made of labels,
and a system that lacks another is told as left out. The model of planned search is scripted and
says the gold path. Ten minutes on two CPU cores.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import jax

from jaxkg.adjudicate import Request, Scripted
from jaxkg.errors import JaxkgError
from jaxkg.experiments.loading import keep_compiled_programs
from jaxkg.experiments.parts import Parts, wishes_from
from jaxkg.experiments.programs import Programs, programs_counted
from jaxkg.experiments.record import Record, arguments, numbers
from jaxkg.experiments.registry import SYSTEMS, TRAINED, build_system
from jaxkg.experiments.sets import Sets, sets
from jaxkg.records import Question

ROWS = {
    "planner": [],
    "reader": [],
    "pathhd": [],
    "pathhd, text": ["query=text", "encoder=hashing"],
    "reknos": ["scorer=planner"],
    "reknos, labels": ["scorer=labels", "hops=2"],
    "pathmind": [],
    "ranked": ["encoder=hashing"],
    "guided": ["encoder=hashing"],
    "proh": ["encoder=hashing"],
    "llm-planned": [],
}
"""Settings of each system, by its name and a word where it stands twice."""


class Asked(NamedTuple):
    """What answering some questions has cost."""

    programs: Programs
    cpu: float
    answered: int


def gold(questions: Sequence[Question]) -> Scripted:
    """A model that plans each question's gold relation path."""
    paths = {question.id: question.paths[0] for question in questions if question.paths}

    def reply(request: Request) -> str:
        path = paths.get(request.question, ())
        return json.dumps({"reasoning": "gold", "hops": [[name] for name in path]})

    return Scripted(reply, model="gold-plan")


def asked(row: str, world: Sets, trained: dict[str, Path], questions: Sequence[Question]) -> Asked:
    """Build a system with no program at hand, and ask it.

    Raises:
        JaxkgError: it lacks a part.
    """
    name = row.partition(",")[0]
    backend = gold(questions) if SYSTEMS[name].model == "needed" else None
    parts = Parts(world.kg, lambda *step: None, backend, trained=trained)
    parts.wishes, parts.planner_folder = wishes_from(ROWS[row]), trained.get("planner")
    jax.clear_caches()
    begun = time.process_time()
    with programs_counted() as programs:
        answers = build_system(name, parts).answer(questions)
    answered = sum(not answer.abstained for answer in answers)
    return Asked(programs, time.process_time() - begun, answered)


def parts_of(folder: Path, name: str) -> dict[str, Path]:
    """Folders of the parts trained for a set, else for its family, by kind."""
    places = (folder / name.partition("-")[0], folder / name)
    return {kind: place / kind for place in places for kind in TRAINED if (place / kind).is_dir()}


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__, seed=False)
    parser.add_argument("--parts", type=Path, help="folder of trained parts")
    parser.add_argument("--sets", nargs="+", default=["metaqa-1", "metaqa-2", "metaqa-3"])
    parser.add_argument("--systems", nargs="+", default=list(ROWS), choices=list(ROWS))
    parser.add_argument("--names", action="store_true", help="print what each program is called")
    numbers(parser, questions=1000)
    options = parser.parse_args(argv)
    keep_compiled_programs()
    record = Record(__file__, options)
    worlds: dict[str, Sets] = {}
    table = record.table(
        *("set", "system", "programs of one question", "of all", "questions", "answered"),
        "CPU-seconds, compiling included",
    )
    for name in options.sets:
        family = "metaqa" if name.startswith("metaqa") else name
        if family not in worlds:
            worlds[family] = sets(family, options.data)
        questions = worlds[family].questions(name, limit=options.questions)
        trained = {} if options.parts is None else parts_of(options.parts, name)
        for row in options.systems:
            try:
                first = asked(row, worlds[family], trained, questions[:1])
                every = asked(row, worlds[family], trained, questions)
            except JaxkgError as error:
                record.note(f"{name}: {row} is left out: {error}")
                continue
            table.add(
                *(name, row, first.programs.total, every.programs.total, len(questions)),
                *(every.answered, every.cpu),
            )
            if options.names:
                print("\n".join(every.programs.lines()))
    record.save()


if __name__ == "__main__":
    main()
