"""One strict setting for all tests. It is set before jax starts, through its own variables, so that
tests of folders that never touch a device do not load jax.

`JAXKG_TEST_PLATFORMS=cuda` runs what follows on a GPU: the folders `ops`, `candidates`, `score`,
`select` and `search` hold the cores."""

import contextlib
import ctypes
import gc
import os
import random
import resource
import signal
import sys
import zlib
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

_STRICT = {
    "JAX_NUMPY_DTYPE_PROMOTION": "strict",
    "JAX_NUMPY_RANK_PROMOTION": "raise",
    "JAX_DEFAULT_MATMUL_PRECISION": "highest",
    "JAX_NUM_CPU_DEVICES": "8",
    "JAX_PLATFORMS": os.environ.get("JAXKG_TEST_PLATFORMS", "cpu"),
}
os.environ.update(_STRICT)
# Programs that took long to compile are kept: for the other worker, and for the next run.
_ROOT = Path(__file__).parent.parent
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(_ROOT / ".pytest_cache" / "programs"))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.1")
# Nearly all the time goes into compiling small programs that run for a millisecond: plain code,
# emitted in one piece, takes a third of the time and a quarter of the memory.
_FLAGS = [
    "--xla_backend_optimization_level=0",
    "--xla_llvm_disable_expensive_passes=true",
    "--xla_cpu_parallel_codegen_split_count=1",
]
# A flag that is not known ends the process; this one went with 0.12.
if tuple(map(int, version("jaxlib").split(".")[:2])) < (0, 12):
    _FLAGS.append("--xla_cpu_use_fusion_emitters=false")
os.environ.setdefault("XLA_FLAGS", " ".join(_FLAGS))

import numpy as np  # noqa: E402
import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402
from loopback import LanguageServer  # noqa: E402
from random_graphs import RandomGraph, random_graph_from  # noqa: E402

# A search for garbage after every 700 objects takes a quarter of the time: few are ever garbage.
# A file left open in a circle of references is told later, so perhaps of another test.
gc.set_threshold(50_000, 20, 50)
settings.register_profile("strict", derandomize=True, database=None, deadline=None, max_examples=30)
settings.load_profile("strict")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("filterwarnings", "error")


@pytest.fixture(scope="session")
def data_dir(pytestconfig: pytest.Config) -> Path:
    """The folder of the benchmark data; tests that want it are skipped where it is absent."""
    named = os.environ.get("JAXKG_DATA")
    folder = Path(named) if named else pytestconfig.rootpath.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no benchmark data in {folder}; set JAXKG_DATA to the folder that has it")
    return folder


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Numbers that depend on nothing but the name of the test."""
    return np.random.default_rng(zlib.crc32(request.node.nodeid.encode()))


@pytest.fixture(autouse=True)
def _seeds(request: pytest.FixtureRequest) -> None:
    seed = zlib.crc32(request.node.nodeid.encode())
    random.seed(seed)
    np.random.seed(seed)


_MAPPED, _HELD = Path("/proc/self/maps"), Path("/proc/self/statm")
_MOST_MAPPED = 20_000
_MOST_HELD = 600_000_000
_every: list[int] = [0]
_most_held: list[int] = [_MOST_HELD]


@pytest.fixture(autouse=True)
def _room_for_programs() -> Iterator[None]:
    """Every compiled program maps memory, and a Linux process may map 65,530 regions: thousands of
    tests in one process reach that, and the compiler aborts. Nor need a worker hold gigabytes of
    programs that no later test wants."""
    yield
    _every[0] = (_every[0] + 1) % 16
    if _every[0] or "jax" not in sys.modules or not _MAPPED.exists():
        return
    with _MAPPED.open("rb") as regions:
        mapped = sum(1 for _ in regions)
    if mapped > _MOST_MAPPED or _held() > _most_held[0]:
        sys.modules["jax"].clear_caches()
        gc.collect()
        if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):  # of glibc
            trim(0)
        # What stays is no program: the next ones have room beside it.
        _most_held[0] = max(_MOST_HELD, _held() + _MOST_HELD // 2)


def _held() -> int:
    """Bytes in memory."""
    return int(_HELD.read_text().split()[1]) * resource.getpagesize()


@pytest.fixture
def serve() -> Iterator[Callable[..., LanguageServer]]:
    """Start language models on loopback that stop with the test."""
    with contextlib.ExitStack() as stack:
        yield lambda *args, **kwargs: stack.enter_context(LanguageServer(*args, **kwargs))


@pytest.fixture
def interruptible() -> Iterator[None]:
    """SIGINT interrupts, also where whoever started the tests in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def standard_promotion() -> Iterator[None]:
    """For training: optimisers add integers to floats as they please."""
    import jax

    with jax.numpy_dtype_promotion("standard"):
        yield


@pytest.fixture(scope="session")
def random_graph() -> Callable[..., RandomGraph]:
    """Make a small random graph from a seed, see `random_graphs.random_graph_from`."""
    return random_graph_from
