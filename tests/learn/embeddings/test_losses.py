import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxkg.learn.embeddings.train import (
    logistic_loss,
    margin_loss,
    n3_penalty,
    one_vs_all_loss,
    self_adversarial_loss,
)

POSITIVE = jnp.array([-1.0, -4.0], jnp.float32)
NEGATIVE = jnp.array([[-2.0, -1.5], [-3.0, -9.0]], jnp.float32)


def test_margin():
    # 1+1-2=0, 1+1-1.5=0.5, 1+4-3=2, 1+4-9<0
    assert float(margin_loss(POSITIVE, NEGATIVE, margin=1.0)) == pytest.approx(2.5 / 4)


def softplus(x):
    return np.log1p(np.exp(x))


def test_logistic():
    right = softplus(-(np.asarray(POSITIVE) + 6))
    wrong = softplus(np.asarray(NEGATIVE) + 6).mean(1)
    got = logistic_loss(POSITIVE, NEGATIVE, margin=6.0)
    assert float(got) == pytest.approx((right + wrong).mean() / 2, rel=1e-6)


def test_self_adversarial_weighs_what_the_model_believes():
    x = np.exp(2 * np.asarray(NEGATIVE))
    weight = x / x.sum(1, keepdims=True)
    right = softplus(-(np.asarray(POSITIVE) + 6))
    wrong = (weight * softplus(np.asarray(NEGATIVE) + 6)).sum(1)
    got = self_adversarial_loss(POSITIVE, NEGATIVE, margin=6.0, temperature=2.0)
    assert float(got) == pytest.approx((right + wrong).mean() / 2, rel=1e-6)


def test_the_weights_of_self_adversarial_are_constants():
    def loss(negative):
        return self_adversarial_loss(POSITIVE, negative, margin=6.0, temperature=2.0)

    weight = jax.nn.softmax(2 * NEGATIVE, axis=1)
    want = weight * jax.nn.sigmoid(NEGATIVE + 6) / 4
    np.testing.assert_allclose(jax.grad(loss)(NEGATIVE), want, rtol=1e-5)


def test_one_vs_all():
    scores = jnp.array([[1.0, 2.0, 0.0]], jnp.float32)
    want = np.log(np.exp([1, 2, 0]).sum()) - 2
    got = one_vs_all_loss(scores, jnp.array([1], jnp.int32))
    assert float(got) == pytest.approx(want, rel=1e-6)


def test_n3_of_real_and_of_complex_vectors():
    x = jnp.array([[3.0, 4.0], [0.0, 1.0]], jnp.float32)
    assert float(n3_penalty(x, halves=False)) == pytest.approx((27 + 64 + 1) / 2, rel=1e-5)
    assert float(n3_penalty(x, x, halves=True)) == pytest.approx(2 * (125 + 1) / 2, rel=1e-5)
