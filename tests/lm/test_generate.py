"""Generation with a cache against plain recomputation."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from lm_twin import LLAMA, checkpoint

from jaxkg.errors import JaxkgError
from jaxkg.lm.checkpoint import load_llama
from jaxkg.lm.generate import Choice, decode, generate, prefill
from jaxkg.lm.grammar import build_grammar, split_list
from jaxkg.lm.model import causal_mask

PROMPTS = [[3, 9, 1, 22, 5], [7], [31, 2, 2, 30, 11, 8, 4, 39, 5]]
NEW = 12


@pytest.fixture(scope="module")
def model():
    return load_llama(LLAMA, checkpoint(LLAMA))


@pytest.fixture(scope="module")
def plain(model):
    """Greedy continuations without cache, batch or padding, and how clear each choice was."""
    graphdef, weights = nnx.split(model)

    @jax.jit
    def last_logits(weights, ids, length):
        place = jnp.arange(ids.shape[1], dtype=jnp.int32)[None]
        own = nnx.merge(graphdef, weights)
        states, _ = own(ids, place, causal_mask(jnp.where(place < length, 0, -1)))
        return own.logits(states)[0, length - 1]

    found = []
    for prompt in PROMPTS:
        ids = list(prompt)
        for _ in range(NEW):
            padded = np.zeros((1, 24), np.int32)
            padded[0, : len(ids)] = ids
            scores = np.asarray(last_logits(weights, padded, jnp.int32(len(ids))))
            assert np.diff(np.sort(scores)[-2:]) > 1e-4
            ids.append(int(scores.argmax()))
        found.append(ids[len(prompt) :])
    return found


def test_the_cache_changes_nothing(model, plain):
    found = generate(model, PROMPTS, end=[299], max_tokens=NEW)
    assert [list(each.tokens) for each in found] == plain
    assert {each.finish for each in found} == {"length"}
    # Alone, a prompt has other padding and other neighbours.
    assert list(generate(model, PROMPTS[1:2], end=[299], max_tokens=NEW)[0].tokens) == plain[1]


def test_padding_may_be_on_either_side(model, plain):
    for side in ("left", "right"):
        tokens, valid = np.full((3, 16), 99, np.int32), np.zeros((3, 16), bool)
        for row, prompt in enumerate(PROMPTS):
            at = slice(16 - len(prompt), 16) if side == "left" else slice(0, len(prompt))
            tokens[row, at], valid[row, at] = prompt, True

        def run(tokens, valid):
            state = prefill(model, tokens, valid, None, new=NEW)
            choice = Choice(jnp.zeros(3), jax.random.split(jax.random.key(0), 3))
            return decode(
                model, state, choice, None, until=jnp.int32(NEW), end=[299], sampled=False
            ).tokens

        found = jax.jit(run)(tokens, valid)
        assert np.asarray(found).tolist() == plain, side


def test_a_row_ends_at_its_end_token_and_the_others_go_on(model, plain):
    end = plain[0][4]
    expected = [row[: row.index(end)] if end in row else row for row in plain]
    found = generate(model, PROMPTS, end=[298, end], max_tokens=NEW)
    assert [list(each.tokens) for each in found] == expected
    assert [each.finish for each in found] == ["stop" if end in row else "length" for row in plain]


def test_draws_depend_on_the_seed_alone(model):
    settings = {"end": [299], "max_tokens": NEW, "temperature": 0.7}
    first = generate(model, PROMPTS, seeds=[5, 6, -7], **settings)
    again = generate(model, PROMPTS[::-1], seeds=[-7, 6, 5], **settings)
    assert [each.tokens for each in first] == [each.tokens for each in again[::-1]]
    other = generate(model, PROMPTS, seeds=[8, 9, 10], **settings)
    assert [each.tokens for each in first] != [each.tokens for each in other]


def test_draws_follow_the_temperature(model, plain):
    rows = 512
    prompts = [PROMPTS[0]] * rows
    graph, weights = nnx.split(model)
    logits = jax.jit(
        lambda weights: (
            prefill(
                nnx.merge(graph, weights),
                jnp.asarray([PROMPTS[0]]),
                jnp.ones((1, 5), bool),
                None,
                new=1,
            ).logits
        )
    )(weights)[0]
    heat = 4.0
    expected = np.asarray(jax.nn.softmax(logits / heat))
    found = generate(model, prompts, end=[299], max_tokens=1, temperature=heat, seeds=range(rows))
    counts = np.bincount([(*each.tokens, 299)[0] for each in found], minlength=300) / rows
    # Shares of the likeliest hundred and of the rest, as those of so many draws may differ.
    first = np.argsort(-expected)[:100]
    share = expected[first].sum()
    assert 0.4 < share < 0.99
    assert abs(counts[first].sum() - share) < 3 * np.sqrt(share * (1 - share) / rows)
    mixed = generate(model, PROMPTS, end=[299], max_tokens=NEW, temperature=[0.0, 0.0, 9.0])
    assert [list(each.tokens) for each in mixed[:2]] == plain[:2]
    assert list(mixed[2].tokens) != plain[2]


def test_nothing_but_the_options_is_written(model):
    options = [[(3, 4), (3, 4, 5), (9,)], [(8, 8), (9, 7)], [(60, 61)]]
    grammar = build_grammar(options, separator=10, end=299, most=2)
    for heat in (0.0, 3.0):
        found = generate(
            model, PROMPTS, end=[299], max_tokens=16, temperature=heat, grammar=grammar
        )
        for each, offered in zip(found, options):
            items = split_list(each.tokens, 10)
            assert each.finish == "stop"
            assert 1 <= len(items) <= 2
            assert set(items) <= set(offered)


def test_what_cannot_be_generated_is_refused(model):
    grammar = build_grammar([[(3,)]], separator=10, end=299)
    for prompts, settings, says in (
        ([[]], {}, "at least one token"),
        ([[1]], {"max_tokens": 0}, "at least 1"),
        ([[1]], {"max_tokens": 128}, "128 positions"),
        ([[1]], {"temperature": -1.0}, "temperature"),
        ([[1]], {"temperature": [0.5, 0.5]}, "one number or 1"),
        ([[1]], {"seeds": [1, 2]}, "2 seeds for 1"),
        ([[1], [2]], {"grammar": grammar}, "1 rows for 2"),
    ):
        with pytest.raises(JaxkgError, match=says):
            generate(model, prompts, end=[299], **{"max_tokens": 4, **settings})
    assert generate(model, [], end=[299]) == []
