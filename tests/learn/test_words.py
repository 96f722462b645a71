import jax
import numpy as np
import pytest

from jaxkg.learn.words import QUESTION_WORDS, hide_words, question_table
from jaxkg.text import NgramHasher

TEXT = " ".join(f"w{i}" for i in range(12))


def hidden(words, each, count=64, longest=3):
    """[count, longest, W] bool, what of a text of twelve words is hidden; [..] whether there."""
    table = np.repeat(question_table(NgramHasher(1 << 16, longest), [TEXT]), count, axis=0)
    kept = np.asarray(
        hide_words(jax.numpy.asarray(table), jax.random.key(3), words=words, each=each)
    )
    assert ((kept == table) | (kept == -1)).all()
    shape = (count, longest, QUESTION_WORDS)
    return ((kept == -1) & (table >= 0)).reshape(shape), (table >= 0).reshape(shape)


def test_an_ngram_is_hidden_if_and_only_if_one_of_its_words_is():
    gone, there = hidden(words=0.6, each=0.0)
    word = gone[:, 0]
    assert 0.1 < word[:, :12].mean() < 0.5
    for n in (2, 3):
        starts = 12 - n + 1
        expected = np.stack([word[:, i : i + n].any(axis=1) for i in range(starts)], axis=1)
        assert np.array_equal(gone[:, n - 1, :starts], expected)
    assert not gone[~there].any()


def test_questions_lose_different_shares_up_to_the_most():
    gone, _ = hidden(words=0.5, each=0.0, count=2000)
    share = gone[:, 0, :12].mean(axis=1)
    assert share.mean() == pytest.approx(0.125, abs=0.01)
    # Half of the questions are left whole, and a few more by chance.
    assert (share == 0).mean() == pytest.approx(0.58, abs=0.04)
    assert (share > 0.5).mean() > 0.02


def test_nothing_is_hidden_without_a_reason_and_single_ngrams_with_one():
    assert not hidden(words=0.0, each=0.0)[0].any()
    gone, there = hidden(words=0.0, each=0.2, count=500)
    assert gone[there].mean() == pytest.approx(0.2, abs=0.02)
    # Pairs go by themselves, whether or not their words do.
    apart = gone[:, 1, :11] & ~gone[:, 0, :11] & ~gone[:, 0, 1:12]
    assert apart.mean() == pytest.approx(0.2 * 0.8**2, abs=0.02)
