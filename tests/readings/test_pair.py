"""The pair scorer: one function over numpy and JAX, padding, and what coverage means."""

import dataclasses

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from training.fit import init_pair

from jaxkg.kg import KnowledgeGraph
from jaxkg.query import path_query
from jaxkg.readings.pair import PairScorer, padded_states, pair_parts
from jaxkg.systems.reader.settings import ReaderSettings
from jaxkg.systems.reader.system import Reader
from jaxkg.systems.reader.weights import ReaderWeights, shipped_weights
from jaxkg.text import HashingEncoder

WIDTH = 256


def words(*names):
    """States of tokens: a fixed random direction a word."""
    return np.stack(
        [np.random.default_rng(abs(sum(map(ord, n)))).normal(size=WIDTH) for n in names]
    ).astype(np.float32)


def drawn(seed=0):
    params = init_pair(seed, width=WIDTH, projection=4, heads=3, hidden=5)
    params["outer"] = np.random.default_rng(seed).normal(size=5).astype(np.float32)
    return params


def plain():
    """Coverage alone, every word weighed alike: what is not explained, or not called for, costs."""
    params = init_pair(0, width=WIDTH, projection=4, heads=1, hidden=1)
    params["project"] = np.zeros_like(params["project"])
    params |= {"asks": np.zeros((WIDTH, 1), np.float32), "says": np.zeros((WIDTH, 1), np.float32)}
    return params | {"line": np.array([1.0, 1.0, 0.0, 1.0], np.float32)}


def pair_scores(params, *states, xp=np):
    return pair_parts(params, *states, xp=xp)[:, 0]


def scores(params, question, sentences, xp=np, width=12):
    asked, there = padded_states([question], width)
    return pair_scores(params, asked[0], there[0], *padded_states(sentences, width), xp=xp)


SENTENCES = [words("the", "population", "of"), words("the", "density"), words("rivers", "of", "it")]
QUESTION = words("what", "is", "the", "population")


def test_numpy_and_jax_score_alike():
    params = drawn()
    host = scores(params, QUESTION, SENTENCES)
    chex.assert_shape(host, (3,))
    device = jax.jit(lambda p: scores(p, QUESTION, SENTENCES, jnp))(params)
    np.testing.assert_allclose(host, device, rtol=2e-4, atol=2e-4)


def test_padding_and_company_change_nothing():
    params = drawn(1)
    wide = scores(params, QUESTION, SENTENCES, width=40)
    np.testing.assert_allclose(scores(params, QUESTION, SENTENCES), wide, rtol=1e-4, atol=1e-5)
    alone = [scores(params, QUESTION, [one])[0] for one in SENTENCES]
    np.testing.assert_allclose(wide, alone, rtol=1e-4, atol=1e-5)


def test_what_stands_behind_the_tokens_takes_no_part():
    (asked,), (there,) = padded_states([QUESTION], 12)
    said, tokens = padded_states(SENTENCES, 12)
    plain = pair_scores(drawn(), asked, there, said, tokens)
    asked, said = asked.copy(), said.copy()
    asked[~there] = words("rivers")
    said[~tokens] = words("population")
    np.testing.assert_allclose(pair_scores(drawn(), asked, there, said, tokens), plain, rtol=1e-4)


def test_vmap_is_a_loop_and_gradients_are_finite():
    params = jax.tree.map(jnp.asarray, drawn(2))
    asked, there = padded_states([QUESTION, QUESTION[:2]], 6)
    said, tokens = (np.stack([table] * 2) for table in padded_states(SENTENCES, 6))

    @jax.jit
    def one(p, *row):
        return pair_scores(p, *row, xp=jnp)

    @jax.jit
    def batch(p):
        return jax.vmap(lambda *row: one(p, *row))(asked, there, said, tokens)

    loop = [one(params, *row) for row in zip(asked, there, said, tokens)]
    np.testing.assert_allclose(batch(params), np.stack(loop), rtol=1e-4, atol=1e-4)
    gradient = jax.jit(jax.grad(lambda p: batch(p).sum()))(params)
    assert all(bool(jnp.isfinite(leaf).all()) for leaf in jax.tree.leaves(gradient))
    assert float(jnp.abs(gradient["project"]).max()) > 0


def test_what_the_question_does_not_call_for_costs_and_so_does_what_is_not_said():
    called, more, less = scores(
        plain(),
        QUESTION,
        [words("the", "population"), words("the", "population", "density"), words("the")],
    )
    assert called > more
    assert called > less


def test_a_reader_adds_what_the_sentences_say_to_its_views():
    facts = [("Alien", "director", "Ridley Scott"), ("Alien", "writer", "Dan O'Bannon")]
    kg = KnowledgeGraph.from_triples(facts)
    shipped = shipped_weights("hashing")

    class Encoder(HashingEncoder):
        def states(self, texts):
            return [words(*text.lower().strip("?").split()) for text in texts]

    encoder = Encoder()
    about = {**shipped.about, "tuned": encoder.revision.partition("-")[0]}
    strong = {name: 100 * array if name == "line" else array for name, array in plain().items()}
    weights = dataclasses.replace(shipped, pair=strong, about=about)
    question = "the writer of Alien?"
    by_views = Reader.build(kg, encoder, weights=shipped)
    both = Reader.build(kg, encoder, weights=weights)
    queries = [path_query(("Alien",), (name,)) for name in ("director", "writer")]
    scorer = PairScorer(kg, encoder.states, plain())
    assert np.argmax(scorer.parts(question, queries)[:, 0]) == 1
    seen, plainly = both.look(question), by_views.look(question)
    assert not np.allclose(seen.scores - plainly.scores, 0)
    assert seen.found[int(np.argmax(seen.scores))].query.relations == ("writer",)
    without = Reader.build(kg, encoder, weights=weights, settings=ReaderSettings(choose="views"))
    np.testing.assert_array_equal(without.look(question).scores, plainly.scores)


def test_weights_keep_the_pair_scorer(tmp_path):
    weights = dataclasses.replace(shipped_weights("hashing"), pair=drawn())
    weights.save(tmp_path / "reader.npz")
    read = ReaderWeights.open(tmp_path / "reader.npz")
    assert read.pair is not None
    for name, array in drawn().items():
        np.testing.assert_allclose(read.pair[name], array, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("count", [None, 5])
def test_tokens_beyond_the_width_are_not_looked_at(count):
    table, there = padded_states([QUESTION, QUESTION[:1]], 3, count)
    assert table.shape == (count or 2, 3, WIDTH)
    assert there[:2].sum(axis=1).tolist() == [3, 1]
