"""From questions with answers to a path priority: link, count, train, keep."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import jax
import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph
from jaxkg.learn.priority.model import (
    PriorityModel,
    entity_features,
    graph_inflow,
    text_encoder,
)
from jaxkg.learn.priority.subgraphs import subgraph_sizes
from jaxkg.learn.priority.train import PriorityConfig, PriorityExamples, train_priority
from jaxkg.learn.supervision import Training, revisit_rule, supervise
from jaxkg.learn.words import label_table, question_table, seen_buckets
from jaxkg.records import Question
from jaxkg.score.priority_params import PrioritySizes, init_priority
from jaxkg.tensors import TensorGraph
from jaxkg.text import NgramHasher, TextEncoder, label_words
from jaxkg.text.hashing import HashingEncoder
from jaxkg.types import NULL

_MOST_BUCKETS = 1 << 16
"""Every step moves the whole table of n-grams and its two moments."""

_TOO_LARGE = 10
"""Subgraphs of more than so many times the mean size are not trained on: each batch would have to
be as large as the largest."""


@dataclasses.dataclass(frozen=True)
class PriorityReport:
    """What training used and what it could not use.

    Attributes:
        questions: given.
        without_topic: no topic entity of the graph could be found.
        without_answer: no answer is an entity of the graph.
        too_large: their subgraph is far larger than the others'.
        trained_on: what was left, or was drawn of it.
        losses: of each step.
    """

    questions: int
    without_topic: int
    without_answer: int
    too_large: int
    trained_on: int
    losses: tuple[float, ...]


def fit_priority(
    kg: KnowledgeGraph,
    tensors: TensorGraph,
    questions: Sequence[Question],
    *,
    config: PriorityConfig | None = None,
    hops: int = 3,
    encoder: TextEncoder | None = None,
    use_paths: bool = False,
    training: Training = Training(),
) -> tuple[PriorityModel, PriorityReport]:
    """Train a path priority from questions and their answers alone, unless told otherwise.

    Args:
        kg, tensors: the graph.
        questions: with `answers`; topics given or to be linked.
        config: parts and schedule; None takes the defaults.
        hops: L, longest walk.
        encoder: of questions and relation labels; the model wants the same one later. None hashes
            words and letters.
        use_paths: learn from the questions' relation paths too, also of questions that the graph
            cannot answer; otherwise they are never looked at.
        training: how it is run.

    Returns:
        The model, and what became of the questions.

    Raises:
        JaxkgError: there is nothing to learn from, or paths have nothing to teach.
    """
    config, encode = config or PriorityConfig(), text_encoder(encoder, kg.relations)
    if use_paths and not config.walk_weights:
        raise JaxkgError(
            "relation paths teach the weights of walks, which walk_weights=false drops"
        )
    seed, transductive = training.seed, config.transductive
    draw = np.random.default_rng(seed).permutation(len(questions))
    asked = [questions[i] for i in draw[: config.most]]
    supervision = supervise(kg, asked, linker=training.linker, on_progress=training.tick)
    index = {name: row for row, name in enumerate(kg.relations)}
    paths = [_paths(index, question, hops) if use_paths else [] for question in asked]
    both = set(supervision.usable.tolist())
    usable = np.asarray([i for i, own in enumerate(paths) if own or i in both], int)
    if not len(usable):
        raise JaxkgError("no question has a topic and an answer in the graph: nothing to train on")
    known = supervision.of(usable)
    revisit = revisit_rule(known.starts, known.goals)
    sizes = subgraph_sizes(
        tensors, known.starts, hops=hops, fan_out=config.fan_out, revisit=revisit
    )
    fits = np.flatnonzero(sizes[:, -1] <= _TOO_LARGE * max(1.0, sizes[:, -1].mean()))
    known, masked = known.of(fits), known.of(fits).masked
    labels = [label_words(name) for name in kg.relations]
    hasher = NgramHasher.fitting([*masked, *labels])
    hasher = dataclasses.replace(hasher, buckets=min(hasher.buckets, _MOST_BUCKETS))
    label_text = encode(labels).astype(np.float32)
    none = np.zeros((len(fits), 0, hops), np.int32)
    examples = PriorityExamples(
        topics=known.starts,
        answers=list(known.goals),
        ngrams=question_table(hasher, masked),
        text=encode(masked).astype(np.float32),
        paths=_path_table([paths[usable[i]] for i in fits], hops) if use_paths else none,
        sizes=sizes[fits],
    )
    shape = PrioritySizes(
        hops=hops,
        buckets=hasher.buckets,
        rounds=config.rounds,
        text=label_text.shape[1],
        entities=tensors.graph.num_nodes if transductive else 0,
        features=0 if transductive else PrioritySizes.features,
        heads=config.heads,
        walk_weights=config.walk_weights,
        mass=config.mass,
    )
    params, losses = train_priority(
        tensors,
        graph_inflow(tensors),
        entity_features(kg, HashingEncoder(), rows=tensors.graph.num_nodes, width=shape.features),
        (label_table(hasher, kg.relations), label_text),
        examples,
        init_priority(kg.num_relations, shape, key=jax.random.key(seed)),
        config,
        revisit=revisit,
        training=training,
    )
    report = PriorityReport(
        questions=len(questions),
        without_topic=supervision.without_topic,
        without_answer=supervision.without_answer,
        too_large=len(usable) - len(fits),
        trained_on=len(fits),
        losses=losses,
    )
    model = PriorityModel(
        params=params,
        relations=kg.relations,
        hasher=hasher,
        sizes=shape,
        seen=seen_buckets(hasher, masked),
        label_text=label_text,
        graph=kg.fingerprint if transductive else None,
        about={
            "fit": {**dataclasses.asdict(report), "losses": losses[-10:]},
            "seed": seed,
            "revisit": revisit,
            **({} if encoder is None else {"encoder": [encoder.name, encoder.revision]}),
        },
    )
    return model, report


_MOST_PATHS = 8


def _paths(index: Mapping[str, int], question: Question, hops: int) -> list[list[int]]:
    """A question's relation paths as numbers, those that the graph and L hops allow."""
    steps = [[name.removeprefix("^") for name in path] for path in question.paths]
    known = [path for path in steps if 0 < len(path) <= hops and index.keys() >= set(path)]
    return [[index[name] for name in path] for path in known[:_MOST_PATHS]]


def _path_table(paths: Sequence[Sequence[Sequence[int]]], hops: int) -> np.ndarray:
    """[Q, K, L] int32, NULL past the end of a path and of the list."""
    table = np.full((len(paths), _MOST_PATHS, hops), NULL, np.int32)
    for row, own in enumerate(paths):
        for place, path in enumerate(own):
            table[row, place, : len(path)] = path
    return table
