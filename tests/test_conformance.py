"""What holds for every pure core function, and that the harness would notice if it did not."""

import functools
import inspect
import warnings
from importlib import import_module

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from conformance_cases import CASES

every_case = pytest.mark.parametrize("name", CASES)


@functools.cache
def compiled(name):
    """Inputs of one bucket, and what one program makes of them: first, second, first again."""
    case = CASES[name]
    one, two = (jax.device_put(case.inputs(seed)) for seed in (1, 2))
    assert shapes(one) == shapes(two)
    chex.clear_trace_counter()
    program = jax.jit(chex.assert_max_traces(lambda *args: case.function(*args), n=1))
    with jax.transfer_guard("disallow"), jax.checking_leaks():
        outputs = program(*one), program(*two), program(*one)
    return one, two, jax.device_get(outputs)


def shapes(tree):
    return jax.tree.structure(tree), [(x.shape, x.dtype) for x in jax.tree.leaves(tree)]


def assert_same(one, two, *, rtol=0.0):
    """Integers and masks bit for bit, floats within `rtol`."""
    assert shapes(one) == shapes(two)
    for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(two)):
        if jnp.issubdtype(a.dtype, jnp.floating):
            np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol)
        else:
            np.testing.assert_array_equal(a, b)


@every_case
def test_one_program_serves_a_bucket_moves_and_leaks_nothing_and_repeats_itself(name):
    _, _, (first, second, again) = compiled(name)
    assert_same(first, again)
    assert shapes(first) == shapes(second)
    leaves = zip(jax.tree.leaves(first), jax.tree.leaves(second))
    assert any(not np.array_equal(a, b) for a, b in leaves), "the inputs do not matter"


# What follows compiles every core once more: as a batch, and operation by operation.
@pytest.mark.slow
@every_case
def test_compiled_and_eager_agree(name):
    one, _, (first, _, _) = compiled(name)
    assert_same(first, CASES[name].function(*one), rtol=1e-5)


@pytest.mark.slow
@every_case
def test_a_batch_is_its_members(name):
    one, two, (first, second, _) = compiled(name)
    batched = jax.jit(jax.vmap(CASES[name].function))(*stacked(one, two))
    assert_same(batched, stacked(first, second), rtol=1e-5)


def stacked(one, two):
    def stack(*leaves):
        is_key = jnp.issubdtype(leaves[0].dtype, jax.dtypes.prng_key)
        return jnp.stack(leaves) if is_key else np.stack(jax.device_get(leaves))

    return jax.tree.map(stack, one, two)


def public_functions(module):
    here = import_module(f"jaxkg.{module}")
    names = getattr(here, "__all__", None) or [
        name
        for name, value in vars(here).items()
        if inspect.isfunction(value) and value.__module__ == here.__name__
    ]
    functions = [name for name in names if inspect.isfunction(inspect.unwrap(getattr(here, name)))]
    return {f"{module}.{name}" for name in functions if not name.startswith("_")}


ON_HOST = {
    f"score.hdc.{name}"
    for name in ("operator", "ghrr", "fhrr", "hrr", "real", "bipolar", "mix", "build_trie")
}
"""Public functions of cores that take no arrays of the device: they make algebras and lists."""


@pytest.mark.parametrize(
    "module",
    [
        *("ops", "candidates", "select", "search.relation_beam"),
        *("score.planner", "score.hdc", "score.edges", "score.priority"),
        *("score.message_passing", "score.overlap"),
    ],
)
def test_no_function_is_left_out(module):
    assert public_functions(module) - ON_HOST <= set(CASES)
    assert not ON_HOST & set(CASES)


class TestHarness:
    """The settings that all tests run under."""

    def test_there_are_eight_devices(self):
        assert jax.device_count() == 8
        assert jax.default_backend() == "cpu"

    def test_mixed_dtypes_do_not_promote(self):
        with pytest.raises(jax.dtypes.TypePromotionError):
            jnp.ones(2, jnp.int32) * 1.5

    def test_ranks_do_not_promote(self):
        with pytest.raises(ValueError, match="rank_promotion"):
            jnp.ones((2, 3)) + jnp.ones(3)

    def test_warnings_are_errors(self):
        with pytest.raises(DeprecationWarning):
            warnings.warn("old", DeprecationWarning, stacklevel=1)

    @pytest.mark.slow
    def test_a_leak_is_seen(self):
        kept = []
        with jax.checking_leaks(), pytest.raises(Exception, match="Leaked"):
            jax.jit(lambda x: kept.append(x + 1))(jnp.ones(2))

    def test_a_transfer_is_seen(self):
        program = jax.jit(lambda x: x + 1)
        program(np.ones(2, np.float32))
        with jax.transfer_guard("disallow"), pytest.raises(Exception, match="Disallowed"):
            program(np.ones(2, np.float32))

    def test_a_second_trace_is_seen(self):
        chex.clear_trace_counter()
        program = jax.jit(chex.assert_max_traces(lambda x: x + 1, n=1))
        program(jnp.ones(2))
        with pytest.raises(AssertionError, match="traced"):
            program(jnp.ones(3))
