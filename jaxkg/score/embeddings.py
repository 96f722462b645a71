"""Knowledge-graph embeddings: how plausible is a triple (TransE, DistMult, ComplEx, RotatE).

All four move the known entity by the relation and compare where it lands with the other one, and
all four can do so from either side. That is why two small functions a model, `move` and `compare`,
are enough for training, for ranking against every entity, and for search.

References: Bordes et al., "Translating embeddings for modeling multi-relational data", 2013
(TransE); Yang et al., "Embedding entities and relations for learning and inference in knowledge
bases", 2015 (DistMult); Trouillon et al., "Complex embeddings for simple link prediction", 2016
(ComplEx); Sun et al., "RotatE: knowledge graph embedding by relational rotation in complex space",
2019.
"""

import functools
import math
from typing import Literal, NamedTuple

import chex
import jax
import jax.numpy as jnp

Model = Literal["transe", "distmult", "complex", "rotate"]
MODELS: tuple[Model, ...] = ("transe", "distmult", "complex", "rotate")

_EXACT = jax.lax.Precision.HIGHEST
"""One by one and against all, on every device alike: GPUs and TPUs round factors else."""
_TINY = 1e-12  # keeps the gradient of a square root finite where two vectors are equal

_TILE, _TERMS = 256, 32
"""Entities, and numbers of each, that a CPU compares at a time: those stay in its caches."""


class Embeddings(NamedTuple):
    """One row an entity and one a relation; D is even for the complex models.

    Complex numbers are kept as two real halves, real parts first. A relation of RotatE is D/2
    angles in radians.
    """

    entity: jax.Array  # [N, D] float32
    relation: jax.Array  # [R, D] float32; [R, D/2] for RotatE


def relation_width(model: Model, dimension: int) -> int:
    """Floats of a relation.

    Raises:
        ValueError: the model is unknown, or complex and the dimension odd.
    """
    if model not in MODELS:
        raise ValueError(f"model must be one of {', '.join(MODELS)}, not {model!r}")
    if model in ("complex", "rotate") and dimension % 2:
        raise ValueError(f"{model} halves its dimension: {dimension} is odd")
    return dimension // 2 if model == "rotate" else dimension


@functools.partial(jax.jit, static_argnames=("model", "num_entities", "num_relations", "dimension"))
def init_embeddings(
    model: Model, num_entities: int, num_relations: int, *, dimension: int, key: jax.Array
) -> Embeddings:
    """Random embeddings.

    Args:
        model: decides width and spread: translations start uniform in ±6/√D (TransE, Algorithm 1),
            rotations with angles in ±π, products normal with variance 1/D.
        num_entities: N.
        num_relations: R.
        dimension: D.
    """
    width = relation_width(model, dimension)
    entity_key, relation_key = jax.random.split(key)
    shapes = (num_entities, dimension), (num_relations, width)
    if model in ("distmult", "complex"):
        scale = dimension**-0.5
        return Embeddings(
            scale * jax.random.normal(entity_key, shapes[0]),
            scale * jax.random.normal(relation_key, shapes[1]),
        )
    bound = 6 / math.sqrt(dimension)
    relation_bound = math.pi if model == "rotate" else bound
    return Embeddings(
        jax.random.uniform(entity_key, shapes[0], minval=-bound, maxval=bound),
        jax.random.uniform(relation_key, shapes[1], minval=-relation_bound, maxval=relation_bound),
    )


def move(model: Model, entity: jax.Array, relation: jax.Array, *, inverse: bool) -> jax.Array:
    """Where a relation takes an entity: head to tail, or with `inverse` tail to head.

    Args:
        model: static.
        entity: [D] float32.
        relation: [D] float32, [D/2] for RotatE.
        inverse: static.

    Returns:
        [D] float32; `compare(move(h, r), t)` equals `compare(move(t, r, inverse), h)`.
    """
    chex.assert_rank([entity, relation], 1)
    if model == "transe":
        return entity - relation if inverse else entity + relation
    if model == "distmult":
        return entity * relation
    real, imaginary = jnp.split(entity, 2)
    if model == "rotate":
        turn, rise = jnp.cos(relation), jnp.sin(relation)
    else:
        turn, rise = jnp.split(relation, 2)
    if inverse:
        rise = -rise
    return jnp.concatenate([real * turn - imaginary * rise, real * rise + imaginary * turn])


