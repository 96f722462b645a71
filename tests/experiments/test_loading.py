"""Room for compiled programs in a process that asks many systems."""

import sys

import jax
import jax.numpy as jnp
import pytest

from jaxkg.experiments.loading import make_room


@pytest.mark.skipif(sys.platform != "linux", reason="other systems set no such limit")
def test_programs_are_forgotten_where_they_fill_the_process_and_only_there(monkeypatch):
    traced = []

    @jax.jit
    def double(x):
        traced.append(x)
        return x + x

    # Those of all other tests are let be.
    monkeypatch.setattr(jax, "clear_caches", lambda: double.clear_cache())
    assert not make_room(share=1.0)
    assert double(jnp.asarray(2)) + double(jnp.asarray(3)) == 10
    assert len(traced) == 1
    assert make_room(share=0.0)
    assert double(jnp.asarray(4)) == 8
    assert len(traced) == 2
