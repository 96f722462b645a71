"""The relation paths that lead on from a question's topics: all that a plan can be."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence

import numpy as np
from rapidfuzz.distance import Levenshtein

from jaxkg.kg.neighbourhood import Neighbourhood

_WIDEST = 64
"""Relation paths of a length that are gone on from, the nearest to the question."""
_SAMPLE = 256
"""Entities of each that are looked at; what exists from these exists."""


@dataclasses.dataclass(frozen=True)
class Ways:
    """Relation paths that exist, the likeliest first.

    Attributes:
        paths: relation codes of each.
        most: how many of them a model is offered at most.
    """

    paths: tuple[tuple[int, ...], ...] = ()
    most: int = 0

    @property
    def offered(self) -> tuple[tuple[int, ...], ...]:
        """Those that a model is offered."""
        return self.paths[: self.most]

    def nearest(self, codes: Sequence[int]) -> tuple[int, ...] | None:
        """The path that the fewest changed hops make of another; None where they share no hop."""
        shared = [path for path in self.paths if set(path) & set(codes)]
        return min(shared, key=lambda path: Levenshtein.distance(path, codes), default=None)


def ways_from(
    around: Neighbourhood,
    topics: Sequence[int],
    like: np.ndarray,
    vectors: np.ndarray,
    *,
    relations: Sequence[int],
    hops: int,
    most: int,
    returns: bool = False,
) -> Ways:
    """The relation paths out of topics whose relations are like a question, taken together.

    A path is as like the question as the sum of the vectors of its relations, each taken once, so
    that a relation which is walked there and back counts no more.

    Args:
        around: the graph.
        topics: entities that all paths leave.
        like: [D] the question's vector.
        vectors: [R, D] of the relations.
        relations: those that may be walked, either way.
        hops: longest path.
        most: paths that a model is offered.
        returns: whether a path may come back to a topic.
    """
    count = around.kg.num_relations
    barred = np.asarray(() if returns else topics, np.int64)
    level: dict[tuple[int, ...], np.ndarray] = {(): np.unique(np.asarray(topics, np.int64))}
    near: dict[tuple[int, ...], float] = {}
    for _ in range(hops):
        prefixes = sorted(level, key=lambda path: -near.get(path, 0.0))[:_WIDEST]
        nodes = [level[path][:: 1 + len(level[path]) // _SAMPLE] for path in prefixes]
        of, codes, starts, ends = around.ends_of_each(nodes)
        level = {}
        bounds = itertools.pairwise([*starts.tolist(), len(ends)])
        for place, code, (first, last) in zip(of.tolist(), codes.tolist(), bounds):
            reached = ends[first:last]
            reached = reached[~np.isin(reached, barred)]
            if code % count in relations and len(reached):
                path = (*prefixes[place], code)
                level[path] = reached
                total = vectors[list({each % count for each in path})].sum(axis=0)
                near[path] = float(total @ like) / max(float(np.linalg.norm(total)), 1e-9)
    ranked = sorted(near, key=lambda path: (-near[path], len(path), path))
    return Ways(tuple(ranked), most)
