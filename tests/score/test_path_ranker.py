import jax
import numpy as np
import pytest

from jaxkg.score.path_ranker import init_ranker, path_scores

LABELS, DIM, BUCKETS = 6, 16, 32
scored = jax.jit(path_scores)


def inputs(rng):
    labels = rng.normal(size=(LABELS, DIM)).astype(np.float32)
    labels /= np.linalg.norm(labels, axis=1, keepdims=True)
    texts = rng.normal(size=(3, 2 * DIM)).astype(np.float32)
    ngrams = rng.integers(-1, BUCKETS, (3, 5)).astype(np.int32)
    paths = np.asarray([[0, 1, -1], [2, -1, -1], [-1, -1, -1], [5, 5, -1], [1, 4, 2]], np.int32)
    return labels, texts, ngrams, paths


def ranker():
    return init_ranker(LABELS, dimension=DIM, buckets=BUCKETS, hops=3, key=jax.random.key(0))


def test_an_untrained_ranker_adds_the_products_of_text(rng):
    labels, texts, ngrams, paths = inputs(rng)
    found = np.asarray(scored(ranker(), labels, texts, ngrams, paths))
    question = (texts[:, :DIM] + texts[:, DIM:]) / 2
    products = question @ labels.T
    np.testing.assert_allclose(
        found[:, 0], 5 * (products[:, 0] + products[:, 1]), rtol=1e-4, atol=1e-4
    )
    np.testing.assert_allclose(found[:, 1], 10 * products[:, 2], rtol=1e-4, atol=1e-4)
    assert np.isneginf(found[:, 2]).all()


def loop(params, labels, text, ngrams, path):
    """One path of one question, from the weights' description."""
    p = jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), params)
    words = [p.ngram[n] for n in ngrams if n >= 0]
    q = text @ p.question + (np.sum(words, axis=0) / np.sqrt(len(words)) if words else 0)
    q = q + np.tanh(4 * q @ p.question_inner) @ p.question_outer
    steps = [r for r in path if r >= 0]
    seen = [np.concatenate([labels[r], p.relation[r]]) for r in steps]
    v = seen[0] @ p.first + seen[-1] @ p.last + p.length[len(steps) - 1]
    v = v + sum((step @ p.middle for step in seen[1:-1]), np.zeros_like(v))
    v = v + np.tanh(4 * v @ p.path_inner) @ p.path_outer
    return p.scale * q @ v + p.bias[0][steps[0]] + p.bias[1][steps[-1]]


def test_scores_equal_a_loop_with_every_weight_at_work(rng):
    labels, texts, ngrams, paths = inputs(rng)
    ngrams[1] = -1
    params = jax.tree.map(
        lambda leaf: leaf + 0.1 * rng.normal(size=leaf.shape).astype(np.float32), ranker()
    )
    found = np.asarray(scored(params, labels, texts, ngrams, paths))
    for row in range(3):
        for place in (0, 1, 3, 4):
            expected = loop(params, labels, texts[row], ngrams[row], paths[place])
            assert found[row, place] == pytest.approx(expected, rel=2e-4, abs=2e-3)
