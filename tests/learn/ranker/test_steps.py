"""Training, keeping and using a step ranker on a small graph, with a tiny text model."""

import dataclasses
import functools
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from asked_films import film_questions, films_graph
from tiny_bert import write_tiny_bert

from jaxkg.answer import Answer
from jaxkg.cite import check, cite_paths, grounded
from jaxkg.errors import JaxkgError
from jaxkg.learn.ranker.step_training import (
    StepConfig,
    fit_steps,
    path_loss,
)
from jaxkg.learn.ranker.steps import StepRanker
from jaxkg.records import Link, Question, RankedEntity
from jaxkg.score.path_steps import init_steps, next_state, relation_vectors, step_logits
from jaxkg.systems.paths import Found
from jaxkg.systems.stepped import SteppedPaths, SteppedSettings
from jaxkg.tensors import tensor_graph
from jaxkg.text import HashingEncoder
from jaxkg.text.minilm import MiniLM
from jaxkg.text.states import TokenReader, reread

pytest.importorskip("tokenizers")
pytest.importorskip("safetensors.numpy")
FILMS = [f"Film {n}" for n in range(18)]
ENCODER = HashingEncoder(buckets=24)
CONFIG = StepConfig(
    width=8, hidden=32, batch_size=18, epochs=80, learning_rate=1e-2, upper_rate=1e-3, unknown=0.1
)
WORDS = [
    *("who", "made", "film", "when", "was", "shown", "home", "of", "the", "maker", "and"),
    *("person", "by", "also", "directed"),
]


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    words = [*WORDS, *map(str, range(18))]
    return TokenReader.open(write_tiny_bert(tmp_path_factory.mktemp("bert"), words), upper=1)


@pytest.fixture(scope="module")
def world():
    kg = films_graph(FILMS)
    return kg, tensor_graph(kg)


questions = functools.partial(film_questions, FILMS, paths=True)


@pytest.fixture(scope="module")
def ranker(world, reader):
    with jax.numpy_dtype_promotion("standard"):
        return fit_steps(*world, list(questions()), reader, ENCODER, hops=2, config=CONFIG)


def _built(world, ranker, reader, **settings):
    kg, tensors = world
    made = SteppedSettings(**settings)
    return SteppedPaths.build(kg, ranker, reader, ENCODER, tensors=tensors, settings=made)


def test_the_two_halves_of_a_model_are_the_model(tmp_path):
    folder = write_tiny_bert(tmp_path, WORDS)
    texts, reader = ["who made the film", "maker", ""], TokenReader.open(folder, upper=1)
    tokens = reader.read(texts)
    states, lengths = tokens.table(range(3), 8)
    whole = np.asarray(
        reread(reader.config, reader.upper, jnp.asarray(states, jnp.float32), jnp.asarray(lengths))
    )
    for row, wanted in enumerate(MiniLM.open(folder)(texts)):
        mean = whole[row, : lengths[row]].sum(axis=0)
        np.testing.assert_allclose(mean / np.linalg.norm(mean), wanted, atol=5e-3)
    assert tokens.within(0, (4, 8)) == [2]
    assert tokens.within(0, (4, 12)) == [2, 3]


@pytest.mark.slow
def test_the_loss_is_the_probability_among_rivals():
    draw = np.random.default_rng(0)
    params = init_steps((), 3, dimension=6, width=2, hidden=4, key=jax.random.key(0))
    labels = jnp.asarray(draw.normal(size=(3, 6)), jnp.float32)
    states = jnp.asarray(draw.normal(size=(2, 5, 6)), jnp.float32)
    lengths = jnp.asarray([5, 2], jnp.int32)
    meets = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], bool)
    paths = [[1, 2], [0]]
    table = jnp.asarray([[1, 2], [0, -1]], jnp.int32)
    found = path_loss(params, labels, jnp.asarray(meets), states, lengths, table, every=0.5)
    vectors = relation_vectors(params, labels)
    for row, path in enumerate(paths):
        state, total = params.start[None], 0.0
        for hop, right in enumerate([*path, 3]):
            some = slice(row, row + 1)
            logits = np.asarray(step_logits(params, vectors, states[some], lengths[some], state))[0]
            rivals = meets[path[hop - 1] if right == 3 else right].tolist()
            rivals = [r for r in range(4) if (r == 3 and hop) or (r < 3 and rivals[r])]
            odds = np.exp(logits)
            total -= np.log(odds[right] / odds[rivals].sum())
            total -= 0.5 * np.log(odds[right] / odds.sum())
            state = next_state(params, state, vectors[right][None])
        np.testing.assert_allclose(found[row], total, rtol=1e-4)


@pytest.mark.slow
def test_it_learns_which_path_is_asked_for(world, ranker, reader):
    kg, _ = world
    asked = list(questions())
    answers = _built(world, ranker, reader).answer(asked)
    right = [bool(a.entities) and a.entities[0].name in q.answers for a, q in zip(answers, asked)]
    assert np.mean(right) > 0.9
    assert all(grounded(kg, answer) for answer in answers)
    assert ranker.about["branches"] == len(asked)


