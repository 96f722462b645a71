"""Packed examples see nothing of one another, and only answers are learnt."""

import jax
import numpy as np
import pytest
from lm_twin import LLAMA, checkpoint, tokenizer, twin

from jaxkg.errors import JaxkgError
from jaxkg.learn.lm import (
    answer_loss,
    dpo_loss,
    example_log_probabilities,
    label_log_probabilities,
)
from jaxkg.lm.checkpoint import load_llama
from jaxkg.lm.packing import Example, pack

EXAMPLES = [
    Example((5, 9, 4), (7, 8)),
    Example((11,), (2, 3, 4, 60)),
    Example((30, 31, 32, 33, 34), (1,)),
    Example((9, 9), (41,)),
]


def expected(example):
    """Log-probability of each token of the answer, by the twin."""
    logits = twin(LLAMA, checkpoint(LLAMA), [*example.prompt, *example.answer])
    scores = logits - np.log(np.exp(logits).sum(1, keepdims=True))
    first = len(example.prompt) - 1
    return [scores[first + i, token] for i, token in enumerate(example.answer)]


def test_log_probabilities_are_the_twins_packed_or_apart():
    model = load_llama(LLAMA, checkpoint(LLAMA))
    packed = pack(EXAMPLES, length=12)
    assert packed.tokens.shape[0] == 2  # 6 + 5 and 5 + 3 tokens
    found = np.asarray(jax.jit(lambda b: label_log_probabilities(model, b))(packed))
    every = [expected(example) for example in EXAMPLES]
    for number, scores in enumerate(every):
        there = packed.example == number
        np.testing.assert_allclose(found[there], scores, atol=3e-5)
    assert not found[packed.example == -1].any()
    mean = -sum(map(sum, every)) / sum(map(len, every))
    np.testing.assert_allclose(jax.jit(lambda b: answer_loss(model, b))(packed), mean, rtol=1e-5)
    apart = pack(EXAMPLES, length=12, together=False)
    summed = jax.jit(lambda b: example_log_probabilities(model, b))(apart)
    np.testing.assert_allclose(summed, list(map(sum, every)), rtol=1e-5)


def test_every_token_has_its_place(rng):
    examples = [
        Example(tuple(rng.integers(1, 99, a)), tuple(rng.integers(1, 99, b)))
        for a, b in rng.integers(1, 9, (200, 2))
    ]
    packed = pack(examples, length=24)
    seen = []
    for row in range(len(packed.tokens)):
        for segment in range(packed.segment[row].max() + 1):
            there = np.flatnonzero(packed.segment[row] == segment)
            assert packed.position[row, there].tolist() == list(range(len(there)))
            learnt = np.isin(packed.place[row] + 1, there) & (packed.place[row] >= 0)
            (number,) = set(packed.example[row, learnt].tolist())
            example = examples[number]
            tokens = packed.tokens[row, there].tolist()
            assert tokens == [*example.prompt, *example.answer]
            assert packed.label[row, learnt].tolist() == list(example.answer)
            assert packed.tokens[row, packed.place[row, learnt] + 1].tolist() == list(
                example.answer
            )
            seen.append(number)
    assert sorted(seen) == list(range(200))
    total = sum(example.length for example in examples)
    assert len(packed.tokens) <= 1.1 * total / 24 + 1


def test_lists_are_encoded_as_they_are_decoded():
    words = tokenizer()
    example = Example.of_chat(words, [("user", "who?")], ["Heat", "Ridley Scott"])
    assert example.prompt == tuple(words.chat([("user", "who?")]))
    assert example.answer == (
        *words.encode("Heat"),
        words.newline,
        *words.encode("Ridley Scott"),
        words.end[0],
    )
    assert Example.of_chat(words, [("user", "who?")], []).answer == words.end[:1]


def test_dpo_by_hand():
    """beta · margin is 0.2 · (1 - -0.5) = 0.3 and 0.2 · (0 - 2) = -0.4."""
    loss = dpo_loss(
        np.float32([-1.0, -3.0]),
        np.float32([-4.0, -1.0]),
        np.float32([-2.0, -3.0]),
        np.float32([-3.5, -3.0]),
        beta=0.2,
    )
    by_hand = (np.log1p(np.exp(-0.3)) + np.log1p(np.exp(0.4))) / 2
    np.testing.assert_allclose(loss, by_hand, rtol=1e-6)


def test_what_cannot_be_packed_is_refused():
    with pytest.raises(JaxkgError, match="no examples"):
        pack([], length=8)
    with pytest.raises(JaxkgError, match="6 tokens, a row 5"):
        pack(EXAMPLES, length=5)
    with pytest.raises(JaxkgError, match="one of answer"):
        Example((1,), ())
