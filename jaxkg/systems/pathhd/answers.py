"""From retrieved schemas to answers: follow the best, keep those that reach an entity."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from jaxkg.candidates import Revisit
from jaxkg.deadline import check
from jaxkg.kg import KnowledgeGraph
from jaxkg.records import RankedEntity
from jaxkg.systems.following import Followed, Join, follow_paths
from jaxkg.systems.paths import Found
from jaxkg.tensors import TensorGraph
from jaxkg.types import NULL


def ground_schemas(
    tensors: TensorGraph,
    branches: Sequence[Sequence[Sequence[int]]],
    relations: np.ndarray,
    there: np.ndarray,
    named: np.ndarray,
    *,
    count: int,
    join: Join,
    revisit: Revisit,
    batch_size: int,
) -> Followed:
    """Follow the candidates of each question in order until `count` of them reach an entity.

    Twice as many are tried in every round, so that a question whose best candidates do not exist
    from its topic costs few rounds.

    Args:
        tensors: the graph.
        branches: nodes of each topic of each question.
        relations: [Q, K, L] candidates, best first.
        there: [Q, K] bool, real ones.
        named: [N] bool, nodes that can be answers.
        count: schemas wanted a question.
        join: see `Join`.
        revisit, batch_size: see `execute_paths`.

    Returns:
        Their walks; `sizes` are the nodes reached that can be answers.
    """
    size, places, hops = relations.shape
    used, followed = np.zeros((2, size, places), bool)
    entities = np.zeros((size, places), np.int64)
    complete = np.ones(size, bool)
    visited = np.zeros((size, 2), np.int64)
    nothing = np.zeros(0, np.int64)
    walks = [(nothing, nothing, nothing, np.zeros((0, hops), np.int32), nothing)]
    tried, step = 0, count
    while tried < places:
        check()
        more = there & (np.arange(places) >= tried) & (np.arange(places) < tried + step)
        more &= (used.sum(axis=1) < count)[:, None]
        tried, step = tried + step, 2 * step
        if not more.any():
            continue
        followed |= more
        walk = follow_paths(
            tensors, branches, relations, more, join=join, revisit=revisit, batch_size=batch_size
        )
        complete &= walk.complete
        visited += walk.visited
        np.add.at(entities, (walk.question, walk.place), named[walk.node])
        used |= more & (entities > 0)
        used &= np.cumsum(used, axis=1) <= count
        walks.append((walk.question, walk.place, walk.node, walk.edges, walk.branch))
    question, place, node, edges, branch = (np.concatenate(column) for column in zip(*walks))
    order = np.lexsort((place, question))
    every = Followed(
        question[order],
        place[order],
        node[order],
        edges[order],
        branch[order],
        used,
        np.where(followed, entities, NULL),
        complete,
        visited,
    )
    return every.only(used)


def best_schemas(followed: Followed, relations: np.ndarray) -> np.ndarray:
    """[Q, L] of [Q, K, L] int32: the schema each answer comes from, NULL for none."""
    first = relations[np.arange(len(followed.used)), np.argmax(followed.used, axis=1)]
    return np.where(np.any(followed.used, axis=1, keepdims=True), first, NULL)


def right_shares(
    followed: Followed, gold: Sequence[Collection[int]], named: np.ndarray
) -> np.ndarray:
    """[Q, K] float32: share of right answers among the entities of each candidate.

    Args:
        followed: from `ground_schemas`.
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
