"""Every fault of a model endpoint x four systems x ask, eval, the same eval again, `--retry`.

An endpoint on this machine strikes every second request with one fault and answers the others as
the protocol has it; in the last turn it is well. Looked for in each command: an end that is no
answer, no abstention and no line of words (crash); a question without its line (lost); a readable
reply that was paid for twice with one file of replies (repaid); the key, in any form, or a raw
control character in what is printed or kept (leaked). A quarter of an hour.

    python scripts/study/faults.py
    python scripts/study/faults.py --faults 401 "usage is a list" --systems planner
"""

from __future__ import annotations

import contextlib
import functools
import io
import json
import os
import sys
import tempfile
import threading
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import typer.main
from endpoint_faults import FAULTS, KEY, Fault, forms_of

from jaxkg.kg import demo_questions, write_questions
from jaxkg.wire.retry import Backoff

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.oracle import Known, Oracle
from lib.record import Record, arguments

sys.path.append(str(Path(__file__).resolve().parents[2] / "tests" / "worlds"))
import loopback

SYSTEMS = {
    "planner": ("--system", "planner"),
    "reknos": ("--system", "reknos"),
    "proh": ("--system", "proh", "--set", "encoder=hashing"),
    "llm-planned": ("--system", "llm-planned"),
}
QUESTIONS = 3
PATIENCE = {"slow": "0.5"}
"""Seconds for a reply, by the kind of fault."""


_COMMAND = functools.cache(typer.main.get_command)
"""Reads the signatures of all subcommands, once rather than for each command."""


class Endpoint:
    """Answers as the oracle, or with the fault; counts whole readable replies by what was asked."""

    def __init__(self, fault: Fault, oracle: Oracle) -> None:
        self.fault, self.oracle, self.well = fault, oracle, False
        self.delivered: Counter[str] = Counter()
        self.struck: dict[str, bool] = {}
        self.schemas: dict[str, str] = {}
        self._lock = threading.Lock()

    def sound(self, body: dict[str, Any]) -> str:
        """What a model would say."""
        turns = [turn["content"] for turn in body["messages"]]
        with self._lock:
            if wanted := body.get("response_format"):
                self.schemas[turns[0]] = wanted["json_schema"]["name"]
            schema = self.schemas.get(turns[0], "Adjudication")
        return self.oracle.reply(schema, turns[0], turns[1])

    def __call__(self, body: dict[str, Any]) -> Any:
        text = self.sound(body)
        asked = json.dumps(body["messages"])
        with self._lock:
            hit = self.struck.setdefault(asked, len(self.struck) % 2 == 0) and not self.well
            readable = not hit or self.fault.readable
            self.delivered[asked] += readable
        if not hit:
            return loopback.Behaviour(text=text)
        return loopback.Behaviour(**self.fault.behaviour(text))


def started(arguments: Sequence[str]) -> tuple[int | str, str, str]:
    """The command in this process: exit code or how it crashed, standard output and error."""
    from jaxkg.cli import main

    out, err = io.StringIO(), io.StringIO()
    code: int | str = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(list(arguments))
        except SystemExit as stop:
            code = stop.code or 0
        except Exception as error:  # noqa: BLE001 - what is looked for
            code = f"{type(error).__name__}: {str(error)[:200]}"
            traceback.print_exc(limit=-3, file=sys.__stderr__)
    return code, out.getvalue(), err.getvalue()


