"""How sure the reader is: what it is told by, and how that is fitted."""

import numpy as np
import pytest
from training.fit import a_line, fit_confidence, recalibrated, sure_left_out

from jaxkg.systems.reader.ranking import (
    CUES,
    confidence,
    confidence_cues,
    rank_on_host,
)
from jaxkg.systems.reader.views import NAMES


def test_the_lead_is_over_the_best_reading_with_another_answer():
    views = np.arange(3 * len(NAMES), dtype=np.float32).reshape(3, -1)
    scores = np.array([1.0, 3.5, 3.0])
    told = confidence_cues(scores, ["a", "b", "b"], views)
    assert told[CUES.index("lead")] == 2.5
    np.testing.assert_array_equal(told[[CUES.index(name) for name in NAMES]], views[1])
    assert confidence_cues(scores, ["a", "a", "a"], views)[CUES.index("lead")] == 0


def test_a_sentence_is_told_apart_from_none():
    views, scores = np.zeros((1, len(NAMES)), np.float32), np.zeros(1)
    place = [CUES.index(name) for name in ("sentence score", "sentence unexplained", "no sentence")]
    parts = np.arange(1, 6, dtype=np.float32)
    assert confidence_cues(scores, ["a"], views, parts)[place].tolist() == [1, 5, 0]
    assert confidence_cues(scores, ["a"], views)[place].tolist() == [0, 0, 1]


def test_recalibrated_logits_are_a_line_of_those_before():
    drawn = np.random.default_rng(0)
    size = len(CUES)
    params = {
        "line": drawn.normal(size=size), "inner": drawn.normal(size=(size, 4)),
        "bias": drawn.normal(size=4), "outer": drawn.normal(size=4),
    }  # fmt: skip
    cues = drawn.normal(size=(5, size))
    cues[:, CUES.index("bias")] = 1
    moved = rank_on_host(recalibrated(params, 0.5, -2.0), cues)
    np.testing.assert_allclose(moved, 0.5 * rank_on_host(params, cues) - 2)


def questions(count=80, shift=7.0):
    """Cues that lie far from 0, and what is right by them: between two limits alone."""
    told = np.linspace(-1, 1, count)
    cues = np.stack([np.ones(count), told + shift], axis=1).astype(np.float32)
    return cues, np.abs(told) < 0.5


@pytest.mark.usefixtures("standard_promotion")
def test_a_perceptron_is_fitted_to_cues_wherever_they_lie():
    cues, right = questions()
    sure = confidence(fit_confidence(cues, right, seeds=range(2), steps=1_500), cues)
    assert np.mean((sure > 0.5) == right) > 0.9


@pytest.mark.usefixtures("standard_promotion")
def test_a_line_is_fitted_to_cues_wherever_they_lie():
    cues, _ = questions()
    right = cues[:, 1] > 7.5
    sure = confidence(fit_confidence(cues, right, seeds=range(2)), cues)
    assert np.mean((sure > 0.5) == right) > 0.9
    assert abs(sure.mean() - right.mean()) < 0.1


@pytest.mark.usefixtures("standard_promotion")
def test_a_fit_goes_on_from_an_earlier_confidence():
    cues, right = questions(shift=0.0)
    start = a_line(np.array([0.5, 3.0]))
    again = fit_confidence(cues, right, seeds=range(2), steps=0, start=start)
    first = rank_on_host(start, cues)
    moved = rank_on_host(again, cues) - first
    fresh = rank_on_host(fit_confidence(cues, right, seeds=range(2), steps=0), cues)
    np.testing.assert_allclose(moved, fresh, atol=1e-4)  # nothing is learnt in no steps


@pytest.mark.usefixtures("standard_promotion")
def test_what_counts_for_little_hardly_moves_a_confidence():
    cues, _ = questions(shift=0.0)
    both = np.concatenate([cues, cues])
    right = np.repeat([True, False], len(cues))
    weight = np.where(right, 1.0, 0.05)
    sure = confidence(fit_confidence(both, right, seeds=range(2), weight=weight), both)
    assert sure.mean() > 0.8


@pytest.mark.usefixtures("standard_promotion")
def test_a_question_is_judged_by_what_learnt_from_other_groups():
    cues, _ = questions(shift=0.0)
    both = np.concatenate([cues, cues])
    right = np.concatenate([cues[:, 1] > 0, cues[:, 1] < 0])
    groups = ["a"] * len(cues) + ["d"] * len(cues)
    assert np.mean((sure_left_out(both, right, groups, folds=2) > 0.5) == right) < 0.2
