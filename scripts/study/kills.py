"""kill -9 at drawn moments of `train`, `eval`, `kg build` and of writes to the cache.

Each job is done once undisturbed; then, again and again, started in a new folder, killed at a
moment drawn over its length, and started again until it ends. The second start must end well and
give what the undisturbed one gave: the graph's fingerprint, the weights (within 1e-5), the line of
each question (numbers to four places, cost left out), what is kept under a key; and of the replies
that the file of them has none may be asked for again. Prints, for each job, the kills, those that
hit while it ran, and what was not so. A hundred kills take half an hour.

    python scripts/study/kills.py --kills 100
    python scripts/study/kills.py --jobs build cache --kills 20
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import tempfile
import time
import warnings
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jaxkg.adjudicate import Reply
from jaxkg.adjudicate.around.store import ReplyStore
from jaxkg.cache import kept
from jaxkg.cli import main as jaxkg
from jaxkg.kg import demo_graph, demo_training_questions, open_graph, write_questions
from jaxkg.storage import write_npz

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.record import Record, arguments

sys.path.append(str(Path(__file__).resolve().parents[2] / "tests" / "worlds"))
from loopback import LanguageServer

FACTS = 200_000
ASKED = 40
LONGEST = 600.0
"""Seconds after which a start counts as one that does not end."""


def started(work: Callable[[], object], log: Path) -> int:
    """Do the work in a process of its own.

    Modules are loaded before, JAX itself is not begun before: threads do not survive a fork.

    Returns:
        The process.
    """
    process = os.fork()
    if process:
        return process
    code = 70
    try:
        os.setsid()
        with log.open("a") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        try:
            work()
            code = 0
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else bool(stop.code)
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
            raise
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def ended(process: int, seconds: float) -> int | None:
    """The process's exit code; None where it was killed when the seconds were over."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found, status = os.waitpid(process, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    code = os.waitstatus_to_exitcode(status)
    return None if code == -signal.SIGKILL else code


class Job:
    """Something that writes for a while, and what it leaves."""

    def __init__(self, folder: Path) -> None:
        """Make what all runs share, in a folder."""
        self.folder = folder

    def work(self, folder: Path) -> None:
        """Do it; the second start does the same."""
        raise NotImplementedError

    def left(self, folder: Path) -> Any:
        """What is compared."""
        raise NotImplementedError

    def same(self, one: Any, two: Any) -> bool:
        """Whether two runs left the same."""
        return bool(one == two)

    def faults(self, folder: Path) -> list[str]:
        """What else should not be, after the second start."""
        return []


class Build(Job):
    """`kg build`."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        rng = random.Random(0)
        with (folder / "facts.tsv").open("w") as file:
            file.write("head\trelation\ttail\n")
            for _ in range(FACTS):
                file.write(
                    f"e{rng.randrange(50_000)}\tr{rng.randrange(50)}\te{rng.randrange(9_999)}\n"
                )

    def work(self, folder: Path) -> None:
        jaxkg(
            ["kg", "build", str(self.folder / "facts.tsv"), "-o", str(folder / "graph"), "--index"]
        )

    def left(self, folder: Path) -> str:
        return open_graph(folder / "graph").fingerprint


class Train(Job):
    """`train planner`: mining, steps with a kept state, the model."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        write_questions(demo_training_questions()[:120], folder / "questions.jsonl")

    def work(self, folder: Path) -> None:
        options = ["--questions", str(self.folder / "questions.jsonl"), "--hops", "1"]
        jaxkg(["train", "planner", "-o", str(folder / "planner"), "--epochs", "12", *options])

    def left(self, folder: Path) -> dict[str, np.ndarray]:
        from jaxkg.storage import read_npz

        assert (folder / "planner" / "planner.json").exists()
        return read_npz(folder / "planner" / "planner.npz")

    def same(self, one: dict[str, np.ndarray], two: dict[str, np.ndarray]) -> bool:
        return one.keys() == two.keys() and all(
            np.allclose(one[name], two[name], atol=1e-5) for name in one
        )


