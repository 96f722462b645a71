"""Records of what scripts measured: a line of JSON each, in a file for each script, and their page.

The page has a place for each record, `<!-- NAME -->` to `<!-- end -->`, made from the records
alone; `README.md` has the text around the places. `cd scripts; python -m lib` prints the page.
"""

from __future__ import annotations

import argparse
import ast
import datetime
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from jaxkg.errors import JaxkgError
from jaxkg.evaluate import provenance
from jaxkg.storage import write_json, write_lines
from lib.rows import Table

RESULTS = "results"
PAGE = "README.md"
_HIDDEN = ("--record", "--json", "--data")
"""Options that a recorded command leaves out: they say where things lie, not what is measured."""
_DATA = Path("../shared/data")


def arguments(
    about: str | None, *, data: bool = True, seed: bool = True
) -> argparse.ArgumentParser:
    """A parser with the options that all scripts share.

    Args:
        about: the script's docstring: what it measures, how long it takes, how it is started.
        data: it reads benchmarks: `--data`, else `JAXKG_DATA`, else `../shared/data`.
        seed: something in it is random.
    """
    parser = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    if data:
        known = Path(os.environ.get("JAXKG_DATA", _DATA))
        parser.add_argument("--data", type=Path, default=known, help="folder of the benchmarks")
    if seed:
        parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--record", action="store_true", help=f"store the tables in {RESULTS}")
    parser.add_argument("--json", type=Path, help="also write the tables to this file")
    return parser


def numbers(parser: argparse.ArgumentParser, **defaults: float) -> None:
    """Options that are a number each and need no explanation, by their defaults.

    >>> parser = argparse.ArgumentParser()
    >>> numbers(parser, batch_size=8, rate=0.5)
    >>> parser.parse_args(["--batch-size", "4"])
    Namespace(batch_size=4, rate=0.5)
    """
    for name, default in defaults.items():
        option = f"--{name.replace('_', '-')}"
        parser.add_argument(option, type=type(default), default=default, help=f"default {default}")


class Record:
    """The tables and notes of one run of a script; `save` keeps them where the options say so."""

    def __init__(self, file: str, options: argparse.Namespace, *, part: str = "") -> None:
        """Says on what it runs.

        Args:
            file: of the script, which lies in a folder of the scripts' own.
            options: as `arguments` has them.
            part: of a script that has several results, which one.
        """
        import jax

        self._folder = Path(file).resolve().parents[1]
        self._name = f"{Path(file).stem}{'-' if part else ''}{part}"
        self._options = options
        self._tables: list[Table] = []
        self._notes: list[str] = []
        self.device = f"{jax.devices()[0].device_kind}, {cores()} CPU cores"
        print(f"device {self.device}, jax {jax.__version__}", flush=True)

    def table(self, *columns: str, title: str = "") -> Table:
        """A new table, which prints its rows as they come."""
        self._tables.append(Table(*columns, title=title))
        return self._tables[-1]

    def note(self, text: str) -> None:
        """Print a line, and keep it below the tables."""
        self._notes.append(text)
        print(text, flush=True)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        seed = getattr(self._options, "seed", None)
        told = provenance(device=self.device, seed=seed)
        return {
            "name": self._name,
            "command": command(sys.argv),
            "commit": commit(self._folder),
            "date": datetime.date.today().isoformat(),
            **{name: told[name] for name in ("device", "versions", "seed")},
            "tables": [table.to_dict() for table in self._tables if table.rows],
            "notes": self._notes,
        }

    def save(self) -> None:
        """Store the run where the options say so: in a file of its own, among the records.

        Raises:
            JaxkgError: a file cannot be written.
        """
        record = self.to_dict()
        if self._options.json:
            write_json(self._options.json, record)
        if self._options.record:
            store(self._folder, [record])


def records(folder: Path) -> dict[str, dict[str, Any]]:
    """All records of a folder of scripts, by name.

    Raises:
        JaxkgError: a line is no JSON.
    """
    read: dict[str, dict[str, Any]] = {}
    for path in sorted((folder / RESULTS).glob("*.jsonl")):
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
            try:
                record = json.loads(line)
            except ValueError as error:
                raise JaxkgError(f"{path}:{number}: no JSON: {error}") from None
            read[record["name"]] = record
    return read


