"""What a command spends on compiled programs, and on memory: `--profile`."""

from __future__ import annotations

import dataclasses
import importlib.abc
import importlib.util
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

_COMPILED = "/jax/core/compile/backend_compile_duration"  # or read from the cache
_TRACED = "/jax/core/compile/jaxpr_trace_duration"
_LOWERED = "/jax/core/compile/jaxpr_to_mlir_module_duration"
_READ = "/jax/compilation_cache/cache_hits"


@dataclasses.dataclass
class Programs:
    """Programs that JAX wanted while a block ran.

    Attributes:
        wanted: how many there were of each name, compiled or read from the cache.
        read: how many of them were read from the cache on disk.
        making: seconds of compiling them, or of reading them.
        tracing: seconds of tracing and lowering; a function within another counts in both.
    """

    wanted: Counter[str] = dataclasses.field(default_factory=Counter)
    read: int = 0
    making: float = 0.0
    tracing: float = 0.0

    @property
    def total(self) -> int:
        """How many there were."""
        return sum(self.wanted.values())

    def lines(self) -> list[str]:
        """The same, for people."""
        needed = "jax" in sys.modules
        further = f"traced and lowered in {self.tracing:.2f} s" if needed else "JAX was not needed"
        told = [
            f"{self.total} programs, {self.read} of them read from the cache, in "
            f"{self.making:.2f} s; {further}"
        ]
        if self.wanted:
            counts = self.wanted.most_common()
            named = (name if count == 1 else f"{name} x{count}" for name, count in counts)
            told.append(f"programs: {', '.join(named)}")
        return told


_counting: list[Programs] = []
_listening = [False]


def _on_seconds(event: str, duration_secs: float, **about: Any) -> None:
    for found in _counting:
        if event == _COMPILED:
            name = str(about.get("fun_name", "?")).removeprefix("jit(").removesuffix(")")
            found.wanted[name] += 1
            found.making += duration_secs
        elif event in (_TRACED, _LOWERED):
            found.tracing += duration_secs


def _on_event(event: str, **about: Any) -> None:
    for found in _counting:
        found.read += event == _READ


def _listen() -> None:
    """Once and for all: not every JAX lets a listener go again."""
    from jax import monitoring

    if not _listening[0]:
        monitoring.register_event_duration_secs_listener(_on_seconds)
        monitoring.register_event_listener(_on_event)
        _listening[0] = True


class _WhenImported(importlib.abc.MetaPathFinder):
    """Begins to listen as soon as JAX is imported, which counting alone is no reason for."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if name != "jax":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        run = spec.loader.exec_module

        def and_listen(module: ModuleType) -> None:
            run(module)
            _listen()

        spec.loader.exec_module = and_listen
        return spec


@contextmanager
def programs_counted() -> Iterator[Programs]:
    """Count the programs that JAX compiles, or reads from its cache, while the block runs."""
    if "jax" in sys.modules:
        _listen()
    elif not any(isinstance(one, _WhenImported) for one in sys.meta_path):
        sys.meta_path.insert(0, _WhenImported())
    found = Programs()
    _counting.append(found)
    try:
        yield found
    finally:
        _counting[:] = [other for other in _counting if other is not found]


def peak_memory() -> int:
    """Most bytes that this process has held at once."""
    if most := peak_memory_of("self"):
        return most
    import resource  # not on every system; what started this process counts, too

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most


def peak_memory_of(process: int | str) -> int:
    """Most bytes that a process has held at once; 0: it has ended, or the system has no /proc."""
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    except OSError:
        return 0
    told = (line.split() for line in status.splitlines() if line.startswith("VmHWM:"))
    return next((1024 * int(kib) for _, kib, _ in told), 0)


@contextmanager
def profiled(tell: Callable[[str], object]) -> Iterator[None]:
    """Tell what the block has cost, line by line, at its end."""
    begun, cpu = time.perf_counter(), time.process_time()
    with programs_counted() as found:
        try:
            yield
        finally:
            seconds, cpu = time.perf_counter() - begun, time.process_time() - cpu
            tell(
                f"{seconds:.2f} s, {cpu:.2f} CPU-seconds, peak memory {peak_memory() / 1e6:,.0f} MB"
            )
            for line in found.lines():
                tell(line)
