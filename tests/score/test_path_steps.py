"""The step ranker's scores against loops in NumPy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxkg.score.path_steps import init_steps, marked, next_state, relation_vectors, step_logits

pytestmark = pytest.mark.slow

D, E, R, B, T = 6, 3, 5, 4, 7


def _params():
    params = init_steps((), R, dimension=D, width=E, hidden=8, key=jax.random.key(1))
    return params._replace(bias=jnp.arange(R + 1) / 3, update_bias=jnp.linspace(-1, 1, 3 * D))


def softmax(x):
    return np.exp(x - x.max()) / np.exp(x - x.max()).sum()


def expit(x):
    return 1 / (1 + np.exp(-x))


def _gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def test_logits_equal_loops():
    draw, params = np.random.default_rng(0), _params()
    host = jax.tree.map(np.asarray, params)
    states = draw.normal(size=(B, T, D)).astype(np.float32)
    path, labels = draw.normal(size=(B, D)), draw.normal(size=(R, D))
    lengths = np.array([7, 3, 1, 5], np.int32)
    vectors = relation_vectors(params, jnp.asarray(labels, jnp.float32))
    known = np.concatenate([np.c_[labels, host.relation] @ host.label, host.end[None]])
    np.testing.assert_allclose(vectors, known, rtol=1e-4, atol=1e-5)
    found = step_logits(
        params, vectors, jnp.asarray(states), jnp.asarray(lengths), jnp.asarray(path, jnp.float32)
    )
    for row in range(B):
        tokens = states[row, : lengths[row]]
        share = softmax((path[row] @ host.query) @ (tokens @ host.key).T / np.sqrt(D))
        words = share @ tokens
        inner = _gelu(np.r_[words, path[row]] @ host.inner)
        wanted = words @ host.read + 10 * inner @ host.outer
        logits = 10 * wanted / np.linalg.norm(wanted) @ known.T + host.bias
        np.testing.assert_allclose(found[row], logits, rtol=1e-3, atol=1e-3)


def test_states_go_on_as_in_loops():
    draw, params = np.random.default_rng(2), _params()
    host = jax.tree.map(np.asarray, params)
    path, relation = draw.normal(size=(2, B, D)).astype(np.float32)
    found = next_state(params, jnp.asarray(path), jnp.asarray(relation))
    for row in range(B):
        new, keep, reset = np.split(relation[row] @ host.input + host.update_bias, 3)
        new2, keep2, reset2 = np.split(path[row] @ host.update, 3)
        share = expit(keep + keep2 - 1)
        wanted = (1 - share) * path[row] + share * np.tanh(new + expit(reset + reset2) * new2)
        np.testing.assert_allclose(found[row], wanted, rtol=1e-4, atol=1e-5)


def test_marks_are_added_where_they_stand():
    params = _params()
    marks = jnp.asarray([[0, 1, 2]], jnp.int32)
    found = marked(params, jnp.zeros((1, 3, D)), marks)[0]
    np.testing.assert_allclose(found, [np.zeros(D), params.mark[1], params.mark[2]])
