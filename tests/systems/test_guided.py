"""Guided search: its means against a loop, and a small scorer trained from answers."""

import dataclasses
import functools

import jax
import numpy as np
import pytest
from programs import frontier_of

from jaxkg.cite import grounded
from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph
from jaxkg.learn.edges.fit import fit_edge_scorer
from jaxkg.learn.edges.model import TrainedScorer, graph_vectors
from jaxkg.learn.edges.train import EdgeConfig, warm_restarts
from jaxkg.learn.embeddings.fit import TrainedEmbeddings
from jaxkg.learn.embeddings.train import EmbeddingConfig
from jaxkg.learn.supervision import Training
from jaxkg.records import Question
from jaxkg.score.edges import EdgeSizes
from jaxkg.score.embeddings import Embeddings
from jaxkg.search.guided import hazard, relation_scores
from jaxkg.settings import settings_made
from jaxkg.systems.guided import GuidedSearch, GuidedSettings
from jaxkg.tensors import tensor_graph
from jaxkg.text import HashingEncoder

ROWS, CODES = 4, 6


def made_up(row, node, relation, target):
    return ((7 * row + 3 * node + 5 * relation + target) % 11).astype(np.float32) / 11


@functools.partial(jax.jit, static_argnames=("sample", "capacities"))
def means(graph, frontier, *, sample, capacities=(1024, 512)):
    return relation_scores(
        graph, frontier, made_up, num_rows=ROWS, sample=sample, capacities=capacities
    )


@pytest.mark.slow
def test_means_equal_a_loop_over_edges(random_graph, rng):
    graph = random_graph(3)
    nodes = [[0, 1, 5], [2], [], [0, 13]]
    frontier = frontier_of(nodes, size=32, rng=rng)
    expected = np.zeros((ROWS, CODES))
    counts = np.zeros((ROWS, CODES))
    for h, r, t in graph.triples.tolist():
        for head, code, tail in ((h, r, t), (t, r + 3, h)):
            for row, some in enumerate(nodes):
                if head in some:
                    value = made_up(*(np.int32(x) for x in (row, head, code, tail)))
                    expected[row, code] += value
                    counts[row, code] += 1
    expected /= np.maximum(counts, 1)
    exact = means(graph.graph, frontier, sample=None)
    np.testing.assert_allclose(exact.mean, expected, atol=1e-6)
    assert exact.needed.tolist() == [counts.sum(), counts.sum()]
    assert not exact.overflow
    # As many as the largest group has: the sample is everything.
    whole = means(graph.graph, frontier, sample=int(counts.max()))
    np.testing.assert_allclose(whole.mean, expected, atol=1e-6)
    few = means(graph.graph, frontier, sample=2)
    looked, scored = few.needed.tolist()
    # Groups of two or fewer whole; of larger ones at least an edge, and not all of all.
    assert looked == counts.sum()
    assert np.minimum(counts, 2).sum() - (counts > 2).sum() <= scored < counts.sum()
    assert (np.asarray(few.mean)[counts > 0] > 0).mean() > 0.8
    lone = counts <= 2
    np.testing.assert_allclose(np.asarray(few.mean)[lone], expected[lone], atol=1e-6)
    tight = means(graph.graph, frontier, sample=None, capacities=(1024, 8))
    assert tight.overflow
    assert tight.needed.tolist() == [counts.sum(), counts.sum()]


def test_stopping_and_going_on_share_what_is_left():
    depth = np.log(np.asarray([[0.2, 0.3, 0.5]], np.float32))
    shares = jax.jit(hazard)
    stop, going = shares(depth, 0)
    assert float(stop[0]) == -np.inf
    assert float(going[0]) == 0
    for hop, expected in ((1, 0.2), (2, 0.3 / 0.8)):
        stop, going = shares(depth, hop)
        assert np.exp(stop[0]) == pytest.approx(expected, abs=1e-6)
        assert np.exp(going[0]) == pytest.approx(1 - expected, abs=1e-6)


