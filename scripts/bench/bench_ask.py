"""Throughput and memory of the ASK stage against a loopback server of known latency.

    python scripts/bench/bench_ask.py --questions 1000 --concurrency 32 --delay 0.05

Every question is one structured call through cache, budget and meter, the reply parsed. The ideal
is concurrency / delay: every slot busy all the time. Three rounds, the first with cold connections;
a last one reads everything from the cache. Ten seconds.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel

from jaxkg.adjudicate import Caps, Message, Prompted, ask, connect, tally
from jaxkg.adjudicate.backend import Backend

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.record import Record, arguments, numbers
from lib.seconds import Laps

SERVER = Path(__file__).resolve().parents[2] / "tests" / "worlds" / "loopback.py"
REPLY = '{"answers": ["Heat"], "supporting_paths": [1], "rationale": "Path 1 ends in it."}'
PATHS = "\n".join(f"{n}. Al Pacino --starred_actors--> film {n}" for n in range(1, 11))


class Reply(BaseModel):
    answers: list[str]
    supporting_paths: list[int]
    rationale: str


def questions(count: int, round_number: int) -> list[Prompted[Reply]]:
    return [
        Prompted(
            (
                Message("system", "Answer from the numbered paths alone."),
                Message("user", f"Question {round_number}.{number}: which film?\n{PATHS}"),
            ),
            Reply,
            question=f"{round_number}.{number}",
            stage="bench",
        )
        for number in range(count)
    ]


def resident_mib() -> float:
    """Memory in use now where the system tells, else the most ever used."""
    status = Path("/proc/self/statm")
    if status.exists():
        return int(status.read_text().split()[1]) * resource.getpagesize() / 2**20
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


def timed(backend: Backend, batch: Sequence[Prompted[Reply]]) -> float:
    """Questions per second; every one must have been read."""
    laps = Laps()
    outcomes = ask(backend, batch)
    seconds = laps.lap()
    counts = tally(outcomes)
    if counts["read"] != len(batch):
        raise SystemExit(f"not every reply was read: {counts}")
    return len(batch) / seconds


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__, data=False, seed=False)
    numbers(parser, questions=1000, concurrency=32, rounds=4)
    parser.add_argument("--delay", type=float, default=0.05, help="seconds a reply takes")
    options = parser.parse_args(argv)
    record = Record(__file__, options)
    table = record.table("round", "questions/s", "of the ideal", "MiB before", "MiB after")
    ideal = options.concurrency / options.delay
    command = [sys.executable, str(SERVER), "--delay", str(options.delay), "--text", REPLY]
    with (
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as server,
        tempfile.TemporaryDirectory() as folder,
    ):
        assert server.stdout
        assert server.stdin
        url = server.stdout.readline().strip()
        with connect(
            "loopback",
            base_url=url,
            cache=Path(folder) / "replies.sqlite",
            run=Caps(calls=options.questions * options.rounds),
            concurrency=options.concurrency,
        ) as backend:
            record.note(
                f"ideal {ideal:,.0f} questions/s: {options.concurrency} at {options.delay} s"
            )
            for number in range(options.rounds):
                batch = questions(options.questions, number)
                before = resident_mib()
                rate = timed(backend, batch)
                del batch
                table.add(number + 1, rate, rate / ideal, before, resident_mib())
            table.add("from the cache", timed(backend, questions(options.questions, 0)))
            print(backend.text())
        server.stdin.close()
    record.save()


if __name__ == "__main__":
    main()
