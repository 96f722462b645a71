"""Words matched in order, against the definition tried out in plain Python."""

import functools

import chex
import jax.numpy as jnp
import numpy as np
import pytest

from jaxkg.ops.alignment import word_alignment
from jaxkg.types import NULL


def twin(likeness, question, text) -> float:
    """Every way to match words in order."""

    @functools.cache
    def best(i: int, j: int) -> float:
        if i == len(question) or j == len(text):
            return 0.0
        paired = likeness[question[i]][text[j]] + best(i + 1, j + 1)
        return max(paired, best(i + 1, j), best(i, j + 1))

    return 2 * best(0, 0) / max(len(question) + len(text), 1)


def padded(rows, width):
    return np.array([[*row, *[NULL] * (width - len(row))] for row in rows], np.int32)


@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_best_matching_in_order(seed):
    rng = np.random.default_rng(seed)
    likeness = rng.random((6, 7)).astype(np.float32)
    questions = [rng.integers(6, size=n).tolist() for n in (1, 3, 5)]
    texts = [rng.integers(7, size=n).tolist() for n in (2, 4, 6, 1)]
    found = word_alignment(jnp.asarray(likeness), padded(questions, 5), padded(texts, 6))
    chex.assert_shape(found, (3, 4))
    want = [[twin(likeness, question, text) for text in texts] for question in questions]
    np.testing.assert_allclose(found, want, rtol=1e-5)


def test_equal_sequences_are_wholly_alike_and_crossing_pairs_do_not_count():
    same = jnp.eye(3)
    rows = padded([[0, 1, 2], [2, 1, 0], []], 3)
    found = word_alignment(same, rows, rows)
    np.testing.assert_allclose(found, [[1, 1 / 3, 0], [1 / 3, 1, 0], [0, 0, 0]], rtol=1e-6)


def test_padding_changes_nothing():
    likeness = jnp.asarray(np.random.default_rng(9).random((4, 4)), jnp.float32)
    words, texts = [[0, 1]], [[2, 3, 1]]
    short = word_alignment(likeness, padded(words, 2), padded(texts, 3))
    wide = word_alignment(likeness, padded(words, 8), padded(texts, 16))
    np.testing.assert_allclose(short, wide, rtol=1e-6)
