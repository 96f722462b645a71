"""Entity weights in the model's words.

Reference: PRoH, Section 4.5 and Eq. 4.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jaxkg.adjudicate.calls import proh as replies
from jaxkg.adjudicate.rounds import Steps
from jaxkg.systems.proh.calls import Calls
from jaxkg.systems.proh.index import HyperIndex
from jaxkg.systems.proh.settings import ProhSettings

_MOST_WEIGHED = 40
"""Entities whose weights are asked for at once, the most similar ones."""


def weigh_entities(
    calls: Calls,
    index: HyperIndex,
    question: str,
    paths: Sequence[tuple[int, ...]],
    weights: np.ndarray,
    weighed: set[int],
    settings: ProhSettings,
    charge: str,
    cut: list[str],
) -> Steps[None]:
    """Ask for the weights of the last facts' entities that are similar enough (Eq. 4).

    Args:
        calls, charge: the model, and who pays.
        index: of the hypergraph.
        question: the sub-question.
        paths: whose last facts count.
        weights: [N] float32, written to.
        weighed: entities that were weighed before, added to.
        settings: knobs.
        cut: notes on what was left out, added to.
    """
    merged = index.tensors.node_of_entity
    rows = {
        int(merged[e]) for path in paths for e in index.graph.entities_of(path[-1]).tolist()
    } - weighed
    if not rows:
        return
    candidates = np.asarray(sorted(rows))
    vector = index.encode([question]).astype(np.float32)[0]
    near = index.entity_host[candidates] @ vector
    weighed |= rows
    best = [int(i) for i in np.argsort(-near, kind="stable") if near[i] >= settings.threshold]
    asked = candidates[best[:_MOST_WEIGHED]].tolist()
    if not asked:
        return
    if len(best) > len(asked):
        cut.append(f"{len(best)} entities to weigh at once, the {len(asked)} most similar weighed")
    descriptions = [described(index, row) for row in asked]
    [reply] = yield from calls.ask([replies.entity_weights(question, descriptions, charge=charge)])
    if reply is None:
        # The similarity stands in for weights that could not be had.
        weights[asked] = np.maximum(near[best[:_MOST_WEIGHED]], 0.0)
        return
    for each in reply.weights:
        if 1 <= each.number <= len(asked) and each.weight == each.weight:
            weights[asked[each.number - 1]] = min(max(each.weight, 0.0), 1.0)


def described(index: HyperIndex, row: int) -> str:
    """An entity by its name and what the hypergraph says of it."""
    description = index.graph.descriptions[row]
    name = index.graph.name(row)
    return f"{name}: {description}" if description else name
