"""The language model's rows of the conformance table."""

import jax
import numpy as np
from drawn import floats, ints

from jaxkg.learn import lm
from jaxkg.lm import grammar, model

ROWS, WIDTH = 4, 8


def written(seed):
    """A grammar of four rows, one step in."""
    rows = [[(2, 3), (2, 4, 5), (3,)], [(4, 2), (5, 2)]] * 2
    made = grammar.build_grammar(rows, separator=0, end=1)
    start = jax.tree.map(np.asarray, grammar.begin(made))
    edge = made.first[start.node] + ints(seed, 2, ROWS)
    return made, start._replace(node=made.child[edge])


CASES = {
    "learn.lm.model.rms_norm": (
        lambda states, scale: model.rms_norm(states, scale, 1e-6),
        lambda s: (floats(s, ROWS, WIDTH), floats(s + 1, WIDTH)),
    ),
    "learn.lm.model.causal_mask": (
        model.causal_mask,
        lambda s: (np.sort(ints(s, 3, ROWS, WIDTH, low=-1)),),
    ),
    "learn.lm.dpo_loss": (
        lm.dpo_loss,
        lambda s: tuple(floats(s + i, ROWS) for i in range(4)),
    ),
    "learn.lm.grammar.allowed": (
        lambda made, now: grammar.allowed(made, now, WIDTH),
        written,
    ),
    "learn.lm.grammar.advance": (
        grammar.advance,
        lambda s: (*written(s), ints(s, 6, ROWS)),
    ),
}
