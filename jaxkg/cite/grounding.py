"""The machine check of an answer: everything it cites is read in the graph again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jaxkg.answer import Answer
from jaxkg.cite.query_faults import query_faults
from jaxkg.cite.reading import Reading
from jaxkg.cite.walk_faults import walk_faults
from jaxkg.kg.graph import KnowledgeGraph


def check(kg: KnowledgeGraph, answer: Answer) -> tuple[str, ...]:
    """Hold an answer against the graph; `check_all` is much faster for many.

    Every cited triple must stand at its row and read as stated (ids, names, source). Every path
    must be connected in walking order, start at a chosen topic, and have the relation path and the
    sentence its triples yield. Every answer entity must cite paths of this answer, all of which
    end in it, and carry the graph's name. Ids of paths and entities must be unique. An answer
    without entities must say why, and only such a one may. An answer that carries a query graph is
    held against what that executes to instead, see `jaxkg.cite.query_faults`.

    Returns:
        One sentence per fault; empty where the answer is grounded.
    """
    return check_all(kg, [answer])[0]


def check_all(kg: KnowledgeGraph, answers: Sequence[Answer]) -> list[tuple[str, ...]]:
    """`check` for many answers; the triples they cite are read once."""
    rows = {
        citation.triple
        for answer in answers
        for path in answer.paths
        for citation in path.citations
        if isinstance(citation.triple, int) and 0 <= citation.triple < kg.num_triples
    }
    reading = Reading(kg, np.fromiter(rows, np.int64, len(rows)))
    return [tuple(_faults(reading, answer)) for answer in answers]


def grounded(kg: KnowledgeGraph, answer: Answer) -> bool:
    """True where `check` finds no fault; so is an abstention that cites nothing."""
    return not check(kg, answer)


def _faults(reading: Reading, answer: Answer) -> list[str]:
    if answer.query is not None:
        return query_faults(reading, answer)
    faults: list[str] = []
    topics = {link.entity: link.name for link in answer.topics if link.chosen}
    ends: dict[str, tuple[str, str]] = {}
    for path in answer.paths:
        if path.id in ends:
            faults.append(f"path id {path.id!r} is used more than once")
        ends[path.id] = path.end if path.citations else ("", "")
        if faults_of_walk := walk_faults(reading, path, topics):
            faults += [f"path {path.id!r} {fault}" for fault in faults_of_walk]
    seen: set[str] = set()
    for entity in answer.entities:
        if entity.entity in seen:
            faults.append(f"answer {entity.entity!r} is listed more than once")
        seen.add(entity.entity)
        if not entity.paths:
            faults.append(f"answer {entity.entity!r} cites no path")
        for path_id in entity.paths:
            end, name = ends.get(path_id, (None, ""))
            cites = f"answer {entity.entity!r} cites path {path_id!r}, which"
            if end is None:
                faults.append(f"{cites} is none of the paths here")
            elif end != entity.entity:
                faults.append(f"{cites} ends in {end!r}")
            elif name != entity.name:
                faults.append(f"{cites} calls it {name!r}, not {entity.name!r}")
    if answer.entities and answer.abstained is not None:
        faults.append("the answer abstains and yet lists entities")
    if not answer.entities and answer.abstained is None and answer.error is None:
        faults.append("the answer lists no entity and does not say why")
    return faults