def test_the_learning_rate_restarts_after_one_two_and_four_cycles():
    config = EdgeConfig(steps=10, epochs=50, restart=2, learning_rate=1e-4, floor=1e-6, warm_up=0)
    rate = warm_restarts(config)
    for start in (0, 20, 60, 140):
        assert float(rate(start)) == pytest.approx(1e-4)
    for end in (19.999, 59.999, 139.999):
        assert float(rate(int(end))) < 3e-6
    assert float(rate(10)) == pytest.approx((1e-4 + 1e-6) / 2, rel=1e-3)
    assert float(rate(40)) == pytest.approx((1e-4 + 1e-6) / 2, rel=1e-3)


FILMS = [f"Film {n}" for n in range(24)]
SIZES = EdgeSizes(
    text=256, graph=0, question=256, hops=2, width=32, attention=(48, 32), classifier=(16, 16)
)
CONFIG = EdgeConfig(
    batch_size=128, steps=40, epochs=4, learning_rate=5e-3, warm_up=10, dropout=0.1, restart=4
)


@pytest.fixture(scope="module")
def world():
    facts = [(film, "directed_by", f"Person {n % 6}") for n, film in enumerate(FILMS)]
    facts += [(film, "released_in", f"{1990 + n % 5}") for n, film in enumerate(FILMS)]
    facts += [(f"Person {n}", "born_in", f"Town {n % 4}") for n in range(6)]
    kg = KnowledgeGraph.from_triples(facts)
    return kg, tensor_graph(kg)


def questions():
    for n, film in enumerate(FILMS):
        yield Question(f"d{n}", f"who directed {film}", (film,), (f"Person {n % 6}",))
        yield Question(f"y{n}", f"when was {film} shown", (film,), (f"{1990 + n % 5}",))
        yield Question(
            f"b{n}", f"birthplace of the maker of {film}", (film,), (f"Town {n % 6 % 4}",)
        )


@pytest.fixture(scope="module")
def trained(world):
    with jax.numpy_dtype_promotion("standard"):
        return fit(world)


def fit(world, config=CONFIG, training=Training()):
    encoder = HashingEncoder(buckets=256)
    return fit_edge_scorer(
        *world, list(questions()), encoder, sizes=SIZES, config=config, training=training
    )


def test_a_scorer_trained_from_answers_leads_to_cited_answers(world, trained, tmp_path):
    kg, tensors = world
    scorer = trained
    encoder = HashingEncoder(buckets=256)
    assert scorer.about["held_out_f1"] > 0.9
    opened = TrainedScorer.open(scorer.save(tmp_path / "scorer"))
    settings = GuidedSettings(width=3, sample=None, margin=100.0, threshold=0.0)
    qa = GuidedSearch.build(kg, opened, encoder, tensors=tensors, settings=settings)
    every = list(questions())
    answers = qa.answer(every)
    right = [
        {e.entity for e in answer.entities} == set(q.answers) for q, answer in zip(every, answers)
    ]
    assert np.mean(right) > 0.9
    assert all(grounded(kg, answer) for answer in answers)
    two = next(a for a in answers if a.question_id == "b3")
    assert two.plan[0].relations == ("directed_by", "born_in")
    assert len(two.paths[0].citations) == 2
    assert len(two.plan) == 3
    assert two.plan[0].probability >= two.plan[1].probability >= two.plan[2].probability
    assert [plan.used for plan in two.plan] == [True, False, False]
    strict = dataclasses.replace(settings, threshold=two.plan[0].probability + 1e-4)
    unsure = dataclasses.replace(qa, settings=strict).answer(every)
    for answer, other in zip(answers, unsure):
        assert bool(other.entities) == (answer.plan[0].probability >= strict.threshold)
        assert bool(other.entities) != ("below the threshold" in (other.abstained or ""))
    b3 = next(a for a in unsure if a.question_id == "b3")
    assert [plan.used for plan in b3.plan] == [False] * 3
    assert qa.revisit == scorer.about["revisit"] == "topic"
    back = dataclasses.replace(opened, about={**opened.about, "revisit": "any"})
    assert dataclasses.replace(qa, scorer=back).revisit == "any"