def compare(model: Model, moved: jax.Array, entity: jax.Array, *, norm: int = 1) -> jax.Array:
    """How well a moved entity meets another; higher is better.

    Args:
        model: static.
        moved: [D] float32 from `move`.
        entity: [D] float32.
        norm: of TransE's difference, 1 or 2; static.

    Returns:
        [] float32: minus a distance (TransE; RotatE, the sum of complex moduli, its Eq. 4), or an
        inner product (DistMult; ComplEx, the real part of the Hermitian one, its Eq. 9-11).
    """
    chex.assert_rank([moved, entity], 1)
    if model in ("distmult", "complex"):
        return jnp.dot(moved, entity, precision=_EXACT)
    difference = moved - entity
    if model == "rotate":
        real, imaginary = jnp.split(difference, 2)
        return -jnp.sum(jnp.sqrt(real**2 + imaginary**2 + _TINY))
    if norm == 1:
        return -jnp.sum(jnp.abs(difference))
    return -jnp.sqrt(jnp.sum(difference**2) + _TINY)


def score_against(
    model: Model, moved: jax.Array, entities: jax.Array, *, norm: int = 1
) -> jax.Array:
    """Every moved entity against every candidate.

    Args:
        model: static.
        moved: [B, D] float32.
        entities: [N, D] float32.
        norm: of TransE; static.

    Returns:
        [B, N] float32. Products are one matrix product; distances are summed up without ever
        holding [B, N, D], on a CPU tile by tile.
    """
    chex.assert_rank([moved, entities], 2)
    if model in ("distmult", "complex"):
        return jnp.matmul(moved, entities.T, precision=_EXACT)
    on_cpu = jax.default_backend() == "cpu"
    return (_by_tiles if on_cpu else _one_by_one)(model, norm, moved, entities)


def _one_by_one(model: Model, norm: int, moved: jax.Array, entities: jax.Array) -> jax.Array:
    score = lambda query, entity: compare(model, query, entity, norm=norm)  # noqa: E731
    return jax.vmap(jax.vmap(score, (None, 0)), (0, None))(moved, entities)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def _by_tiles(model: Model, norm: int, moved: jax.Array, entities: jax.Array) -> jax.Array:
    """Distances with a tile's entities side by side in vectors of the processor.

    Left to itself XLA sums a distance up number by number.
    """
    count, parts = len(entities), 2 if model == "rotate" else 1
    tile = max(1, min(_TILE, count))

    def turned(rows: jax.Array) -> jax.Array:
        """[B, D] to [D, 1, B], or [D/2, 2, B] of complex numbers."""
        return jnp.swapaxes(rows.T.reshape(parts, -1, len(rows)), 0, 1)

    def add(total: jax.Array, both: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, None]:
        for ours, other in zip(*both, strict=True):
            apart = [x[:, None] - y[None] for x, y in zip(ours, other, strict=True)]
            if model == "transe" and norm == 1:
                total = total + jnp.abs(apart[0])
                continue
            square = sum((x**2 for x in apart[1:]), apart[0] ** 2)
            total = total + (jnp.sqrt(square + _TINY) if model == "rotate" else square)
        return total, None

    mine = turned(moved)
    blocks = len(mine) // _TERMS
    ends = blocks * _TERMS

    def one_tile(rows: jax.Array) -> jax.Array:
        theirs = turned(rows)

        def blocked(x: jax.Array) -> jax.Array:
            return x[:ends].reshape(blocks, _TERMS, *x.shape[1:])

        none = jnp.zeros((len(moved), tile))
        total, _ = jax.lax.scan(add, none, (blocked(mine), blocked(theirs)))
        total, _ = add(total, (mine[ends:], theirs[ends:]))
        return -jnp.sqrt(total + _TINY) if model == "transe" and norm == 2 else -total

    tiles = jnp.pad(entities, ((0, -count % tile), (0, 0))).reshape(-1, tile, entities.shape[1])
    return jnp.swapaxes(jax.lax.map(one_tile, tiles), 0, 1).reshape(len(moved), -1)[:, :count]


def _kept(
    model: Model, norm: int, moved: jax.Array, entities: jax.Array
) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
    return _by_tiles(model, norm, moved, entities), (moved, entities)


def _slopes(
    model: Model, norm: int, given: tuple[jax.Array, jax.Array], slope: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """The gradient as it would be of one by one: of the loops it would hold [B, N, D]."""
    return jax.vjp(functools.partial(_one_by_one, model, norm), *given)[1](slope)


_by_tiles.defvjp(_kept, _slopes)
