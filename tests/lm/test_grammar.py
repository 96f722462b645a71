"""Constrained decoding against the plain meaning of a list of options."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jaxkg.errors import JaxkgError
from jaxkg.lm.grammar import advance, allowed, begin, build_grammar, split_list

SEPARATOR, END, VOCABULARY = 0, 1, 7
options = st.lists(
    st.lists(st.integers(2, VOCABULARY - 1), min_size=1, max_size=4).map(tuple),
    min_size=1,
    max_size=6,
    unique=True,
)


def grammar_of(rows, **limits):
    return build_grammar(rows, separator=SEPARATOR, end=END, **limits)


_allowed = jax.jit(allowed, static_argnames="vocab_size")
_advance = jax.jit(advance)


def walk(grammar, rng, limit=80):
    """Write at random what is allowed, every row until it ends."""
    written = begin(jax.tree.map(jnp.asarray, grammar))
    rows = len(grammar.root)
    lists, done = [[] for _ in range(rows)], [False] * rows
    for _ in range(limit):
        mask = np.asarray(_allowed(grammar, written, vocab_size=VOCABULARY))
        token = np.zeros(rows, np.int32)
        for row in range(rows):
            if not done[row]:
                token[row] = rng.choice(np.flatnonzero(mask[row]))
                done[row] = token[row] == END
                if not done[row]:
                    lists[row].append(int(token[row]))
        if all(done):
            return [split_list(tokens, SEPARATOR) for tokens in lists]
        written = _advance(grammar, written, jnp.asarray(token))
    raise AssertionError("a list did not end")


@settings(max_examples=30)
@given(st.lists(options, min_size=2, max_size=2), st.integers(0, 2**32 - 1))
def test_no_list_leaves_its_options_or_repeats_one(rows, seed):
    for least, most in ((1, None), (0, 2), (2, 3)):
        grammar = grammar_of(rows, least=least, most=most)
        for found, offered in zip(walk(grammar, np.random.default_rng(seed)), rows):
            assert set(found) <= set(offered)
            assert len(set(found)) == len(found)
            assert min(least, len(offered)) <= len(found) <= (most or len(offered))


def test_every_list_can_be_written_and_nothing_else():
    rows = [[(2, 3), (2,), (2, 3, 4), (5,)]]
    for least, most, repeat in ((1, 3, False), (0, 2, True)):
        grammar = grammar_of(rows, least=least, most=most, repeat=repeat)
        arrange = itertools.product if repeat else itertools.permutations
        expected = {
            items
            for count in range(least, most + 1)
            for items in (
                arrange(rows[0], repeat=count) if repeat else itertools.permutations(rows[0], count)
            )
        }
        found, heads = set(), [((), begin(grammar))]
        while heads:
            tokens, written = heads.pop()
            for token in np.flatnonzero(_allowed(grammar, written, vocab_size=VOCABULARY)[0]):
                if token == END:
                    found.add(tuple(split_list(tokens, SEPARATOR)))
                else:
                    after = _advance(grammar, written, jnp.asarray([token], jnp.int32))
                    heads.append(((*tokens, int(token)), after))
        assert found == expected


@pytest.mark.parametrize(
    ("rows", "limits", "says"),
    [
        ([[(2,)], []], {}, "row 1 has no options"),
        ([[()]], {}, "empty option"),
        ([[(2,), (2,)]], {}, "same tokens"),
        ([[(2, SEPARATOR)]], {}, "holds the separator"),
        ([[(2, END)]], {}, "holds the separator or the end"),
        ([[(2,)]], {"repeat": True}, "needs `most`"),
        ([[(2,)]], {"least": 2, "most": 1}, "least is"),
    ],
)
def test_what_is_no_grammar_is_refused(rows, limits, says):
    with pytest.raises(JaxkgError, match=says):
        grammar_of(rows, **limits)
