"""The relation paths that lead on from a question's topics: all that a plan can be."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence

import numpy as np
from rapidfuzz.distance import Levenshtein

from jaxkg.kg.neighbourhood import Neighbourhood
from jaxkg.kg.typed_schema import DIGITS

_WIDEST = 64
"""Relation paths of a length that are gone on from, the nearest to the question."""
_SAMPLE = 256
"""Entities of each that are looked at; what exists from these exists."""

_ONWARDS, _LIKELIEST = 3, 4
"""Paths that are weighed beside the one that a model spells."""
_LIKE, _HOP, _RELATION = 8.0, 4.0, -2.0
"""What likeness, a hop and another relation add to a log-probability: a small model stops too
early. Chosen on 36 development questions of MetaQA, held against 30 others."""


@dataclasses.dataclass(frozen=True)
class Ways:
    """Relation paths that exist, the likeliest first.

    Attributes:
        paths: relation codes of each.
        like: of each, how like the question it is.
        most: how many of them a model is offered at most.
    """

    paths: tuple[tuple[int, ...], ...] = ()
    like: Mapping[tuple[int, ...], float] = dataclasses.field(default_factory=dict)
    most: int = 0

    @property
    def offered(self) -> tuple[tuple[int, ...], ...]:
        """Those that a model is offered."""
        return self.paths[: self.most]

    def rivals(self, path: tuple[int, ...]) -> list[tuple[int, ...]]:
        """A path, those that go one hop on from it, and those most like the question."""
        onwards = (other for other in self.paths if other[:-1] == path)
        best = (*itertools.islice(onwards, _ONWARDS), *self.paths[:_LIKELIEST])
        return list(dict.fromkeys((path, *best)))

    def weighed(
        self, paths: Sequence[tuple[int, ...]], likelihood: Sequence[float | None], relations: int
    ) -> list[tuple[int, ...]]:
        """Paths by what a model thinks of each and how like the question it is, the best first.

        Args:
            paths: some of them.
            likelihood: natural log-probability of each; those without one are left out.
            relations: R, so that a relation is known again the other way round.
        """
        scores = {
            path: logit
            + _LIKE * self.like[path]
            + _HOP * len(path)
            + _RELATION * len({code % relations for code in path})
            for path, logit in zip(paths, likelihood)
            if logit is not None
        }
        return sorted(scores, key=lambda path: -scores[path])

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
                length = max(float(np.linalg.norm(total)), 1e-9)
                near[path] = round(float(total @ like) / length, DIGITS)
    ranked = sorted(near, key=lambda path: (-near[path], len(path), path))
    return Ways(tuple(ranked), near, most)
