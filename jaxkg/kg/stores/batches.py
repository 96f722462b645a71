"""What is asked of an endpoint together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

Key: TypeAlias = tuple[int, int, bool]
"""(entity, relation, inverse) of a run."""


def batches(items: Sequence[Any], size: int) -> Iterator[list[Any]]:
    """Items, so many at a time.

    >>> list(batches("abc", 2))
    [['a', 'b'], ['c']]
    """
    for first in range(0, len(items), size):
        yield list(items[first : first + size])


def of_one_query(
    keys: Sequence[Key],
    sizes: dict[Key, int],
    counted: Mapping[int, Sequence[tuple[int, int, bool, int]]],
    most: int,
    page: int,
) -> Iterator[list[list[Key]]]:
    """Runs of one direction, those that one query asks for: each alone, or all of an entity.

    Where the other runs of an entity have no more facts than those wanted, it is asked for all of
    them: one term in place of many pairs.

    >>> runs = {7: [(7, 0, False, 5), (7, 1, False, 5), (7, 2, False, 9)]}
    >>> list(of_one_query([(7, 0, False), (7, 1, False)], {(7, 0, False): 5, (7, 1, False): 5},
    ...                   runs, 200, 10_000))
    [[[(7, 0, False), (7, 1, False), (7, 2, False)]]]

    Args:
        keys: the runs.
        sizes: facts of each; those of further runs are added.
        counted: (entity, relation, inverse, facts) of all runs of entities.
        most: runs or entities named in one query.
        page: facts it should bring, at most, unless one alone has more.
    """
    of_node: dict[int, list[Key]] = {}
    for key in keys:
        of_node.setdefault(key[0], []).append(key)
    single: list[list[Key]] = []
    whole: list[list[Key]] = []
    for node, mine in of_node.items():
        there = {run[:3]: run[3] for run in counted.get(node, ()) if run[2] == mine[0][2]}
        if len(mine) > 1 and 0 < sum(there.values()) <= 2 * sum(sizes[key] for key in mine):
            sizes |= there
            whole.append(list(there))
        else:
            single += [[key] for key in mine]
    for sort in (single, whole):
        groups: list[list[Key]] = []
        total = 0
        for group in sort:
            size = sum(sizes[key] for key in group)
            if groups and (total + size > page or len(groups) >= most):
                yield groups
                groups, total = [], 0
            groups.append(group)
            total += size
        if groups:
            yield groups