class Evaluate(Job):
    """`eval --llm` of an endpoint that answers in its time."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        some = list({question.text: question for question in demo_training_questions()}.values())
        write_questions(some[:ASKED], folder / "asked.jsonl")

    def work(self, folder: Path) -> None:
        def answer(body: dict[str, Any]) -> str:
            asked = body["messages"][-1]["content"]
            with (folder / "sent").open("a") as file:
                file.write(f"{zlib.crc32(asked.encode())}\n")
            return json.dumps({"answers": [], "supporting_paths": [1], "rationale": "So."})

        with LanguageServer(answer, delay=0.05) as server:
            model = ["--llm", "loopback", "--base-url", server.url, "--concurrency", "2"]
            model += ["--set", "judge=paths"]
            where = ["-o", str(folder / "run"), "--replies", str(folder / "replies.sqlite")]
            asked = ["--questions", str(self.folder / "asked.jsonl"), "--system", "planner"]
            jaxkg(["eval", *where, *asked, *model, "--json"])

    def left(self, folder: Path) -> dict[str, Any]:
        found = {}
        for line in (folder / "run" / "predictions.jsonl").read_bytes().splitlines():
            # Fewer questions at a time: sums of other shapes, which differ in the last digits.
            told = json.loads(line, parse_float=lambda digits: round(float(digits), 4))
            del told["usage"]
            found[told["id"]] = told
        assert len(found) == ASKED
        return found

    def faults(self, folder: Path) -> list[str]:
        sent = (folder / "sent").read_text().splitlines()
        # What was under way when the kill came may be asked again: two at a time.
        again = len(sent) - len(set(sent))
        return [f"{again} requests repeated"] if again > 2 else []


class Cache(Job):
    """What is kept under a key, and replies, written as fast as they come."""

    def work(self, folder: Path) -> None:
        os.environ["JAXKG_CACHE"] = str(folder / "cache")
        warnings.simplefilter("ignore")
        store = ReplyStore(folder / "cache" / "replies.sqlite")
        for number in range(60):
            kept(
                "things",
                f"key{number}",
                opened=lambda place: np.load(place / "a.npz")["a"],
                made=lambda number=number: np.full(50_000, number),
                saved=_saved,
            )
            for row in range(20):
                key = f"{number} {row}"
                if not store.get([key]):
                    store.put(key, key, Reply(text=key * 50))
        store.close()

    def left(self, folder: Path) -> list[float]:
        store = ReplyStore(folder / "cache" / "replies.sqlite", read_only=True)
        texts = [
            store.get([f"{n} {row}"])[f"{n} {row}"].text for n in range(60) for row in range(20)
        ]
        store.close()
        assert texts == [f"{n} {row}" * 50 for n in range(60) for row in range(20)]
        things = folder / "cache" / "things"
        return [float(np.load(things / f"key{n}" / "a.npz")["a"].sum()) for n in range(60)]


def _saved(array: np.ndarray, place: Path) -> None:
    place.mkdir()
    write_npz(place / "a.npz", {"a": array})


JOBS: dict[str, type[Job]] = {"build": Build, "cache": Cache, "eval": Evaluate, "train": Train}


def trial(job: Job, kills: int, rng: random.Random, folder: Path) -> tuple[int, list[str]]:
    """Kill a job so often, and start it again each time.

    Returns:
        How many kills hit while it ran; what was not as it should be, in words.
    """
    for name in ("first", "whole"):  # the first compiles
        (folder / name).mkdir()
        start = time.monotonic()
        whole = folder / name
        code = ended(started(lambda whole=whole: job.work(whole), whole / "log"), LONGEST)
        length = time.monotonic() - start
        assert code == 0, (whole / "log").read_text()
    wanted, hits, words = job.left(whole), 0, []
    for number in range(kills):
        place = folder / str(number)
        place.mkdir()
        moment = rng.uniform(0.0, length)
        work, log = (lambda place=place: job.work(place)), place / "log"
        hits += ended(started(work, log), moment) is None
        code = ended(started(work, log), LONGEST)
        told = f"killed after {moment:.3f} of {length:.3f} s"
        if code != 0:
            words.append(f"{told}: exit {code}: {log.read_text()[-300:]}")
            continue
        try:
            if not job.same(wanted, job.left(place)):
                words.append(f"{told}: another result")
        except Exception as error:  # noqa: BLE001 - what is looked for
            words.append(f"{told}: {type(error).__name__}: {error}")
        words += [f"{told}: {fault}" for fault in job.faults(place)]
    return hits, words


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__, data=False)
    parser.add_argument("--kills", type=int, default=100, help="of all jobs together")
    parser.add_argument("--jobs", nargs="+", choices=JOBS, default=list(JOBS))
    asked = parser.parse_args(argv)
    demo_graph()
    rows: list[tuple[str, int, int, list[str]]] = []
    with tempfile.TemporaryDirectory() as temporary:
        # Programs are compiled once, and kept for all starts.
        os.environ["JAXKG_CACHE"] = str(Path(temporary) / "cache")
        for name in asked.jobs:
            shared, runs = Path(temporary) / f"{name}-shared", Path(temporary) / name
            shared.mkdir()
            runs.mkdir()
            kills = asked.kills // len(asked.jobs)
            rng = random.Random(f"{asked.seed} {name}")
            hits, words = trial(JOBS[name](shared), kills, rng, runs)
            rows.append((name, kills, hits, words))
            print(name, kills, hits, *words, sep="\n  ", flush=True)
    record = Record(__file__, asked)
    table = record.table("job", "kills", "while it ran", "not as it should be")
    for name, kills, hits, words in rows:
        table.add(name, kills, hits, len(words))
        for word in words:
            record.note(f"{name}: {word}")
    record.save()
    sys.exit(any(words for *_, words in rows))


if __name__ == "__main__":
    main()
