import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxkg.score.planner import (
    bag,
    init_planner,
    label_vectors,
    next_relation_logits,
    path_log_probability,
    read_question,
)

RELATIONS, HOPS, DIM, BUCKETS = 2, 3, 8, 64
CODES, STOP = 2 * RELATIONS, 2 * RELATIONS
WORDS = jnp.asarray([5, 9, 60, -1, 9, -1], jnp.int32)
LABELS = jnp.asarray([[5, 7, -1], [60, -1, -1]], jnp.int32)


@pytest.fixture
def params(rng):
    """Nothing is left at the zeros and ones of a fresh planner."""
    fresh = init_planner(RELATIONS, hops=HOPS, width=DIM, buckets=BUCKETS, key=jax.random.key(1))
    noise = lambda x: jnp.asarray(rng.normal(size=x.shape), jnp.float32)  # noqa: E731
    return jax.tree.map(lambda leaf: leaf + 0.5 * noise(leaf), fresh)


def padded(codes):
    return jnp.asarray([*codes, *[-1] * (HOPS - len(codes))], jnp.int32)


def test_a_path_is_the_product_of_its_steps_and_the_stop(params):
    labels, reading = label_vectors(params, LABELS), read_question(params, WORDS)
    for codes in [(), (3,), (1, 0), (2, 2, 1)]:
        logits = next_relation_logits(params, labels, reading, padded(codes))
        assert logits.shape == (HOPS + 1, CODES + 1)
        np.testing.assert_allclose(np.exp(logits).sum(axis=1), 1.0, rtol=1e-5)
        actions = [*codes, STOP][:HOPS]
        expected = sum(float(logits[hop, action]) for hop, action in enumerate(actions))
        got = path_log_probability(params, labels, reading, padded(codes))
        assert float(got) == pytest.approx(expected, abs=1e-5)


def test_logits_against_the_formulas_by_hand(params):
    """Every weight in its place, in numpy."""
    w = jax.tree.map(np.asarray, params)
    words = w.ngram[[5, 9, 60, 9]].sum(0) / 2.0
    hidden = np.tanh(words @ w.question) + words
    reads = np.stack([hidden @ w.step[hop] for hop in range(HOPS + 1)]) + hidden
    label = np.stack([w.ngram[[5, 7]].sum(0) / np.sqrt(2.0), w.ngram[60]])
    labels = np.concatenate([w.label_gate[0] * label, w.label_gate[1] * label])
    codes, state, logits = (3, 1), np.zeros(DIM), []
    for hop in range(HOPS + 1):
        scores = np.tanh(reads[hop] + state) @ w.relation.T + w.bias
        scores[:CODES] += labels @ words
        logits.append(scores - np.log(np.exp(scores).sum()))
        if hop < len(codes):
            state = np.tanh(state @ w.carry + w.previous[codes[hop]])
    reading = read_question(params, WORDS)
    np.testing.assert_allclose(reading.words, words, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(reading.reads, reads, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(label_vectors(params, LABELS), labels, rtol=1e-5, atol=1e-6)
    got = next_relation_logits(params, label_vectors(params, LABELS), reading, padded(codes))
    np.testing.assert_allclose(got, np.stack(logits), rtol=1e-4, atol=1e-4)


def test_an_empty_text_is_zero_and_padding_weighs_nothing(params):
    assert not bag(params.ngram, jnp.full(4, -1, jnp.int32)).any()
    short, long = jnp.asarray([3, 4], jnp.int32), jnp.asarray([-1, 3, -1, 4, -1], jnp.int32)
    np.testing.assert_allclose(bag(params.ngram, short), bag(params.ngram, long), rtol=1e-6)
    rows = bag(params.ngram, jnp.stack([short, short[::-1]]))
    np.testing.assert_allclose(rows[0], rows[1], rtol=1e-6)


def test_an_unseen_relation_is_found_by_the_words_of_its_label():
    fresh = init_planner(RELATIONS, hops=HOPS, width=64, buckets=BUCKETS, key=jax.random.key(0))
    labels = label_vectors(fresh, LABELS)
    reading = read_question(fresh, jnp.asarray([60, 11, -1], jnp.int32))
    logits = next_relation_logits(fresh, labels, reading, padded(()))
    assert int(jnp.argmax(logits[0, :RELATIONS])) == 1
