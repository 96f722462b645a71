"""Sequences of words laid beside one another, alike words matched in order."""

from __future__ import annotations

import chex
import jax
import jax.numpy as jnp

from jaxkg.types import NULL


@jax.jit
def word_alignment(likeness: jax.Array, words: jax.Array, texts: jax.Array) -> jax.Array:
    """How alike sequences of words are: the best matching in order, a share of their mean length.

    A word is matched with one word of the other sequence or with none; matched pairs do not cross.
    The sum of the pairs' likeness is the largest there is (Needleman and Wunsch 1970, gaps cost
    nothing), found word by word of the questions for all texts at once.

    Args:
        likeness: [U, V] float32 in [0, 1], of words of questions and of texts.
        words: [Q, A] int32 rows of `likeness`, NULL past the end of a question.
        texts: [T, L] int32 columns of it, NULL past the end of a text.

    Returns:
        [Q, T] float32 in [0, 1]; 0 where both are empty.

    Example:
        >>> likeness = jnp.array([[1.0, 0.0], [0.0, 0.5]])
        >>> word_alignment(likeness, jnp.array([[0, 1]]), jnp.array([[0, 1], [1, 0]])).tolist()
        [[0.75, 0.5]]
    """
    chex.assert_rank([likeness, words, texts], 2)
    there = texts != NULL
    longest = jnp.zeros((texts.shape[0], texts.shape[1] + 1), likeness.dtype)

    def more(best: jax.Array, word: jax.Array) -> tuple[jax.Array, None]:
        # best[t, l]: of the question so far with the first l words of text t.
        pair = jnp.where(there & (word != NULL), likeness[word][texts], 0.0)
        paired = jnp.maximum(best[:, 1:], best[:, :-1] + pair)
        return best.at[:, 1:].set(jax.lax.cummax(paired, axis=1)), None

    def one(question: jax.Array) -> jax.Array:
        best, _ = jax.lax.scan(more, longest, question)
        lengths = jnp.sum(question != NULL) + jnp.sum(there, axis=1)
        return 2 * best[:, -1] / jnp.maximum(lengths, 1).astype(best.dtype)

    return jax.vmap(one)(words)
