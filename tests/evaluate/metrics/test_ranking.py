import numpy as np
import pytest

from jaxkg.errors import JaxkgError
from jaxkg.evaluate import link_prediction
from jaxkg.evaluate.metrics.ranking import ranks


def test_three_ranks_of_a_constant_scorer():
    assert [rank.tolist() for rank in ranks([0], [9])] == [[1], [5.5], [10]]


def test_ranks_against_sorting():
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 4, (50, 12))
    true = rng.integers(0, 12, 50)
    own = scores[np.arange(50), true]
    better = (scores > own[:, None]).sum(1)
    equal = (scores == own[:, None]).sum(1) - 1
    found = ranks(better, equal)
    for row in range(50):
        order = sorted(scores[row], reverse=True)
        places = [place + 1 for place, score in enumerate(order) if score == own[row]]
        assert found.optimistic[row] == places[0]
        assert found.pessimistic[row] == places[-1]
        assert found.realistic[row] == np.mean(places)


def test_metrics():
    found = link_prediction([0, 2, 11], [0, 4, 0])
    assert found["mean_rank_realistic"].value == pytest.approx((1 + 5 + 12) / 3)
    assert found["mrr_realistic"].value == pytest.approx((1 + 1 / 5 + 1 / 12) / 3)
    assert found["mrr_optimistic"].value == pytest.approx((1 + 1 / 3 + 1 / 12) / 3)
    assert found["mrr_pessimistic"].value == pytest.approx((1 + 1 / 7 + 1 / 12) / 3)
    hits = {k: found[f"hits_at_{k}_realistic"].value for k in (1, 3, 10)}
    assert hits == pytest.approx({1: 1 / 3, 3: 1 / 3, 10: 2 / 3})
    assert found["hits_at_3_optimistic"].value == pytest.approx(2 / 3)
    assert len(found) == 15
    assert all(e.n == 3 and e.low <= e.value <= e.high for e in found.values())


@pytest.mark.parametrize(
    ("better", "equal", "message"),
    [
        ([0, 1], [0], "2 counts of better candidates, 1 of equal"),
        ([-1], [0], "cannot be negative"),
        ([0.5], [0], "better must be .n. integers"),
        ([[0]], [[0]], "better must be .n. integers"),
    ],
)
def test_bad_counts(better, equal, message):
    with pytest.raises(JaxkgError, match=message):
        ranks(better, equal)