def test_the_beam_is_told_with_the_edges_that_were_scored(world, trained):
    kg, tensors = world
    settings = GuidedSettings(width=2, sample=None, margin=100.0, threshold=0.0)
    encoder = HashingEncoder(buckets=256)
    qa = GuidedSearch.build(kg, trained, encoder, tensors=tensors, settings=settings)
    answer, (first, second, chosen) = qa.traced(next(q for q in questions() if q.id == "b3"))
    [start] = first.below
    assert [way.text for way in start.below if way.kept] == [
        path.text.removesuffix(", finished") for path in second.below
    ]
    assert {way.text: [edge.text for edge in way.below] for way in start.below} == {
        "directed_by": ["Film 3 → Person 3"],
        "released_in": ["Film 3 → 1993"],
    }
    # A relation scores the mean of its edges; at the first hop nothing can stop.
    for way in start.below:
        assert way.score == pytest.approx(way.below[0].score, rel=1e-4)
    assert {"stop here"} <= {way.text for path in second.below for way in path.below}
    assert [path.score for path in chosen.below] == [plan.probability for plan in answer.plan]
    assert chosen.below[0].text == "what [what it is directed by] is born in, reaches 1"
    assert chosen.below[0].kept


def test_a_hop_count_that_is_told_is_taken(world, trained):
    kg, tensors = world
    encoder = HashingEncoder(buckets=256)
    for hops in (1, 2):
        settings = GuidedSettings(hops=hops, threshold=0.0)
        qa = GuidedSearch.build(kg, trained, encoder, tensors=tensors, settings=settings)
        answers = qa.answer(list(questions())[:9])
        assert {len(path.citations) for answer in answers for path in answer.paths} == {hops}
    with pytest.raises(JaxkgError, match="takes 2 hops at most, not 3"):
        GuidedSearch.build(kg, trained, encoder, settings=GuidedSettings(hops=3))


@pytest.mark.slow
def test_the_papers_schedule_labels_and_hop_count_train(world):
    paper = settings_made(EdgeConfig, {"preset": "paper"})
    assert (paper.epochs, paper.learning_rate, paper.warm_up) == (50, 1e-4, 0)
    config = dataclasses.replace(
        CONFIG, labels="target", given_hops=True, learn_relations=False, warm_up=0
    )
    with jax.numpy_dtype_promotion("standard"):
        scorer = fit(world, config)
    assert scorer.about["held_out_f1"] > 0.9
    assert scorer.about["config"]["labels"] == "target"


def test_text_alone_runs_on_another_graph_and_other_encoders_are_refused(trained):
    scorer = trained
    other = KnowledgeGraph.from_triples(
        [("Opus 1", "released_in", "1999"), ("Opus 1", "directed_by", "Somebody")]
    )
    settings = GuidedSettings(dtype="bfloat16", threshold=0.0)
    qa = GuidedSearch.build(other, scorer, HashingEncoder(buckets=256), settings=settings)
    assert qa.ask("who directed [Opus 1]").entities[0].name == "Somebody"
    with pytest.raises(JaxkgError, match="reads vectors of hashing"):
        GuidedSearch.build(other, scorer, HashingEncoder(buckets=128))
    for wrong in ("width", "sample", "targets"):
        with pytest.raises(JaxkgError, match=f"{wrong} is a whole number of at least 1"):
            GuidedSettings(**{wrong: 0})


def test_graph_vectors_come_in_the_graphs_order_and_inverses_are_negated():
    kg = KnowledgeGraph.from_triples([("b", "r", "a"), ("a", "s", "c")])
    trained = TrainedEmbeddings(
        Embeddings(np.arange(6.0).reshape(3, 2), np.asarray([[1.0, 2.0], [3.0, 4.0]])),
        EmbeddingConfig(model="transe", dimension=2),
        ("c", "a", "b"),
        ("s", "r"),
        {},
    )
    entities, codes = graph_vectors(kg, trained)
    assert {id: entities[row].tolist() for row, id in enumerate(kg.entity_ids)} == {
        "c": [0, 1],
        "a": [2, 3],
        "b": [4, 5],
    }
    r, s = (kg.relations.index(name) for name in "rs")
    assert codes[[r, s, r + 2, s + 2]].tolist() == [[3, 4], [1, 2], [-3, -4], [-1, -2]]
    with pytest.raises(JaxkgError, match=r"no vector of 'd' \(2 are missing\)"):
        graph_vectors(KnowledgeGraph.from_triples([("b", "r", "d"), ("a", "q", "c")]), trained)
