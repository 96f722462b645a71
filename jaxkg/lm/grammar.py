"""Constrained decoding: what may be written is a list of given options, and nothing else.

The options of a row, as token sequences, form a trie. A list is one or several options with a
separator between them and an end behind; at every step only tokens that lead on to a complete list
are allowed, so no list can name what was not offered, and every list can be reached. The tries of
a batch are one flat table: a step costs the widest branching, not the number of options.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from jaxkg.errors import JaxkgError
from jaxkg.tensors import bucket
from jaxkg.types import NULL


@struct.dataclass
class Grammar:
    """What each row of a batch may write: M nodes, E edges, at most O options a row."""

    first: jax.Array  # [M + 1] int32, edges of a node are those from first[n] to first[n + 1]
    token: jax.Array  # [E] int32
    child: jax.Array  # [E] int32
    option: jax.Array  # [M] int32, rank of the option that ends here; NULL for none
    low: jax.Array  # [M] int32, ranks of the options at and below a node: low to high
    high: jax.Array  # [M] int32
    root: jax.Array  # [B] int32
    most: jax.Array  # [B] int32, options a list has at most
    least: jax.Array  # [B] int32, and at least; 0 allows the empty list
    separator: int = struct.field(pytree_node=False)
    end: int = struct.field(pytree_node=False)
    repeat: bool = struct.field(pytree_node=False)  # may an option come twice
    width: int = struct.field(pytree_node=False)  # widest branching W
    options: int = struct.field(pytree_node=False)  # O


class Written(NamedTuple):
    """How far each row has come."""

    node: jax.Array  # [B] int32
    used: jax.Array  # [B, O] bool
    items: jax.Array  # [B] int32, complete options behind a separator


def begin(grammar: Grammar) -> Written:
    """Nothing written yet."""
    rows = grammar.root.shape[0]
    return Written(
        grammar.root, jnp.zeros((rows, grammar.options), bool), jnp.zeros(rows, jnp.int32)
    )


def allowed(grammar: Grammar, written: Written, vocab_size: int) -> jax.Array:
    """Tokens that may come next.

    Returns:
        [B, V] bool; at least one in every row that has not ended.
    """
    rows = jnp.arange(written.node.shape[0], dtype=jnp.int32)
    token, child, there = _edges(grammar, written.node)
    taken = jnp.pad(jnp.cumsum(written.used.astype(jnp.int32), axis=1), ((0, 0), (1, 0)))
    if grammar.repeat:
        opens, others = there, jnp.full(rows.shape, True)
    else:
        low, high = grammar.low[child], grammar.high[child]
        used = jnp.take_along_axis(taken, high, axis=1) - jnp.take_along_axis(taken, low, axis=1)
        opens = there & (high - low > used)
        offered = grammar.high[grammar.root] - grammar.low[grammar.root]
        others = offered - taken[:, -1] > 1  # beside the one that ends here
    complete = _complete(grammar, written)
    items = written.items + complete.astype(jnp.int32)
    at_start = (written.node == grammar.root) & (written.items == 0)
    may_end = (complete | at_start) & (items >= grammar.least)
    may_go_on = complete & (items < grammar.most) & others
    mask = jnp.zeros((rows.shape[0], vocab_size), bool)
    mask = mask.at[rows[:, None], jnp.where(opens, token, vocab_size)].set(True, mode="drop")
    mask = mask.at[:, grammar.separator].set(may_go_on)
    return mask.at[:, grammar.end].set(may_end)


def advance(grammar: Grammar, written: Written, token: jax.Array) -> Written:
    """Write one allowed token a row, [B] int32."""
    tokens, child, there = _edges(grammar, written.node)
    taken = there & (tokens == token[:, None])
    ends = token == grammar.separator
    below = jnp.sum(jnp.where(taken, child, 0), axis=1, dtype=jnp.int32)
    rank = jnp.arange(grammar.options, dtype=jnp.int32)[None, :]
    now = ends[:, None] & (grammar.option[written.node][:, None] == rank)
    return Written(
        jnp.where(ends, grammar.root, below),
        written.used | now,
        written.items + ends.astype(jnp.int32),
    )


def _edges(grammar: Grammar, node: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Tokens, children and which of them are real, each [B, W]."""
    place = jnp.arange(grammar.width, dtype=jnp.int32)[None, :]
    edge = grammar.first[node][:, None] + place
    there = edge < grammar.first[node + 1][:, None]
    edge = jnp.where(there, edge, 0)
    return grammar.token[edge], grammar.child[edge], there


