import dataclasses
import json

import numpy as np
import pytest

from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph
from jaxkg.kg.hypergraph import edit
from jaxkg.kg.hypergraph.edit import merged_entities, synonym_edges
from jaxkg.kg.hypergraph.graph import (
    Chunk,
    Hyperedge,
    KnowledgeHypergraph,
    open_hypergraph,
    save_hypergraph,
)
from jaxkg.kg.hypergraph.read import hypergraph_of, read_hyperedges, read_nary, read_openie

CHUNKS = [Chunk("c1", "Alien", "Alien is by Scott."), Chunk("c2", "Scott", "Born in England.")]
EDGES = [
    Hyperedge("Alien was made by Scott and Hill", ("alien", "scott", "hill"), chunk="c1"),
    Hyperedge("Scott was born in England", ("scott", "england"), chunk="c2"),
    Hyperedge("spouse", ("hill", "hill"), "relation"),
]
NAMES = {"alien": "Alien", "scott": "Ridley Scott", "hill": "Walter Hill", "england": "England"}


@pytest.fixture
def graph():
    return KnowledgeHypergraph.from_edges(
        EDGES, names=NAMES, descriptions={"scott": "a director"}, chunks=CHUNKS
    )


def test_what_goes_in_comes_out(graph):
    assert [graph.hyperedge(row) for row in range(3)] == EDGES
    assert [graph.chunk(row) for row in range(2)] == CHUNKS
    assert graph.entity_ids.tolist() == ["alien", "england", "hill", "scott"]
    assert graph.name(graph.entity("scott")) == "Ridley Scott"
    assert graph.descriptions.tolist() == ["", "", "", "a director"]
    assert graph.tell(0) == EDGES[0].name
    assert graph.tell(2) == "spouse: Walter Hill; Walter Hill"


def test_adding_and_removing_is_the_same_hypergraph_again(graph):
    new = [
        Hyperedge("Hill was born in California", ("hill", "california"), "rumour", "c1"),
        Hyperedge("England is an island", ("england",), chunk="c2"),
        EDGES[0],
    ]
    more = edit.add(graph, new)
    assert [more.hyperedge(row) for row in range(more.num_edges)] == [*EDGES, *new[:2]]
    assert more.name(more.entity("scott")) == "Ridley Scott"
    assert more.duplicates == 1
    whole = KnowledgeHypergraph.from_edges(
        [*EDGES, *new], names=NAMES, descriptions={"scott": "a director"}, chunks=CHUNKS
    )
    assert more.fingerprint == whole.fingerprint


def test_saved_and_opened_is_the_same(graph, tmp_path):
    folder = save_hypergraph(graph, tmp_path / "saved")
    again = open_hypergraph(folder)
    assert again.stats() == graph.stats()
    assert [again.hyperedge(row) for row in range(3)] == EDGES
    assert edit.add(again, []).fingerprint == graph.fingerprint
    save_hypergraph(edit.add(graph, [Hyperedge("Hill lives", ("hill",))]), folder)
    assert open_hypergraph(folder).num_edges == 4


@pytest.mark.parametrize("harm", ["cut", "bytes", "missing", "newer", "other"])
def test_a_damaged_folder_says_so(graph, tmp_path, harm):
    folder = save_hypergraph(graph, tmp_path / "saved")
    members, meta = folder / "members.npy", folder / "meta.json"
    if harm == "cut":
        members.write_bytes(members.read_bytes()[:-1])
    elif harm == "bytes":
        members.write_bytes(members.read_bytes()[:-1] + b"\x07")
    elif harm == "missing":
        members.unlink()
    else:
        told = json.loads(meta.read_text())
        told |= {"version": 99} if harm == "newer" else {"format": "jaxkg-graph"}
        meta.write_text(json.dumps(told))
    with pytest.raises(JaxkgError, match=str(folder)):
        open_hypergraph(folder)


@pytest.mark.parametrize(
    ("edges", "why"),
    [
        ([Hyperedge("x", ())], "at least one entity"),
        ([Hyperedge(" ", ("a",))], "non-blank"),
        ([Hyperedge("x", ("a", ""))], "non-blank"),
        ([Hyperedge("x", ("a",), chunk="c9")], "chunk 'c9'"),
    ],
)
def test_bad_hyperedges_are_refused_with_their_number(edges, why):
    with pytest.raises(JaxkgError, match=f"hyperedge 2.*{why}"):
        KnowledgeHypergraph.from_edges([EDGES[2], *edges], chunks=CHUNKS)


