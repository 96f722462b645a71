"""The system without a language model, end to end on a graph known by heart."""

import dataclasses
import types

import numpy as np
import pytest
from reknos_films import BIRTHPLACE, FILMS, GENRE_OF, asked

from jaxkg.systems.reknos import (
    LabelScorer,
    ReKnoS,
    ReKnoSSettings,
    grouped,
)
from jaxkg.systems.reknos.super_relations import Room

SETTINGS = ReKnoSSettings(batch_size=8, hops=2)
SCORER = LabelScorer(FILMS.relations)


@pytest.fixture(scope="module")
def system():
    """One system for all, so that its programs compile once."""
    return with_room(ReKnoS.build(FILMS, SCORER, settings=SETTINGS), 32, 256)


def with_room(system, first, limit):
    system.__dict__["problem"] = dataclasses.replace(system.problem, room=Room(first, limit))
    return system


def test_a_question_is_answered_with_walks(system):
    answer = system.ask(GENRE_OF)
    assert answer.entities[0].name == "Crime"
    assert answer.paths[0].relation_path == ("media.genre.of",)
    assert answer.plan[0].used
    assert answer.plan[0].reached == 1
    assert sum(plan.probability for plan in answer.plan) == pytest.approx(1)


def test_a_typed_question_is_linked(system):
    answer = system.ask("what genre is [Heat]")
    assert [link.name for link in answer.topics if link.chosen] == ["Heat"]
    assert answer.entities[0].name == "Crime"


def test_answers_come_in_the_order_of_the_questions_whatever_the_batches(system):
    questions = [
        dataclasses.replace(each, id=f"q{n}")
        for n, each in enumerate([GENRE_OF, BIRTHPLACE, asked("", "Nobody"), GENRE_OF] * 5)
    ]
    ticks = []
    together = system.solve(questions, on_progress=lambda *tick: ticks.append(tick))
    ticks = [tick for tick in ticks if tick[0] == "search"]
    assert ticks == [("search", 8, 20), ("search", 16, 20), ("search", 20, 20)]
    assert [each.answer.question_id for each in together] == [q.id for q in questions]
    alone = {q.text: system.solve([q])[0] for q in questions[:3]}
    for question, each in zip(questions, together):
        other = alone[question.text]
        assert [e.name for e in each.answer.entities] == [e.name for e in other.answer.entities]
        assert told(each.trace) == pytest.approx(told(other.trace))
    again = system.answer(questions[:3])[1]
    assert [e.name for e in again.entities] == [e.name for e in together[1].answer.entities]


def told(trace):
    """Weights and scores of a trace, by where they stand; floats of other batch shapes differ."""
    steps = {
        (n, step.candidates, place, name): weight
        for n, step in enumerate(trace.steps)
        for place, (name, weight) in enumerate(step.kept)
    }
    paths = {(n, names): score for n, (names, score) in enumerate(trace.paths)}
    return {**steps, **paths}


class Doubtful(LabelScorer):
    """Sure of the first question alone."""

    planner = types.SimpleNamespace(about={})

    def confidence(self, questions, topics, relations):
        assert relations.shape == (len(questions), SETTINGS.hops)
        return np.asarray([0.2, *[0.1] * (len(questions) - 1)])


def test_without_confidence_there_is_no_answer(system, monkeypatch):
    monkeypatch.setattr("jaxkg.systems.reknos.system.PlannerScorer", Doubtful)
    doubtful = dataclasses.replace(system, scorer=Doubtful(FILMS.relations))
    with_room(doubtful, 32, 256)
    sure, unsure, nobody = doubtful.answer([GENRE_OF, GENRE_OF, asked("who is it", "Nobody")])
    assert sure.entities[0].name == "Crime"
    assert not unsure.entities
    assert not any(plan.used for plan in unsure.plan)
    assert unsure.abstained == (
        "the best relation path (what it is genre of) has confidence 0.10, below the threshold of "
        "0.15"
    )
    assert nobody.abstained == "the topic 'Nobody' is not in the graph"


def test_the_trace_tells_the_search(system):
    (solved,) = system.solve([BIRTHPLACE])
    trace = solved.trace
    assert trace.steps[0].candidates == 2
    assert {name for name, _ in trace.steps[0].kept} == {"film.film", "media.genre"}
    for step in trace.steps:
        assert sum(weight for _, weight in step.kept) == pytest.approx(1)
    assert trace.triples > 0
    assert trace.complete
    named = {FILMS.name(node) for node in trace.extracted.tolist()}
    assert {e.name for e in solved.answer.entities} <= named
    assert set(solved.answer.retrieved) == {FILMS.entity_ids[n] for n in trace.extracted.tolist()}
    usage = solved.answer.usage
    assert usage.edges > trace.triples  # following the relation paths comes on top
    assert usage.nodes > trace.reached >= len(trace.extracted)
    assert "Heat" not in named


def test_evidence_that_suffices_ends_the_search_early():
    def settled(sufficient):
        settings = dataclasses.replace(SETTINGS, sufficient=sufficient)
        return with_room(ReKnoS.build(FILMS, SCORER, settings=settings), 32, 256)

    sure = settled(0.0)
    (solved,) = sure.solve([BIRTHPLACE])
    assert len(solved.trace.steps) == 1
    assert all(len(names) == 1 for names, _ in solved.trace.paths)
    assert len(settled(1.0).solve([BIRTHPLACE])[0].trace.steps) == 2


@pytest.mark.slow
def test_a_batch_that_outgrows_the_room_is_halved_and_a_question_says_so(system):
    questions = [dataclasses.replace(BIRTHPLACE, id=f"q{n}") for n in range(8)]
    small = with_room(ReKnoS.build(FILMS, SCORER, settings=SETTINGS), 8, 32)
    ticks = []
    whole = system.solve(questions)
    halved = small.solve(questions, on_progress=lambda *tick: ticks.append(tick))
    ticks = [tick for tick in ticks if tick[0] == "search"]
    assert 1 < len(ticks) < 8
    assert ticks[-1] == ("search", 8, 8)
    for one, other in zip(whole, halved):
        assert [e.name for e in one.answer.entities] == [e.name for e in other.answer.entities]
        assert told(one.trace) == pytest.approx(told(other.trace))
        assert other.trace.complete
    one_step = dataclasses.replace(SETTINGS, hops=1)
    tiny = with_room(ReKnoS.build(FILMS, SCORER, settings=one_step), 1, 1)
    (solved,) = tiny.solve([BIRTHPLACE])
    assert not solved.trace.complete
    assert "the search outgrew the largest bucket: answers may be missing" in solved.answer.notes


@pytest.mark.slow
def test_candidates_may_be_those_of_the_super_relation_graph():
    traces = []
    for connection in ("graph", "reached"):
        settings = dataclasses.replace(SETTINGS, connection=connection, sufficient=1.0)
        built = with_room(ReKnoS.build(FILMS, SCORER, settings=settings), 32, 256)
        traces.append(built.solve([BIRTHPLACE])[0].trace)
    one, other = traces
    assert one.steps[1].candidates >= other.steps[1].candidates
    assert one.steps[0] == other.steps[0]


def test_groups_are_names_where_there_are_parts_and_clusters_elsewhere():
    assert grouped(FILMS.relations).names[:3] == (
        "film.film",
        "media.genre",
        "people.person",
    )
    flat = grouped(["directed_by", "written_by", "has_genre", "spouse"])
    assert flat.group[0] == flat.group[1]
    assert flat.group[0] != flat.group[3]
