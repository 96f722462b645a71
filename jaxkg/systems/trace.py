"""A beam for one question: every continuation of every hop, pruned ones too."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import jax
import numpy as np

from jaxkg.kg import KnowledgeGraph
from jaxkg.records import TraceNode
from jaxkg.search.relation_beam import Beam, Layer
from jaxkg.types import NULL

Behind = Callable[[Layer, int], Mapping[int, Sequence[TraceNode]]]
"""From a layer and the place of a path in it to what each relation code rests on."""


def told_hops(
    kg: KnowledgeGraph, layers: Sequence[Layer], last: Beam, behind: Behind | None = None
) -> tuple[TraceNode, ...]:
    """A search over relation paths, hop by hop; of the first question of its batch.

    Args:
        kg: names of the relations.
        layers, last: of `search_layers`, on the host.
        behind: what the continuations of a path rest on; None tells nothing.

    Returns:
        For every hop its open paths with their probabilities, and below each its continuations
        with theirs, best first, and whether the path so continued was kept; "stop here" ends it.
    """
    after = [*(layer.beam for layer in layers[1:]), last]
    return tuple(
        TraceNode(f"hop {hop}", below=_read_hop(kg, *pair, behind))
        for hop, pair in enumerate(zip(layers, after), start=1)
    )


def _read_hop(
    kg: KnowledgeGraph, layer: Layer, after: Beam, behind: Behind | None
) -> tuple[TraceNode, ...]:
    """What one hop of the beam considered and what it kept, in names."""
    beam = layer.beam
    options, scores, relations, total = (
        column[0] for column in (layer.options, layer.scored.logits, beam.relations, beam.score)
    )
    kept = {_path(kg, row) for row in after.relations[0][np.isfinite(after.score[0])]}
    paths = []
    for place in np.flatnonzero(np.isfinite(total)):
        path = _path(kg, relations[place])
        finished = bool(beam.finished[0, place])
        rests = behind(layer, int(place)) if behind else {}
        ways = [
            TraceNode(
                name,
                float(np.exp(scores[place, code])),
                (*path, name) in kept,
                tuple(rests.get(code, ())),
            )
            for code in np.flatnonzero(options[place]).tolist()
            for name in (kg.relation_name(code),)
        ]
        if path and not finished:
            ways.insert(0, TraceNode("stop here", float(np.exp(scores[place, -1])), path in kept))
        ways.sort(key=lambda way: -(way.score or 0.0))
        told = " → ".join(path) or "(start)"
        paths.append(
            TraceNode(
                f"{told}, finished" if finished else told,
                float(np.exp(total[place])),
                below=tuple(ways),
            )
        )
    return tuple(paths)


def _path(kg: KnowledgeGraph, codes: jax.Array) -> tuple[str, ...]:
    return tuple(kg.relation_name(int(code)) for code in codes if code != NULL)