def test_bad_edits_are_refused(graph):
    with pytest.raises(JaxkgError, match="chunk 'c9'"):
        edit.add(graph, [Hyperedge("x", ("a",), chunk="c9")])
    with pytest.raises(JaxkgError, match="two chunks have the id 'c1'"):
        KnowledgeHypergraph.from_edges(EDGES, chunks=[*CHUNKS, CHUNKS[0]])
    with pytest.raises(JaxkgError, match="an entity outside"):
        dataclasses.replace(graph, members=graph.members + np.int32(9))


def test_n_ary_facts_are_read(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text("tv.show\ta\tb\tc\ninstance7\tborn\ta\td\n\n")
    graph = read_nary(path)
    assert [graph.hyperedge(row) for row in range(2)] == [
        Hyperedge("tv.show", ("a", "b", "c"), "relation"),
        Hyperedge("born", ("a", "d"), "relation"),
    ]
    assert graph.tell(1) == "born: a; d"
    path.write_text("alone\n")
    with pytest.raises(JaxkgError, match=r"train\.txt:1: not a fact"):
        read_nary(path)


def test_extracted_triples_become_facts_and_passages(tmp_path):
    path = tmp_path / "openie.json"
    docs = [
        {
            "title": "Alien",
            "text": "Alien is by Scott.",
            "extracted_entities": ["ridley scott", "1979"],
            "extracted_triples": [["Alien", "is by", "Ridley Scott"], ["half", "a"]],
        }
    ]
    path.write_text(json.dumps({"docs": docs}))
    graph = read_openie(path)
    fact, passage = (graph.hyperedge(row) for row in range(2))
    assert fact == Hyperedge("Alien is by Ridley Scott", ("alien", "ridley scott"), "fact", "0")
    assert passage == Hyperedge("Alien", ("alien", "ridley scott", "1979"), "passage", "0")
    path.write_text("[]")
    with pytest.raises(JaxkgError, match="not passages with extracted triples"):
        read_openie(path)


def test_a_knowledge_graph_is_a_hypergraph():
    kg = KnowledgeGraph.from_triples([("q1", "born_in", "q2")], names={"q1": "Ann"})
    graph = hypergraph_of(kg)
    assert graph.hyperedge(0) == Hyperedge("Ann born in q2", ("q1", "q2"))
    assert graph.name(graph.entity("q1")) == "Ann"


def test_json_lines_are_read(graph, tmp_path):
    path = tmp_path / "own.jsonl"
    told: list[dict] = [{"chunk": c.id, "title": c.title, "text": c.text} for c in CHUNKS]
    for edge in EDGES:
        ends = [{"id": id, "name": NAMES[id]} for id in edge.entities]
        for end in ends:
            end |= {"description": "a director"} if end["id"] == "scott" else {}
        told.append({"name": edge.name, "entities": ends, "kind": edge.kind, "chunk": edge.chunk})
    path.write_text("\n".join(map(json.dumps, told)))
    assert read_hyperedges(path).fingerprint == graph.fingerprint
    path.write_text('{"name": "x", "entities": []}\n')
    with pytest.raises(JaxkgError, match=r"own\.jsonl:1"):
        read_hyperedges(path)


def test_real_n_ary_facts(data_dir):
    # The file breaks off within its last line.
    graph = read_nary(data_dir / "nary" / "FB-AUTO" / "train.txt", skip_bad=1)
    assert graph.num_edges == 6778
    assert set(graph.stats()["arity"]) <= {2, 3, 4, 5}


def test_groups_become_hyperedges_and_representatives_again():
    graph = KnowledgeHypergraph.from_edges([Hyperedge("x", tuple("abcdef"))])
    edges = synonym_edges(graph, np.asarray([0, 1, 0, 3, 1, 1], np.int32))
    assert [edge.entities for edge in edges] == [("a", "c"), ("b", "e", "f")]
    assert {edge.kind for edge in edges} == {"synonym"}
    assert merged_entities(edit.add(graph, edges)).tolist() == [0, 1, 0, 3, 1, 1]
    assert merged_entities(graph).tolist() == [0, 1, 2, 3, 4, 5]


def test_a_group_that_is_too_large_is_left_out():
    graph = KnowledgeHypergraph.from_edges([Hyperedge("x", tuple("abcdef"))])
    groups = np.asarray([0, 0, 0, 3, 3, 5], np.int32)
    assert [e.entities for e in synonym_edges(graph, groups, largest=2)] == [("d", "e")]
