"""Weights of the path priority, part by part, and how each part begins."""

import dataclasses
import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxkg.score.message_passing import MessageParams, init_messages


class Reader(NamedTuple):
    """Reads a question: which relation at which hop, and how long a walk.

    V n-gram buckets, D question width, L hops, C = 2R relation codes, G text features.
    """

    ngram: jax.Array  # [V, D]
    text: jax.Array  # [G, D], of a text encoder's G features of the question
    relation_text: jax.Array  # [2, G, D], of a relation's label, forward and inverse
    question: jax.Array  # [D, D]
    step: jax.Array  # [L + 1, D, D], what each hop reads; the last one reads the length
    relation: jax.Array  # [C, D]
    relation_bias: jax.Array  # [L, C]
    label_gate: jax.Array  # [2], weight of n-grams shared with a label, forward and inverse
    similarity_gate: jax.Array  # [L, 2], weight of the text encoder's similarity
    length: jax.Array  # [L, D]
    length_bias: jax.Array  # [L]


class Entities(NamedTuple):
    """Makes the states of entities (PathMind, Eq. 2); F label features, S state width."""

    entity: jax.Array  # [F, S] projects label features; or [N, S] states of their own
    rounds: tuple[MessageParams, ...]


class TripleCost(NamedTuple):
    """The bilinear product of PathMind's Eq. 3; B bases."""

    mix: jax.Array  # [C, B], W_r as a mixture of diagonals
    diagonal: jax.Array  # [B, S]
    ask: jax.Array  # [D, S], q


class Future(NamedTuple):
    """The FFN of PathMind's Eq. 4; H heads of a triple's cost, X hidden width."""

    cost: jax.Array  # [H + 2, X], its part that reads d
    question: jax.Array  # [D, X], its part that reads q
    out: jax.Array  # [X, H + 2]


class Readout(NamedTuple):
    """The MLP of PathMind's Eq. 5."""

    inner: jax.Array  # [H + 2, X]
    bias: jax.Array  # [X]
    out: jax.Array  # [X]
    mass_gate: jax.Array  # [2], slope and offset of the log of the mass


class PriorityParams(NamedTuple):
    """Weights, float32, in the order in which they are used."""

    reader: Reader
    entities: Entities
    cost: TripleCost
    future: Future
    readout: Readout


@dataclasses.dataclass(frozen=True)
class PrioritySizes:
    """Sizes of the weights.

    Attributes:
        hops: L, longest walk.
        buckets: V, n-gram buckets.
        width: D, of a question.
        state: S, of an entity; divisible by H.
        features: F, of an entity's label; 0 where states are learned.
        text: G, features of a question and of a relation label.
        entities: N rows of learned states; 0 where they come from labels.
        bases: B, of the relation matrices.
        heads: H, numbers a triple's cost has.
        hidden: X, width of the two networks.
        rounds: of message passing.
        walk_weights: walks are weighted by their relations and length; False counts all alike.
        mass: the log of the walks' weight is a part of `d` and of the priority; False takes the sum
            of costs alone.
    """

    hops: int
    buckets: int
    width: int = 64
    state: int = 32
    features: int = 64
    text: int = 1024
    entities: int = 0
    bases: int = 8
    heads: int = 4
    hidden: int = 32
    rounds: int = 1
    walk_weights: bool = True
    mass: bool = True


def init_reader(codes: int, sizes: PrioritySizes, *, keys: jax.Array) -> Reader:
    """Random weights of a reader; keys: [6]."""
    hops, width = sizes.hops, sizes.width
    scale = width**-0.5
    return Reader(
        ngram=_normal(keys[0], sizes.buckets, width, by=scale),
        text=_normal(keys[1], sizes.text, width, by=scale),
        relation_text=_normal(keys[2], 2, sizes.text, width, by=0.1 * scale),
        question=_normal(keys[3], width, width, by=scale),
        step=_normal(keys[4], hops + 1, width, width, by=scale),
        relation=_normal(keys[5], codes, width, by=0.1 * scale),
        relation_bias=jnp.zeros((hops, codes)),
        label_gate=jnp.full(2, 5.0),
        similarity_gate=jnp.full((hops, 2), 5.0),
        length=jnp.zeros((hops, width)),
        length_bias=jnp.zeros(hops),
    )


def init_entities(codes: int, sizes: PrioritySizes, *, keys: jax.Array) -> Entities:
    """Random weights of the states; keys: [1 + rounds]."""
    return Entities(
        entity=_normal(keys[0], sizes.entities or sizes.features, sizes.state, by=1.0),
        rounds=tuple(
            init_messages(codes, width=sizes.state, bases=sizes.bases, key=keys[1 + place])
            for place in range(sizes.rounds)
        ),
    )


def init_cost(codes: int, sizes: PrioritySizes, *, keys: jax.Array) -> TripleCost:
    """Random weights of the bilinear product; keys: [3]."""
    return TripleCost(
        mix=_normal(keys[0], codes, sizes.bases, by=sizes.bases**-0.5),
        diagonal=_normal(keys[1], sizes.bases, sizes.state, by=1.0),
        ask=_normal(keys[2], sizes.width, sizes.state, by=sizes.width**-0.5),
    )


def init_future(sizes: PrioritySizes, *, keys: jax.Array) -> Future:
    """Random inner weights; at first nothing is added to d; keys: [2]."""
    channels = sizes.heads + 2
    return Future(
        cost=_normal(keys[0], channels, sizes.hidden, by=channels**-0.5),
        question=_normal(keys[1], sizes.width, sizes.hidden, by=sizes.width**-0.5),
        out=jnp.zeros((sizes.hidden, channels)),
    )


def init_readout(sizes: PrioritySizes, *, key: jax.Array) -> Readout:
    """Random inner weights; at first the mass alone decides."""
    channels = sizes.heads + 2
    return Readout(
        inner=_normal(key, channels, sizes.hidden, by=channels**-0.5),
        bias=jnp.zeros(sizes.hidden),
        out=jnp.zeros(sizes.hidden),
        mass_gate=jnp.asarray([1.0, 2.0]),
    )


@functools.partial(jax.jit, static_argnames=("num_relations", "sizes"))
def init_priority(num_relations: int, sizes: PrioritySizes, *, key: jax.Array) -> PriorityParams:
    """Random weights, such that at first the mass alone decides.

    Args:
        num_relations: R of the graph.
        sizes: static.
    """
    codes, keys = 2 * num_relations, jax.random.split(key, 13 + sizes.rounds)
    return PriorityParams(
        reader=init_reader(codes, sizes, keys=keys[:6]),
        entities=init_entities(codes, sizes, keys=keys[6:-6]),
        cost=init_cost(codes, sizes, keys=keys[-6:-3]),
        future=init_future(sizes, keys=keys[-3:-1]),
        readout=init_readout(sizes, key=keys[-1]),
    )


def _normal(key: jax.Array, *shape: int, by: float) -> jax.Array:
    return by * jax.random.normal(key, shape)
