"""An answer as a host record that prints itself and goes through JSON and back."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Collection, Mapping
from typing import Any, Self

from jaxkg.errors import JaxkgError
from jaxkg.foreign_json import read_json, whole
from jaxkg.records import (
    Citation,
    HyperCitation,
    Link,
    OtherReading,
    Passage,
    PlanCandidate,
    RankedEntity,
    SupportingPath,
    Usage,
)
from jaxkg.show.render import Printed

JUDGED = "+llm"
"""Ends the name of a system whose findings a language model judged."""


@dataclasses.dataclass(frozen=True)
class Answer(Printed):
    """A cited answer, or an abstention with its reason.

    Attributes:
        question: the question's text.
        question_id: the question's id.
        topics: linked topic entities, best first, runners-up included (`chosen=False`).
        entities: answers, best first.
        paths: the paths behind them.
        plan: relation paths considered, best first.
        usage: calls, tokens, seconds.
        abstained: why there is no answer; None if there is an answer.
        notes: what the user should know, such as a budget that stopped the search early.
        system: name of the system that answered.
        rationale: one or two sentences of a language model on why the cited paths imply the
            answers; None where no model was asked.
        dropped: names by a language model that it was not offered; not part of the answer.
        refused: offered names that the model chose without a path that ends there, or plans of the
            model that do not fit the graph; not part of the answer.
        error: what failed, as "kind: detail"; None if nothing failed. Errors are counted apart from
            abstentions.
        passages: retrieved source texts, best first; for hypergraphs alone.
        reading: the executed query graph in words, if the system executed a query graph.
        query: this query graph, see `jaxkg.query.query_to_dict`.
        columns: for a table, what its rows stand for, and the meaning of each cell.
        readings: other readings of the question, likeliest first; all readings if the answer is
            withheld.
        retrieved: ids of the entities that the search reached before it chose among them; None if
            the system does not report them. The JSON leaves them out, as there may be many.
    """

    question: str
    question_id: str = ""
    topics: tuple[Link, ...] = ()
    entities: tuple[RankedEntity, ...] = ()
    paths: tuple[SupportingPath, ...] = ()
    plan: tuple[PlanCandidate, ...] = ()
    usage: Usage = Usage()
    abstained: str | None = None
    notes: tuple[str, ...] = ()
    system: str = ""
    rationale: str | None = None
    dropped: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    error: str | None = None
    passages: tuple[Passage, ...] = ()
    reading: str = ""
    query: Mapping[str, Any] | None = None
    columns: tuple[str, ...] = ()
    readings: tuple[OtherReading, ...] = ()
    retrieved: Collection[str] | None = dataclasses.field(default=None, compare=False, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return plain dictionaries and lists, ready for JSON."""
        return {name: _plain(value) for name, value in self.members().items()}

    def members(self) -> dict[str, Any]:
        """Return the fields of its JSON; records are left as they are."""
        return {name: value for name, value in vars(self).items() if name != "retrieved"}

    def to_json(self, *, indent: int | None = None) -> str:
        """Return the whole answer as JSON; `from_json` is its inverse.

        Halves of surrogate pairs, which no file takes, become U+FFFD.
        """
        return whole(
            json.dumps(self.members(), default=_members, ensure_ascii=False, indent=indent)
        )

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read an answer back from `to_json`.

        Raises:
            JaxkgError: the text is not such JSON.
        """
        try:
            raw = read_json(text, strict=False)
            return cls(
                question=raw["question"],
                question_id=raw["question_id"],
                topics=tuple(Link(**link) for link in raw["topics"]),
                entities=tuple(
                    RankedEntity(
                        **{**e, "paths": tuple(e["paths"]), "cells": tuple(e.get("cells", ()))}
                    )
                    for e in raw["entities"]
                ),
                paths=tuple(_path_from_dict(p) for p in raw["paths"]),
                plan=tuple(
                    PlanCandidate(**{**p, "relations": tuple(p["relations"])}) for p in raw["plan"]
                ),
                usage=Usage(**raw["usage"]),
                abstained=raw["abstained"],
                notes=tuple(raw["notes"]),
                system=raw["system"],
                rationale=raw["rationale"],
                dropped=tuple(raw["dropped"]),
                refused=tuple(raw["refused"]),
                error=raw["error"],
                passages=tuple(Passage(**some) for some in raw["passages"]),
                reading=raw["reading"],
                query=raw["query"],
                columns=tuple(raw.get("columns", ())),
                readings=tuple(
                    OtherReading(**{**r, "preview": tuple(r["preview"])}) for r in raw["readings"]
                ),
            )
        except (JaxkgError, KeyError, TypeError, AttributeError) as error:
            raise JaxkgError(f"not the JSON of a jaxkg Answer: {error!r}") from error


def _members(value: Any) -> dict[str, Any]:
    """A record or a mapping as a dictionary whose values are left as they are."""
    return vars(value) if dataclasses.is_dataclass(value) else dict(value)


def _plain(value: Any) -> Any:
    """As `dataclasses.asdict`, which takes five times as long."""
    if isinstance(value, str | int | float | None):
        return value
    if isinstance(value, tuple | list):
        return type(value)([_plain(each) for each in value])
    return {name: _plain(each) for name, each in _members(value).items()}


def _path_from_dict(raw: Mapping[str, Any]) -> SupportingPath:
    return SupportingPath(
        id=raw["id"],
        citations=tuple(Citation(**c) for c in raw["citations"]),
        relation_path=tuple(raw["relation_path"]),
        score=raw["score"],
        sentence=raw["sentence"],
        hyperedges=tuple(
            HyperCitation(**{**cited, "entities": tuple(map(tuple, cited["entities"]))})
            for cited in raw["hyperedges"]
        ),
    )
