"""One planner of the built-in graph, made once a test run and kept in a cache folder.

A conftest that wants the fixtures imports them; the folder is the same for all.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_PROGRAMS = (
    "jax_compilation_cache_dir",
    "jax_persistent_cache_min_compile_time_secs",
    "jax_persistent_cache_min_entry_size_bytes",
)


@contextmanager
def programs_kept() -> Iterator[None]:
    """JAX as `jaxkg` finds it, programs kept on disk; its settings are put back afterwards."""
    import jax
    from jax.experimental.compilation_cache.compilation_cache import reset_cache

    before = {name: getattr(jax.config, name) for name in _PROGRAMS}
    reset_cache()
    try:
        yield
    finally:
        for name, value in before.items():
            jax.config.update(name, value)
        reset_cache()


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Value for `JAXKG_CACHE`; holds the demo planner of seed 0, smaller than a user's."""
    mine = tmp_path_factory.getbasetemp()
    # Beside the folders of all workers of this run, where there are several.
    folder = (mine.parent if os.environ.get("PYTEST_XDIST_WORKER") else mine) / "jaxkg-cache"
    with _alone(folder):
        _make_planner(folder)
    return folder


def _make_planner(folder: Path) -> None:
    import jax

    from jaxkg.experiments.loading import keep_compiled_programs
    from jaxkg.kg import demo_graph
    from jaxkg.learn.planner import kept as planner_cache
    from jaxkg.learn.planner.train import PlannerConfig
    from jaxkg.tensors import tensor_graph

    kg = demo_graph()
    standard = jax.numpy_dtype_promotion("standard")
    with pytest.MonkeyPatch.context() as patch, programs_kept(), standard:
        patch.setenv("JAXKG_CACHE", str(folder))
        keep_compiled_programs()
        small = PlannerConfig(width=48, epochs=6, learning_rate=6e-3)
        patch.setattr(planner_cache, "PlannerConfig", lambda epochs: small)
        planner_cache.planner_for(kg, tensor_graph(kg))


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One worker at a time; the others find what the first has made."""
    lock = folder.with_suffix(".lock")
    for _ in range(3000):
        try:
            lock.mkdir()
            break
        except FileExistsError:
            time.sleep(0.1)
    else:
        raise TimeoutError(f"{lock} was held for five minutes")
    try:
        yield
    finally:
        lock.rmdir()


@pytest.fixture
def in_cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, with `JAXKG_CACHE` set for one test."""
    monkeypatch.setenv("JAXKG_CACHE", str(cache))
    return cache


SMALL_TSV = """\
Heat\tdirected by\tMichael Mann
Heat\tstarring\tAl Pacino
Ali\tdirected by\tMichael Mann
Ali\tstarring\tWill Smith
Serpico\tdirected by\tSidney Lumet
Serpico\tstarring\tAl Pacino
Al Pacino\tborn in\tNew York
Will Smith\tborn in\tPhiladelphia
Michael Mann\tborn in\tChicago
"""
