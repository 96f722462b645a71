"""PathMind on a graph of films: answers, cited walks, what a reasoner is shown, abstentions."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from dated_films import films
from priority_twin import all_walks
from programs import ROWS, frontier_of, random_topics
from random_graphs import random_graph_from

from jaxkg.adjudicate import Scripted, adjudicate
from jaxkg.candidates.subgraph import question_subgraphs
from jaxkg.cite import check_all
from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph
from jaxkg.learn.priority.fit import fit_priority
from jaxkg.learn.priority.model import PriorityModel
from jaxkg.learn.priority.train import PriorityConfig
from jaxkg.records import Question
from jaxkg.score.priority import Question as Read
from jaxkg.settings import settings_made
from jaxkg.systems.pathmind.build import Retrieving
from jaxkg.systems.pathmind.system import PathMind, PathMindSettings
from jaxkg.systems.pathmind.walks import Ranked, grown_walks, heaviest_walks
from jaxkg.tensors import tensor_graph
from jaxkg.text.hashing import HashingEncoder

HOPS, CODES = 3, 6
SETTINGS = PathMindSettings(batch_size=8)


WORDINGS = (
    ("who directed {}", lambda n: {f"person {n % 5}"}),
    ("when was {} released", lambda n: {str(1990 + n % 3)}),
    ("where was the director of {} born", lambda n: {f"town {n % 2}" for n in [n % 5]}),
    (
        "what else did the director of {} direct",
        lambda n: {f"film {m}" for m in range(12) if m % 5 == n % 5 and m != n},
    ),
)


def asked():
    return [
        Question(f"{k}-{n}", text.format(f"film {n}"), (f"film {n}",), tuple(sorted(answers(n))))
        for n in range(12)
        for k, (text, answers) in enumerate(WORDINGS)
    ]


@pytest.fixture(scope="module")
def qa():
    kg = films()
    tensors = tensor_graph(kg)
    config = PriorityConfig(batch_size=16, epochs=40, learning_rate=0.02)
    with jax.numpy_dtype_promotion("standard"):
        model, _ = fit_priority(kg, tensors, asked()[:40], config=config, hops=2)
    return PathMind.build(kg, model, tensors=tensors, settings=SETTINGS)


def entities(answer):
    return {entity.entity for entity in answer.entities}


def test_answers_are_right_cited_and_free_of_calls(qa):
    told = []
    answers = qa.answer(asked(), on_progress=lambda *step: told.append(step))
    assert check_all(qa.kg, answers) == [()] * len(answers)
    right = [entities(a) == set(q.answers) for q, a in zip(asked(), answers)]
    assert np.mean(right[:40]) == 1.0
    assert np.mean(right[40:]) >= 0.75
    for question, answer in zip(asked(), answers):
        assert answer.usage.stages.keys() == {"link", "prioritise", "cite"}
        assert {id for each in answer.entities for id in each.paths} == {p.id for p in answer.paths}
        for path in answer.paths:
            assert path.citations[0].inverse or path.citations[0].head == question.topics[0]
    assert told[-1] == ("prioritise", 48, 48)


def test_text_is_linked_and_unknown_words_lower_the_confidence(qa):
    assert entities(qa.ask("who directed film 3?")) == {"person 3"}
    wary = dataclasses.replace(qa, settings=PathMindSettings(batch_size=8, threshold=0.8))
    odd = wary.ask("pray tell whence cometh thy gaffer, film 3")
    assert odd.entities == odd.paths == ()
    assert "below the threshold of 0.80" in str(odd.abstained)


def test_a_reasoner_is_shown_the_best_first_and_no_more_than_asked_for(qa):
    some = asked()
    settings = PathMindSettings(keep=2, iterations=1, floor=0.0, batch_size=8)
    qa = dataclasses.replace(qa, settings=settings)
    important, shortest = (qa.retrieve(some, strategy=s) for s in ("important", "shortest"))
    wild, again = (qa.retrieve(some, strategy="random", seed=5) for _ in range(2))
    assert [a.paths for a in wild] == [a.paths for a in again]
    assert [a.paths for a in wild] != [a.paths for a in qa.retrieve(some, strategy="random")]
    ranking = qa.rank(some)
    for strategy, answers in (("important", important), ("shortest", shortest)):
        shared = qa.retrieve(some, strategy=strategy, ranking=ranking)
        assert [a.paths for a in shared] == [a.paths for a in answers]
    assert [a.entities for a in qa.answer(some, ranking=ranking)] == [
        a.entities for a in qa.answer(some)
    ]
    with pytest.raises(JaxkgError, match="48 questions, not of 2"):
        qa.answer(some[:2], ranking=ranking)
    for answers in (important, shortest, wild):
        assert check_all(qa.kg, answers) == [()] * len(answers)
        assert max(len(a.paths) for a in answers) == 2
    for one, other in zip(important, shortest):
        assert [e.entity for e in one.entities] == [e.entity for e in other.entities]
        scores = [path.score for path in one.paths]
        assert scores == sorted(scores, reverse=True)
        lengths = zip(one.paths, other.paths)
        assert all(len(a.citations) >= len(b.citations) for a, b in lengths)

    def recall(answers):
        return np.mean([bool(entities(a) & set(q.answers)) for q, a in zip(some, answers)])

    assert recall(important) > 0.9 > recall(wild)


def test_all_that_was_ranked_is_told_hop_by_hop(qa):
    question = asked()[2]  # where the director of film 0 was born
    answer, hops = qa.traced(question)
    assert [hop.text.partition(":")[0] for hop in hops] == ["hop 1", "hop 2"]
    [path] = [path for path in hops[1].below if path.kept]
    assert path.text.startswith("directed_by → born_in, reaches 1")
    assert [end.text for end in path.below if end.kept] == [e.name for e in answer.entities]
    assert path.score == pytest.approx(answer.entities[0].score)
    ranked = qa.rank([question]).ranked
    assert sum(len(path.below) for hop in hops for path in hop.below) == len(ranked.node)


@pytest.mark.parametrize("growth", ["walks", "triples"])
def test_what_a_reasoner_is_shown_is_told_by_iteration(qa, growth):
    settings = dataclasses.replace(SETTINGS, keep=2, iterations=2, growth=growth, floor=0.0)
    shown = Retrieving(dataclasses.replace(qa, settings=settings))
    answer, stages = shown.traced(asked()[2])
    first, second = (stage for stage in stages if stage.text.startswith("iteration"))
    told = [walk.text for walk in (*first.below, *second.below)]
    assert told == [path.sentence for path in answer.paths]
    assert len(first.below) == 2
    assert answer == dataclasses.replace(shown.answer([asked()[2]])[0], usage=answer.usage)


def test_a_scripted_model_chooses_among_the_important_paths(qa):
    reply = '{"answers": ["person 1"], "supporting_paths": [1], "rationale": "it says so"}'
    found = qa.retrieve([asked()[4]])
    assert found[0].paths[0].citations[-1].tail == "person 1"
    [answer] = adjudicate(Scripted([reply]), found)
    assert entities(answer) == {"person 1"}
    assert answer.usage.calls == 1


def test_settings_and_models_that_do_not_fit_are_refused(qa):
    with pytest.raises(JaxkgError, match="at least 1"):
        PathMindSettings(keep=0)
    with pytest.raises(JaxkgError, match="floor"):
        PathMindSettings(floor=1.0)
    other = PathMind.build(qa.kg, qa.model, tensors=qa.tensors, encoder=HashingEncoder(buckets=64))
    with pytest.raises(JaxkgError, match="64 numbers a text, the model was trained with 1024"):
        other.ask("who directed film 3")
    with pytest.raises(JaxkgError, match="trained for"):
        PathMind.build(KnowledgeGraph.from_triples([("a", "r", "b")]), qa.model)


def test_the_model_answers_on_a_graph_with_new_entities(qa):
    other = KnowledgeGraph.from_triples(
        [
            ("Stalker", "directed_by", "Tarkovsky"),
            ("Stalker", "release_year", "1979"),
            ("Tarkovsky", "born_in", "Zavrazhye"),
        ]
    )
    elsewhere = PathMind.build(other, qa.model, settings=SETTINGS)
    assert entities(elsewhere.ask("who directed Stalker")) == {"Tarkovsky"}
    assert entities(elsewhere.ask("when was Stalker released")) == {"1979"}


@pytest.mark.parametrize("seed", range(3))
def test_walks_are_the_heaviest_and_the_shortest(seed):
    rng = np.random.default_rng(seed)
    graph, topics = random_graph_from(seed), random_topics(rng)
    weight = rng.dirichlet(np.ones(CODES), (ROWS, HOPS)).astype(np.float32)
    length = rng.dirichlet(np.ones(HOPS), ROWS).astype(np.float32)
    question = Read(jnp.asarray(weight), jnp.asarray(length), jnp.zeros(()), jnp.zeros(()))

    @jax.jit
    def run(graph, starts, question):
        sub = question_subgraphs(graph, starts, capacities=(512, 1024, 1024, 2048, 2048, 4096))
        return sub, heaviest_walks(sub, question, graph.relation)

    sub, (heaviest, shortest) = run(graph.graph, frontier_of(topics, last=ROWS - 1), question)
    edges = graph.facts.edges

    def product(row, walk):
        steps = [weight[row, hop, edges[edge][1]] for hop, edge in enumerate(walk)]
        return np.prod(steps) * length[row, len(walk) - 1]

    checked = 0
    for row in range(ROWS):
        walks = all_walks(edges, topics[row], HOPS)
        by_end: dict[int, list] = {}
        for walk in walks:
            by_end.setdefault(edges[walk[-1]][2], []).append(walk)
        for slot in np.flatnonzero(np.asarray(sub.is_entity) & (np.asarray(sub.row) == row)):
            mine = by_end[int(sub.node[slot])]
            heavy, short = (
                [int(e) for e in np.asarray(table)[slot] if e >= 0]
                for table in (heaviest, shortest)
            )
            assert heavy in mine
            assert short in mine
            best = max(product(row, walk) for walk in mine)
            np.testing.assert_allclose(product(row, heavy), best, rtol=1e-4)
            assert len(short) == min(map(len, mine))
            checked += 1
    assert checked > 30


def test_walks_grow_by_a_triple_through_the_best_entities_of_the_one_before():
    tensors = tensor_graph(KnowledgeGraph.from_triples([
        ("a", "r", "b"), ("a", "r", "c"), ("a", "r", "d"), ("b", "r", "e"), ("c", "r", "f"),
        ("d", "r", "g"),
    ]))  # fmt: skip
    priority = np.array([0.0, 0.9, 0.5, 0.4, 0.1, 0.2, 1.0], np.float32)  # a ... g
    nodes = np.arange(1, 7, dtype=np.int32)
    nothing = np.zeros((6, 1), np.int32)
    whole = Ranked(
        np.zeros(6, np.int32), nodes, priority[1:], nothing, nothing, np.array([0, 6]), np.ones(1)
    )
    row, walks, score = grown_walks(whole, tensors, [(0,)], keep=2, iterations=2)
    assert row.tolist() == [0] * 4
    # b and c, then what lies behind them: g, the best of all, lies behind d, which was not taken.
    assert tensors.tail[walks[:2, 0]].tolist() == [1, 2]
    assert walks[:2, 1].tolist() == [-1, -1]
    assert tensors.tail[walks[2:, 1]].tolist() == [5, 4]
    assert walks[2, 0] == walks[1, 0]
    assert score.tolist() == pytest.approx([0.9, 0.5, 0.2, 0.1])


@pytest.mark.slow
def test_the_papers_preset_counts_all_walks_alike_and_is_kept(tmp_path):
    kg = films()
    config = settings_made(PriorityConfig, {"preset": "paper"}, epochs=1, batch_size=16)
    with jax.numpy_dtype_promotion("standard"):
        model, report = fit_priority(kg, tensor_graph(kg), asked(), config=config, hops=2)
    assert (model.sizes.walk_weights, model.sizes.mass, model.sizes.heads) == (False, False, 32)
    assert np.isfinite(report.losses).all()
    model.save(tmp_path / "m")
    settings = settings_made(PathMindSettings, {"preset": "paper"}, batch_size=8)
    qa = PathMind.build(kg, PriorityModel.open(tmp_path / "m"), settings=settings)
    assert qa.model.sizes == model.sizes
    shown = qa.retrieve(asked()[:4])
    assert check_all(kg, shown) == [()] * 4
    assert {len(path.citations) for answer in shown for path in answer.paths} == {1, 2}
    # Nothing depends on how a walk's relations fit the question: its readout is at zero.
    fresh = jax.tree.map(jnp.zeros_like, model.params.readout.out)
    params = model.params._replace(readout=model.params.readout._replace(out=fresh))
    even = dataclasses.replace(qa, model=dataclasses.replace(model, params=params)).rank(
        asked()[:4]
    )
    assert len(set(even.ranked.priority.tolist())) == 1
    with pytest.raises(JaxkgError, match="walk_weights=false"):
        fit_priority(kg, tensor_graph(kg), asked(), config=config, hops=2, use_paths=True)
