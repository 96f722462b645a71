import math

import pytest

from jaxkg.evaluate.metrics.strict import (
    COUNTED,
    confusion,
    exact_set,
    f1,
    hit_any,
    hits_at_1,
    precision,
    recall,
    strict_scores,
)

# gold, predicted -> tp, fp, fn, hit_any, exact_set, precision, recall, f1
CASES = {
    "right": ("ab", "ab", 2, 0, 0, 1, 1, 1, 1, 1),
    "no reply": ("ab", "", 0, 0, 2, 0, 0, 0, 0, 0),
    "all wrong": ("a", "xy", 0, 2, 1, 0, 0, 0, 0, 0),
    "repeated prediction": ("ab", "aaa", 1, 0, 1, 1, 0, 1, 1 / 2, 2 / 3),
    "repeated gold": ("aab", "ab", 2, 0, 0, 1, 1, 1, 1, 1),
    "longer than gold": ("a", "abcd", 1, 3, 0, 1, 0, 1 / 4, 1, 2 / 5),
    "superset": ("abc", "ab", 2, 0, 1, 1, 0, 1, 2 / 3, 4 / 5),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_set_metrics(case):
    gold, predicted, *expected = case
    counts = confusion(gold, predicted)
    rest = [metric(gold, predicted) for metric in (hit_any, exact_set, precision, recall, f1)]
    assert [*counts, *rest] == pytest.approx(expected)


@pytest.mark.parametrize("predicted", ["", "ab"])
def test_without_gold_nothing_is_defined(predicted):
    scores = strict_scores("", [(key, 1.0) for key in predicted])
    assert scores.keys() == {*COUNTED, "hits_at_1", "hit_any", "exact_set", "precision"} | {
        "recall",
        "f1",
    }
    assert all(math.isnan(score) for score in scores.values())


@pytest.mark.parametrize(
    ("ranked", "expected"),
    [
        ([], 0.0),
        ([("a", 0.9), ("x", 0.1)], 1.0),
        ([("x", 0.9), ("a", 0.1)], 0.0),
        ([("a", 0.5), ("x", 0.5)], 1 / 2),
        ([("x", 0.5), ("a", 0.5), ("b", 0.5), ("y", 0.4)], 2 / 3),
        ([("a", 0.5), ("a", 0.5), ("x", 0.5)], 1 / 2),
        # The ranking is the authority: a later equal or higher score is not tied with the first.
        ([("a", 0.5), ("x", 0.7), ("y", 0.5)], 1.0),
        ([("x", 0.0), ("a", -0.0)], 1 / 2),
    ],
)
def test_hits_at_1_is_expected_over_the_tied_group(ranked, expected):
    assert hits_at_1({"a", "b"}, ranked) == pytest.approx(expected)
