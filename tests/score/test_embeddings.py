"""Hand-computed scores of the four models, and what `move` and `compare` promise one another."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxkg.score import embeddings
from jaxkg.score.embeddings import (
    MODELS,
    compare,
    init_embeddings,
    move,
    relation_width,
    score_against,
)

F32 = jnp.float32


def triple_of(model, rng, dimension=6):
    width = relation_width(model, dimension)
    return [jnp.asarray(rng.normal(size=n), F32) for n in (dimension, width, dimension)]


def score_triple(model, h, r, t, norm=1):
    return compare(model, move(model, h, r, inverse=False), t, norm=norm)


def by_the_paper(model, h, r, t, norm):
    """The formulas as printed, in complex numbers where the paper has them."""
    h, r, t = (np.asarray(x, np.float64) for x in (h, r, t))
    if model == "transe":
        return -np.linalg.norm(h + r - t, norm)
    if model == "distmult":
        return float(np.sum(h * r * t))
    half = len(h) // 2
    h, t = h[:half] + 1j * h[half:], t[:half] + 1j * t[half:]
    if model == "complex":
        return float(np.sum(h * (r[:half] + 1j * r[half:]) * t.conj()).real)
    return -float(np.sum(np.abs(h * np.exp(1j * r) - t)))


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("model", MODELS)
def test_scores_are_those_of_the_papers(model, norm, rng):
    h, r, t = triple_of(model, rng)
    got = score_triple(model, h, r, t, norm=norm)
    np.testing.assert_allclose(got, by_the_paper(model, h, r, t, norm), rtol=1e-5)


@pytest.mark.parametrize("model", MODELS)
def test_both_sides_give_one_score(model, rng):
    h, r, t = triple_of(model, rng)
    forward = compare(model, move(model, h, r, inverse=False), t)
    backward = compare(model, move(model, t, r, inverse=True), h)
    np.testing.assert_allclose(forward, backward, rtol=1e-5)


@pytest.mark.parametrize(("model", "norm"), [*((model, 1) for model in MODELS), ("transe", 2)])
def test_against_everyone_equals_one_by_one(model, norm, monkeypatch):
    monkeypatch.setattr(embeddings, "_TILE", 4)  # the last tile is filled up
    monkeypatch.setattr(embeddings, "_TERMS", 4)
    table = init_embeddings(model, 10, 2, dimension=6, key=jax.random.key(0))
    moved = table.entity[:3] * 0.5
    got = score_against(model, moved, table.entity, norm=norm)
    want = [[compare(model, m, e, norm=norm) for e in table.entity] for m in moved]
    np.testing.assert_allclose(got, np.array(want, np.float32), rtol=2e-5, atol=1e-5)

    pairs = jax.vmap(jax.vmap(functools.partial(compare, model, norm=norm), (None, 0)), (0, None))
    against = functools.partial(score_against, model, norm=norm)

    def slopes(scores):
        loss = jax.grad(lambda *both: jnp.sum(jnp.sin(scores(*both))), (0, 1))
        return jax.jit(loss)(moved, table.entity)

    for mine, theirs in zip(slopes(against), slopes(pairs), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("model", MODELS)
def test_gradients_are_finite_where_everything_coincides(model):
    zero = jnp.zeros(4, F32)
    r = jnp.zeros(relation_width(model, 4), F32)
    gradient = jax.grad(lambda h: score_triple(model, h, r, zero, norm=2))(zero)
    assert jnp.isfinite(gradient).all()


def test_unknown_models_and_odd_dimensions_are_refused():
    with pytest.raises(ValueError, match="distmult"):
        relation_width("transh", 4)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="odd"):
        relation_width("complex", 5)
