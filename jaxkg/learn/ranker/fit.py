"""A trained path ranker: weights, the relations it knows, the text encoder it was made with."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxkg.candidates import Revisit
from jaxkg.kg import KnowledgeGraph
from jaxkg.learn.edges.model import code_texts
from jaxkg.learn.folder import FolderModel, ModelFolder
from jaxkg.learn.ranker.paths import surrounding_paths
from jaxkg.learn.ranker.train import RankerConfig, RankerExamples, train_ranker
from jaxkg.learn.supervision import Progress, Supervision, Training, supervise
from jaxkg.records import Question
from jaxkg.score.path_ranker import RankerParams, path_scores
from jaxkg.tensors import TensorGraph, bucket, pad
from jaxkg.text import NgramHasher, TextEncoder, label_words
from jaxkg.types import NULL

_NGRAMS = 64
_ENOUGH = 0.5
"""Least F1 of a mined path that counts as right."""


@dataclasses.dataclass(frozen=True)
class PathRanker(FolderModel):
    """Scores relation paths for questions.

    Attributes:
        members: weights of rankers whose scores are averaged.
        relations: names of the graph's relations.
        labels: [R, D] float32 text vectors of the relations; [2R, D] of codes where `directed`.
        hasher: of the questions' n-grams.
        encoder: name and revision of the text encoder.
        directed: steps of its paths are codes below 2R; else relations walked either way.
        about: what it was trained on, for people; `revisit` for the search.
    """

    kind = ModelFolder("path ranker", "ranker", "jaxkg-path-ranker", 3, "`jaxkg train ranked`")

    members: tuple[RankerParams, ...]
    relations: tuple[str, ...]
    labels: np.ndarray
    hasher: NgramHasher
    encoder: tuple[str, str]
    directed: bool = False
    about: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def hops(self) -> int:
        """Longest path it ranks."""
        return self.members[0].length.shape[0]

    def check(self, relations: Sequence[str], encoder: TextEncoder) -> None:
        """Refuse a graph or an encoder that the ranker was not trained for.

        Raises:
            JaxkgError: it says which.
        """
        self.kind.check_relations(self.relations, relations)
        self.kind.check_encoder(self.encoder, (encoder.name, encoder.revision))

    def read(
        self, encoder: TextEncoder, texts: Sequence[str], masked: Sequence[str]
    ) -> tuple[np.ndarray, np.ndarray]:
        """See `question_views`."""
        return question_views(encoder, self.hasher, texts, masked)

    def scores(
        self, texts: np.ndarray, ngrams: np.ndarray, question: np.ndarray, paths: np.ndarray
    ) -> np.ndarray:
        """Score relation paths.

        Args:
            texts, ngrams: [Q, 2D] and [Q, W] from `read`.
            question: [P] whose path each is.
            paths: [P, L] int32 relations below R, codes below 2R where `directed`; NULL past the
                end.

        Returns:
            [P] float32 logits, comparable within a question.
        """
        if len(paths) == 0:
            return np.zeros(0, np.float32)
        distinct, place = np.unique(paths, axis=0, return_inverse=True)
        size, count = bucket(len(distinct), floor=1024), bucket(len(paths), floor=1024)
        rows = bucket(len(texts))
        total = _flat_scores(
            self._weights,
            pad(texts, rows),
            pad(ngrams, rows),
            pad(distinct.astype(np.int32), size),
            np.resize(question.astype(np.int32), count),
            np.resize(place.reshape(-1).astype(np.int32), count),
        )
        return np.asarray(total)[: len(paths)]

    @functools.cached_property
    def _weights(self) -> Any:
        stacked = jax.tree.map(lambda *leaves: np.stack(leaves), *self.members)
        return jax.device_put((stacked, self.labels))

    def parts(self) -> tuple[Any, dict[str, Any]]:
        """See `FolderModel`."""
        return {"labels": self.labels, "members": self.members}, {
            "members": len(self.members),
            "buckets": self.hasher.buckets,
            "longest": self.hasher.longest,
            "encoder": self.encoder,
            "directed": self.directed,
            "about": dict(self.about),
        }

    @classmethod
    def of_parts(cls, meta: dict[str, Any], arrays: dict[str, Any]) -> PathRanker:
        """See `FolderModel`."""
        name, revision = meta["encoder"]
        ranker = cls(
            members=tuple(
                RankerParams(*(arrays[f"members/{i}/{name}"] for name in RankerParams._fields))
                for i in range(meta["members"])
            ),
            relations=tuple(meta["relations"]),
            labels=arrays["labels"],
            hasher=NgramHasher(buckets=meta["buckets"], longest=meta["longest"]),
            encoder=(name, revision),
            directed=meta["directed"],
            about=meta["about"],
        )
        sizes = {(len(m.relation), len(m.ngram)) for m in ranker.members}
        steps = len(ranker.relations) * (1 + ranker.directed)
        if sizes != {(steps, ranker.hasher.buckets)}:
            raise ValueError("weights and names disagree")
        return ranker


@jax.jit
def _flat_scores(weights, texts, ngrams, distinct, question, place) -> jax.Array:
    stacked, labels = weights

    def of_member(params: RankerParams) -> jax.Array:
        return path_scores(params, labels, texts, ngrams, distinct)[question, place]

    return jnp.mean(jax.lax.map(of_member, stacked), axis=0)


def question_views(
    encoder: TextEncoder, hasher: NgramHasher, texts: Sequence[str], masked: Sequence[str]
) -> tuple[np.ndarray, np.ndarray]:
    """What a ranker sees of questions: masked and whole text as vectors, masked text as n-grams.

    The mask lets wordings meet; the name behind it tells what kind of thing is asked about.

    Returns:
        [Q, 2D] float32; [Q, W] int32.
    """
    vectors = np.concatenate([encoder(list(masked)), encoder(list(texts))], axis=1)
    return vectors, hasher.table(masked, width=_NGRAMS)


def label_table(
    encoder: TextEncoder, relations: Sequence[str], *, directed: bool = False
) -> np.ndarray:
    """[R, D] float32 text vectors of relation labels; [2R, D] of codes where `directed`."""
    return encoder(code_texts(relations) if directed else [label_words(r) for r in relations])


def fit_ranker(
    kg: KnowledgeGraph,
    tensors: TensorGraph,
    questions: Sequence[Question],
    encoder: TextEncoder,
    *,
    hops: int = 2,
    directed: bool = False,
    config: RankerConfig = RankerConfig(),
    training: Training = Training(),
) -> PathRanker:
    """Train a path ranker.

    Right are a question's own `paths` where it has them, else the paths mined from its answers.
    Negatives come from the same neighbourhood: the paths around the question's topic
    or, where the graph lacks the topic, around the entity that most of its right paths could start
    from.

    Args:
        kg, tensors: the graph.
        questions: with paths, or with answers and topics that the graph has.
        encoder: of questions and relation labels.
        hops: L, longest path.
        directed: tell the two directions of a relation apart; else `^` is ignored in the questions'
            own paths, and edges are walked either way.
        config: sizes and schedule.
        training: how it is run; its folder keeps the state of each member.

    Raises:
        JaxkgError: nothing to learn from.
    """
    seed, tick, folder = training.seed, training.tick, training.folder
    given = len(questions)
    draw = np.random.default_rng(seed).permutation(given)
    if config.most is not None and given > config.most:
        questions = [questions[i] for i in draw[: config.most]]
    supervision = supervise(kg, questions, linker=training.linker, on_progress=tick)
    hasher = NgramHasher(buckets=config.buckets, longest=2)
    texts, ngrams = question_views(encoder, hasher, [q.text for q in questions], supervision.masked)
    tick("encode", len(questions), len(questions))
    right, revisit = right_paths(
        kg, tensors, supervision, hops=hops, directed=directed, on_progress=tick
    )
    starts = [
        own or stand_in(tensors, paths, directed=directed)
        for own, paths in zip(supervision.starts, right)
    ]
    table = surrounding_paths(tensors, starts, hops=hops, directed=directed)
    tick("look around", len(questions), len(questions))
    examples = RankerExamples(texts, ngrams, right, [table.of(i) for i in range(len(questions))])
    labels = label_table(encoder, kg.relations, directed=directed)
    members = [
        train_ranker(
            labels,
            examples,
            config,
            seed=seed + member,
            folder=None if folder is None else Path(folder) / str(member),
            on_epoch=lambda epoch, loss, score, done=member * config.epochs: tick(
                "train", done + epoch, config.epochs * config.members
            ),
        )
        for member in range(config.members)
    ]
    about = {
        "questions": given,
        "trained_on": len(questions),
        "with_paths": int(sum(len(paths) > 0 for paths in right)),
        "with_topic": len(questions) - supervision.without_topic,
        "revisit": revisit,
        "seed": seed,
    }
    host = jax.device_get(tuple(members))
    of = encoder.name, encoder.revision
    return PathRanker(host, kg.relations, labels, hasher, of, directed, about)


def right_paths(
    kg: KnowledgeGraph,
    tensors: TensorGraph,
    supervision: Supervision,
    *,
    hops: int = 2,
    directed: bool = False,
    on_progress: Progress | None = None,
) -> tuple[list[np.ndarray], Revisit]:
    """Right paths of each question: its own, else those mined from its answers.

    Returns:
        [P, L] int32 for each question, and the rule that they may return to nodes by.
    """
    size = kg.num_relations
    number = {name: place for place, name in enumerate(kg.relations)}
    number |= {f"^{name}": place + size * directed for name, place in number.items()}
    paths = []
    for question in supervision.questions:
        rows = [[number.get(step, NULL) for step in path] for path in question.paths]
        rows = [
            row + [NULL] * (hops - len(row))
            for row in rows
            if 0 < len(row) <= hops and min(row) >= 0
        ]
        paths.append(np.unique(np.asarray(rows, np.int32).reshape(-1, hops), axis=0))
    revisit = supervision.revisit
    mine = [i for i in supervision.usable.tolist() if not supervision.questions[i].paths]
    if mine:
        part = supervision.of(np.asarray(mine))
        mined = part.mine(tensors, hops=hops, revisit=revisit, on_progress=on_progress)
        for place, i in enumerate(mine):
            good = mined.relations[place][mined.f1[place] >= _ENOUGH]
            steps = np.where(good == NULL, NULL, good % (size * (1 + directed)))
            paths[i] = np.unique(steps.astype(np.int32), axis=0)
    return paths, revisit


def stand_in(tensors: TensorGraph, paths: np.ndarray, *, directed: bool = False) -> tuple[int, ...]:
    """The node that most of the first steps of some paths leave; none for no paths."""
    if len(paths) == 0:
        return ()
    size = tensors.graph.num_relations * (1 + directed)
    relation = np.where(tensors.relation < 0, NULL, tensors.relation % size)
    first = np.isin(relation, paths[:, 0])
    pairs = np.unique(tensors.head[first].astype(np.int64) * (relation.max() + 1) + relation[first])
    if len(pairs) == 0:
        return ()
    return (int(np.bincount(pairs // (relation.max() + 1)).argmax()),)