class Trial:
    """One fault met by one system; `found` names what should not be."""

    def __init__(self, fault: Fault, system: str, folder: Path) -> None:
        self.fault, self.system, self.folder = fault, system, folder
        self.found: list[tuple[str, str]] = []
        self.ends: Counter[str] = Counter()
        asked = demo_questions()[:QUESTIONS]
        self.question = asked[0].text
        write_questions(asked, folder / "questions.jsonl")
        book = [
            Known(q.text, q.answers or (), q.topics, q.paths[0] if q.paths else ()) for q in asked
        ]
        self.endpoint = Endpoint(fault, Oracle(book))

    def blame(self, kind: str, what: str) -> None:
        self.found.append((kind, f"{self.fault.name} / {self.system}: {what}"))

    def run(self) -> None:
        """All commands, against one endpoint."""
        with loopback.LanguageServer(self.endpoint) as server:
            model = ("--llm", "loopback", "--base-url", server.url, "--concurrency", "2")
            model += ("--set", "judge=paths", "--timeout", PATIENCE.get(self.fault.kind, "20"))
            for end in ((), ("--json",)):
                self.ask(model, end)
            self.again(model)
            for turn in ("eval", "again"):
                self.evaluate(model, turn)
            self.endpoint.well = True
            self.evaluate(model, "retry")
        self.search(
            "kept",
            {str(file): file.read_bytes() for file in self.folder.rglob("*") if file.is_file()},
        )

    def command(self, turn: str, arguments: Sequence[str]) -> tuple[int | str, str]:
        """One command, its end and what it printed looked at."""
        code, out, err = started([*arguments, *SYSTEMS[self.system]])
        if code not in (0, 1, 2) or "Traceback" in err:
            self.blame("crash", f"{turn}: {code} {err[-300:]}")
        lines = [line for line in err.splitlines() if line]
        if code == 2 and not (lines and lines[-1].startswith("jaxkg: ")):
            self.blame("crash", f"{turn}: no word of the failure: {err[-300:]!r}")
        self.ends[f"{turn} {code}"] += 1
        self.search(turn, {"output": out.encode(), "errors": err.encode()})
        for name, text in (("output", out), ("errors", err)):
            if any(ord(char) < 32 and char not in "\n\t" for char in text):
                self.blame("leaked", f"{turn}: a raw control character in {name}")
        return code, out

    def ask(self, model: Sequence[str], end: Sequence[str]) -> None:
        replies = ("--replies", str(self.folder / "ask.sqlite"))
        code, out = self.command("ask", ["ask", self.question, *model, *replies, *end])
        if end and code in (0, 1):
            json.loads(out)

    def again(self, model: Sequence[str]) -> None:
        """Asked once more when the endpoint is well: what failed does not stay."""
        self.endpoint.well = True
        replies = ("--replies", str(self.folder / "ask.sqlite"))
        code, _ = self.command("ask again", ["ask", self.question, *model, *replies])
        if code == 2:
            self.blame("lost", "ask again: no answer from a sound endpoint")
        self.repaid("ask")
        self.endpoint.well = False

    def evaluate(self, model: Sequence[str], turn: str) -> None:
        """`eval`, its lines counted."""
        run = self.folder / "run"
        code, _ = self.command(
            turn,
            ["eval", "-o", str(run), "--questions", str(self.folder / "questions.jsonl"), *model]
            + ["--replies", str(self.folder / "eval.sqlite"), "--json"]
            + ["--retry"] * (turn == "retry"),
        )
        lines = [json.loads(line) for line in (run / "predictions.jsonl").read_bytes().splitlines()]
        outage = code == 2 and len(lines) < QUESTIONS  # what was answered before it is kept
        if len(lines) != QUESTIONS and (turn == "retry" or not outage):
            self.blame("lost", f"{turn}: {len(lines)} of {QUESTIONS} lines, exit {code}")
        bad = [line["id"] for line in lines if line.get("error")]
        if turn == "retry" and (bad or code):
            self.blame("lost", f"{turn}: {bad} still failed, exit {code}")
        self.repaid(turn)

    def repaid(self, turn: str) -> None:
        """No readable reply was delivered twice since the file of replies is in use."""
        if twice := sum(count - 1 for count in self.endpoint.delivered.values() if count > 1):
            self.blame("repaid", f"{turn}: {twice} readable replies")
        if turn in ("ask", "retry"):
            self.endpoint.delivered.clear()
            self.endpoint.struck.clear()

    def search(self, turn: str, texts: dict[str, bytes]) -> None:
        for name, text in texts.items():
            for form in forms_of(KEY):
                if form in text:
                    self.blame("leaked", f"{turn}: the key in {Path(name).name}")


@contextlib.contextmanager
def calm(folder: Path) -> Iterator[None]:
    """The machine's own endpoint takes no part, and nobody waits long between attempts."""
    settings = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")}
    settings |= {"OPENAI_API_KEY": KEY, "JAXKG_CACHE": str(folder / "cache")}
    quick = Backoff(retries=1, first=0.01, longest=0.05)
    with (
        mock.patch.dict(os.environ, settings, clear=True),
        mock.patch("jaxkg.adjudicate.endpoint.openai.Backoff", return_value=quick),
        mock.patch("jaxkg.experiments.progress.PATIENCE", 1e6),
        mock.patch("typer.main.get_command", _COMMAND),
    ):
        yield


def study(
    faults: Sequence[str], systems: Sequence[str], *, told: Any = print
) -> tuple[dict[str, Counter[str]], list[str]]:
    """Every fault with every system.

    Returns:
        Counts of ends and of what should not be, by system; and the latter in words.
    """
    counts: dict[str, Counter[str]] = {system: Counter() for system in systems}
    words: list[str] = []
    for place, fault in enumerate((FAULTS[name] for name in faults), 1):
        print(f"{place} of {len(faults)}: {fault.name}", file=sys.stderr, flush=True)
        for system in systems:
            with tempfile.TemporaryDirectory() as folder, calm(Path(folder)):
                trial = Trial(fault, system, Path(folder))
                trial.run()
            counts[system].update(trial.ends)
            for kind, what in trial.found:
                counts[system][kind] += 1
                words.append(f"{kind}: {what}")
                told(words[-1])
    return counts, words


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__, data=False, seed=False)
    parser.add_argument("--faults", nargs="+", choices=FAULTS, default=list(FAULTS), metavar="NAME")
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS))
    asked = parser.parse_args(argv)
    record = Record(__file__, asked)
    counts, words = study(asked.faults, asked.systems, told=functools.partial(print, flush=True))
    kinds = ("crash", "lost", "repaid", "leaked")
    table = record.table("system", "faults", "commands", "exit 0", "exit 1", "exit 2", *kinds)
    for system, ends in counts.items():
        by_code = [sum(n for end, n in ends.items() if end.endswith(f" {c}")) for c in (0, 1, 2)]
        commands = sum(n for end, n in ends.items() if end not in kinds)
        table.add(system, len(asked.faults), commands, *by_code, *(ends[kind] for kind in kinds))
    record.save()
    sys.exit(bool(words))


if __name__ == "__main__":
    main()
