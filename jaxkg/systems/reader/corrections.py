"""Corrections by users, saved by schema and applied to later questions."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from jaxkg.cache import cache_folder, cache_for, nothing_kept
from jaxkg.errors import JaxkgError
from jaxkg.foreign_json import read_json
from jaxkg.kg import KnowledgeGraph
from jaxkg.query import Query, query_from_dict, query_to_dict
from jaxkg.readings import say
from jaxkg.storage import write_lines
from jaxkg.systems.reader.sets.candidate import Asked, Candidate

KIND = "corrections"
"""Their folder in the cache: a file of JSON lines for each set of relations."""


@dataclasses.dataclass(frozen=True)
class Correction:
    """A question and the reading of it that its user said is right.

    Attributes:
        question: as it was asked.
        query: what it means.
        reading: the same in words.
        masked: the question without names, as the reader compares it.
        told: the reading without names.
    """

    question: str
    query: Query
    reading: str
    masked: str
    told: str

    def asks(self, question: str) -> bool:
        """Whether a question is this one, whatever its case, spaces and end.

        >>> from jaxkg.query import Entities
        >>> Correction("Who leads it?", Entities(("a",)), "a", "", "").asks("who  leads it")
        True
        """
        return _plain(self.question) == _plain(question)


def _plain(question: str) -> str:
    return " ".join(question.casefold().split()).rstrip(" ?.!")


def kept_corrections(kg: KnowledgeGraph) -> tuple[Correction, ...]:
    """What was kept for graphs with these relations, the latest last.

    Raises:
        JaxkgError: a line of the file is none.
    """
    folder = cache_folder()
    path = None if folder is None else folder / KIND / _name(kg)
    return read_corrections(path) if path is not None and path.is_file() else ()


def read_corrections(path: Path) -> tuple[Correction, ...]:
    """Read a file of corrections.

    Raises:
        JaxkgError: a line of it is none.
    """
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            raw = dict(read_json(line))
            raw["query"] = query_from_dict(raw["query"])
            found.append(Correction(**raw))
        except (JaxkgError, KeyError, TypeError, ValueError) as error:
            raise JaxkgError(
                f"{path}:{number}: is no correction ({error}); remove the line, or all of them by "
                "`jaxkg cache clear --corrections`"
            ) from error
    return tuple(found)


def keep_correction(kg: KnowledgeGraph, one: Correction) -> tuple[Correction, ...]:
    """All corrections with a new one, in place of what was said of the same question.

    Where nothing can be kept, a `CacheWarning` says so.
    """
    every = (*(old for old in kept_corrections(kg) if not old.asks(one.question)), one)
    folder = cache_for(KIND)
    if folder is not None:
        raws = ({**vars(each), "query": query_to_dict(each.query)} for each in every)
        lines = (json.dumps(raw, ensure_ascii=False) for raw in raws)
        try:
            write_lines(folder / _name(kg), lines)
        except JaxkgError as error:
            nothing_kept(error)
    return every


def corrected(
    corrections: Sequence[Correction],
    question: str,
    asked: Asked,
    found: Sequence[Candidate],
    order: np.ndarray,
    kg: KnowledgeGraph,
) -> tuple[int, Correction | None]:
    """The reading that was said to be right of a question, or of one alike.

    Questions are alike that differ in nothing but the names in them.

    Args:
        corrections: what was said.
        question: as it was asked.
        asked: the same as it is read.
        found: C readings.
        order: [C] their numbers, the best first.
        kg: the graph.

    Returns:
        its number and what was said; -1 and None where nothing was, or no reading is so any more.
    """
    masked = asked.alignment.masked_text() if corrections else ""
    alike = [one for one in corrections if one.masked == masked]
    same = [one for one in corrections if one.asks(question)]
    for one in same:
        for place in order.tolist():
            if found[place].query == one.query:
                return place, one
    for one in reversed(alike):
        for place in order.tolist():
            if nameless(kg, asked, found[place]) == one.told:
                return place, one
    return -1, None


def nameless(kg: KnowledgeGraph, asked: Asked, candidate: Candidate) -> str:
    """A reading in words, with the names of the question as "it"."""
    named = {option.entity for mention in asked.mentions for option in mention.options}
    return say(kg, candidate.query, masked={kg.entity_ids[row] for row in named})


def _name(kg: KnowledgeGraph) -> str:
    return f"{kg.relation_fingerprint[:16]}.jsonl"
