"""Run folders: append a line a question, survive a crash, resume by question id, report.

A folder holds `predictions.jsonl` (see `jaxkg.evaluate.runs.lines`), `run.json` (what the run is
of), and, once reported, `report.json` and `report.md`.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import json
import os
import platform
import shutil
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Self

from jaxkg.errors import JaxkgError
from jaxkg.evaluate.runs.lines import (
    Line,
    Status,
    dump_line,
    parse_line,
    partial,
    read_predictions,
    status,
)
from jaxkg.evaluate.runs.report import Report, evaluate
from jaxkg.foreign_json import read_json
from jaxkg.lock import FolderLock
from jaxkg.records import Question
from jaxkg.storage import write_text, writing

PREDICTIONS, RUN = "predictions.jsonl", "run.json"
_ANEW = (
    "To start anew, name another folder or ask for a fresh run (--fresh, or fresh=True from "
    "Python): the old lines are kept aside."
)
_PACKAGES = ("jaxkg", "numpy", "jax", "jaxlib", "flax", "openai")


class RunWriter:
    """An open run; `open_run` makes it. Use it as a context manager.

    Attributes:
        folder: of the run.
        done: ids of the questions that have their line.
        pending: the questions still to be asked, in order.
    """

    def __init__(
        self,
        folder: Path,
        questions: Sequence[Question],
        done: set[str],
        file: BinaryIO,
        lock: FolderLock,
    ):
        self._lock = lock
        self.folder = folder
        self.done = done
        self._questions = questions
        self._ids = {question.id for question in questions}
        self._file = file

    @property
    def pending(self) -> list[Question]:
        """The questions without a line yet."""
        return [question for question in self._questions if question.id not in self.done]

    def write(self, line: Line) -> None:
        """Append a line and flush it.

        Raises:
            JaxkgError: the id is none of this run's questions or has its line already, or the
                line is no JSON, and nothing is written; or the disk takes no more.
        """
        if line["id"] not in self._ids:
            raise JaxkgError(f"{self.folder}: {line['id']!r} is no question of this run")
        if line["id"] in self.done:
            raise JaxkgError(f"{self.folder}: question {line['id']!r} has its line already")
        raw = dump_line(line)
        parse_line(raw, f"question {line['id']!r}")
        try:
            self._file.write(raw)
            self._file.flush()
        except OSError as error:
            raise JaxkgError(
                f"{self.folder}: cannot be written ({error.strerror}); what was answered is kept, "
                "start the run again to go on"
            ) from error
        self.done.add(line["id"])

    def close(self) -> None:
        """Close the file, and let others write in the folder."""
        try:
            with contextlib.suppress(OSError):  # told when it was written
                self._file.close()
        finally:
            self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def open_run(
    folder: str | os.PathLike[str],
    questions: Iterable[Question],
    *,
    fingerprint: Mapping[str, str] | None = None,
    retry: Collection[Status] = (),
    fresh: bool = False,
) -> RunWriter:
    """Open a run folder to write, making it or going on where it stopped.

    A last line that a crash left torn is cut off with a warning, and its question is asked again.
    So is one that the budget of a whole run cut short: budgets are of a process, not of a folder.

    Args:
        folder: of the run; made where absent.
        questions: all questions of the run, with unique ids. More may be given than last time.
        fingerprint: what else must be the same for the lines to belong together, for example
            `{"system": "pathhd", "graph": <sha256>, "settings": <sha256>}`.
        retry: how a question must have ended to be asked again, for example `("failed",)` after
            an outage.
        fresh: start anew.

    Where lines are dropped, the file as it was is kept as `predictions.jsonl.1` and so on.

    Raises:
        JaxkgError: another run is writing in the folder; its lines are of other questions or
            another fingerprint, or one of them (not the last) is damaged.
    """
    folder = Path(folder)
    questions = list(questions)
    by_id = {question.id: question for question in questions}
    if len(by_id) != len(questions):
        raise JaxkgError(f"{len(questions)} questions have only {len(by_id)} different ids")
    path = folder / PREDICTIONS
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FolderLock(folder)
    except OSError as error:
        raise JaxkgError(f"{folder}: no folder to write a run to ({error.strerror})") from error
    try:
        done = _prepared(folder, by_id, dict(fingerprint or {}), retry, fresh)
        return RunWriter(folder, questions, done, open(path, "ab"), lock)
    except BaseException:
        lock.close()
        raise


def _prepared(
    folder: Path,
    by_id: Mapping[str, Question],
    mark: Mapping[str, str],
    retry: Collection[Status],
    fresh: bool,
) -> set[str]:
    """Make a folder fit to be written to; ids of the questions that keep their lines."""
    path = folder / PREDICTIONS
    if fresh and path.exists():
        os.replace(path, _aside(path))
    done: set[str] = set()
    if path.exists() and path.stat().st_size:
        _check_fingerprint(folder, mark)
        _repair(path)
        done = _check_questions(path, by_id)
        done -= _drop(path, retry)
    write_text(folder / RUN, json.dumps({"fingerprint": mark, "questions": len(by_id)}) + "\n")
    return done


def report_run(
    folder: str | os.PathLike[str],
    *,
    provenance: Mapping[str, Any] | None = None,
    told: Callable[[Report], object] | None = None,
    **options: Any,
) -> Report:
    """Evaluate a run folder and write its `report.json` and `report.md`.

    Args:
        folder: of the run.
        provenance: as `provenance` makes it; the run's fingerprint is added.
        told: given the report before it is written, which a full disk may prevent.
        **options: of `evaluate`.

    Raises:
        JaxkgError: the run cannot be read, or the report not be written.
    """
    folder = Path(folder)
    run = _read_run(folder)
    report = evaluate(
        read_predictions(folder),
        expected=run.get("questions"),
        provenance={**(provenance or {}), "fingerprint": run.get("fingerprint", {})},
        **options,
    )
    if told:
        told(report)
    write_text(folder / "report.json", report.to_json() + "\n")
    write_text(folder / "report.md", report.to_markdown())
    return report


def provenance(
    *,
    device: str | None = None,
    seed: int | None = None,
    data: Iterable[str | os.PathLike[str]] = (),
    command: Sequence[str] | None = None,
) -> dict[str, Any]:
    """What a reader needs to make the numbers again.

    Args:
        device: the accelerator in words, as the caller sees it; nothing here asks for it.
        seed: of the run.
        data: files the run read; they are hashed.
        command: the command line; None takes this process's.

    Returns:
        `versions`, `platform`, `device`, `seed`, `data` (SHA-256 by file name) and `command`.
    """
    versions = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return {
        "versions": versions,
        "platform": platform.platform(),
        "device": device,
        "seed": seed,
        "data": {os.fspath(path): sha256(path) for path in data},
        "command": list(sys.argv if command is None else command),
    }


def sha256(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a file, in hexadecimal.

    Raises:
        JaxkgError: it cannot be read.
    """
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise JaxkgError(f"{os.fspath(path)}: cannot be hashed: {error.strerror}") from error


