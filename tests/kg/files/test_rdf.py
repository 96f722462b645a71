import gzip
import sys

import pytest

from jaxkg.cite import cite_path
from jaxkg.errors import JaxkgError

pytest.importorskip("pyoxigraph")

TURTLE = """
@prefix : <http://x.org/film/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
:alien :directedBy :ridley ; :year 1979 ; :title "Alien"@en, "Alien"@fr, "Alien" ;
    rdfs:label "Alien, le huitième passager"@fr, "Alien"@en-GB, "Alien (film)" ;
    skos:altLabel "Alien 1" .
:ridley skos:prefLabel "Ridley Scott"@de .
:Los%20Angeles :near [ :directedBy :ridley ] .
<http://y.org/> <http://y.org#directedBy> :alien .
"""
X = "http://x.org/film/"


def facts(graph):
    return {graph.triple(row) for row in range(graph.num_triples)}


def test_turtle(read):
    graph = read(TURTLE)
    blank = next(entity for entity in graph.entity_ids if entity.startswith("_:"))
    assert facts(graph) == {
        (X + "alien", X + "directedBy", X + "ridley"),
        (X + "alien", "year", '"1979"^^<http://www.w3.org/2001/XMLSchema#integer>'),
        (X + "alien", "title", '"Alien"@en'),
        (X + "alien", "title", '"Alien"@fr'),
        (X + "alien", "title", '"Alien"'),
        (X + "alien", "name in French", '"Alien, le huitième passager"@fr'),
        (X + "alien", "other name", '"Alien 1"'),
        (X + "Los%20Angeles", "near", blank),
        (blank, X + "directedBy", X + "ridley"),
        ("http://y.org/", "http://y.org#directedBy", X + "alien"),
    }
    names = dict(zip(graph.entity_ids, graph.entity_names))
    assert names[X + "alien"] == "Alien"
    assert names[X + "ridley"] == "Ridley Scott"
    assert names[X + "Los%20Angeles"] == "Los Angeles"
    assert names["http://y.org/"] == "y.org"
    assert names['"1979"^^<http://www.w3.org/2001/XMLSchema#integer>'] == "1979"
    assert [names[f'"Alien"{tag}'] for tag in ("", "@en", "@fr")] == ["Alien"] * 3
    assert names[blank] == blank
    assert not graph.has_name(graph.entity(blank))
    assert set(graph.aliases[graph.entity(X + "alien")]) == {
        "Alien 1",
        "Alien (film)",
        "Alien, le huitième passager",
    }
    assert graph.provenance is None


LABELLED = """
@prefix w: <http://w.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
w:Q1 w:P57 w:Q2 . w:Q1 w:P58 w:Q2 .
w:P57 rdfs:label "Regisseur"@de, "director"@en ; skos:altLabel "directed by" .
"""


def test_labels_of_properties_are_names_of_relations(read):
    graph = read(LABELLED)
    assert graph.relations == ("P57", "P58")
    assert graph.relation_labels == ("director", "p58")
    assert dict(graph.relation_aliases) == {0: ("Regisseur", "directed by")}
    assert cite_path(graph, [0], [False], id="p", score=1.0).sentence == "Q1, director: Q2"
    named = read(LABELLED, names={"P58": "screenwriter"})
    assert named.relation_labels == ("director", "screenwriter")


NT = (
    "<http://a/x> <http://a/p> <http://a/y> .\n"
    "# a comment\n"
    "<http://a/x> <http://a/q> \"two\\nlines\" .\n"
)  # fmt: skip


def test_ntriples_packed_or_not(read):
    for graph in (read(NT, "kb.nt"), read(gzip.compress(NT.encode()), "kb.nt.gz")):
        assert facts(graph) == {
            ("http://a/x", "p", "http://a/y"),
            ("http://a/x", "q", r'"two\nlines"'),
        }
        assert graph.name(graph.entity(r'"two\nlines"')) == "two\nlines"


def test_ntriples_that_say_what_things_are(read):
    kind = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
    graph = read(f"<http://a/x> {kind} <http://a/Lake> .\n", "kb.nt")
    assert (graph.num_triples, graph.num_entities) == (1, 2)


def test_rdf_xml(read):
    graph = read(
        """<?xml version="1.0"?>
        <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:f="http://a/">
        <rdf:Description rdf:about="http://a/x"><f:p rdf:resource="http://a/y"/></rdf:Description>
        </rdf:RDF>""",
        "kb.rdf",
    )
    assert facts(graph) == {("http://a/x", "p", "http://a/y")}


def test_a_blank_literal_is_shown_by_its_id(read):
    graph = read('<http://a/x> <http://a/p> " " .\n', "kb.nt")
    assert graph.name(graph.entity('" "')) == '" "'


def test_sources_are_the_file(read):
    assert read(NT, "kb.nt", provenance=True).source(0) == "kb.nt"
    assert read(NT, "kb.nt", provenance=False).provenance is None


def test_the_side_file_names_win(read):
    graph = read(NT, "kb.nt", names={"http://a/x": "The X"})
    assert graph.name(graph.entity("http://a/x")) == "The X"


@pytest.mark.parametrize(
    ("text", "name", "told"),
    [
        (NT + "not a triple\n", "kb.nt", r"kb.nt:4: .*: 'not a triple'; expected a statement in n"),
        (NT.encode() + b"<http://a/\xff> <http://a/p> <http://a/x> .\n", "kb.nt",
         "kb.nt:4: .*UTF-8"),
        ("@prefix : <http://a/> .\n:x :p z:q .\n", "kb.ttl", "kb.ttl:2: .*z:.*':x :p z:q .'"),
        ("<a><b></a>", "kb.rdf", "kb.rdf: not rdfxml"),
        ("", "kb.nt", "no triples in it"),
    ],
)  # fmt: skip
def test_malformed_files_are_told(read, text, name, told):
    with pytest.raises(JaxkgError, match=told):
        read(text, name)


def test_broken_gzip_is_told(read):
    with pytest.raises(JaxkgError, match=r"kb.nt.gz: "):
        read(gzip.compress(NT.encode())[:-12], "kb.nt.gz")


def test_bad_statements_can_be_skipped(read):
    graph = read("junk\n" + NT + "<http://a/x> <http://a/p> nonsense .\n", "kb.nt", skip_bad=2)
    assert graph.num_triples == 2
    assert [message.split(":")[1] for message in graph.skipped] == ["1", "5"]


def test_options_rdf_has_no_use_for(read):
    for option in ({"columns": (0, 1, 2)}, {"provenance": "source"}):
        with pytest.raises(JaxkgError, match=f"{next(iter(option))} has no meaning"):
            read(NT, "kb.nt", **option)


def test_progress_runs_to_the_end(read):
    told = []
    read(NT, "kb.nt", on_progress=lambda *now: told.append(now))
    assert told[-1] == (len(NT), len(NT))


def test_without_pyoxigraph_the_extra_is_named(read, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyoxigraph", None)
    with pytest.raises(JaxkgError, match=r"pip install 'jaxkg\[rdf\]'"):
        read(NT, "kb.nt")
