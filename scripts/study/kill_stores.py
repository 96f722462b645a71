"""kill -9 at drawn moments of `kg build --big`, `kg add` and `kg compact`.

After a kill the folder is as it was before or as it should be, whole: what was told to be added is
there, at most the call under way is lost, and it is added to, compacted, opened and asked again. A
build that is killed, within a stage drawn at random, leaves no graph or all of it; the next one
goes on from what had ended, makes the same graph and leaves nothing behind. Prints the kills, those
that hit before the end, those that were gone on with, and what was not so. Fifty kills of each take
a quarter of an hour.

    python scripts/study/kill_stores.py --kills 50
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from jaxkg.kg import KnowledgeGraph, open_graph, save_graph
from jaxkg.kg.stores import edit
from jaxkg.kg.stores.around import everything, topic_graph
from jaxkg.kg.stores.arrays import save_index
from jaxkg.kg.stores.big.build import build_big
from jaxkg.kg.stores.changed import open_store

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.record import Record, arguments, numbers

BUILD = """
import sys
from jaxkg.kg.stores.big.build import build_big
print("begun", flush=True)
build_big(sys.argv[1], sys.argv[2], memory="200MB", on_stage=lambda stage: print(stage, flush=True))
print("done", flush=True)
"""
CHANGE = """
import sys
from jaxkg.kg import KnowledgeGraph
from jaxkg.kg.stores import edit
print("begun", flush=True)
for number in range(10**6):
    edit.add(sys.argv[1], KnowledgeGraph.from_triples([(f"n{number}", "by", "p1")]))
    print(number, flush=True)
    if number % 3 == 2:
        print("compact", flush=True)
        edit.compact(sys.argv[1])
"""
STAGES = ("begun", "numbering entities", "sorting facts", "naming", "saving")
FACTS = [("m1", "by", "p1"), ("m2", "by", "p1"), ("m3", "by", "p2")]


def killed(program: str, words: Sequence[str], after: str, wait: float) -> list[str]:
    """Run a program, kill it so many seconds after it has said a word; what it said."""
    command = [sys.executable, "-c", program, *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said: list[str] = []
        for line in process.stdout:
            said.append(line.strip())
            if said[-1] == after:
                break
        time.sleep(wait)
        process.send_signal(signal.SIGKILL)
        said += process.stdout.read().split("\n")
    return [line.strip() for line in said if line.strip()]


def facts_of(folder: Path) -> set[tuple[str, str, str]]:
    """Of a saved graph, which has to be whole: digests are checked, store and graph agree."""
    kg = open_graph(folder)
    store = open_store(folder)
    asked = topic_graph(store, everything(store))
    there = {kg.triple(row) for row in range(kg.num_triples)}
    assert {asked.triple(row) for row in range(asked.num_triples)} == there, "the index differs"
    return there


class Kill(NamedTuple):
    """What one kill came to.

    Attributes:
        hit: while the program ran.
        gone_on: the next build did not read again.
        fault: what was wrong then; "" for nothing.
    """

    hit: bool
    gone_on: bool
    fault: str


def kill_of_changes(folder: Path, rng: random.Random, after: str) -> Kill:
    """Kill what adds and compacts; look at what it leaves."""
    kg = KnowledgeGraph.from_triples(FACTS)
    save_index(save_graph(kg, folder), kg)
    said = killed(CHANGE, [str(folder)], after, rng.uniform(0, 0.2))
    told = {(f"n{line}", "by", "p1") for line in said if line.isdigit()}
    try:
        there = facts_of(folder)
        assert {*FACTS, *told} <= there, "what was told to be added is gone"
        assert len(there) <= len(FACTS) + len(told) + 1, "more than was added"
        edit.add(folder, KnowledgeGraph.from_triples([("after", "by", "p1")]))
        edit.compact(folder)
        assert facts_of(folder) == there | {("after", "by", "p1")}, "cannot go on"
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what is counted here
        return Kill(True, False, f"{type(error).__name__}: {error}")
    return Kill(True, False, "")


def kill_of_build(
    source: Path, whole: KnowledgeGraph, folder: Path, rng: random.Random, length: float
) -> Kill:
    """The same of a build, into a folder that has another graph in every second round."""
    before = None
    if rng.random() < 0.5:
        kg = KnowledgeGraph.from_triples(FACTS)
        save_index(save_graph(kg, folder), kg)
        before = kg.fingerprint
    stage = rng.choice(STAGES)
    said = killed(BUILD, [str(source), str(folder)], stage, rng.uniform(0, length / len(STAGES)))
    again: list[str] = []
    fault = ""
    try:
        if before or folder.exists():
            allowed = {whole.fingerprint, before}
            assert open_graph(folder).fingerprint in allowed, "neither the old one nor the new one"
            facts_of(folder)
        build_big(source, folder, on_stage=again.append)
        assert open_graph(folder).fingerprint == whole.fingerprint, "another graph"
        sorting = "numbering entities" in said and "saving" not in said
        assert not (sorting and "reading" in again), "read again"
        left = [path.name for path in folder.parent.glob(f".{folder.name}.*.build")]
        assert not left, f"left behind: {left}"
    except Exception as error:  # noqa: BLE001 - as above
        fault = f"{type(error).__name__}: {error}"
    return Kill("done" not in said, "reading" not in again, fault)


def lines(count: int) -> Iterator[str]:
    """Facts for a build."""
    rng = random.Random(0)
    for _ in range(count):
        yield f"e{rng.randrange(5_000)}\tr{rng.randrange(50)}\te{rng.randrange(900)}\n"


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__, data=False)
    numbers(parser, kills=50, facts=50_000)
    parser.add_argument("--jobs", nargs="+", default=("build", "add", "compact"))
    options = parser.parse_args(argv)
    record = Record(__file__, options)
    rng = random.Random(options.seed)
    table = record.table("job", "kills", "before its end", "gone on with", "wrong afterwards")
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        source = home / "facts.tsv"
        source.write_text("head\trelation\ttail\n" + "".join(lines(options.facts)))
        begun = time.perf_counter()
        whole = build_big(source, home / "whole")
        length = 1.2 * (time.perf_counter() - begun)
        for job in options.jobs:
            kills = []
            for number in range(options.kills):
                folder = home / f"{job}{number}"
                if job == "build":
                    kills.append(kill_of_build(source, whole, folder, rng, length))
                else:
                    after = "compact" if job == "compact" else "0"
                    kills.append(kill_of_changes(folder, rng, after))
            hits, gone_on = (sum(kill[at] for kill in kills) for at in (0, 1))
            wrong = [kill.fault for kill in kills if kill.fault]
            table.add(job, len(kills), hits, gone_on if job == "build" else "", len(wrong))
            for fault in sorted(set(wrong)):
                record.note(f"{job}: {fault}")
    record.save()
    if any(row[4] for row in table.rows):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
