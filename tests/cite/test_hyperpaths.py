import dataclasses

import numpy as np
import pytest
from hyper_world import world

from jaxkg.answer import Answer
from jaxkg.cite.hyperpaths import bears, check_hypergraph, cite_hyperpath, cited_passage, decides
from jaxkg.errors import JaxkgError
from jaxkg.records import Link, RankedEntity


@pytest.fixture(scope="module")
def graph():
    return world()


@pytest.fixture
def answer(graph):
    path = cite_hyperpath(graph, [0, 2], id="p1", score=0.5)
    return Answer(
        question="?",
        entities=(RankedEntity("South Shields", "South Shields", 1.0, ("p1",)),),
        paths=(path,),
        passages=(cited_passage(graph, 1, 0.25),),
    )


def test_a_sound_answer_has_no_fault_and_survives_json(graph, answer):
    assert check_hypergraph(graph, answer) == ()
    assert Answer.from_json(answer.to_json()) == answer
    [first, second] = answer.paths[0].hyperedges
    assert first.entities == (("Alien", "Alien"), ("Ridley Scott", "Ridley Scott"))
    assert (second.chunk, second.title) == ("Ridley Scott", "Ridley Scott")


def changed(answer, **fields):
    [path] = answer.paths
    return dataclasses.replace(answer, paths=(dataclasses.replace(path, **fields),))


def test_every_lie_is_found(graph, answer):
    [path] = answer.paths
    first, second = path.hyperedges
    lies = {
        "otherwise": changed(
            answer, hyperedges=(dataclasses.replace(first, name="Alien is a book"), second)
        ),
        "of a hypergraph of": changed(
            answer, hyperedges=(dataclasses.replace(first, hyperedge=99), second)
        ),
        "told": changed(answer, sentence="Alien is a book"),
        "cites no hyperedge": changed(answer, hyperedges=()),
        "none of the paths": dataclasses.replace(
            answer, entities=(RankedEntity("x", "x", 1.0, ("p9",)),)
        ),
        "cites no path": dataclasses.replace(answer, entities=(RankedEntity("x", "x", 1.0, ()),)),
        "more than once": dataclasses.replace(answer, paths=answer.paths * 2),
        "does not say why": dataclasses.replace(answer, entities=()),
        "abstains and yet": dataclasses.replace(answer, abstained="no"),
        "not the chunk": dataclasses.replace(
            answer, passages=(dataclasses.replace(answer.passages[0], text="else"),)
        ),
    }
    for words, lie in lies.items():
        faults = check_hypergraph(graph, lie)
        assert any(words in fault for fault in faults), (words, faults)


def test_a_yes_wants_facts_about_the_topics_that_stand_in_the_question(graph, answer):
    named = Link("alien", "Alien", 0, 5, 1.0, "exact", True)
    alike = Link("tokyo", "Tokyo", 0, 5, 0.6, "fuzzy", True)
    question, paths = "Was Alien directed by Ridley Scott?", answer.paths
    assert any(bears(path, named.entity, named.name) for path in paths)
    assert not any(bears(path, alike.entity, alike.name) for path in paths)
    assert decides(question, (named, alike), "yes", paths)
    told = dataclasses.replace(alike, method="exact")
    assert not decides(question, (named, told), "yes", paths)
    assert not decides("Who directed Alien?", (named,), "yes", paths)


def test_a_path_is_connected_if_need_be_through_synonyms(graph):
    with pytest.raises(JaxkgError, match="0 and 5 share no entity"):
        cite_hyperpath(graph, [0, 5], id="p", score=0.0)
    merged = np.arange(graph.num_entities, dtype=np.int32)
    merged[graph.entity("Tony Scott")] = graph.entity("Ridley Scott")
    assert cite_hyperpath(graph, [0, 5], id="p", score=0.0, merged=merged).hyperedges
    with pytest.raises(JaxkgError, match="no hyperedges"):
        cite_hyperpath(graph, [], id="p", score=0.0)
    path = cite_hyperpath(graph, [0, 5], id="p1", score=0.0, merged=merged)
    told = Answer(question="?", paths=(path,), abstained="x")
    assert check_hypergraph(graph, told, merged=merged) == ()
    assert "breaks" in check_hypergraph(graph, told)[0]
