"""What a planning model said of each question, kept as JSON Lines to train the local planner on.

| key | value |
|---|---|
| `id`, `question`, `topics`, `answers`, `paths`, `mention` | as in a question file |
| `linked` | ids of the topic entities the plan starts at |
| `spans` | where they are mentioned |
| `plans` | plans that hold in the graph, best first: relation names of each hop, `^name` inverse |
| `used` | the plans that were executed to answer with |
| `reasoning` | the model's words |
| `model` | its name |
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from jaxkg.errors import JaxkgError
from jaxkg.foreign_json import read_json
from jaxkg.records import Question

TRACES = "traces.jsonl"
"""Name of the file within a run folder."""


@dataclasses.dataclass(frozen=True)
class PlanTrace:
    """One question and its plans; the fields are told in the module's table."""

    question: Question
    linked: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    plans: tuple[tuple[tuple[str, ...], ...], ...]
    used: tuple[int, ...] = ()
    reasoning: str = ""
    model: str = ""


def append_traces(traces: Iterable[PlanTrace], path: str | os.PathLike[str]) -> None:
    """Append traces to a file, made where it is not there; what a crash left torn is cut off.

    Raises:
        JaxkgError: the file cannot be written.
    """
    lines = []
    for trace in traces:
        asked = dataclasses.asdict(trace.question)
        row = dataclasses.asdict(trace)
        del row["question"]
        lines.append(
            json.dumps({"id": asked.pop("id"), "question": asked.pop("text"), **asked, **row})
        )
    told = "".join(f"{line}\n" for line in lines).encode()
    try:
        with open(path, "a+b") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(0, end - 1))
            if end and file.read(1) != b"\n":
                file.seek(0)
                file.truncate(file.read().rfind(b"\n") + 1)
            file.write(told)
    except OSError as error:
        raise JaxkgError(f"{os.fspath(path)}: cannot be written ({error.strerror})") from error


def read_traces(paths: Sequence[str | os.PathLike[str]]) -> list[PlanTrace]:
    """Read traces from files or run folders; the last trace of a question id counts.

    A last line without its line end was torn by a crash and is left out: its question was asked
    again.

    Raises:
        JaxkgError: no such file, or a line that is no trace.
    """
    found: dict[str, PlanTrace] = {}
    for given in paths:
        path = Path(given)
        if path.is_dir():
            path = path / TRACES
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError as error:
            raise JaxkgError(
                f"{path}: no traces; make some with `jaxkg eval --system llm-planned --llm MODEL`"
            ) from error
        except UnicodeDecodeError as error:
            raise JaxkgError(f"{path}: not UTF-8 text (byte {error.start})") from error
        whole, _, _ = text.rpartition("\n")
        for number, line in enumerate(whole.split("\n") if whole else [], 1):
            trace = _parsed(line, f"{path}:{number}")
            found[trace.question.id] = trace
    return list(found.values())


def _parsed(line: str, where: str) -> PlanTrace:
    try:
        row: dict[str, Any] = read_json(line)
        question = Question(
            id=row["id"],
            text=row["question"],
            topics=tuple(row["topics"]),
            answers=None if row["answers"] is None else tuple(row["answers"]),
            paths=tuple(tuple(path) for path in row["paths"]),
            mention=None if row["mention"] is None else (row["mention"][0], row["mention"][1]),
        )
        return PlanTrace(
            question=question,
            linked=tuple(row["linked"]),
            spans=tuple((start, end) for start, end in row["spans"]),
            plans=tuple(tuple(tuple(hop) for hop in plan) for plan in row["plans"]),
            used=tuple(row["used"]),
            reasoning=row["reasoning"],
            model=row["model"],
        )
    except (json.JSONDecodeError, KeyError, TypeError, ValueError, IndexError) as error:
        raise JaxkgError(f"{where}: not a plan trace ({error!r})") from error
