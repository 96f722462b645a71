"""Names and keys by which something is meant though it is shown by another name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from jaxkg.kg import KnowledgeGraph
from jaxkg.kg.files.tables.keys import KEY, NAMES

_CALLED, _CALLS = 3, 0.9
"""Things that a name or a key calls, and how many of its values call one alone, at least."""


def callers(
    kg: KnowledgeGraph,
    labels: Mapping[int, Sequence[str]],
    degree: np.ndarray,
    kinds_of: Callable[[int], Sequence[int]],
) -> dict[int, int]:
    """Names and keys of things that nothing else bears, each with its thing: the key of an issue.

    Args:
        kg: the graph.
        labels: of relations that lead to things, by their codes.
        degree: [N] facts of each entity.
        kinds_of: gives the classes of an entity; those of one class nearly all have such a name.
    """
    called: dict[int, int] = {}
    for code, wordings in labels.items():
        if {wording.lower().split()[-1] for wording in wordings}.isdisjoint((*NAMES, *KEY)):
            continue
        heads, _, tails = kg.triples[kg.rows_of(code)].T
        kinds = np.array([(*kinds_of(head), -1)[0] for head in heads.tolist()])
        once = degree[tails] == 1
        for kind in np.unique(kinds).tolist():
            of = kinds == kind
            if of.sum() >= _CALLED and once[of].mean() >= _CALLS:
                called.update(zip(tails[of & once].tolist(), heads[of & once].tolist()))
    return called
