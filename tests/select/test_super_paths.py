import itertools

import numpy as np
import pytest

from jaxkg.select.super_paths import add_step, best_paths, keep_best, path_groups


def kept(scores, candidates=None, **options):
    scores = np.asarray([scores], np.float32)
    there = np.ones(scores.shape, bool) if candidates is None else np.asarray([candidates])
    got = keep_best(scores, there, **options)
    return got.group[0].tolist(), got.weight[0].tolist()


def test_the_best_are_kept_and_their_scores_sum_to_1():
    group, weight = kept([0.2, 0.9, 0.0, 0.6], width=2)
    assert group == [1, 3]
    assert weight == pytest.approx([0.6, 0.4])


def test_ties_go_to_the_smaller_number():
    assert kept([0.5, 0.7, 0.5, 0.5], width=3)[0] == [1, 0, 2]


def test_only_candidates_count_whatever_stands_elsewhere():
    group, weight = kept([np.nan, 0.1, np.inf, 0.3], [False, True, False, True], width=3)
    assert group == [3, 1, -1]
    assert weight == pytest.approx([0.75, 0.25, 0])


@pytest.mark.parametrize("useless", [0.0, -3.0, np.nan])
def test_useless_candidates_are_kept_with_equal_weights(useless):
    group, weight = kept([useless, useless, 5.0], [True, True, False], width=3)
    assert group == [0, 1, -1]
    assert weight == pytest.approx([0.5, 0.5, 0])
    group, weight = kept([useless, 0.2], width=2)
    assert group == [1, 0]
    assert weight == pytest.approx([1, 0])


def test_a_floor_is_a_share_of_the_best():
    assert kept([1.0, 0.5, 0.49], width=3, floor=0.5)[0] == [0, 1, -1]


def test_totals_are_sums_along_numbered_paths():
    weights = np.random.default_rng(0).random((3, 2, 2)).astype(np.float32)  # [step, B, N]
    totals = np.zeros((2, 1), np.float32)
    for weight in weights:
        totals = add_step(totals, weight)
    for question in range(2):
        for number, places in enumerate(itertools.product(range(2), repeat=3)):
            expected = sum(weights[step, question, place] for step, place in enumerate(places))
            assert float(totals[question, number]) == pytest.approx(float(expected))


def test_best_paths_exist_and_are_sorted():
    totals = np.asarray([[0.1, 0.9, 0.5, 0.9], [1.0, 2.0, 3.0, 4.0]], np.float32)
    exist = np.asarray([[True, True, True, True], [True, False, True, False]])
    path, score = best_paths(totals, exist, keep=3)
    assert path.tolist() == [[1, 3, 2], [2, 0, -1]]
    assert score[1].tolist() == [3.0, 1.0, 0.0]
    assert best_paths(totals, exist, keep=6)[0].shape == (2, 6)


def test_a_path_is_read_by_its_digits():
    sets = [np.asarray([[7, 8, 9]], np.int32), np.asarray([[4, 5, 6]], np.int32)]
    numbers = np.asarray([[0, 5, 7, -1]], np.int32)
    assert path_groups(numbers, sets)[0].tolist() == [[7, 4], [8, 6], [9, 5], [-1, -1]]
