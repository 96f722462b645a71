"""A beam for one question: every continuation of every hop, pruned ones too."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import jax
import numpy as np

from jaxkg.candidates import Revisit, start
from jaxkg.kg import KnowledgeGraph
from jaxkg.learn.planner.model import Planner
from jaxkg.records import TraceNode
from jaxkg.search.plans import planner_scorer
from jaxkg.search.relation_beam import Beam, Layer, search_layers
from jaxkg.tensors import Capacities, rerun, starts_table
from jaxkg.types import NULL, Graph

_FIRST_SLOTS = 1024

Behind = Callable[[Layer, int], Mapping[int, Sequence[TraceNode]]]
"""From a layer and the place of a path in it to what each relation code rests on."""


def beam_hops(
    kg: KnowledgeGraph,
    graph: Graph,
    planner: Planner,
    masked: str,
    entities: Sequence[int],
    *,
    width: int,
    margin: float,
    revisit: Revisit,
) -> tuple[TraceNode, ...]:
    """The search that `plan_paths` runs, with its layers kept.

    Args:
        kg: names of the relations.
        graph: its tensors.
        planner: scores the continuations.
        masked: the question without its topics.
        entities: topics; without any there are no hops.
        width, margin, revisit: see `plan_paths`.

    Returns:
        For every hop its open paths with their probabilities, and below each its continuations
        with theirs, best first, and whether the path so continued was kept; "stop here" ends it.
    """
    if not entities:
        return ()
    row, node = starts_table([tuple(entities)], num_rows=1)

    def run(slots: tuple[int, ...]) -> Layers:
        return _layers(
            graph, planner.on_device, (row, node), planner.ngrams([masked]), margin,
            width=width, hops=planner.hops, capacities=slots, revisit=revisit,
        )  # fmt: skip

    layers, beam, *_ = jax.device_get(rerun(run, Capacities((_FIRST_SLOTS,) * 3 * planner.hops)))
    return told_hops(kg, layers, beam)


def told_hops(
    kg: KnowledgeGraph, layers: Sequence[Layer], last: Beam, behind: Behind | None = None
) -> tuple[TraceNode, ...]:
    """A search over relation paths, hop by hop; of the first question of its batch.

    Args:
        kg: names of the relations.
        layers, last: of `search_layers`, on the host.
        behind: what the continuations of a path rest on; None tells nothing.

    Returns:
        See `beam_hops`.
    """
    after = [*(layer.beam for layer in layers[1:]), last]
    return tuple(
        TraceNode(f"hop {hop}", below=_read_hop(kg, *pair, behind))
        for hop, pair in enumerate(zip(layers, after), start=1)
    )


class Layers(NamedTuple):
    """Every hop of one search."""

    layers: tuple[Layer, ...]
    last: Beam
    needed: jax.Array
    overflow: jax.Array


@functools.partial(jax.jit, static_argnames=("width", "hops", "capacities", "revisit"))
def _layers(graph, planner, topics, ngrams, margin, *, width, hops, capacities, revisit) -> Layers:
    layers, last = search_layers(
        graph, start(*topics), planner_scorer(planner[0], planner[1], ngrams),
        num_questions=1, width=width, hops=hops, capacities=capacities, margin=margin,
        revisit=revisit,
    )  # fmt: skip
    return Layers(layers, last, last.needed, last.overflow)


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
