"""A relation path step by step: which relation a question asks for next, or that the path ends.

The question is read token by token, with its topic marked. What was walked so far looks for its
words (attention), and they, with it, are compared with every relation's words. So a schema of
thousands of relations costs one product, and a relation never seen is known by its words.
"""

from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp


class StepParams(NamedTuple):
    """Weights; D numbers of a text vector, E of a learned relation vector, R relations."""

    upper: tuple[jax.Array, ...]  # upper layers of the text model, see `jaxkg.text.states.reread`
    mark: jax.Array  # [3, D] float32, added to no mention, the topic's, that of another topic
    relation: jax.Array  # [R, E] float32
    label: jax.Array  # [D + E, D] float32
    bias: jax.Array  # [R + 1] float32, the last of the end
    end: jax.Array  # [D] float32, the end as a relation
    start: jax.Array  # [D] float32, state of an empty path
    input: jax.Array  # [D, 3D] float32, of the state's update by a relation
    update: jax.Array  # [D, 3D] float32
    update_bias: jax.Array  # [3D] float32
    query: jax.Array  # [D, D] float32
    key: jax.Array  # [D, D] float32
    read: jax.Array  # [D, D] float32, from what was attended to
    inner: jax.Array  # [2D, H] float32, from that and the state
    outer: jax.Array  # [H, D] float32
    scale: jax.Array  # [] float32


def init_steps(
    upper: tuple[jax.Array, ...],
    num_relations: int,
    *,
    dimension: int,
    width: int = 64,
    hidden: int = 512,
    key: jax.Array,
) -> StepParams:
    """Weights that start from what texts alone say.

    Args:
        upper: layers of the text model.
        num_relations: R.
        dimension: D of the text model.
        width: E.
        hidden: H.
    """
    keys = iter(jax.random.split(key, 10))

    def normal(*shape: int, spread: float | None = None) -> jax.Array:
        return jax.random.normal(next(keys), shape) * (spread or shape[0] ** -0.5)

    same = jnp.eye(dimension)
    return StepParams(
        upper=upper,
        mark=normal(3, dimension, spread=0.02),
        relation=normal(num_relations, width, spread=0.1),
        label=jnp.concatenate([same, normal(width, dimension, spread=0.02)]),
        bias=jnp.zeros(num_relations + 1),
        end=normal(dimension, spread=0.05),
        start=jnp.zeros(dimension),
        input=normal(dimension, 3 * dimension),
        update=normal(dimension, 3 * dimension),
        update_bias=jnp.zeros(3 * dimension),
        query=normal(dimension, dimension),
        key=normal(dimension, dimension),
        read=same,
        inner=normal(2 * dimension, hidden),
        outer=normal(hidden, dimension, spread=0.02),
        scale=jnp.asarray(10.0, jnp.float32),
    )


def marked(params: StepParams, states: jax.Array, marks: jax.Array) -> jax.Array:
    """[B, T, D] token states with the topics marked.

    Args:
        states: [B, T, D] float32.
        marks: [B, T] int32: 1 the topic's mention, 2 another topic's, else 0.
    """
    return states + jnp.where((marks > 0)[..., None], params.mark[marks], 0.0)


def relation_vectors(params: StepParams, labels: jax.Array) -> jax.Array:
    """[R + 1, D] float32 vectors of relations and, last, of the end.

    Args:
        labels: [R, D] float32 text vectors of the relations.
    """
    chex.assert_equal_shape_prefix([labels, params.relation], 1)
    vectors = jnp.concatenate([labels, params.relation], axis=1) @ params.label
    return jnp.concatenate([vectors, params.end[None]])


def step_logits(
    params: StepParams, vectors: jax.Array, states: jax.Array, lengths: jax.Array, path: jax.Array
) -> jax.Array:
    """How well each relation, or the end, goes on from each path.

    Args:
        vectors: [R + 1, D] from `relation_vectors`.
        states: [B, T, D] float32 token states of each path's question.
        lengths: [B] int32, tokens of each.
        path: [B, D] float32 states of the paths so far.

    Returns:
        [B, R + 1] float32.
    """
    chex.assert_rank([states, path], [3, 2])
    dimension = states.shape[2]
    near = jnp.einsum("bd,btd->bt", path @ params.query, states @ params.key)
    there = jnp.arange(states.shape[1], dtype=jnp.int32)[None, :] < lengths[:, None]
    share = jax.nn.softmax(jnp.where(there, near * dimension**-0.5, -jnp.inf), axis=1)
    words = jnp.einsum("bt,btd->bd", share, states)
    both = jax.nn.gelu(jnp.concatenate([words, path], axis=1) @ params.inner)
    # Tenfold, so that the small steps of early training open the inner layer soon.
    wanted = words @ params.read + 10 * (both @ params.outer)
    size = jnp.sqrt(jnp.sum(wanted * wanted, axis=1, keepdims=True))
    return params.scale * (wanted / (size + 1e-6)) @ vectors.T + params.bias[None, :]


def next_state(params: StepParams, path: jax.Array, relation: jax.Array) -> jax.Array:
    """[B, D] states of paths after one more relation: a gated recurrent unit.

    Args:
        path: [B, D] float32.
        relation: [B, D] float32 vectors of the relations taken.

    Reference: Cho et al., "Learning phrase representations using RNN encoder-decoder", 2014.
    """
    new, keep, reset = jnp.split(relation @ params.input + params.update_bias[None, :], 3, axis=1)
    new_too, keep_too, reset_too = jnp.split(path @ params.update, 3, axis=1)
    share = jax.nn.sigmoid(keep + keep_too - 1.0)
    proposed = jnp.tanh(new + jax.nn.sigmoid(reset + reset_too) * new_too)
    return (1 - share) * path + share * proposed
