import importlib.util
import os

import jax
import pytest

from jaxkg.ops import atomics
from jaxkg.ops.atomics import flags_for, spare_float_atomics

OTHER = "--xla_cpu_parallel_codegen_split_count=1"  # a flag that is not known ends the process
FLAG = "--xla_backend_extra_options=-nvptx-allow-ftz-atomics"


@pytest.mark.parametrize(
    ("jaxlib", "needed"),
    [("0.10.1", 0), ("0.10.2", 1), ("0.10.2.dev3", 1), ("0.11.0", 1), ("0.11.1", 0), ("0.12.0", 0)],
)
def test_only_some_jaxlib_need_the_flag(jaxlib, needed):
    assert flags_for("", jaxlib=jaxlib) == FLAG * needed


def test_what_is_set_stays_set():
    assert flags_for("--a=1", jaxlib="0.10.2") == f"--a=1 {FLAG}"
    assert flags_for(f"{FLAG} --a=1", jaxlib="0.10.2") == f"{FLAG} --a=1"
    assert flags_for("--xla_backend_extra_options=-x", jaxlib="0.10.2") == f"{FLAG},-x"


@pytest.fixture
def needing(monkeypatch):
    """A jaxlib that needs the flag, and a GPU's plugin."""
    monkeypatch.setattr(atomics, "version", lambda name: "0.10.2")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name == "jax_cuda12_plugin")
    monkeypatch.setenv("XLA_FLAGS", OTHER)
    return monkeypatch


def test_it_is_set_before_jax_begins(needing):
    needing.delitem(atomics.sys.modules, "jax._src.xla_bridge", raising=False)
    spare_float_atomics()
    assert os.environ["XLA_FLAGS"] == f"{OTHER} {FLAG}"


def test_after_that_a_warning_says_what_would_work(needing):
    jax.devices()
    with pytest.warns(RuntimeWarning, match=r"0\.10\.2 .* set XLA_FLAGS=--xla_backend"):
        spare_float_atomics()
    assert os.environ["XLA_FLAGS"] == OTHER


def test_nothing_is_touched_without_such_a_gpu(needing):
    needing.setattr(importlib.util, "find_spec", lambda name: None)
    spare_float_atomics()
    assert os.environ["XLA_FLAGS"] == OTHER
