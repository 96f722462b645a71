"""The tables and figures of the five papers, each with its state and what stands for it here."""

from __future__ import annotations

import dataclasses
import functools
import re
import tomllib
from collections.abc import Sequence
from importlib.resources import files
from typing import Any, Literal

from jaxkg.errors import JaxkgError

State = Literal["done", "nearest", "no", "picture"]
STATES: dict[State, str] = {
    "done": "the paper's own quantity on the paper's own data",
    "nearest": "what can be had here",
    "no": "not possible here",
    "picture": "nothing is measured in it",
}
_ROMAN = {"i": "1", "ii": "2", "iii": "3", "iv": "4", "v": "5"}


@dataclasses.dataclass(frozen=True)
class Arm:
    """A row that can be run.

    Attributes:
        name: of the row.
        system: as `jaxkg compare --systems` takes it; `NAME+llm` asks a model.
        set: settings, NAME=VALUE.
        paper: the paper's number for it, as it is printed there.
    """

    name: str
    system: str
    set: tuple[str, ...] = ()
    paper: str = ""


@dataclasses.dataclass(frozen=True)
class PaperTable:
    """A table or figure of a paper.

    Attributes:
        id: "t2" for Table 2, "f4" for Figure 4.
        title: what is in it.
        state: see `STATES`.
        also: others that stand under one entry with it.
        paper: its numbers there.
        ours: its numbers here, those of the record `source`.
        source: name of the record, or of several, after commas.
        differs: what is not as in the paper.
        why: of what cannot be had.
        command: what makes the record.
        dataset, metrics, arms: what can be run at any size, see `jaxkg reproduce`.
    """

    id: str
    title: str
    state: State
    also: tuple[str, ...] = ()
    paper: str = ""
    ours: str = ""
    source: str = ""
    differs: str = ""
    why: str = ""
    command: str = ""
    dataset: str = ""
    metrics: tuple[str, ...] = ()
    arms: tuple[Arm, ...] = ()

    @property
    def called(self) -> str:
        """As the paper calls it, with what stands under one entry with it."""
        return ", ".join(
            f"{'Table' if id.startswith('t') else 'Figure'} {id[1:]}"
            for id in (self.id, *self.also)
        )

    def to_dict(self) -> dict[str, Any]:
        """For JSON; what is empty is left out."""
        return {name: value for name, value in dataclasses.asdict(self).items() if value}


@dataclasses.dataclass(frozen=True)
class Paper:
    """A method's paper.

    Attributes:
        method: its name here.
        title: the method in a line.
        graph: what is asked here in the place of the paper's graph.
        tables: in the paper's order, tables before figures.
    """

    method: str
    title: str
    graph: str
    tables: tuple[PaperTable, ...]

    def chosen(self, words: Sequence[str]) -> tuple[PaperTable, ...]:
        """The tables that words name: "2", "II", "table 2", "f4", "figure 4"; all without any.

        Raises:
            JaxkgError: the paper has no such table.
        """
        found = {}
        for word in words:
            told = re.fullmatch(r"(t(?:able)?|f(?:ig(?:ure)?)?\.?)?\s*(\w+)", word.strip().lower())
            number = told and (told[1] or "t")[0] + _ROMAN.get(told[2], told[2])
            one = next((each for each in self.tables if number in (each.id, *each.also)), None)
            if one is None:
                known = ", ".join(id for each in self.tables for id in (each.id, *each.also))
                raise JaxkgError(f"--table {word}: {self.method} has no such table; it has {known}")
            found[one.id] = one
        return tuple(found.values()) if words else self.tables


@functools.cache
def papers() -> dict[str, Paper]:
    """The five papers by method."""
    told = tomllib.loads(files("jaxkg.experiments").joinpath("papers.toml").read_text("utf-8"))
    return {
        method: Paper(method, each["title"], each["graph"], tuple(map(_table, each["tables"])))
        for method, each in told.items()
    }


def paper(method: str) -> Paper:
    """A method's paper.

    Raises:
        JaxkgError: there is no such method.
    """
    if method not in papers():
        raise JaxkgError(f"no paper of {method!r}; there are {', '.join(papers())}")
    return papers()[method]


def listed(some: Sequence[Paper]) -> str:
    """Every table and figure with its state, as Markdown."""
    parts = ["; ".join(f"{state}: {about}" for state, about in STATES.items())]
    for each in some:
        parts.append(f"## {each.title}\n\nAsked here: {each.graph}.")
        rows = ["| | | state | paper | here | what differs |", "|---|---|---|---|---|---|"]
        for one in each.tables:
            here = f"{one.ours} (`{one.source}`)" if one.ours else ""
            cells = (one.called, one.title, one.state, one.paper, here, one.differs or one.why)
            rows.append("| " + " | ".join(cell or "–" for cell in cells) + " |")
        parts.append("\n".join(rows))
    return "\n\n".join(parts)


def _table(told: dict[str, Any]) -> PaperTable:
    lists = {name: tuple(told[name]) for name in ("also", "metrics") if name in told}
    arms = tuple(Arm(**{**arm, "set": tuple(arm.get("set", ()))}) for arm in told.get("arms", ()))
    return PaperTable(**{**told, **lists, "arms": arms})
