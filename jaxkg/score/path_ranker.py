"""The path ranker: how well a relation path answers a question, for schemas of thousands.

Question and path meet in one product, so the paths of a whole graph are encoded once. It starts as
what text alone says (the cosines of a question with each relation of the path) and learns from
there: maps of the text vectors, a vector for each relation, and n-grams of the wording.
"""

import functools
from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp

from jaxkg.score.planner import bag
from jaxkg.types import NULL


class RankerParams(NamedTuple):
    """Weights; D numbers of a text vector, E of a learned relation vector, R relations."""

    question: jax.Array  # [T, D] float32, from the T numbers of a question
    question_inner: jax.Array  # [D, H] float32
    question_outer: jax.Array  # [H, D] float32
    ngram: jax.Array  # [V, D] float32
    relation: jax.Array  # [R, E] float32
    first: jax.Array  # [D + E, D] float32, for the first step of a path
    last: jax.Array  # [D + E, D] float32, for its last
    middle: jax.Array  # [D + E, D] float32, for the steps between
    length: jax.Array  # [L, D] float32
    path_inner: jax.Array  # [D, H] float32
    path_outer: jax.Array  # [H, D] float32
    bias: jax.Array  # [2, R] float32, of the first and of the last relation
    scale: jax.Array  # [] float32


@functools.partial(
    jax.jit,
    static_argnames=("num_relations", "dimension", "views", "width", "hidden", "buckets", "hops"),
)
def init_ranker(
    num_relations: int,
    *,
    dimension: int,
    views: int = 2,
    width: int = 64,
    hidden: int = 256,
    buckets: int = 1 << 13,
    hops: int = 2,
    key: jax.Array,
) -> RankerParams:
    """Weights that score by the cosines of text vectors.

    Args:
        num_relations: R.
        dimension: D of the text encoder.
        views: vectors of a question side by side; T is `views * dimension`.
        width: E.
        hidden: H.
        buckets: V, of n-grams.
        hops: L.
    """
    question_key, path_key, relation_key = jax.random.split(key, 3)
    same = jnp.eye(dimension)
    step = jnp.concatenate([same / 2, jnp.zeros((width, dimension))])
    spread = dimension**-0.5
    return RankerParams(
        question=jnp.concatenate([same / views] * views),
        question_inner=spread * jax.random.normal(question_key, (dimension, hidden)),
        question_outer=jnp.zeros((hidden, dimension)),
        ngram=jnp.zeros((buckets, dimension)),
        relation=0.1 * jax.random.normal(relation_key, (num_relations, width)),
        first=step,
        last=step,
        middle=jnp.zeros_like(step),
        length=jnp.zeros((hops, dimension)),
        path_inner=spread * jax.random.normal(path_key, (dimension, hidden)),
        path_outer=jnp.zeros((hidden, dimension)),
        bias=jnp.zeros((2, num_relations)),
        scale=jnp.asarray(10.0, jnp.float32),
    )


def question_vectors(params: RankerParams, texts: jax.Array, ngrams: jax.Array) -> jax.Array:
    """Encode questions.

    Args:
        texts: [B, T] float32 text vectors.
        ngrams: [B, W] int32 buckets, NULL for none.

    Returns:
        [B, D] float32.
    """
    chex.assert_rank([texts, ngrams], [2, 2])
    vectors = texts @ params.question + bag(params.ngram, ngrams)
    return vectors + jnp.tanh(4 * vectors @ params.question_inner) @ params.question_outer


def path_vectors(
    params: RankerParams, labels: jax.Array, paths: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Encode relation paths.

    Args:
        labels: [R, D] float32 text vectors of the relations.
        paths: [..., L] int32 relations below R, NULL past the end; at least one.

    Returns:
        [..., D] float32 vectors and [...] float32 biases.
    """
    features = jnp.concatenate([labels, params.relation], axis=1)
    heads, tails = features @ params.first, features @ params.last
    length = jnp.sum(paths != NULL, axis=-1)
    first = jnp.maximum(paths[..., 0], 0)
    last = jnp.take_along_axis(paths, jnp.maximum(length - 1, 0)[..., None], axis=-1)[..., 0]
    last = jnp.maximum(last, 0)
    vectors = heads[first] + tails[last] + params.length[jnp.maximum(length - 1, 0)]
    if paths.shape[-1] > 2:
        place = jax.lax.broadcasted_iota(jnp.int32, paths.shape, paths.ndim - 1)
        between = (place > 0) & (place < length[..., None] - 1)
        steps = (features @ params.middle)[jnp.maximum(paths, 0)]
        vectors += jnp.sum(jnp.where(between[..., None], steps, 0.0), axis=-2)
    vectors = vectors + jnp.tanh(4 * vectors @ params.path_inner) @ params.path_outer
    return vectors, params.bias[0][first] + params.bias[1][last]


def path_scores(
    params: RankerParams, labels: jax.Array, texts: jax.Array, ngrams: jax.Array, paths: jax.Array
) -> jax.Array:
    """Score paths for every question.

    Args:
        params, labels, texts, ngrams: as above.
        paths: [P, L] int32, NULL rows for no path.

    Returns:
        [B, P] float32 logits; a question's paths compete, so only differences mean anything. -inf
        where there is no path.
    """
    questions = question_vectors(params, texts, ngrams)
    vectors, bias = path_vectors(params, labels, paths)
    scores = params.scale * questions @ vectors.T + bias[None, :]
    return jnp.where(paths[None, :, 0] == NULL, -jnp.inf, scores)