def test_what_topics_agree_on_comes_first(world, ranker, reader):
    kg = world[0]
    walks = [(5, 0, 0.6), (7, 0, 0.3), (7, 1, 0.2), (8, 1, 0.7), (7, 1, 0.05)]
    node, branch, score = (np.array(column) for column in zip(*walks))
    paths = [SimpleNamespace(id=f"p{n}", score=s) for n, s in enumerate(score.tolist())]
    topics = SimpleNamespace(branches=((0,), (1,)))
    found = Found(Question("q", "who", ()), topics, 1.0, node, node, node[:, None], branch, paths)
    for join, wanted in (
        ("auto", {7: 0.31 * 0.26, 8: 0.01 * 0.71, 5: 0.61 * 0.01}),
        ("union", {8: 0.7, 5: 0.6, 7: 0.55}),
    ):
        built = _built(world, ranker, reader, join=join, floor=0.01, share=0.0)
        got = built.entities(found)
        assert [kg.entity(each.entity) for each in got] == list(wanted)
        np.testing.assert_allclose([each.score for each in got], list(wanted.values()))
    assert [each.paths for each in got] == [("p3",), ("p0",), ("p1", "p2", "p4")]


def test_what_is_asked_of_values_is_met_and_cited(world, ranker, reader):
    kg = world[0]
    # Films 1, 7 and 13, released in 1991, 1992 and 1993.
    rows = [row for row in range(kg.num_triples) if kg.triple(row)[2] == "Person 1"]
    paths = cite_paths(
        kg, np.array(rows)[:, None], np.ones((3, 1), bool), ids=["p1", "p2", "p3"], scores=[1.0] * 3
    )
    scores = {"Film 1": 0.5, "Film 7": 0.9, "Film 13": 0.35}
    entities = [
        RankedEntity(path.end[0], path.end[1], scores[path.end[0]], (path.id,)) for path in paths
    ]
    first = Link("Person 1", "Person 1", 0, 0, 1.0, "given", chosen=True)
    given = Answer("", "q", (first,), tuple(sorted(entities, key=lambda e: -e.score)), tuple(paths))

    def kept(text, **settings):
        built = _built(world, ranker, reader, **settings)
        answer = built.finish(dataclasses.replace(given, question=text))
        assert grounded(kg, answer), check(kg, answer)
        return answer

    latest = kept("which film by person 1 was released last", values=0.0)
    assert [each.name for each in latest.entities] == ["Film 13"]
    assert latest.entities[0].score == 0.35
    assert "released" in latest.reading
    assert latest.query["operator"] == "extreme"
    sentences = {path.id: path.sentence for path in latest.paths}
    cited = [sentences[path] for path in latest.entities[0].paths]
    assert cited == ["Film 13, directed by: Person 1", "Film 13, film released: 1993"]
    assert any(note.startswith("runner-up: Film 7, 1992") for note in latest.notes)
    after = kept("which film by person 1 was released after 1991", values=0.0)
    assert [each.name for each in after.entities] == ["Film 7", "Film 13"]
    # Nothing meets it, nothing is asked of values, or they are left alone: by probability.
    for text, values in (
        ("which film by person 1 was released after 1999", 0.0),
        ("which film did person 1 make", 0.0),
        ("which film by person 1 was released last", None),
        ("which film by person 1 was released last", 100.0),
    ):
        answer = kept(text, values=values, share=0.5)
        assert [each.name for each in answer.entities] == ["Film 7", "Film 1"]
        assert answer.query is None
        assert not answer.reading
    built = _built(world, ranker, reader, share=0.5, among=0.3)
    assert built._share("which was last") == 0.3
    assert built._share("which was it") == 0.5


def test_an_intersection_cites_a_walk_from_each_topic(world, ranker, reader):
    asked = [
        Question(f"{one}", f"who made film {one} and film {one + 6}", (FILMS[one], FILMS[one + 6]))
        for one in range(6)
    ]
    for answer, question in zip(
        _built(world, ranker, reader, join="intersect").answer(asked), asked
    ):
        sentence = {path.id: path.sentence for path in answer.paths}
        assert answer.entities
        for entity in answer.entities:
            told = [sentence[path] for path in entity.paths]
            assert all(any(topic in one for one in told) for topic in question.topics)


def test_what_is_saved_is_opened_and_serves_other_graphs(world, ranker, reader, tmp_path):
    opened = StepRanker.open(ranker.save(tmp_path / "steps"))
    assert StepRanker.there(tmp_path / "steps")
    assert opened.text == ranker.text
    for one, other in zip(jax.tree.leaves(opened.params), jax.tree.leaves(ranker.params)):
        np.testing.assert_array_equal(one, other)
    params = opened.of_relations(["new.kind.of", *reversed(ranker.relations)])
    np.testing.assert_array_equal(params.relation[1:], ranker.params.relation[::-1])
    assert not params.relation[0].any()
    assert params.bias[-1] == ranker.params.bias[-1]
    with pytest.raises(JaxkgError, match="reads states of"):
        opened.check(dataclasses.replace(reader, revision="other"))
    with pytest.raises(JaxkgError, match="ranker"):
        StepRanker.open(tmp_path / "nothing")


def test_nothing_to_learn_from_is_said(world, reader):
    with pytest.raises(JaxkgError, match="no training question has a relation path"):
        fit_steps(*world, [Question("q", "who", ("Nobody",))], reader, ENCODER, config=CONFIG)
