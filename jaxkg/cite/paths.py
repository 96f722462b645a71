"""Walks over rows of triples as supporting paths."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from jaxkg.cite.reading import Reading, walked_relation
from jaxkg.errors import JaxkgError
from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.records import Citation, SupportingPath


def cite_path(
    kg: KnowledgeGraph,
    triples: Sequence[int],
    inverse: Sequence[bool],
    *,
    id: str,
    score: float,
) -> SupportingPath:
    """One walk as a supporting path; `cite_paths` is much faster for many.

    Its sentence tells every triple in the graph's own direction, and those around a node without a
    name as one. Where a walk begins or ends at such a node, its id stands there with a few of its
    named neighbours. Two entities of a walk that share a name are told apart by their ids.

    >>> kg = KnowledgeGraph.from_triples([
    ...     ("Alien", "directed_by", "Ridley Scott"),
    ...     ("Blade Runner", "directed_by", "Ridley Scott"),
    ... ])
    >>> path = cite_path(kg, [0, 1], [False, True], id="p1", score=0.9)
    >>> path.relation_path
    ('directed_by', '^directed_by')
    >>> path.sentence
    'Alien, directed by: Ridley Scott; Blade Runner, directed by: Ridley Scott'

    Args:
        kg: the graph.
        triples: rows of `kg.triples`, in walking order.
        inverse: True where a triple is walked from tail to head.
        id: of the path, unique within its answer.
        score: of the path, higher is better.

    Raises:
        JaxkgError: see `cite_paths`.
    """
    return cite_paths(kg, [triples], [inverse], ids=[id], scores=[score])[0]


def cite_paths(
    kg: KnowledgeGraph,
    triples: npt.ArrayLike,
    inverse: npt.ArrayLike,
    *,
    ids: Sequence[str],
    scores: Sequence[float] | np.ndarray,
) -> list[SupportingPath]:
    """Many walks as supporting paths.

    Args:
        kg: the graph.
        triples: [P, L] rows of `kg.triples` in walking order, -1 past the end of a walk.
        inverse: [P, L] bool, True where a triple is walked from tail to head.
        ids: P path ids; each unique within its answer.
        scores: P numbers, higher is better.

    Returns:
        P paths, in order. Walks that take the same triple share one `Citation`.

    Raises:
        JaxkgError: the shapes do not fit, a walk is empty, a row is not in the graph, or two
            triples in a row do not meet.
    """
    rows, backwards = np.asarray(triples), np.asarray(inverse)
    if not len(rows) == len(backwards) == len(ids) == len(scores):
        raise JaxkgError(
            f"{len(rows)} walks, {len(backwards)} rows of directions, {len(ids)} ids and "
            f"{len(scores)} scores; the numbers must be equal"
        )
    if not len(rows):
        return []
    if rows.ndim != 2 or rows.shape != backwards.shape or not rows.shape[1]:
        raise JaxkgError(
            f"triples and inverse must have one shape [P, L], L at least 1; got {rows.shape} and "
            f"{backwards.shape}"
        )
    if rows.dtype.kind not in "iu" or backwards.dtype != bool:
        raise JaxkgError(
            f"triples must be integers and inverse bool, got {rows.dtype} and {backwards.dtype}"
        )
    rows = rows.astype(np.int64)
    there = rows >= 0
    _refuse_broken(kg, rows, backwards, ids)
    # One citation for each triple and direction, its key 2 row + direction.
    keys, place = np.unique((2 * rows + backwards)[there], return_inverse=True)
    reading = Reading(kg, keys >> 1)
    citations: list[Citation] = []
    for key in keys.tolist():
        head, relation, tail, head_name, tail_name, source = reading.facts[key >> 1]
        citations.append(
            Citation(key >> 1, head, relation, tail, head_name, tail_name, bool(key & 1), source)
        )
    relations = [walked_relation(citation) for citation in citations]
    # All walks end to end; each is a stretch.
    steps, stops = place.tolist(), np.cumsum(np.count_nonzero(there, axis=1)).tolist()
    cited = tuple([citations[step] for step in steps])
    taken = tuple([relations[step] for step in steps])
    paths: list[SupportingPath] = []
    first = 0
    for path_id, score, stop in zip(ids, np.asarray(scores, np.float64).tolist(), stops):
        walk = cited[first:stop]
        paths.append(SupportingPath(path_id, walk, taken[first:stop], score, reading.tell(walk)))
        first = stop
    return paths


def _refuse_broken(
    kg: KnowledgeGraph, rows: np.ndarray, inverse: np.ndarray, ids: Sequence[str]
) -> None:
    there = rows >= 0
    last = kg.num_triples - 1
    for broken, why in (
        (~there[:, 0], "has no triples"),
        (np.any(there[:, 1:] & ~there[:, :-1], axis=1), "goes on after its end (-1)"),
        (np.any(rows < -1, axis=1), "has a negative row other than -1, which marks its end"),
        (np.any(rows > last, axis=1), f"takes triples the graph has not, its last is {last}"),
    ):
        if np.any(broken):
            row = int(np.argmax(broken))
            raise JaxkgError(f"path {ids[row]!r} {why}: {rows[row].tolist()}")
    head, tail = np.where(there, kg.triples[rows, 0], -1), np.where(there, kg.triples[rows, 2], -1)
    start, end = np.where(inverse, tail, head), np.where(inverse, head, tail)
    apart = there[:, 1:] & (end[:, :-1] != start[:, 1:])
    if np.any(apart):
        row, step = np.argwhere(apart)[0].tolist()
        comes, goes = kg.entity_ids[int(end[row, step])], kg.entity_ids[int(start[row, step + 1])]
        raise JaxkgError(
            f"path {ids[row]!r} breaks between triples {rows[row, step]} and "
            f"{rows[row, step + 1]}: it ends at {comes!r} and continues from {goes!r}"
        )
