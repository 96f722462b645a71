"""From questions with answers to an edge scorer: link, mine, train, validate by search."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import jax
import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph
from jaxkg.learn.edges.examples import agreed_paths, right_targets, states_along
from jaxkg.learn.edges.model import TrainedScorer, edge_inputs
from jaxkg.learn.edges.train import EdgeConfig, train_edge_scorer
from jaxkg.learn.mine import MinedPaths
from jaxkg.learn.supervision import Training, supervise
from jaxkg.records import Question
from jaxkg.score.edges import EdgeInputs, EdgeScorer, EdgeSizes, edge_tables
from jaxkg.search.guided import GuidedBeam, guided_paths
from jaxkg.search.plans import execute_paths
from jaxkg.tensors import TensorGraph
from jaxkg.text import TextEncoder
from jaxkg.types import NULL

_HELD_OUT = 0.1
"""Share of the questions that only choose the epoch."""

_VALIDATED = 512
"""Of those, how many are searched after each epoch, at most."""

_tables = jax.jit(edge_tables)


def fit_edge_scorer(
    kg: KnowledgeGraph,
    tensors: TensorGraph,
    questions: Sequence[Question],
    encoder: TextEncoder,
    *,
    graph: tuple[np.ndarray, np.ndarray] | None = None,
    sizes: EdgeSizes | None = None,
    config: EdgeConfig = EdgeConfig(),
    mined: MinedPaths | None = None,
    training: Training = Training(),
) -> TrainedScorer:
    """Train an edge scorer from questions and their answers; gold paths are never looked at.

    Args:
        kg, tensors: the graph.
        questions: with `answers`; topics given or to be linked.
        encoder: of questions, names and labels.
        graph: [N, G] graph vectors of entities and [2R, G] of relation codes; None reads text
            alone, and such a scorer runs on other graphs too.
        sizes: of the scorer; None takes the paper's, with the encoder's and the graph's dimensions.
        config: schedule.
        mined: result of `mine_paths` for all questions, where it is at hand.
        training: how it is run; a held-out score is the F1 of the search.

    Raises:
        JaxkgError: nothing to learn from.
    """
    seed, tick = training.seed, training.tick
    sizes = sizes or EdgeSizes(
        text=encoder.dimension,
        question=encoder.dimension,
        graph=0 if graph is None else graph[0].shape[1],
    )
    supervision = supervise(kg, questions, linker=training.linker, on_progress=tick)
    starts, goals, masked = supervision.starts, supervision.goals, supervision.masked
    if not len(supervision.usable):
        raise JaxkgError("no question has both a topic and an answer that the graph has")
    revisit = supervision.revisit
    if mined is None:
        mined = supervision.mine(tensors, hops=sizes.hops, revisit=revisit, on_progress=tick)
    distinct, place = np.unique(list(masked), return_inverse=True)
    vectors = encoder(distinct.tolist())[place]
    tick("encode questions", len(distinct), len(distinct))
    paths = agreed_paths(mined, masked, vectors)
    order = np.random.default_rng(seed).permutation(len(questions))
    aside = order[: round(_HELD_OUT * len(order))]
    learning = paths.copy()
    learning[aside] = NULL
    states = states_along(tensors, starts, learning, revisit=revisit)
    if config.labels == "target":
        on_paths = right_targets(tensors, goals, learning)
        states = dataclasses.replace(states, targets=on_paths)
    tick("encode names", 0, kg.num_entities)
    inputs = edge_inputs(kg, encoder, graph)
    tick("encode names", kg.num_entities, kg.num_entities)
    tried = aside[[bool(goals[i]) for i in aside.tolist()]][:_VALIDATED]

    topics, targets = ([rows[i] for i in tried.tolist()] for rows in (starts, goals))

    def validate(params: EdgeScorer, trained: EdgeInputs) -> float:
        """Mean F1 of greedy guided search."""
        plans = guided_paths(
            tensors,
            params,
            _tables(params, trained),
            vectors[tried],
            topics,
            GuidedBeam(sizes.hops, use_context=sizes.context, revisit=revisit),
        )
        reached = execute_paths(tensors, topics, plans.relations[:, 0], revisit=revisit)
        total = 0.0
        for row, goal in enumerate(targets):
            ends = set(reached.node[reached.offsets[row] : reached.offsets[row + 1]].tolist())
            total += 2 * len(ends & set(goal)) / max(1, len(ends) + len(set(goal)))
        return total / len(targets)

    params, trained, score = train_edge_scorer(
        tensors,
        states,
        inputs,
        vectors,
        np.sum(learning != NULL, axis=1).astype(np.int32),
        sizes=sizes,
        config=config,
        validate=validate if len(tried) else None,
        training=training,
    )
    tick("train", config.epochs * config.steps, config.epochs * config.steps)
    return TrainedScorer(
        params=jax.device_get(params),
        sizes=sizes,
        relations=kg.relations,
        relation_graph=np.asarray(trained.relation_graph),
        node_graph=np.asarray(inputs.node_graph[: kg.num_entities]),
        encoder=(encoder.name, encoder.revision),
        about={
            "questions": len(questions),
            "learned_from": int(np.any(learning != NULL, axis=1).sum()),
            "held_out_f1": score if len(tried) else None,
            "revisit": revisit,
            "config": dataclasses.asdict(config),
            "seed": seed,
        },
    )
