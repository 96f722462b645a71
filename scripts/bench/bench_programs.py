"""Compiled programs of a first question and of an evaluation, system by system, as commands.

    python scripts/bench/bench_programs.py --parts runs/parts
    python scripts/bench/bench_programs.py --parts runs/parts --sets pq-2h webqsp

Every row is `jaxkg eval --profile` in a process of its own with nothing in its cache: no program,
no vector of a text. Trained parts lie where `jaxkg compare --parts` looks for them;
a planner that is not there is made of labels, and a system that lacks another is told as left out.
Programs that encode texts are counted with the others, and apart. A minute a row of a small graph,
three of one with 60,000 names, on two CPU cores.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from jaxkg.experiments.registry import TRAINED

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.record import Record, arguments, numbers

ROWS = {
    "planner": [],
    "reader": [],
    "pathhd": [],
    "pathhd, ordered": ["query=ordered"],
    "pathhd, text": ["query=text"],
    "reknos": ["scorer=planner"],
    "reknos, labels": ["scorer=labels", "hops=2"],
    "pathmind": [],
    "ranked": [],
    "guided": [],
    "proh": [],
}
"""Settings of each system, by its name and a word where it stands twice."""

OF_SETS = {("webqsp", "pathmind"): ["encoder=minilm"]}
"""Settings that a part was trained with, by question set and system."""

_COST = re.compile(r"([\d.,]+) s, ([\d.,]+) CPU-seconds, peak memory ([\d.,]+) MB")
_PROGRAMS = re.compile(r"(\d+) programs, \d+ of them read from the cache, in ([\d.,]+) s")
_TEXTS = re.compile(r"sentence_vectors(?: x(\d+))?")


class Cost(NamedTuple):
    """What a command has cost."""

    programs: int
    texts: int
    compiling: float
    seconds: float
    mebibytes: float


def cost_of(row: str, name: str, parts: Path | None, data: Path, questions: int) -> Cost | str:
    """Evaluate a system in a process that has nothing; what it lacks where it cannot."""
    system = row.partition(",")[0]
    trained = {} if parts is None else parts_of(parts, name)
    command = [sys.executable, "-m", "jaxkg", "eval", "--profile", "--dataset", name]
    command += ["--system", system, "--limit", str(questions)]
    if folder := trained.get("planner"):
        command += ["--planner", str(folder)]
    if system != "planner" and (folder := trained.get(system)):
        command += ["--set", f"model={folder}"]
    for wish in (*ROWS[row], *OF_SETS.get((name, system), [])):
        command += ["--set", wish]
    with tempfile.TemporaryDirectory() as scratch:
        environment = {
            **os.environ, "JAXKG_CACHE": f"{scratch}/cache", "JAXKG_DATA": str(data)
        }  # fmt: skip
        done = subprocess.run(
            [*command, "-o", f"{scratch}/run"],
            env=environment, capture_output=True, text=True, encoding="utf-8", check=False,
        )  # fmt: skip
    told = done.stderr
    if done.returncode:
        return told.strip().splitlines()[-1]
    cost, programs = _COST.search(told), _PROGRAMS.search(told)
    assert cost, told
    assert programs, told
    texts = _TEXTS.search(told)
    seconds, _, memory = (float(each.replace(",", "")) for each in cost.groups())
    encoding = 0 if texts is None else int(texts[1] or 1)
    return Cost(int(programs[1]), encoding, float(programs[2]), seconds, memory)


def parts_of(folder: Path, name: str) -> dict[str, Path]:
    """Folders of the parts trained for a set, else for its family, by kind."""
    places = (folder / name.partition("-")[0], folder / name)
    return {kind: place / kind for place in places for kind in TRAINED if (place / kind).is_dir()}


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__, seed=False)
    parser.add_argument("--parts", type=Path, help="folder of trained parts")
    parser.add_argument("--sets", nargs="+", default=["metaqa-2", "pq-2h", "webqsp"])
    parser.add_argument("--systems", nargs="+", default=list(ROWS), choices=list(ROWS))
    numbers(parser, questions=1000)
    options = parser.parse_args(argv)
    record = Record(__file__, options)
    table = record.table(
        *("set", "system", "programs of one question", "of all", "those of texts", "compiling, s"),
        *("all, s", "peak, MB"),
    )
    for name in options.sets:
        for row in options.systems:
            first, every = (
                cost_of(row, name, options.parts, options.data, count)
                for count in (1, options.questions)
            )
            if isinstance(first, str) or isinstance(every, str):
                record.note(f"{name}: {row} is left out: {every}")
                continue
            table.add(
                *(name, row, first.programs, every.programs, every.texts, every.compiling),
                *(every.seconds, every.mebibytes),
            )
    record.save()


if __name__ == "__main__":
    main()
