import jax.numpy as jnp
import numpy as np

from jaxkg.ops import LowRank, low_rank_sum


def test_a_change_of_every_layer_equals_the_sums_of_its_products():
    rng = np.random.default_rng(0)
    kernel, first, second = (
        rng.normal(size=shape).astype(np.float32) for shape in ((2, 4, 5), (2, 4, 3), (2, 3, 5))
    )
    found = low_rank_sum(jnp.asarray(kernel), LowRank(first, second), alpha=6.0)
    for layer in range(2):
        for i in range(4):
            for o in range(5):
                added = sum(float(first[layer, i, r] * second[layer, r, o]) for r in range(3))
                wanted = float(kernel[layer, i, o]) + 6.0 / 3 * added
                np.testing.assert_allclose(found[layer, i, o], wanted, rtol=1e-5, atol=1e-5)


def test_small_changes_of_a_rounded_kernel_are_added_before_rounding():
    change = LowRank(jnp.full((1, 1), 0.5), jnp.full((1, 1), 0.5))
    found = low_rank_sum(jnp.ones((1, 1), jnp.bfloat16), change, alpha=1.0)
    assert found.dtype == jnp.bfloat16
    assert float(found[0, 0]) == 1.25