def store(folder: Path, new: Iterable[dict[str, Any]]) -> None:
    """Add records, or replace those of the same name; the files of other scripts stay as they are.

    Raises:
        JaxkgError: a file cannot be read or written.
    """
    (folder / RESULTS).mkdir(exist_ok=True)
    fresh = {record["name"]: record for record in new}
    stored = records(folder) | fresh
    for script in sorted({_script(name) for name in fresh}):
        write_lines(
            folder / RESULTS / f"{script}.jsonl",
            (
                json.dumps(stored[name], ensure_ascii=False, separators=(",", ":"))
                for name in sorted(stored)
                if _script(name) == script
            ),
        )


def _script(name: str) -> str:
    """The script of a record: what stands before the part."""
    return name.partition("-")[0]


def cores() -> int:
    """CPU cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def command(words: Sequence[str]) -> str:
    """A command line without what is of one machine alone: of paths outside the last name stays.

    >>> command(["/home/me/scripts/tables/table_kge.py", "--data", "/big", "--sets", "UMLS"])
    'python scripts/tables/table_kge.py --sets UMLS'
    """
    script = Path(words[0]).resolve()
    kept, words = [f"scripts/{script.parent.name}/{script.name}"], list(words[1:])
    while words:
        word = words.pop(0)
        name, equals, _ = word.partition("=")
        if name in _HIDDEN:
            if name != "--record" and not equals and words:
                words.pop(0)
            continue
        outside = os.path.isabs(word) or word.startswith("../")
        kept.append(Path(word).name if outside else word)
    return " ".join(["python", *kept])


def commit(folder: Path) -> str:
    """The commit of a check-out, marked where files differ from it; "unknown" outside of one.

    Records do not count: a run writes them as it goes.
    """
    git = ["git", "-C", os.fspath(folder)]
    try:
        told = [
            subprocess.run([*git, *words], capture_output=True, text=True, check=True).stdout
            for words in (
                ("rev-parse", "--short", "HEAD"),
                ("status", "--porcelain", "-uno", "--", ":/", f":(exclude){RESULTS}"),
            )
        ]
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return told[0].strip() + ("-dirty" if told[1].strip() else "")


def section(told: dict[str, Any], folder: Path) -> str:
    """A result in Markdown: what it is, its tables, its notes, and where they come from.

    A table that was written by hand has no command, and no line that says how it was made.
    """
    parts = [
        f"## {told['name']}",
        told.get("about") or _docstring(folder, _script(told["name"])),
        *map(Table.text, told["tables"]),
        "\n".join(f"- {note}" for note in told["notes"]),
        _made(told) if "command" in told else "",
    ]
    return "\n\n".join(filter(None, parts))


def _made(told: dict[str, Any]) -> str:
    seed = "" if told["seed"] is None else f"; seed {told['seed']}"
    versions = ", ".join(
        f"{name} {told['versions'][name]}" for name in ("python", "jax") if name in told["versions"]
    )
    dirty = ", files differed: to be run again" if told["commit"].endswith("-dirty") else ""
    return (
        f"`{told['command']}` at {told['commit']}{dirty}, {told['date']}; {told['device']}; "
        f"{versions}{seed}"
    )


def page(folder: Path) -> str:
    """The page of a folder of scripts: its `README.md` with each record in its place.

    A record that has no place goes in by its name.

    Raises:
        JaxkgError: a record cannot be read.
    """
    readme = folder / PAGE
    text = readme.read_text("utf-8") if readme.exists() else "# Results\n"
    for name, record in sorted(records(folder).items()):
        begin = f"<!-- {name} -->"
        new = f"{begin}\n{section(record, folder)}\n<!-- end -->"
        place = re.compile(re.escape(begin) + r"\n.*?<!-- end -->", re.DOTALL)
        later = (m for m in re.finditer(r"<!-- ([\w-]+) -->\n", text) if m[1] > name)
        if place.search(text):
            text = place.sub(lambda _, new=new: new, text, count=1)
        elif behind := next((m for m in later if m[1] != "end"), None):
            text = f"{text[: behind.start()]}{new}\n\n{text[behind.start() :]}"
        else:
            text = f"{text.rstrip()}\n\n{new}\n"
    return text


def _docstring(folder: Path, script: str) -> str:
    """The first paragraph of what a script says of itself."""
    if (path := next(folder.glob(f"*/{script}.py"), None)) is None:
        return ""
    said = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    return said.partition("\n\n")[0].replace("\n", " ")
