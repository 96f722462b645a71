import math

import jax.numpy as jnp
import numpy as np

from jaxkg.score import hdc


def test_equations_six_and_seven_by_hand():
    idf = hdc.idf(jnp.array([0.0, 4.0, 1000.0]), 1000)
    expected = [math.log(1 + 1000 / (1 + f)) for f in (0, 4, 1000)]
    np.testing.assert_allclose(idf, expected, rtol=1e-6)
    scaled = hdc.idf(jnp.array([0.0, 4.0]), 1000, scaled=True)
    np.testing.assert_allclose(scaled, np.array(expected[:2]) / math.log(1001), rtol=1e-6)
    got = hdc.calibrate(jnp.array([0.5, 0.5]), idf[:2], jnp.array([1, 3]))  # as published
    want = [0.5 + 0.2 * expected[0] - 0.1 * 0.8, 0.5 + 0.2 * expected[1] - 0.1 * 0.8**3]
    np.testing.assert_allclose(got, want, rtol=1e-5)


def test_grid_search_finds_the_planted_triple_and_splits_ties():
    rng = np.random.default_rng(0)
    similarity = rng.uniform(0, 1, (40, 6)).astype(np.float32)
    idf = rng.uniform(0, 4, (40, 6)).astype(np.float32)
    length = rng.integers(1, 5, (40, 6))
    valid = rng.uniform(size=(40, 6)) < 0.8
    valid[:, 0] = True
    planted = similarity + 0.3 * idf - 0.4 * 0.6**length
    correct = np.where(valid, planted, -np.inf).argmax(axis=1)[:, None] == np.arange(6)
    got = hdc.grid_search(*map(jnp.asarray, (similarity, idf, length, correct, valid)))
    assert got.hits.shape == (6, 6, 4)
    assert got.hits[3, 4, 0] == got.hits.max() == 1
    plain = np.where(valid, similarity, -np.inf).argmax(axis=1)
    expected = correct[np.arange(40), plain].mean()
    np.testing.assert_allclose(got.hits[0, 0], expected, rtol=1e-6)
    alpha, beta, decay = (float(v) for v in got[1:])
    again = similarity + alpha * idf - beta * decay**length
    assert (np.where(valid, again, -np.inf).argmax(axis=1) == correct.argmax(axis=1)).all()
    constant = jnp.zeros((2, 4))
    tied = hdc.grid_search(
        constant, constant, jnp.ones((2, 4), int), jnp.array([[True, False, False, True]] * 2),
        jnp.array([[True, True, True, True], [False] * 4]),
    )  # fmt: skip
    np.testing.assert_allclose(tied.hits, 0.25)  # half of one question, a miss for the empty one
    partly = hdc.grid_search(
        jnp.eye(2, 4), constant, jnp.ones((2, 4), int),
        jnp.array([[0.25, 1, 1, 1], [1, 0.5, 1, 1]]), jnp.ones((2, 4), bool),
    )  # fmt: skip
    np.testing.assert_allclose(partly.hits, 0.375)  # a candidate may be right in part
