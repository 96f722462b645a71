"""Sizes. Every static shape in the package comes from `bucket`, so that few programs compile."""

import dataclasses
from collections.abc import Sequence


def bucket(size: int, *, floor: int = 8) -> int:
    """The smallest power of two that holds `size`, at least `floor`.

    >>> [bucket(n) for n in (0, 8, 9, 1000)]
    [8, 8, 16, 1024]
    """
    return max(floor, 1 << max(0, int(size) - 1).bit_length())


@dataclasses.dataclass
class Capacities:
    """Slots per step of a fixed-capacity program; they grow when a run reports overflow.

    Attributes:
        slots: current capacity of each step.
        limit: largest capacity of a step; a batch that needs more must be split.
    """

    slots: tuple[int, ...]
    limit: int = 1 << 22

    def fit(self, needed: Sequence[int]) -> tuple[int, ...] | None:
        """Capacities that hold what a run asked for.

        What is kept for later runs grows at most fourfold at a time: one batch with a hub must not
        make all batches after it pay for the hub.

        Args:
            needed: slots each step wanted; exact up to and including the first that overflowed.

        Returns:
            Capacities for a rerun; None where a step wants more than `limit`.
        """
        pairs = list(zip(self.slots, needed, strict=True))
        if max(needed) > self.limit:
            return None
        self.slots = tuple(max(now, min(4 * now, bucket(want))) for now, want in pairs)
        return tuple(max(now, bucket(want)) for now, want in pairs)
