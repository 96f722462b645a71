"""Schema frequencies and calibrated scores against PathHD's formulas written out."""

import math

import numpy as np
import pytest

from jaxkg.errors import JaxkgError
from jaxkg.systems.pathhd.calibration import Calibration, schema_keys

CODES = 4
# Three training questions: (0), (0, 1); (0), (0); (2, 3).
CANDIDATES = np.array(
    [[[0, -1], [0, 1]], [[0, -1], [0, -1]], [[2, 3], [-1, -1]]],
    np.int32,
)


def test_every_schema_has_a_key_of_its_own():
    paths = [(a, b) for a in range(CODES) for b in range(-1, CODES)] + [(-1, -1)]
    keys = schema_keys(np.array(paths, np.int32), CODES)
    assert len(set(keys.tolist())) == len(paths)
    assert keys[-1] == -1


def test_a_calibration_is_kept_for_one_graph_and_one_number_of_hops(tmp_path):
    file, relations = tmp_path / "c.npz", ("r", "s")
    made = Calibration.counted(CANDIDATES, num_codes=CODES, alpha=0.3, beta=0.1, decay=0.7)
    made.save(file, relations, 2)
    same = Calibration.open(file, relations, 2)
    similarity = np.zeros(CANDIDATES.shape[:2], np.float32)
    scores = [c.score(similarity, CANDIDATES, num_codes=CODES) for c in (made, same)]
    np.testing.assert_array_equal(*scores)
    assert len(set(scores[0].ravel().tolist())) > 1
    with pytest.raises(JaxkgError, match="for 2 hops, not 3"):
        Calibration.open(file, relations, 3)
    with pytest.raises(JaxkgError, match="other relations"):
        Calibration.open(file, ("s", "r"), 2)
    file.write_bytes(b"nothing")
    with pytest.raises(JaxkgError, match="no calibration of PathHD"):
        Calibration.open(file, relations, 2)


def test_frequency_counts_questions_not_candidates():
    counted = Calibration.counted(CANDIDATES, num_codes=CODES)
    asked = np.array([[0, -1], [0, 1], [2, 3], [3, -1]], np.int32)
    frequency = [2, 1, 1, 0]
    np.testing.assert_allclose(
        counted.inverse_frequency(asked, num_codes=CODES),
        [math.log(1 + 3 / (1 + f)) for f in frequency],
        rtol=1e-6,
    )


def test_the_score_is_equation_6():
    counted = Calibration.counted(CANDIDATES, num_codes=CODES, alpha=0.3, beta=0.2, decay=0.6)
    similarity = np.array([[0.9, 0.5, -np.inf]], np.float32)
    paths = np.array([[[0, -1], [0, 1], [-1, -1]]], np.int32)
    got = counted.score(similarity, paths, num_codes=CODES)
    expected = [
        0.9 + 0.3 * math.log(1 + 3 / 3) - 0.2 * 0.6,
        0.5 + 0.3 * math.log(1 + 3 / 2) - 0.2 * 0.36,
        -math.inf,
    ]
    np.testing.assert_allclose(got[0], expected, rtol=1e-6)


def test_no_weights_leave_the_similarity_alone():
    similarity = np.array([[0.9, 0.5]], np.float32)
    plain = Calibration().score(similarity, CANDIDATES[:1], num_codes=CODES)
    np.testing.assert_array_equal(plain, similarity)
    none = Calibration(alpha=0.5).score(similarity, CANDIDATES[:1], num_codes=CODES)
    np.testing.assert_array_equal(none, similarity)


def test_the_fitted_weights_lift_the_right_candidates():
    counted = Calibration.counted(CANDIDATES, num_codes=CODES)
    # The right one is the rarer of two that are nearly as similar.
    similarity = np.array([[0.50, 0.45, -np.inf]], np.float32)
    paths = np.array([[[0, -1], [3, -1], [-1, -1]]], np.int32)
    hit = np.array([[0.0, 0.75, 1.0]], np.float32)
    fitted = counted.fitted(similarity, paths, hit, num_codes=CODES)
    assert fitted.alpha > 0
    assert fitted.hits == pytest.approx(0.75)
    score = fitted.score(similarity, paths, num_codes=CODES)[0]
    assert score[1] > score[0]
