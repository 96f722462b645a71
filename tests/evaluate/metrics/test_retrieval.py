import math

import pytest

from jaxkg.errors import JaxkgError
from jaxkg.evaluate.metrics.retrieval import (
    answer_recall_at_k,
    path_recall_at_k,
    support_recall_at_k,
)

GOLD = [("^a", "b"), ("c",)]


@pytest.mark.parametrize(
    ("ranked", "k", "expected"),
    [
        ([], 3, 0),
        ([["x"], ["^a", "b"]], 1, 0),
        ([["x"], ["^a", "b"]], 2, 1),
        ([["x"], ["x"], ["c"]], 2, 1),
        ([["a", "b"]], 1, 0),
        ([["^a"]], 5, 0),
    ],
)
def test_path_recall(ranked, k, expected):
    assert path_recall_at_k(GOLD, ranked, k) == expected


def test_open_direction_ignores_the_caret_on_both_sides():
    assert path_recall_at_k(GOLD, [["a", "^b"]], 1, directed=False) == 1
    assert path_recall_at_k(GOLD, [["b", "a"]], 1, directed=False) == 0


def test_answer_recall_counts_paths_not_answers():
    assert answer_recall_at_k({"a"}, ["x", "x", "a"], 2) == 0
    assert answer_recall_at_k({"a"}, ["x", "x", "a"], 3) == 1
    assert answer_recall_at_k({"a"}, [], 3) == 0


def test_support_recall_is_a_share():
    gold = [("h", "r", "t"), ("h", "r", "u"), ("h", "r", "u")]
    ranked = [("x", "y", "z"), ("h", "r", "t"), ("h", "r", "t"), ("h", "r", "u")]
    assert [support_recall_at_k(gold, ranked, k) for k in (1, 2, 3)] == [0, 1 / 2, 1]


def test_undefined_without_a_gold_side():
    assert math.isnan(path_recall_at_k([], [["a"]], 1))
    assert math.isnan(answer_recall_at_k(set(), ["a"], 1))
    assert math.isnan(support_recall_at_k(set(), ["a"], 1))


@pytest.mark.parametrize("metric", [path_recall_at_k, answer_recall_at_k, support_recall_at_k])
def test_k_must_be_positive(metric):
    with pytest.raises(JaxkgError, match="at least 1, not 0"):
        metric([], [], 0)
