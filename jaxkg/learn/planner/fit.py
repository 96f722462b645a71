"""From questions with answers to a planner: link, mine, train, keep."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from jaxkg.candidates import Revisit
from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph
from jaxkg.learn.mine import MinedPaths
from jaxkg.learn.planner.labels import label_examples
from jaxkg.learn.planner.model import Planner
from jaxkg.learn.planner.train import Examples, PlannerConfig, hasher_for, train_planner
from jaxkg.learn.planner.wordings import Wordings
from jaxkg.learn.supervision import Training, supervise
from jaxkg.learn.words import label_table, question_table, seen_buckets
from jaxkg.records import Question
from jaxkg.tensors import TensorGraph
from jaxkg.types import NULL

_MOST_PATHS = 3000
"""Relation paths of two or more hops that are said in their labels' words, at most."""

_SAY = 0.5
"""Weight of a wording made from labels beside a question with a perfect path."""


@dataclasses.dataclass(frozen=True)
class FitReport:
    """What training used and what it could not use.

    Attributes:
        questions: given.
        without_topic: no topic entity of the graph could be found.
        without_answer: no answer is an entity of the graph.
        without_path: no relation path leads from a topic to an answer.
        incomplete: their neighbourhood was too large to search whole.
        wordings: questions made from relation labels and learned beside the given ones.
        mined_f1: mean F1 of the best mined path, over questions with topic and answer; the
            ceiling of a planner that plans one path a question.
        held_out_f1: expected F1 on the held-out questions, of the epoch kept.
        epochs: (loss, held-out F1) of each epoch.
    """

    questions: int
    without_topic: int
    without_answer: int
    without_path: int
    incomplete: int
    wordings: int
    mined_f1: float
    held_out_f1: float
    epochs: tuple[tuple[float, float], ...]


def fit_planner(
    kg: KnowledgeGraph,
    tensors: TensorGraph,
    questions: Sequence[Question],
    *,
    held_out: float = 0.1,
    config: PlannerConfig = PlannerConfig(),
    revisit: Revisit | None = None,
    training: Training = Training(),
) -> tuple[Planner, FitReport]:
    """Train a planner from questions and their answers, without gold paths.

    Args:
        kg, tensors: the graph.
        questions: questions with `answers`; topics are linked if not given.
        held_out: share of the questions that only choose the epoch.
        config: sizes and schedule.
        revisit: which nodes a path may return to; None chooses by the answers, see
            `revisit_rule`.
        training: seed, checkpoints and progress.

    Returns:
        The planner, and a report of how many questions it learnt from.

    Raises:
        JaxkgError: there is nothing to learn from.
    """
    if not 0 <= held_out < 1:
        raise JaxkgError(f"held_out must be a share in [0, 1), not {held_out}")
    seed, tick = training.seed, training.tick
    told = supervise(kg, questions, linker=training.linker, on_progress=tick)
    known = told.of(told.usable)
    if revisit is None:
        revisit = known.revisit
    mined = known.mine(tensors, hops=config.hops, revisit=revisit, on_progress=tick)
    masked = known.masked
    said, spoken = _wordings_of_the_rest(kg, tensors, mined, hops=config.hops, seed=seed)
    hasher = hasher_for([*masked, *said], config)
    examples = Examples(question_table(hasher, masked), mined.relations, mined.f1)
    count = len(masked)
    order = np.random.default_rng(seed).permutation(count)
    first = max(0, min(count - 1, round(held_out * count)))
    aside, used = order[:first], order[first:]
    params, score, epochs = train_planner(
        label_table(hasher, kg.relations),
        _with_wordings(
            Examples(*(part[used] for part in examples)), question_table(hasher, said), spoken
        ),
        Examples(*(part[aside if first else used] for part in examples)),
        config,
        buckets=hasher.buckets,
        seed=seed,
        folder=training.folder,
        on_epoch=lambda epoch, loss, score: tick("train", epoch, config.epochs),
    )
    tick("train", config.epochs, config.epochs)
    report = FitReport(
        questions=len(questions),
        without_topic=told.without_topic,
        without_answer=told.without_answer,
        without_path=int(np.sum(mined.f1.max(axis=1, initial=0.0) == 0)),
        incomplete=mined.incomplete,
        wordings=len(said),
        mined_f1=float(mined.f1.max(axis=1).mean()) if len(mined.f1) else 0.0,
        held_out_f1=score,
        epochs=epochs,
    )
    read = [*(masked[i] for i in used), *said]
    planner = Planner(
        params=params,
        relations=kg.relations,
        hasher=hasher,
        hops=config.hops,
        seen=seen_buckets(hasher, read),
        about={"fit": dataclasses.asdict(report), "seed": seed, "revisit": revisit},
        wordings=Wordings.of(read),
    )
    return planner, report


def _wordings_of_the_rest(
    kg: KnowledgeGraph, tensors: TensorGraph, mined: MinedPaths, *, hops: int, seed: int
) -> tuple[list[str], np.ndarray]:
    """Wordings from relation labels, where the graph has relations that no question leads along.

    All relations are said, not only those: what is learned is to find a relation by its words.
    """
    shown = np.unique(mined.relations[mined.f1 > 0]) % kg.num_relations
    if not len(shown) or not len(np.setdiff1d(kg.triples[:, 1], shown)):
        return [], np.zeros((0, hops), np.int32)
    most = min(_MOST_PATHS, len(mined.f1))
    return label_examples(kg, tensors, hops=hops, most=most, per_path=1, seed=seed)


def _with_wordings(examples: Examples, ngrams: np.ndarray, spoken: np.ndarray) -> Examples:
    """Examples and wordings together; a wording has one path and a smaller say."""
    paths = np.full((len(spoken), *examples.paths.shape[1:]), NULL, np.int32)
    paths[:, 0] = spoken
    f1 = np.zeros((len(spoken), examples.f1.shape[1]), np.float32)
    f1[:, 0] = _SAY
    return Examples(
        np.concatenate([examples.ngrams, ngrams]),
        np.concatenate([examples.paths, paths]),
        np.concatenate([examples.f1, f1]),
    )
