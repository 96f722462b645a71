import math

import numpy as np
import pytest

from jaxkg.errors import JaxkgError
from jaxkg.evaluate.metrics.intervals import quantile_estimate, ratio_estimates, resampled_sums


def mean_estimate(values, **options):
    column = np.asarray(values, float)[:, None]
    ones = np.where(np.isnan(column), np.nan, 1.0)
    return ratio_estimates(column, ones, **options)[0]


def test_interval_of_a_share_is_the_textbook_one():
    hits = np.random.default_rng(0).random(2000) < 0.3
    found = mean_estimate(hits, resamples=2000)
    half = 1.96 * math.sqrt(0.3 * 0.7 / 2000)
    assert found.value == pytest.approx(hits.mean())
    assert found.n == 2000
    assert found.high - found.value == pytest.approx(half, rel=0.1)
    assert found.value - found.low == pytest.approx(half, rel=0.1)


def test_a_seed_decides_the_draws():
    values = np.random.default_rng(0).normal(size=500)
    assert mean_estimate(values, seed=1) == mean_estimate(values, seed=1)
    assert mean_estimate(values, seed=1).low != mean_estimate(values, seed=2).low


def test_undefined_questions_are_in_no_sum():
    found = mean_estimate([1.0, math.nan, 0.0, math.nan])
    assert (found.value, found.n) == (0.5, 2)
    assert (found.low, found.high) == (0.0, 1.0)
    nothing = mean_estimate([math.nan, math.nan])
    assert nothing.n == 0
    assert all(map(math.isnan, (nothing.value, nothing.low, nothing.high)))
    alone = mean_estimate([0.25, *[math.nan] * 9])
    assert (alone.value, alone.low, alone.high, alone.n) == (0.25, 0.25, 0.25, 1)


def test_pooled_ratio_resamples_its_sums():
    rng = np.random.default_rng(5)
    tp, fp, fn = rng.integers(0, 9, (3, 60)).astype(float)
    top, bottom = 2 * tp, 2 * tp + fp + fn
    found = ratio_estimates(top[:, None], bottom[:, None], resamples=300, seed=4)[0]
    draws = np.random.default_rng(4)
    pooled = []
    for _ in range(300):
        rows = draws.integers(0, 60, 60)
        pooled.append(top[rows].sum() / bottom[rows].sum())
    assert found.value == pytest.approx(top.sum() / bottom.sum())
    assert [found.low, found.high] == pytest.approx(np.quantile(pooled, [0.025, 0.975]).tolist())
    assert found.value != pytest.approx((top / bottom).mean())


def test_paired_difference_is_tighter_than_two_intervals():
    rng = np.random.default_rng(0)
    base = rng.random((400, 1))
    better = base + 0.01 + 0.001 * rng.normal(size=(400, 1))
    ones = np.ones_like(base)
    found = ratio_estimates(better, ones, minus=(base, ones))[0]
    assert found.value == pytest.approx((better - base).mean())
    assert 0 < found.low < found.value < found.high < 0.02


def test_paired_difference_is_over_questions_both_define():
    first = np.array([[1.0], [math.nan], [0.0], [1.0]])
    second = np.array([[0.0], [0.0], [math.nan], [1.0]])
    ones = [np.where(np.isnan(values), np.nan, 1.0) for values in (first, second)]
    found = ratio_estimates(first, ones[0], minus=(second, ones[1]))[0]
    assert (found.value, found.n) == (0.5, 2)


@pytest.mark.parametrize("q", [0.1, 0.5, 0.95])
def test_quantile_interval_equals_resampling(q):
    values = np.random.default_rng(2).exponential(size=201)
    found = quantile_estimate(values, q, resamples=20_000, seed=1)
    rng = np.random.default_rng(9)
    drawn = np.sort(values[rng.integers(0, 201, (20_000, 201))], axis=1)
    drawn = drawn[:, math.ceil(q * 201) - 1]
    low, high = np.quantile(drawn, [0.025, 0.975], method="inverted_cdf")
    ordered = np.sort(values)
    for mine, theirs in ((found.low, low), (found.high, high)):
        assert abs(np.searchsorted(ordered, mine) - np.searchsorted(ordered, theirs)) <= 1


def test_bad_arguments():
    ones = np.ones((3, 1))
    with pytest.raises(JaxkgError, match=r"alike, got \(3, 1\), \(2, 1\)"):
        ratio_estimates(ones, ones[:2])
    with pytest.raises(JaxkgError, match="resamples must be at least 1"):
        resampled_sums(ones, resamples=0)
    with pytest.raises(JaxkgError, match=r"lies in \(0, 1\], not 50"):
        quantile_estimate(ones[:, 0], 50)
