"""Batches through a fixed-capacity program: ahead of the host, rerun on overflow, split on hubs."""

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeVar

import jax
import numpy as np

from jaxkg.tensors.buckets import Capacities, bucket


class Sized(Protocol):
    """A result that says what it needed: [C] int32 slots, exact up to and including the first that
    did not suffice, and whether any did not."""

    @property
    def needed(self) -> Any:
        """[C] int32."""
        ...

    @property
    def overflow(self) -> Any:
        """[] bool."""
        ...


Result = TypeVar("Result", bound=Sized)

_AHEAD = 2
"""Batches in flight: the device works on one while the host reads another."""


def rerun(
    step: Callable[[tuple[int, ...]], Result], capacities: Capacities, *, lenient: bool = False
) -> Result:
    """Run one step in room enough: again, in larger buckets, as long as it overflows.

    Args:
        step: a pure function of its capacities.
        capacities: where to start; keeps what was learnt.
        lenient: where the step wants more than the limit, take what fits into the limit.

    Returns:
        The result, with `overflow` where it wants more than the limit.

    >>> from types import SimpleNamespace as Record
    >>> rerun(lambda slots: Record(needed=[9], overflow=slots[0] < 9), Capacities((4,))).overflow
    False
    """
    slots = capacities.slots
    while True:
        result = step(slots)
        needed, overflow = jax.device_get((result.needed, result.overflow))
        if not overflow:
            return result
        wanted = [int(n) for n in needed]
        larger = capacities.fit(wanted)
        if larger is None and lenient:
            limit = capacities.limit
            larger = tuple(max(now, min(bucket(n), limit)) for now, n in zip(slots, wanted))
        if larger is None or larger == slots:
            return result
        slots = larger


def stream(
    count: int,
    batch_size: int,
    run: Callable[[np.ndarray, tuple[int, ...]], Result],
    capacities: Capacities,
) -> Iterator[tuple[np.ndarray, Result, bool]]:
    """Run a program over items 0 … count - 1, in order, a batch at a time.

    A batch that overflows is rerun in larger buckets; one that would need more than the limit is
    halved. One item that is too large on its own comes back incomplete and says so: nothing is
    truncated in silence, and no hub stops a run.

    Args:
        count: number of items.
        batch_size: items a batch.
        run: takes the [n] int64 indices of a batch and the capacities; dispatches the program and
            returns its result on the device.
        capacities: where to start; keeps what was learnt.

    Yields:
        Indices of the batch, its result on the host, and whether it is complete.
    """
    waiting = deque(np.arange(i, min(i + batch_size, count)) for i in range(0, count, batch_size))
    flying: deque[tuple[np.ndarray, Result]] = deque()
    while waiting or flying:
        while waiting and len(flying) < _AHEAD:
            indices = waiting.popleft()
            flying.append((indices, run(indices, capacities.slots)))
        indices, result = flying.popleft()
        needed, overflow = jax.device_get((result.needed, result.overflow))
        if not overflow:
            yield indices, jax.device_get(result), True
        elif (slots := capacities.fit([int(n) for n in needed])) is not None:
            flying.appendleft((indices, run(indices, slots)))
        elif len(indices) > 1:
            halves = np.array_split(indices, 2)
            called_back = [later for later, _ in flying]
            flying.clear()
            waiting.extendleft(reversed([*halves, *called_back]))
        else:
            yield indices, jax.device_get(result), False
