"""The entities of one question by priority, for a saved trace."""

from __future__ import annotations

import numpy as np

from jaxkg.answer import Answer
from jaxkg.kg import KnowledgeGraph
from jaxkg.records import TraceNode
from jaxkg.systems.pathmind.walks import Ranked
from jaxkg.tensors import TensorGraph
from jaxkg.types import NULL

_SHOWN = 100
"""Entities of a relation path that are named; a hub has a hundred thousand."""


def priority_hops(
    kg: KnowledgeGraph, tensors: TensorGraph, ranked: Ranked, answer: Answer
) -> tuple[TraceNode, ...]:
    """What was reached in one hop, in two and so on.

    Args:
        kg, tensors: the graph.
        ranked: of the one question.
        answer: to it; its entities are kept.

    Returns:
        A node a hop; below it the relation paths of the heaviest walks of that length, each with
        the priority of its best entity, and below those the entities.
    """
    chosen = {entity.entity for entity in answer.entities}
    codes = np.where(ranked.heaviest == NULL, NULL, tensors.relation[ranked.heaviest])
    by_path: dict[tuple[int, ...], list[int]] = {}
    for place in np.argsort(-ranked.priority, kind="stable").tolist():
        path = tuple(code for code in codes[place].tolist() if code != NULL)
        by_path.setdefault(path, []).append(place)
    hops: list[list[TraceNode]] = [[] for _ in range(codes.shape[1])]
    sizes = [0] * codes.shape[1]
    for path, places in by_path.items():
        ends = [(int(ranked.node[place]), float(ranked.priority[place])) for place in places]
        nodes = {node for node, _ in ends if kg.entity_ids[node] in chosen}
        below = [TraceNode(kg.name(node), score, node in nodes) for node, score in ends[:_SHOWN]]
        if len(ends) > _SHOWN:
            below.append(TraceNode(f"… and {len(ends) - _SHOWN:,} of lower priority"))
        words = f"{' → '.join(map(kg.relation_name, path))}, reaches {len(ends):,}"
        sizes[len(path) - 1] += len(ends)
        hops[len(path) - 1].append(TraceNode(words, ends[0][1], bool(nodes), tuple(below)))
    return tuple(
        TraceNode(f"hop {hop}: {size:,} entities", below=tuple(paths))
        for hop, (size, paths) in enumerate(zip(sizes, hops), start=1)
    )


def iterations(answer: Answer, *, keep: int, grown: bool) -> tuple[TraceNode, ...]:
    """The walks that a reasoner is shown, iteration by iteration.

    Args:
        answer: as `PathMind.retrieve` gives it.
        keep: K.
        grown: a walk has grown by a triple an iteration; else each brought all its triples.
    """
    taken: dict[int, list[TraceNode]] = {}
    for place, path in enumerate(answer.paths):
        step = len(path.citations) if grown else place // keep + 1
        taken.setdefault(step, []).append(TraceNode(path.sentence, path.score, True))
    return tuple(
        TraceNode(f"iteration {step}: {len(walks)} walks taken", below=tuple(walks))
        for step, walks in taken.items()
    )
