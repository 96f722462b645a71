import functools

import hyper_brute_force as brute
import jax
import numpy as np
import pytest

from jaxkg.score.overlap import aggregate_groups, entity_weight, gathered_similarity

_aggregate = functools.partial(jax.jit, static_argnames=("num_groups", "how"))(aggregate_groups)


@pytest.mark.parametrize("how", ["sum", "mean", "max"])
def test_groups_are_aggregated_and_slots_of_none_are_not_read(how):
    rng = np.random.default_rng(0)
    group = rng.integers(-1, 6, 40).astype(np.int32)
    value = (rng.integers(-8, 9, 40) / 8).astype(np.float32)
    wanted = [brute.aggregate(value[group == g].tolist(), how) for g in range(7)]
    value[group == -1] = np.nan
    found = _aggregate(value, group, num_groups=7, how=how)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    assert wanted[6] == 0.0


def test_an_aggregate_of_another_name_is_refused():
    with pytest.raises(ValueError, match="median"):
        aggregate_groups(np.zeros(1, "f4"), np.zeros(1, "i4"), num_groups=1, how="median")  # pyright: ignore


def test_entities_below_the_threshold_weigh_nothing_and_those_at_it_all():
    similarity = np.asarray([0.2, 0.5, 0.7], np.float32)
    found = entity_weight(similarity, np.asarray([9, 3, -1], np.float32), threshold=0.5)
    assert np.asarray(found).tolist() == [0, 3, -1]


@pytest.mark.parametrize("size", [5, 300])
def test_similarity_is_pair_by_pair(size):
    rng = np.random.default_rng(1)
    questions, vectors = (rng.normal(size=(n, 4)).astype(np.float32) for n in (3, size))
    row, index = np.asarray([2, 0, 2, 1], np.int32), np.asarray([4, 4, 1, 0], np.int32)
    found = gathered_similarity(questions, vectors, row, index)
    np.testing.assert_allclose(found, [questions[r] @ vectors[i] for r, i in zip(row, index)], 1e-5)