def _read_run(folder: Path) -> dict[str, Any]:
    path = folder / RUN
    try:
        run = read_json(path.read_bytes(), str(path))
    except FileNotFoundError:
        return {}
    except JaxkgError as error:
        raise JaxkgError(f"{error}. {_ANEW}") from error
    if not isinstance(run, dict):
        raise JaxkgError(f"{path}: not a JSON object. {_ANEW}")
    return run


def _check_fingerprint(folder: Path, mark: Mapping[str, str]) -> None:
    run = _read_run(folder)
    stored = run.get("fingerprint")
    if not isinstance(stored, dict):
        raise JaxkgError(f"{folder}: there are predictions but no {RUN} to say of what. {_ANEW}")
    for key in sorted(stored.keys() | mark.keys()):
        if stored.get(key) != mark.get(key):
            raise JaxkgError(
                f"{folder}: the run in this folder has {key} {stored.get(key)!r}, but this one "
                f"has {mark.get(key)!r}. {_ANEW}"
            )


def _repair(path: Path) -> None:
    """Cut off a last line without its line end, unless it is whole."""
    with open(path, "r+b") as file:
        end = file.seek(0, os.SEEK_END)
        start, tail = end, b""
        while start and b"\n" not in tail:
            size = min(start, 1 << 16)
            start = file.seek(start - size)
            tail = file.read(size) + tail
        last = tail[tail.rfind(b"\n") + 1 :]
        if not last:
            return
        try:
            parse_line(last, str(path))
        except JaxkgError:
            file.truncate(end - len(last))
            warnings.warn(
                f"{path}: the last line was torn ({len(last)} bytes) and is cut off; "
                "its question is asked again",
                stacklevel=4,
            )
        else:
            file.seek(end)
            file.write(b"\n")


def _aside(path: Path) -> Path:
    number = 1
    while (name := path.with_name(f"{path.name}.{number}")).exists():
        number += 1
    return name


def _drop(path: Path, retry: Collection[Status]) -> set[str]:
    """Rewrite the file without the lines that ended so, or that a budget cut short; their ids."""
    dropped = {
        line["id"]
        for line in read_predictions(path)
        if status(line) in retry or partial(line, run=not retry)
    }
    if dropped:
        whole = _aside(path)
        shutil.copyfile(path, whole)
        with writing(path) as file:
            rest = (line for line in read_predictions(whole) if line["id"] not in dropped)
            file.writelines(map(dump_line, rest))
    return dropped


def _check_questions(path: Path, by_id: Mapping[str, Question]) -> set[str]:
    done: set[str] = set()
    for line in read_predictions(path):
        question = by_id.get(line["id"])
        if question is None:
            problem = "is none of the questions given"
        elif question.text != line["question"]:
            problem = f"was {line['question']!r} then and is {question.text!r} now"
        elif _gold(line) != (None if question.answers is None else list(question.answers)):
            problem = "has other gold answers now"
        else:
            done.add(line["id"])
            continue
        raise JaxkgError(
            f"{path}: another question set: id {line['id']!r} {problem} "
            f"({len(by_id)} questions given). {_ANEW}"
        )
    return done


def _gold(line: Line) -> list[str] | None:
    """Gold answers as the question has them: the id where it is one, else the name."""
    if line["gold"] is None or line.get("gold_ids") is None:
        return line["gold"]
    return [entity or name for entity, name in zip(line["gold_ids"], line["gold"])]
