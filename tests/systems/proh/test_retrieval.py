import dataclasses

import numpy as np
import pytest
from hyper_world import QUESTION, encoder

from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph
from jaxkg.kg.hypergraph.graph import Hyperedge, KnowledgeHypergraph
from jaxkg.kg.hypergraph.text import hypergraph_of_text
from jaxkg.search.hyperedges import BeamSettings
from jaxkg.systems.proh.index import graph_index, hyper_index
from jaxkg.systems.proh.retrieval import Anchors, RetrievalSettings, Retriever
from jaxkg.text import label_words

QUESTIONS = [QUESTION, "what did Tony Scott direct?", "which town is in England?"]
SETTINGS = RetrievalSettings(beam=BeamSettings(depth=2, width=4, seeds=4, threshold=-1.0))


@pytest.mark.slow
def test_questions_together_find_what_they_find_alone(index):
    retriever = Retriever(index, SETTINGS)
    together = retriever.retrieve(QUESTIONS)
    for question, found in zip(QUESTIONS, together):
        [alone] = retriever.retrieve([question])
        assert [path for path, _ in alone.paths] == [path for path, _ in found.paths]
        np.testing.assert_allclose(
            [score for _, score in alone.chunks], [score for _, score in found.chunks], rtol=1e-4
        )
        assert found.complete
    assert retriever.retrieve([]) == []


def test_anchors_are_names_in_the_question_and_similar_hyperedges(index):
    graph = index.graph
    [found] = Retriever(index, SETTINGS).anchor([QUESTION])
    assert [graph.name(row) for row in found.topics] == ["Alien"]
    near = [graph.tell(edge) for edge in found.targets]
    assert near[0] in (
        "Alien was directed by Ridley Scott",
        "Ridley Scott was born in South Shields",
    )
    keyed = Retriever(index, dataclasses.replace(SETTINGS, topics=1, topic_threshold=0.5))
    [found] = keyed.anchor([QUESTION], [["Ridly Scott"]])
    assert [graph.name(row) for row in found.topics] == ["Ridley Scott"]
    with pytest.raises(JaxkgError, match="1 anchors for 2 questions"):
        keyed.retrieve(QUESTIONS[:2], [found])


def test_a_title_is_a_topic_without_its_words_in_brackets_and_told_where_a_fact_lacks_it():
    texts = [
        ("Alien (film)", "Alien is by Ridley Scott. It was shot at Shepperton Studios."),
        ("Durham", "Durham is a town."),
    ]
    index = hyper_index(hypergraph_of_text(texts), encoder())
    graph = index.graph
    [found] = Retriever(index, SETTINGS).anchor(["who is alien by?"])
    assert [graph.name(row) for row in found.topics] == ["Alien (film)"]
    told = {graph.tell(row): index.told(row) for row in graph.rows_of_kind("fact").tolist()}
    shot = "It was shot at Shepperton Studios."
    assert told.pop(shot) == f"Alien (film): {shot}"
    assert all(text == fact for fact, text in told.items())
    assert len(told) == 2


def test_nothing_to_start_from_finds_nothing_but_similar_passages(index):
    retriever = Retriever(index, SETTINGS)
    [found] = retriever.retrieve([QUESTION], [Anchors((), ())])
    assert found.paths == found.entities == ()
    assert len(found.chunks) == index.graph.num_chunks
    bare = Retriever(index, dataclasses.replace(SETTINGS, chunk_temperature=0.0))
    assert bare.retrieve([QUESTION], [Anchors((), ())])[0].chunks == ()


@pytest.mark.slow
def test_slots_that_do_not_suffice_are_grown_and_change_nothing(index):
    whole = Retriever(index, SETTINGS)
    tight = Retriever(index, SETTINGS)
    capacities = tight._first_capacities(8)
    slots = capacities.slots
    capacities.slots = (*slots[:2], 8, *slots[3:])
    tight._capacities[8] = capacities
    for one, other in zip(tight.retrieve(QUESTIONS), whole.retrieve(QUESTIONS), strict=True):
        assert one.complete
        for told in ("paths", "chunks", "entities"):
            rows, scores = zip(*getattr(one, told))
            wanted_rows, wanted_scores = zip(*getattr(other, told))
            assert rows == wanted_rows
            assert scores == pytest.approx(wanted_scores)
    assert capacities.slots[2] > 8


def test_synonyms_are_bridges():
    edges = [
        Hyperedge("Alien is by R. Scott", ("alien", "r scott")),
        Hyperedge("Ridley Scott is from Durham", ("ridley scott", "durham")),
        Hyperedge("other names", ("r scott", "ridley scott"), "synonym"),
    ]
    for some, wanted in ((edges, {"alien", "durham"}), (edges[:2], {"alien"})):
        graph = KnowledgeHypergraph.from_edges(some)
        index = hyper_index(graph, encoder())
        beam = dataclasses.replace(SETTINGS.beam, weigh="one")
        retriever = Retriever(index, dataclasses.replace(SETTINGS, targets=0, beam=beam))
        [found] = retriever.retrieve(["who made Alien?"])
        names = {graph.name(row) for row, _ in found.entities}
        assert wanted == names & {"alien", "durham"}
        assert found.chunks == ()


def test_facts_of_a_graph_are_hyperedges_of_two():
    facts = [("a", "was_born.in", "X"), ("b", "was_born.in", "X")]
    kg = KnowledgeGraph.from_triples([*facts, ("a", "was born in", "X"), ("b", "knows", "a")])
    index = graph_index(kg, encoder())
    told = [index.graph.hyperedge(row) for row in range(index.graph.num_edges)]
    # Two relations would read alike: each keeps its name, and no fact is lost.
    assert [(edge.name, edge.entities) for edge in told] == [
        (f"{h} {r} {t}", (h, t))
        for h, r, t in (
            (kg.entity_ids[h], kg.relations[r], kg.entity_ids[t]) for h, r, t in kg.triples.tolist()
        )
    ]
    vectors = np.asarray(index.edge_vectors)[: kg.num_triples]
    for row, (h, r, t) in enumerate(kg.triples.tolist()):
        parts = encoder()([label_words(kg.relations[r]), kg.name(h), kg.name(t)]).sum(axis=0)
        np.testing.assert_allclose(vectors[row], parts / np.linalg.norm(parts), atol=1e-6)
    with pytest.raises(JaxkgError, match="1 labels for 4 hyperedges"):
        hyper_index(index.graph, encoder(), labels=["x"])
