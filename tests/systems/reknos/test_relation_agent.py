"""A model that searches entity by entity: what it finds, what it costs, and its failures."""

import dataclasses
import json

from lib.oracle import Known, Oracle
from reknos_films import BIRTHPLACE, BORN, DIRECTED, FILMS, GENRE, asked

from jaxkg.adjudicate import Scripted
from jaxkg.cite import grounded
from jaxkg.kg import KnowledgeGraph, Linker
from jaxkg.systems.reknos.relation_agent import RelationAgent
from jaxkg.tensors import tensor_graph

# Two films of one director, and only one of them has the genre that is asked for.
GENRES = asked("what genres have the films of Michael Mann", "Michael Mann", id="q3")
BOOK = [
    Known(BIRTHPLACE.text, ("Chicago",), ("Heat",), (DIRECTED, BORN), between=("Michael Mann",)),
    Known(GENRES.text, ("Biography",), GENRES.topics, ("^" + DIRECTED, GENRE), between=("Ali",)),
]


def agent(reply=None, *, kg=FILMS, seen=None, **options):
    """With a perfect model, or one whose replies are changed; `seen` gathers the requests."""
    oracle = Oracle(BOOK)

    def answer(request):
        if seen is not None:
            seen.append(request)
        told = oracle.reply(request.schema_name, *(m.content for m in request.messages))
        return told if reply is None else reply(request, told)

    return RelationAgent(kg, tensor_graph(kg), Linker(kg), Scripted(answer), **options)


def test_a_perfect_model_finds_the_way_entity_by_entity():
    seen = []
    born, genres = agent(seen=seen).answer([BIRTHPLACE, GENRES])
    assert [e.name for e in born.entities] == ["Chicago"]
    assert [e.name for e in genres.entities] == ["Biography"]
    assert grounded(FILMS, born)
    assert grounded(FILMS, genres)
    # Two steps lead on and one finds nothing more to score. Two films stood behind one relation.
    kinds = {id: [r.schema_name for r in seen if r.question == id] for id in ("q1", "q3")}
    assert kinds["q1"] == ["RelationScores"] * 2 + ["Adjudication"]
    assert sorted(kinds["q3"]) == ["Adjudication", "EntityWeights"] + ["RelationScores"] * 2
    assert [born.usage.calls, genres.usage.calls] == [3, 4]


def test_calls_stay_within_two_a_step_and_entity_and_one_to_answer():
    """Everything is liked: the search is as wide as it may be."""
    middle = [f"m{n}" for n in range(5)]
    edges = [("s", "a", m) for m in middle] + [("s", "b", m) for m in middle]
    edges += [(m, r, f"{m}{r}{n}") for m in middle for r in "cde" for n in range(3)]
    kg = KnowledgeGraph.from_triples(edges)
    liked = {"scores": [{"relation": str(n), "score": 1.0} for n in range(1, 9)]}
    weighed = {"weights": [{"number": n, "weight": 1.0} for n in range(1, 6)]}

    def reply(request, told):
        replies = {"RelationScores": liked, "EntityWeights": weighed}
        chosen = {"answers": [], "supporting_paths": [1], "rationale": ""}
        return json.dumps(replies.get(request.schema_name, chosen))

    for width in (1, 2, 3):
        [answer] = agent(reply, kg=kg, width=width, hops=2).answer([asked("?", "s")])
        # At the topic one entity is asked for its relations, of which there are two.
        assert answer.usage.calls == (1 + min(width, 2)) + 2 * width + 1 <= 2 * 2 * width + 1
        assert len(answer.paths) == 2 * width


def test_what_is_not_offered_is_told_and_what_was_not_offered_is_dropped():
    def reply(request, told):
        strange = {"weights": [{"number": 9, "weight": 1.0}, {"number": 1, "weight": float("nan")}]}
        return json.dumps(strange) if request.schema_name == "EntityWeights" else told

    [answer] = agent(reply).answer([GENRES])
    assert not answer.entities
    assert "entity 9" in answer.dropped
    narrow = agent(most=1, width=1).answer([GENRES])[0]
    assert any("1 entities behind ^" in note and "not offered" in note for note in narrow.notes)


def test_a_failed_call_ends_its_own_search_alone():
    def reply(request, told):
        return "no idea" if request.question == "q1" else told

    born, genres = agent(reply).answer([BIRTHPLACE, GENRES])
    assert "score: unparsed: " in born.error
    assert not born.entities
    assert born.usage.calls == 1
    assert [e.name for e in genres.entities] == ["Biography"]
    assert genres.error is None
    [nowhere] = agent().answer([dataclasses.replace(BIRTHPLACE, topics=("nobody",))])
    assert "not in the graph" in nowhere.abstained
    assert nowhere.usage.calls == 0
