"""How long a call takes: the fastest of several."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple


class Fastest(NamedTuple):
    """The fastest call of several."""

    seconds: float
    cpu: float
    """Least seconds of CPU time: what counts where others use the machine."""
    result: Any
    """Of the last call."""


def fastest(
    run: Callable[[], Any], *, repeats: int = 3, seconds: float = 0.0, warm: bool = True
) -> Fastest:
    """Call several times, each until its result is ready.

    Args:
        run: takes nothing; arrays on a device are waited for.
        repeats: timed calls at least.
        seconds: go on for so long, at most 1,000 calls.
        warm: call once untimed before, which compiles.
    """
    import jax

    if warm:
        jax.block_until_ready(run())
    walls: list[float] = []
    cpus: list[float] = []
    result = None
    until = time.perf_counter() + seconds
    while len(walls) < repeats or (time.perf_counter() < until and len(walls) < 1000):
        wall, cpu = time.perf_counter(), time.process_time()
        result = jax.block_until_ready(run())
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return Fastest(min(walls), min(cpus), result)


class Laps:
    """A clock that says how long each stage of a script took."""

    def __init__(self) -> None:
        self._since = time.perf_counter()

    def lap(self, stage: str = "") -> float:
        """Seconds since the lap before; printed where the stage has a name."""
        now = time.perf_counter()
        spent, self._since = now - self._since, now
        if stage:
            print(f"{stage}: {spent:.0f} s", flush=True)
        return spent
