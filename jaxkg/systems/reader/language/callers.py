"""Names and keys by which something is meant though it is shown by another name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from jaxkg.kg import KnowledgeGraph
from jaxkg.kg.files.tables.keys import KEY, NAMES

_CALLED, _CALLS = 3, 0.9
"""Things that a name or a key calls, and how many of its values call one alone, at least."""


def callers(
    kg: KnowledgeGraph,
    labels: Mapping[int, Sequence[str]],
    degree: np.ndarray,
    type_codes: Sequence[int],
) -> tuple[np.ndarray, np.ndarray]:
    """Names and keys of things that nothing else bears, each with its thing: the key of an issue.

    Args:
        kg: the graph.
        labels: of relations that lead to things, by their codes.
        degree: [N] facts of each entity.
        type_codes: of relations to classes; things of one class nearly all have such a name.

    Returns:
        [K] entities that are names or keys, ascending; [K] entities that these call.
    """
    kinds = np.full(kg.num_entities, -1)
    for code in type_codes:
        heads, _, tails = kg.triples[kg.rows_of(code)].T
        kinds[heads] = tails
    found = [np.zeros((0, 2), np.int64)]
    for code, wordings in labels.items():
        if {wording.lower().split()[-1] for wording in wordings}.isdisjoint((*NAMES, *KEY)):
            continue
        pairs = np.asarray(kg.triples[kg.rows_of(code)][:, ::-2], np.int64)
        once = degree[pairs[:, 0]] == 1
        for kind in np.unique(kinds[pairs[:, 1]]):
            of = kinds[pairs[:, 1]] == kind
            if of.sum() >= _CALLED and once[of].mean() >= _CALLS:
                found.append(pairs[of & once])
    every = np.concatenate(found)
    names, bearers = every[np.argsort(every[:, 0], kind="stable")].T
    return names, bearers
