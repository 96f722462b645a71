"""The printed bounds against simulation, where they hold and where they do not."""

import math

import jax
import numpy as np
import pytest

from jaxkg.errors import JaxkgError
from jaxkg.score import hdc
from jaxkg.score.hdc import capacity

pytestmark = pytest.mark.slow


def simulate(a, kind, **kw):
    run = jax.jit(lambda key: capacity.distractor_similarity(a, kind=kind, key=key, **kw))
    return np.asarray(run(jax.random.key(0)))


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("ghrr-haar", "random"),
        ("ghrr-haar", "near"),
        ("ghrr-diagonal", "near"),
        ("bipolar", "near"),
    ],
)
def test_tails_stay_within_the_bound(name, kind):
    d = 256
    a = hdc.operator(name, d, m=2)
    sims = simulate(a, kind, relations=24, distractors=256, trials=24)
    c = capacity.concentration(a)
    assert abs(sims.mean()) < 0.02
    for epsilon in np.array([1.0, 1.5, 2.0]) / math.sqrt(2 * c * d):
        rate = (np.abs(sims) >= epsilon).mean()
        assert rate <= capacity.false_match_bound(d, epsilon, c=c)
        # and the constant is tight: a twice larger one would be violated.
        if epsilon > 1.9 / math.sqrt(2 * c * d):
            assert rate > capacity.false_match_bound(d, epsilon, c=2.5 * c)


def test_prop_one_fails_for_permuted_relations():
    haar = simulate(hdc.ghrr(256, 4), "permuted", relations=8, distractors=16, trials=4)
    # Neighbours swapped: 1/m^2 on average, although d = 4096 allows noise of 0.01.
    assert 0.0 < haar.mean() < 0.1
    assert haar.max() > 0.04
    flat = simulate(hdc.fhrr(256), "permuted", relations=8, distractors=16, trials=4)
    np.testing.assert_allclose(flat, 1, atol=1e-5)


@pytest.mark.parametrize(("name", "factor"), [("real", 9.0), ("hrr", 4.0)])
def test_variance_of_near_misses(name, factor):
    a = hdc.operator(name, 512)
    sims = simulate(a, "near", relations=24, distractors=200, trials=40)
    np.testing.assert_allclose(sims.var() * 512, factor, rtol=0.3)


def test_bound_dimension_and_ceiling_are_one_formula():
    d = math.ceil(math.log(2 * 500 / 0.1) / (0.5 * 0.07**2))
    assert capacity.false_match_bound(d, 0.07, distractors=500, c=0.5) <= 0.1
    assert capacity.false_match_bound(d - 1, 0.07, distractors=500, c=0.5) > 0.1
    ceiling = capacity.noise_ceiling(d, distractors=500, delta=0.1, c=0.5)
    np.testing.assert_allclose(ceiling, 0.07, rtol=1e-3)
    assert capacity.false_match_bound(8, 0.01, distractors=10) == 1


def test_bad_arguments_are_told():
    with pytest.raises(JaxkgError, match="kind"):
        capacity.distractor_similarity(hdc.fhrr(8), kind="far", key=jax.random.key(0))
    with pytest.raises(JaxkgError, match="more relations"):
        capacity.distractor_similarity(hdc.fhrr(8), relations=3, key=jax.random.key(0))
