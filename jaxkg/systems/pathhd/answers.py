"""From retrieved schemas to answers: follow the best, keep those that reach an entity."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from jaxkg.kg import KnowledgeGraph
from jaxkg.records import RankedEntity
from jaxkg.systems.following import Followed
from jaxkg.systems.paths import Found
from jaxkg.types import NULL


def best_schemas(followed: Followed, relations: np.ndarray) -> np.ndarray:
    """[Q, L] of [Q, K, L] int32: the schema each answer comes from, NULL for none."""
    first = relations[np.arange(len(followed.used)), np.argmax(followed.used, axis=1)]
    return np.where(np.any(followed.used, axis=1, keepdims=True), first, NULL)


def right_shares(
    followed: Followed, gold: Sequence[Collection[int]], named: np.ndarray
) -> np.ndarray:
    """[Q, K] float32: share of right answers among the entities of each candidate.

    Args:
        followed: from `PathHD.ground`.
        gold: answer nodes of each question.
        named: [N] bool, nodes that can be answers.
    """
    pairs = zip(followed.question.tolist(), followed.node.tolist())
    right = np.fromiter((node in gold[q] for q, node in pairs), bool, len(followed.node))
    right &= named[followed.node]
    share = np.zeros(followed.used.shape, np.float32)
    np.add.at(share, (followed.question[right], followed.place[right]), 1)
    return share / np.maximum(followed.sizes, 1).astype(np.float32)


def best_entities(kg: KnowledgeGraph, answer: Found) -> tuple[RankedEntity, ...]:
    """What the best schema reaches; a node without a name of its own is no answer.

    The walks of the other schemas stand behind those entities that they reach too.
    """
    backing: dict[int, list[str]] = {}
    for node, path in zip(answer.node.tolist(), answer.paths):
        backing.setdefault(node, []).append(path.id)
    # Walks are in order of schemas, a walk for each node.
    first = {path.id: path for path in answer.paths[: np.sum(answer.place == answer.place[:1])]}
    return tuple(
        RankedEntity(kg.entity_ids[node], kg.name(node), first[ids[0]].score, tuple(ids))
        for node, ids in sorted(backing.items())
        if ids[0] in first and kg.has_name(node)
    )
