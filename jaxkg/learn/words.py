"""Words as models read them: n-gram tables, words never seen left out, words hidden in training."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import chex
import jax
import jax.numpy as jnp
import numpy as np

from jaxkg.text import NgramHasher, label_words
from jaxkg.types import NULL

QUESTION_WORDS = 40
"""Words read of a question, the first ones."""

_LABEL_WIDTH = 24


def label_table(hasher: NgramHasher, relations: Sequence[str]) -> np.ndarray:
    """[R, 24] int32 n-gram buckets of the relation labels, NULL where there are fewer."""
    return hasher.table([label_words(name) for name in relations], width=_LABEL_WIDTH)


def question_table(hasher: NgramHasher, masked: Sequence[str]) -> np.ndarray:
    """[Q, T] int32 n-gram buckets of questions whose topics are masked, see `NgramHasher.grid`."""
    return hasher.grid(masked, words=QUESTION_WORDS)


def seen_buckets(hasher: NgramHasher, masked: Sequence[str]) -> np.ndarray:
    """[V] bool, the n-grams that some training question has."""
    seen = np.zeros(hasher.buckets, bool)
    seen[np.unique([bucket for text in masked for bucket in hasher.ids(text)])] = True
    return seen


class ReadsWords:
    """A trained model that reads questions and relation labels as hashed n-grams."""

    relations: tuple[str, ...]
    hasher: NgramHasher
    seen: np.ndarray  # [V] bool, buckets of the words it was trained on

    def label_ngrams(self) -> np.ndarray:
        """[R, T'] int32, see `label_table`."""
        return self._labels

    @functools.cached_property
    def _labels(self) -> np.ndarray:
        return label_table(self.hasher, self.relations)

    def ngrams(self, masked: Sequence[str]) -> np.ndarray:
        """`question_table` without the n-grams that neither training nor a relation label has.

        Nothing was learned about those: their vectors are still the random ones.
        """
        table = question_table(self.hasher, masked)
        return np.where(self._known[table], table, NULL)

    @functools.cached_property
    def _known(self) -> np.ndarray:
        known = self.seen.copy()
        known[self._labels[self._labels != NULL]] = True
        return known

    def known_share(self, masked: str) -> float:
        """Share of a question's words that training has shown; 1 for a question without words."""
        words = self.hasher.word_ids(masked)
        return np.count_nonzero(self.seen[words]) / len(words) if words else 1.0


def hide_words(ngrams: jax.Array, key: jax.Array, *, words: float, each: float) -> jax.Array:
    """Hide some words of every other question, with all n-grams that they are part of.

    A question in other words has some that training never showed. A model that has learned to do
    with part of the words can answer it from the rest.

    Args:
        ngrams: [B, T] int32 of `question_table`.
        key: for the draws.
        words: a question loses a random share of its words, between 0 and this, or, as often, none.
        each: chance of every n-gram to be hidden besides.

    Returns:
        [B, T] int32, NULL where hidden.
    """
    chex.assert_shape(ngrams, (None, None))
    count, columns = ngrams.shape
    share_key, word_key, ngram_key = jax.random.split(key, 3)
    share = jax.random.uniform(share_key, (count, 1), minval=-words, maxval=words)
    gone = jax.random.bernoulli(word_key, jnp.maximum(share, 0.0), (count, QUESTION_WORDS))
    hidden = [gone]
    for n in range(1, columns // QUESTION_WORDS):
        hidden.append(hidden[-1] | jnp.pad(gone[:, n:], ((0, 0), (0, n))))
    drop = jnp.concatenate(hidden, axis=1) | jax.random.bernoulli(ngram_key, each, ngrams.shape)
    return jnp.where(drop, NULL, ngrams)
