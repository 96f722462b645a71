"""Training, keeping and using a path ranker on a small graph."""

import dataclasses
import functools

import jax
import numpy as np
import pytest
from asked_films import film_questions, films_graph

from jaxkg.cite import grounded
from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph
from jaxkg.learn.folder import TRAINING
from jaxkg.learn.ranker.fit import PathRanker, fit_ranker, right_paths
from jaxkg.learn.ranker.train import RankerConfig, RankerExamples, draw_candidates
from jaxkg.learn.supervision import supervise
from jaxkg.records import Question
from jaxkg.systems.ranked import RankedPaths, RankedSettings
from jaxkg.tensors import tensor_graph
from jaxkg.text import HashingEncoder

FILMS = [f"Film {n}" for n in range(24)]
ENCODER = HashingEncoder(buckets=64)
CONFIG = RankerConfig(
    width=8, hidden=16, buckets=256, candidates=12, batch_size=16, epochs=12, learning_rate=1e-2
)


@pytest.fixture(scope="module")
def world():
    kg = films_graph(FILMS)
    return kg, tensor_graph(kg)


questions = functools.partial(film_questions, FILMS, paths=False)


@pytest.fixture(scope="module")
def ranker(world):
    with jax.numpy_dtype_promotion("standard"):
        return fit_ranker(*world, list(questions()), ENCODER, config=CONFIG)


def test_right_paths_are_a_questions_own_or_mined(world):
    kg, tensors = world
    own, mined = list(questions(paths=True))[2], list(questions())[2]
    other = dataclasses.replace(own, paths=(("^film.film.released",), ("no.such",), ("a",) * 3))
    asked = [own, mined, other, Question("none", "who", ("Nobody",))]
    found, revisit = right_paths(kg, tensors, supervise(kg, asked))
    assert revisit == "topic"
    names = [
        [tuple(kg.relations[r] for r in path if r >= 0) for path in some.tolist()] for some in found
    ]
    assert names[0] == list(own.paths)
    assert own.paths[0] in names[1]
    assert names[2:] == [[("film.film.released",)], []]


def test_candidates_hold_right_ones_neighbours_and_strangers():
    right = [np.asarray([[1, 2], [3, -1]], np.int32)]
    around = [np.asarray([[3, -1], [4, -1], [5, 6]], np.int32)]
    everything = np.asarray([[1, 2], [8, 8]], np.int32)
    examples = RankerExamples(np.zeros((1, 2)), np.zeros((1, 2), np.int32), right, around)
    draw = np.random.default_rng(0)
    paths, marked = draw_candidates(examples, np.asarray([0]), everything, 8, draw)
    assert paths.shape == (1, 8, 2)
    good = {(1, 2), (3, -1)}
    assert [tuple(p) in good for p in paths[0].tolist()] == marked[0].tolist()
    assert {(4, -1), (5, 6)} <= {tuple(p) for p in paths[0].tolist()}
    assert marked.sum() >= 2


def test_a_ranker_trained_from_answers_leads_to_cited_answers(world, ranker, tmp_path):
    kg, tensors = world
    opened = PathRanker.open(ranker.save(tmp_path / "ranker"))
    qa = RankedPaths.build(kg, opened, ENCODER, tensors=tensors)
    every = list(questions())
    answers = qa.answer(every)
    first = [a.entities[0].entity in q.answers for q, a in zip(every, answers)]
    assert np.mean(first) > 0.95
    assert all(grounded(kg, answer) for answer in answers)
    two = answers[2]
    assert two.plan[0].relations == ("film.film.directed_by", "people.person.birthplace")
    assert sum(plan.probability for plan in two.plan) <= 1 + 1e-5
    assert qa.ask("who made [Film 2]").entities[0].name == "Person 2"
    everything = RankedPaths.build(
        kg, opened, ENCODER, tensors=tensors, settings=RankedSettings(share=0.0)
    )
    more = everything.ask("who made [Film 2]")
    assert len(more.entities) > 1
    assert {e.entity for e in more.entities}.isdisjoint({"Film 2"})


@pytest.mark.slow
def test_a_directed_ranker_tells_children_from_parents(tmp_path):
    """Who begot whom is asked over three steps, some against the facts' direction."""
    facts = [(f"p{n}", "father", f"p{n // 2}") for n in range(2, 16)]
    facts += [(f"p{n}", "town", f"t{n}") for n in range(16)]
    kg = KnowledgeGraph.from_triples(facts)
    asked = []
    for n in range(4, 16):
        up, down = n // 2, [m for m in range(2, 16) if m // 2 == n]
        asked.append(Question(f"u{n}", f"from where is the grandfather of p{n}", (f"p{n}",),
                              (f"t{up // 2}",)))  # fmt: skip
        if down:
            asked.append(Question(f"d{n}", f"children of p{n}", (f"p{n}",),
                                  tuple(f"p{m}" for m in down)))  # fmt: skip
    tensors = tensor_graph(kg)
    config = dataclasses.replace(CONFIG, epochs=30, most=len(asked) - 1)
    with jax.numpy_dtype_promotion("standard"):
        ranker = fit_ranker(kg, tensors, asked, ENCODER, hops=3, directed=True, config=config)
    assert (ranker.hops, ranker.about["trained_on"]) == (3, len(asked) - 1)
    ranker = PathRanker.open(ranker.save(tmp_path / "ranker"))
    assert ranker.directed
    qa = RankedPaths.build(kg, ranker, ENCODER, tensors=tensors)
    answers = qa.answer(asked)
    assert [set(q.answers) == {e.entity for e in a.entities} for q, a in zip(asked, answers)] == [
        True
    ] * len(asked)
    assert all(grounded(kg, answer) for answer in answers)
    assert answers[0].plan[0].relations == ("father", "father", "town")
    assert answers[0].plan[0].used
    assert qa.ask("children of p5").plan[0].relations == ("^father",)


def test_other_graphs_and_encoders_are_refused(world, ranker, tmp_path):
    kg, _ = world
    with pytest.raises(JaxkgError, match="reads vectors of hashing"):
        RankedPaths.build(kg, ranker, HashingEncoder(buckets=128))
    with pytest.raises(JaxkgError, match="trained for another graph"):
        RankedPaths.build(KnowledgeGraph.from_triples([("a", "b", "c")]), ranker, ENCODER)
    (tmp_path / "new" / TRAINING).mkdir(parents=True)
    assert PathRanker.open(ranker.save(tmp_path / "new")).encoder == ranker.encoder
