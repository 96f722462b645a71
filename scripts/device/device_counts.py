"""What a core must do at least, counted by formula: bytes moved, operations, random accesses.

`bytes` are those of its inputs read once and its outputs written once; temporaries count for
nothing, so a share of the limit says how far a core is from doing nothing but its task. `reads` and
`writes` are the numbers, or rows of them, that it takes from, or puts to, places that an index
names, whether those happen to lie in order or not. A slot costs the same, full or not.
"""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Count:
    """Work of one call."""

    bytes: float = 0.0
    flops: float = 0.0
    reads: float = 0.0
    writes: float = 0.0

    def __add__(self, other: Count) -> Count:
        mine, theirs = dataclasses.astuple(self), dataclasses.astuple(other)
        return Count(*(a + b for a, b in zip(mine, theirs)))

    def __mul__(self, times: float) -> Count:
        return Count(*(times * each for each in dataclasses.astuple(self)))


def ragged(lists: int, slots: int) -> Count:
    """`expand_ragged`: lengths in (4 B a list); row, position, valid out (9 B a slot).

    A list marks its start (a write), a slot reads its list's start.
    """
    return Count(bytes=4 * lists + 9 * slots, reads=slots, writes=lists)


def walked(lists: int, slots: int) -> Count:
    """`walk`: first, count and parent in (12 B a list), tails in (4 B), a frontier out (17 B).

    A slot reads its list's start, first edge and parent, that slot's row, and the tail.
    """
    return Count(bytes=12 * lists + 21 * slots, reads=5 * slots, writes=lists)


def looked_up(nodes: int) -> Count:
    """`find_run` by table: node and relation in, first and count out; two reads."""
    return Count(bytes=16 * nodes, reads=2 * nodes)


def unique(slots: int, keys: int = 2) -> Count:
    """`first_of_each`: keys and mask in (4 B a key and 1 B), first slots out (4 B).

    A slot writes its number into a hash table, reads who won, and the winner's keys.
    """
    return Count(bytes=(4 * keys + 5) * slots, reads=(1 + keys) * slots, writes=slots)


def best_in_group(slots: int, groups: int, k: int) -> Count:
    """`top_in_group`: group, score, mask in (9 B), k slots a group out; k rounds of two each."""
    return Count(bytes=9 * slots + 4 * groups * k, reads=2 * k * slots, writes=2 * k * slots)


def vectors(rows: int, width: int) -> Count:
    """A dot product of two gathered rows: 8 B and two operations a number."""
    return Count(bytes=8 * rows * width, flops=2 * rows * width)


def product(rows: int, inner: int, columns: int, *, size: int = 4) -> Count:
    """A matrix product: both factors in (`size` B a number), float32 out."""
    return Count(
        bytes=size * inner * (rows + columns) + 4 * rows * columns,
        flops=2.0 * rows * inner * columns,
    )
