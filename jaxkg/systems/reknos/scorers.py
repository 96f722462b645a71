"""Scorers of super-relations without a language model.

A numeric scorer says how probable each relation, or stopping, is after a partial relation path. It
keeps a beam of relation paths within the super-relations chosen so far; a super-relation scores
the probability that the beam's next relation is one of its members.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.kg import Topics
from jaxkg.kg.link.topics import masked_texts
from jaxkg.learn.planner.model import Planner
from jaxkg.records import Question
from jaxkg.score.planner import (
    PlannerParams,
    label_vectors,
    path_log_probability,
    read_question,
)
from jaxkg.search.plans import planner_scorer
from jaxkg.search.relation_beam import Beam, Scored
from jaxkg.tensors import bucket, pad
from jaxkg.text.hashing import Encoder, HashingEncoder
from jaxkg.types import NULL

BeamScorer = Callable[[Any, Any], Callable[[Beam, jax.Array], Scored]]
"""From a scorer's weights and its view of the questions [B, ...] to what `relation_beam.search`
asks: logits of the next relation and, last, of stopping, normalised or not. Pure."""

HINTS = {
    "who": "person people",
    "where": "location place",
    "when": "date time year",
}
"""What labels call the things that question words ask for."""


class NumericScorer(Protocol):
    """Anything that can rank relations without a language model."""

    @property
    def beam_scorer(self) -> BeamScorer:
        """What runs on the device."""
        ...

    def check(self, relations: Sequence[str], hops: int) -> None:
        """Raise a `JaxkgError` where the scorer is not for these relations or this many hops."""
        ...

    def weights(self) -> Any:
        """Arrays of the graph and the scorer, moved to the device once."""
        ...

    def read(self, questions: Sequence[Question], topics: Sequence[Topics]) -> Any:
        """[Q, ...] arrays: what the scorer sees of the questions."""
        ...


@dataclasses.dataclass(frozen=True)
class LabelScorer:
    """Scores a relation by the cosine of its label and the question; nothing is learned.

    Labels do not tell how many hops a question means: what stopping is worth is the same for all,
    and many searches for two hops end after one.

    Attributes:
        relations: names of the graph's relations.
        encoder: of labels and questions; None hashes words and letters, weighted by how rare they
            are among the labels.
        hints: words that stand for what a question word asks for; they are added to a question
            that has it.
        temperature: cosines are divided by it.
        stop: the cosine that stopping is worth.
    """

    relations: tuple[str, ...]
    encoder: Encoder | None = None
    hints: Mapping[str, str] = dataclasses.field(default_factory=lambda: HINTS)
    temperature: float = 0.1
    stop: float = 0.6

    @property
    def beam_scorer(self) -> BeamScorer:
        """See `NumericScorer`."""
        return label_scorer

    def check(self, relations: Sequence[str], hops: int) -> None:
        """See `NumericScorer`."""
        if tuple(relations) != self.relations:
            raise JaxkgError(
                f"this scorer knows the labels of {len(self.relations)} relations, which are not "
                f"the {len(relations)} of the graph"
            )

    @functools.cached_property
    def _encoder(self) -> Encoder:
        return self.encoder or HashingEncoder().fitted(self.relations)

    def weights(self) -> Any:
        """[2] float32: temperature and stop."""
        return np.asarray([self.temperature, self.stop], np.float32)

    def read(self, questions: Sequence[Question], topics: Sequence[Topics]) -> np.ndarray:
        """[Q, R] float32 cosines of questions, their topics masked, and labels."""
        hinted = []
        for text in masked_texts(questions, topics):
            said = set(text.lower().split())
            hinted.append(" ".join([text, *(self.hints[w] for w in self.hints if w in said)]))
        return self._encoder(hinted) @ self._labels.T

    @functools.cached_property
    def _labels(self) -> np.ndarray:
        return self._encoder(self.relations)


def label_scorer(weights: jax.Array, likeness: jax.Array) -> Callable[[Beam, jax.Array], Scored]:
    """What `LabelScorer` says: the same both ways along a relation, and nothing for one taken.

    The words that spoke for a relation have been said: at its first likeness again, it would lead
    back to where it came from (to all people of that gender, say).
    """
    count = likeness.shape[1]
    stop = weights[1]

    def score(beam: Beam, options: jax.Array) -> Scored:
        code = jnp.where(beam.relations == NULL, count, beam.relations % count)
        batch, width, _ = code.shape
        row = jnp.arange(batch, dtype=jnp.int32)[:, None, None]
        place = jnp.arange(width, dtype=jnp.int32)[None, :, None]
        left = jnp.broadcast_to(likeness[:, None, :], (batch, width, count))
        left = left.at[row, place, code].min(0.0, mode="drop")
        stops = jnp.broadcast_to(stop, (batch, width, 1))
        return Scored(jnp.concatenate([left, left, stops], axis=2) / weights[0])

    return score


@dataclasses.dataclass(frozen=True)
class PlannerScorer:
    """Scores relations by a learned planner."""

    planner: Planner

    @property
    def beam_scorer(self) -> BeamScorer:
        """See `NumericScorer`."""
        return _planner_scorer

    def check(self, relations: Sequence[str], hops: int) -> None:
        """See `NumericScorer`."""
        self.planner.check_relations(relations)
        if hops > self.planner.hops:
            raise JaxkgError(
                f"the planner plans at most {self.planner.hops} hops, but the search takes {hops} "
                "steps"
            )

    def weights(self) -> Any:
        """The planner's weights and its labels' n-grams."""
        return self.planner.params, self.planner.label_ngrams()

    def read(self, questions: Sequence[Question], topics: Sequence[Topics]) -> np.ndarray:
        """[Q, T] int32 n-grams of questions, their topics masked."""
        return self.planner.ngrams(masked_texts(questions, topics))

    def confidence(
        self, questions: Sequence[Question], topics: Sequence[Topics], relations: np.ndarray
    ) -> np.ndarray:
        """How sure the planner is of paths, whatever else the graph would have offered.

        The search weighs relations against those that there are; where the one that a question
        means is missing, the best of the others looks probable.

        Args:
            questions, topics: Q of each.
            relations: [Q, L] int32 codes, NULL past the end of a path.

        Returns:
            [Q] float, probability times the share of the words known, as `PlannedSettings` has it;
            0 where there is no path.
        """
        masked = masked_texts(questions, topics)
        rows = bucket(len(masked))
        longer = self.planner.hops - relations.shape[1]
        paths = np.pad(relations, ((0, 0), (0, longer)), constant_values=NULL)
        logs = _path_log_probabilities(
            *self.weights(), pad(self.planner.ngrams(masked), rows), pad(paths, rows)
        )
        probability = np.exp(np.asarray(logs)[: len(masked)]) * (relations[:, 0] != NULL)
        return probability * [self.planner.known_share(text) for text in masked]


@jax.jit
def _path_log_probabilities(
    params: PlannerParams, label_ngrams: jax.Array, ngrams: jax.Array, paths: jax.Array
) -> jax.Array:
    labels = label_vectors(params, label_ngrams)

    def of_question(ngrams: jax.Array, path: jax.Array) -> jax.Array:
        return path_log_probability(params, labels, read_question(params, ngrams), path)

    return jax.vmap(of_question)(ngrams, paths)


def _planner_scorer(weights: Any, ngrams: jax.Array) -> Callable[[Beam, jax.Array], Scored]:
    params, label_ngrams = weights
    return planner_scorer(params, label_ngrams, ngrams)


def probabilities(logits: jax.Array, options: jax.Array, may_stop: jax.Array) -> jax.Array:
    """Log-probabilities over what each path can really do; -inf for the rest.

    Args:
        logits: [B, W, 2R + 1] float32.
        options: [B, W, 2R] bool, relations that lead on.
        may_stop: [B, W] bool.
    """
    possible = jnp.concatenate([options, may_stop[:, :, None]], axis=2)
    masked = jnp.where(possible, logits, -jnp.inf)
    total = jax.nn.logsumexp(masked, axis=2, keepdims=True)
    return jnp.where(possible, masked - jnp.where(jnp.isfinite(total), total, 0.0), -jnp.inf)


def group_scores(beam: Beam, scores: jax.Array, group: jax.Array, num_groups: int) -> jax.Array:
    """How probable it is that the next relation is a member of each super-relation.

    Args:
        beam: W partial relation paths a question.
        scores: [B, W, 2R + 1] float32 log-probabilities.
        group: [2R] int32.
        num_groups: S; static.

    Returns:
        [B, S] float32, given that the path is one of the beam's open ones.
    """
    held = jnp.where(beam.open, beam.score, -jnp.inf)
    best = jnp.max(held, axis=1, keepdims=True)
    held = jnp.exp(held - jnp.where(jnp.isfinite(best), best, 0.0))
    by_code = jnp.einsum("bw,bwc->bc", held, jnp.exp(scores[:, :, :-1]))
    return jnp.zeros((len(held), num_groups)).at[:, group].add(by_code)


def stop_share(beam: Beam, scores: jax.Array) -> jax.Array:
    """Probability that a relation path no longer than the search so far is the whole of it.

    Args:
        beam: W relation paths a question.
        scores: [B, W, 2R + 1] float32 log-probabilities of going on, or stopping.

    Returns:
        [B] float32.
    """
    mass = jnp.exp(beam.score)
    stopped = jnp.where(
        beam.finished, mass, jnp.where(beam.open, mass * jnp.exp(scores[..., -1]), 0)
    )
    return jnp.sum(stopped, axis=1) / jnp.maximum(jnp.sum(mass, axis=1), 1e-30)


def within(
    beam: Beam, paths: jax.Array, group: jax.Array, num_groups: int
) -> tuple[jax.Array, jax.Array]:
    """How relation paths may go on so that they stay within given super-relation paths.

    Args:
        beam: W relation paths a question.
        paths: [B, Q, L] int32 super-relations, NULL past the end and for no path.
        group: [2R] int32.
        num_groups: S; static.

    Returns:
        [B, W, 2R] bool, relations that may follow; [B, W] bool, paths that are whole.

    Reference: ReKnoS, Theorem 4.2.
    """
    taken = jnp.where(beam.relations == NULL, NULL, group[jnp.maximum(beam.relations, 0)])
    same = (taken[:, :, None, :] == paths[:, None, :, :]) | (taken == NULL)[:, :, None, :]
    length = jnp.sum(taken != NULL, axis=2)  # [B, W]
    fits = jnp.all(same, axis=3)  # [B, W, Q]
    reach = jnp.sum(paths != NULL, axis=2)  # [B, Q]
    whole = jnp.any(fits & (reach[:, None, :] == length[:, :, None]) & (length > 0)[..., None], 2)
    step = jnp.minimum(length, paths.shape[2] - 1)
    following = jnp.take_along_axis(paths[:, None], step[:, :, None, None], axis=3)[..., 0]
    following = jnp.where(fits & (reach[:, None, :] > length[:, :, None]), following, NULL)
    batch, width, _ = following.shape
    place = jnp.arange(batch * width, dtype=jnp.int32).reshape(batch, width, 1)
    table = jnp.zeros((batch * width, num_groups), bool)
    column = jnp.where(following == NULL, num_groups, following)
    table = table.at[place, column].set(True, mode="drop")
    return table.reshape(batch, width, num_groups)[:, :, group], whole
