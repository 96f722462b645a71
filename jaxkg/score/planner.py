"""The learned planner: which relation comes next, or stop, given the question and the path so far.

A bag of hashed n-grams is all it sees of a question. Relations are scored by learned vectors plus
the vectors of their own labels' n-grams, through the same table as the question's: a relation that
training never showed can still be found by its words.
"""

import functools
from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp

from jaxkg.types import NULL


class PlannerParams(NamedTuple):
    """Weights; D is the model width, V the n-gram buckets, C = 2R relation codes, L hops."""

    ngram: jax.Array  # [V, D] float32
    question: jax.Array  # [D, D] float32
    step: jax.Array  # [L + 1, D, D] float32, what each hop reads from the question
    previous: jax.Array  # [C, D] float32, the relation taken before
    carry: jax.Array  # [D, D] float32
    relation: jax.Array  # [C + 1, D] float32, the last row is "stop"
    bias: jax.Array  # [C + 1] float32
    label_gate: jax.Array  # [2] float32, weight of label words, forward and inverse


@functools.partial(jax.jit, static_argnames=("num_relations", "hops", "width", "buckets"))
def init_planner(
    num_relations: int, *, hops: int, width: int, buckets: int, key: jax.Array
) -> PlannerParams:
    """Random weights.

    Args:
        num_relations: R of the graph.
        hops: L, longest path.
        width: D.
        buckets: V.
    """
    codes = 2 * num_relations
    ngram_key, question_key, step_key, carry_key, out_key = jax.random.split(key, 5)
    scale = width**-0.5
    return PlannerParams(
        ngram=scale * jax.random.normal(ngram_key, (buckets, width)),
        question=scale * jax.random.normal(question_key, (width, width)),
        step=scale * jax.random.normal(step_key, (hops + 1, width, width)),
        previous=jnp.zeros((codes, width)),
        carry=scale * jax.random.normal(carry_key, (width, width)),
        relation=0.1 * scale * jax.random.normal(out_key, (codes + 1, width)),
        bias=jnp.zeros(codes + 1),
        label_gate=jnp.full(2, 10.0, jnp.float32),
    )


def bag(table: jax.Array, ngrams: jax.Array) -> jax.Array:
    """Normalised sum of n-gram vectors.

    Args:
        table: [V, D] float32.
        ngrams: [..., T] int32 buckets, NULL for none.

    Returns:
        [..., D] float32; zero for an empty text.

    >>> bag(jnp.asarray([[1.0, 0.0], [0.0, 2.0]]), jnp.asarray([0, 1, 0, 1, -1])).tolist()
    [1.0, 2.0]
    """
    there = ngrams != NULL
    vectors = jnp.where(there[..., None], table[jnp.maximum(ngrams, 0)], 0.0)
    total = jnp.sum(vectors, axis=-2)
    return total / jnp.sqrt(jnp.maximum(jnp.sum(there, axis=-1, keepdims=True), 1))


def label_vectors(params: PlannerParams, labels: jax.Array) -> jax.Array:
    """Vectors of the relation codes' labels, the inverse codes after the relations.

    Args:
        labels: [R, T] int32 buckets of each relation's label.

    Returns:
        [2R, D] float32.
    """
    vectors = bag(params.ngram, labels)
    return jnp.concatenate([params.label_gate[0] * vectors, params.label_gate[1] * vectors])


class Reading(NamedTuple):
    """What the planner takes from a question, once, before it plans."""

    words: jax.Array  # [..., D] float32, the bag itself: matched against relation labels
    reads: jax.Array  # [..., L + 1, D] float32, what each hop looks for


def read_question(params: PlannerParams, ngrams: jax.Array) -> Reading:
    """Encode a question.

    Args:
        ngrams: [T] int32 buckets of the question with its topic masked.
    """
    words = bag(params.ngram, ngrams)
    hidden = jnp.tanh(words @ params.question) + words
    return Reading(words, jnp.einsum("d,lde->le", hidden, params.step) + hidden[None])


def next_relation_logits(
    params: PlannerParams, labels: jax.Array, reading: Reading, taken: jax.Array
) -> jax.Array:
    """Log-probabilities of the next relation, or of stopping, at every hop of a path.

    Args:
        labels: [2R, D] float32 from `label_vectors`.
        reading: of one question.
        taken: [L] int32 codes of a path, NULL past its end.

    Returns:
        [L + 1, 2R + 1] float32; row l is conditioned on the first l relations, its last entry is
        "stop". Rows past the end of the path are conditioned on the whole path.
    """
    chex.assert_rank([labels, taken], [2, 1])

    def move(state, relation):
        state = path_state(params, state, relation)
        return state, state

    first = jnp.zeros_like(reading.words)
    _, states = jax.lax.scan(move, first, taken)
    states = jnp.concatenate([first[None], states])
    likeness = labels @ reading.words
    return jax.vmap(lambda reads, state: relation_logits(params, likeness, reads, state))(
        reading.reads, states
    )


def path_state(params: PlannerParams, state: jax.Array, relation: jax.Array) -> jax.Array:
    """What the planner keeps of a path, one relation later.

    Args:
        state: [D] float32, zeros for an empty path.
        relation: [] int32 code, NULL for none.

    Returns:
        [D] float32, unchanged by NULL.
    """
    moved = jnp.tanh(state @ params.carry + params.previous[jnp.maximum(relation, 0)])
    return jnp.where(relation == NULL, state, moved)


def relation_logits(
    params: PlannerParams, likeness: jax.Array, reads: jax.Array, state: jax.Array
) -> jax.Array:
    """Log-probabilities of one path's next relation, or of stopping.

    Args:
        likeness: [2R] float32, `label_vectors` times the question's `Reading.words`.
        reads: [D] float32, the row of `Reading.reads` for the hops taken.
        state: [D] float32 from `path_state`.

    Returns:
        [2R + 1] float32, the last entry is "stop".
    """
    scores = jnp.tanh(reads + state) @ params.relation.T + params.bias
    return jax.nn.log_softmax(scores + jnp.pad(likeness, (0, 1)))


def path_log_probability(
    params: PlannerParams, labels: jax.Array, reading: Reading, path: jax.Array
) -> jax.Array:
    """Log-probability that the planner emits exactly this path and then stops.

    Args:
        labels: [2R, D] float32 from `label_vectors`.
        reading: of one question.
        path: [L] int32 codes, NULL past its end.

    Returns:
        [] float32. After L hops there is nothing left but to stop.
    """
    hops = path.shape[0]
    stop = params.bias.shape[0] - 1
    length = jnp.sum(path != NULL)
    steps = jnp.arange(hops)
    # After the last relation nothing is chosen.
    before = reading._replace(reads=reading.reads[:hops])
    logits = next_relation_logits(params, labels, before, path[:-1])
    emitted = jnp.where(steps < length, jnp.maximum(path, 0), stop)
    chosen = jnp.take_along_axis(logits, emitted[:, None], axis=1)[:, 0]
    return jnp.sum(jnp.where(steps <= length, chosen, 0.0))
