"""A cache folder for tests that ask as a user does, and a small graph.

A conftest that wants the fixtures imports them.
"""

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
    """Value for `JAXKG_CACHE`, one for all tests of a worker."""
    return tmp_path_factory.mktemp("jaxkg-cache")


@pytest.fixture
def in_cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, with `JAXKG_CACHE` set for one test."""
    monkeypatch.setenv("JAXKG_CACHE", str(cache))
    return cache


def demo_planner(cache: Path):
    """The demo graph, its tensors and its planner, made once a worker."""
    from jaxkg.kg import demo_graph
    from jaxkg.learn.planner.kept import planner_for
    from jaxkg.tensors import tensor_graph

    kg = demo_graph()
    tensors = tensor_graph(kg)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAXKG_CACHE", str(cache))
        return kg, tensors, planner_for(kg, tensors)


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
