import functools
import math

import brute_force
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxkg.select import choose

pick = functools.partial(jax.jit, static_argnames="width")(choose)
score = st.sampled_from([-math.inf, -math.inf, -2.0, -1.0, -0.5, 0.0, 1.5])
BATCH, PATHS, ACTIONS = 2, 3, 4
table = st.lists(
    st.lists(st.lists(score, min_size=ACTIONS, max_size=ACTIONS), min_size=PATHS, max_size=PATHS),
    min_size=BATCH,
    max_size=BATCH,
)


@given(table, st.sampled_from([1, 5, 12, 16]), st.sampled_from([0.0, 0.5, 2.0, math.inf]))
def test_agrees_with_brute_force(scores, width, margin):
    got = pick(np.asarray(scores, np.float32), width=width, margin=margin)
    assert got.score.shape == (BATCH, width)
    for question in range(BATCH):
        expected = brute_force.choose(scores[question], width, margin)
        valid = np.asarray(got.valid[question])
        assert valid.tolist() == [True] * len(expected) + [False] * (width - len(expected))
        kept = [
            np.asarray(c[question])[valid].tolist() for c in (got.parent, got.action, got.score)
        ]
        assert list(zip(*kept)) == expected
        assert (np.asarray(got.score[question])[~valid] == -math.inf).all()
        assert (np.asarray(got.parent[question])[~valid] == 0).all()
        assert (np.asarray(got.action[question])[~valid] == 0).all()


def test_the_margin_is_each_questions_own():
    scores = jnp.asarray([[[0.0, -1.0, -3.0]], [[-10.0, -11.0, -13.0]]])
    got = choose(scores, width=3, margin=1.0)
    assert got.valid.tolist() == [[True, True, False]] * 2


def test_scores_are_of_questions_paths_and_actions():
    with pytest.raises(AssertionError):
        choose(jnp.zeros((2, 3)), width=1)