def _complete(grammar: Grammar, written: Written) -> jax.Array:
    """[B] bool: an option ends here that may be taken."""
    option = grammar.option[written.node]
    if grammar.repeat:
        return option != NULL
    used = jnp.take_along_axis(written.used, jnp.maximum(option, 0)[:, None], axis=1)[:, 0]
    return (option != NULL) & ~used


@dataclasses.dataclass
class _Trie:
    """Flat tables of a batch, as they grow."""

    edges: list[dict[int, int]] = dataclasses.field(default_factory=list)
    option: list[int] = dataclasses.field(default_factory=list)
    low: list[int] = dataclasses.field(default_factory=list)
    high: list[int] = dataclasses.field(default_factory=list)

    def node(self, rank: int) -> int:
        self.edges.append({})
        self.option.append(NULL)
        self.low.append(rank)
        self.high.append(rank)
        return len(self.edges) - 1

    def add(self, options: Sequence[tuple[int, ...]]) -> int:
        """Root of a trie of options in ascending order, a prefix before what begins with it."""
        root = self.node(0)
        for rank, option in enumerate(options):
            node = root
            self.high[root] = rank + 1
            for token in option:
                if token not in self.edges[node]:
                    self.edges[node][token] = self.node(rank)
                node = self.edges[node][token]
                self.high[node] = rank + 1
            self.option[node] = rank
        return root


def build_grammar(
    options: Sequence[Sequence[Sequence[int]]],
    *,
    separator: int,
    end: int,
    most: int | None = None,
    least: int = 1,
    repeat: bool = False,
) -> Grammar:
    """The grammar of a batch of rows.

    Args:
        options: for each row the token sequences of its options; rows with the same options share
            one trie.
        separator, end: tokens between and behind options; part of no option.
        most: options a list has at most; None allows all, once each.
        least: and at least; a row with fewer options takes what it has.
        repeat: allow an option more than once.

    Raises:
        JaxkgError: a row has no options, one of them is empty or holds the separator or the end,
            two are the same, or `repeat` comes without `most`.
    """
    if repeat and most is None:
        raise JaxkgError("a list whose options repeat needs `most`, or it would have no end")
    if least < 0 or (most is not None and most < max(1, least)):
        raise JaxkgError(f"least is at least 0 and most at least that, not {least} and {most}")
    trie, roots = _Trie(), {}
    keys = [tuple(sorted(tuple(option) for option in own)) for own in options]
    for row, key in enumerate(keys):
        if not key or not key[0]:
            raise JaxkgError(f"row {row} has {'an empty option' if key else 'no options'}")
        if key not in roots:
            if len(set(key)) < len(key):
                raise JaxkgError(f"two options of row {row} are the same tokens")
            if any(separator in option or end in option for option in key):
                raise JaxkgError(f"an option of row {row} holds the separator or the end")
            roots[key] = trie.add(key), len(key)
    chosen = [roots[key] for key in keys]
    counts = np.array([count for _, count in chosen], np.int32)
    degrees = [len(edges) for edges in trie.edges]
    nodes, edges = bucket(len(degrees)), bucket(sum(degrees))
    token, child = np.full(edges, NULL, np.int32), np.zeros(edges, np.int32)
    flat = [pair for own in trie.edges for pair in own.items()]
    if flat:
        token[: len(flat)], child[: len(flat)] = np.array(flat, np.int32).T

    def table(values: Sequence[int], fill: int) -> np.ndarray:
        return np.array([*values, *[fill] * (nodes - len(values))], np.int32)

    tables: dict[str, Any] = {  # they go to the device with the batch
        "first": np.cumsum([0, *table(degrees, 0)], dtype=np.int32),
        "token": token,
        "child": child,
        "option": table(trie.option, NULL),
        "low": table(trie.low, 0),
        "high": table(trie.high, 0),
        "root": np.array([root for root, _ in chosen], np.int32),
        "most": counts if most is None else np.full(len(chosen), most, np.int32),
        "least": np.full(len(chosen), least, np.int32) if repeat else np.minimum(counts, least),
    }
    return Grammar(
        **tables,
        separator=separator,
        end=end,
        repeat=repeat,
        width=bucket(max(degrees)),
        options=bucket(max(counts)),
    )


def split_list(tokens: Sequence[int], separator: int) -> list[tuple[int, ...]]:
    """The options of a written list, without its end.

    >>> split_list([5, 6, 1, 7], separator=1), split_list([], separator=1)
    ([(5, 6), (7,)], [])
    """
    items: list[tuple[int, ...]] = [()]
    for token in tokens:
        if token == separator:
            items.append(())
        else:
            items[-1] += (token,)
    return items if tokens else []
