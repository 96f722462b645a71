import io
from pathlib import Path

import pytest

from jaxkg.errors import JaxkgError
from jaxkg.kg.files.rdf.quoted import ShallowFile

pytest.importorskip("pyoxigraph")

START = """@prefix : <http://x.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""
LABELS = ':anna rdfs:label "Anna" . :acme rdfs:label "Acme" .\n'


def named(graph):
    """Facts by display names."""
    rows = graph.triples.tolist()
    return {(graph.name(h), graph.relations[r], graph.name(t)) for h, r, t in rows}


def test_what_is_said_about_a_fact(read):
    graph = read(START + ":anna :worksAt :acme {| :since 2019 ; :by :bob |} .\n" + LABELS)
    said = "Anna works at Acme"
    assert named(graph) == {
        ("Anna", "worksAt", "Acme"),
        (said, "subject", "Anna"),
        (said, "predicate", "worksAt"),
        (said, "object", "Acme"),
        (said, "since", "2019"),
        (said, "by", "bob"),
    }


def test_what_is_only_quoted_is_no_fact(read):
    graph = read(START + LABELS + "<< :anna :worksAt :acme >> :claimedBy :bob .")
    assert ("Anna", "worksAt", "Acme") not in named(graph)
    assert ("Anna works at Acme", "claimedBy", "bob") in named(graph)


def test_one_fact_twice_annotated_is_two_statements(read):
    graph = read(START + ":a :r :b {| :from 1 ; :to 2 |} {| :from 3 ; :to 4 |} .")
    assert graph.num_triples == 11
    assert [graph.name(row) for row in range(graph.num_entities)].count("a r b") == 2


def test_a_statement_that_has_a_name(read):
    graph = read(
        START + ":a :r :b ~ :deal {| :in 1 |} . :a :r :c ~ :d2 . :d2 rdfs:label 'Second' ."
    )
    deal = graph.entity("http://x.org/deal")
    assert graph.name(deal) == "a r b"
    assert graph.aliases[deal] == ("deal",)
    assert graph.name(graph.entity("http://x.org/d2")) == "Second"
    assert ("Second", "object", "c") in named(graph)


def test_statements_about_statements_about_statements(read):
    text = "<< << :anna :worksAt :acme >> :saidBy :bob >> :on 5 .\n"
    text += ":bob :says <<( :anna :is 'ill'@en )>> ."
    facts = named(read(START + text + LABELS))
    outer = "(Anna works at Acme) said by bob"
    assert (outer, "subject", "Anna works at Acme") in facts
    assert (outer, "on", "5") in facts
    assert ("bob", "says", "Anna is ill") in facts
    assert ("Anna is ill", "object", "ill") in facts


def test_predicates_are_called_by_their_labels(read):
    text = ":anna :P1 :acme {| :P2 1 |} . :P1 rdfs:label 'employed by' .\n" + LABELS
    assert ("Anna employed by Acme", "P2", "1") in named(read(START + text))


def test_circles_and_long_ways_end(read):
    text = "@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .\n"
    text += ":x rdf:reifies <<( :x :of :x )>> ; :on 1 .\n"
    text += "<< " * 300 + ":s :p :o" + " >> :q :z" * 300 + " ."
    graph = read(START + text)
    assert max(map(len, graph.entity_names)) < 300


def test_a_file_read_again_is_the_same_graph(read):
    text = START + ":a :r :b {| :in 1 |} . :a :r [ :in 2 ] . :c :r _:b , <<( :c :r [] )>> ."
    assert read(text).fingerprint == read(text).fingerprint
    assert {id for id in read(text).entity_ids if id.startswith("_:")} == {
        "_:#1", "_:#2", "_:#3", "_:b",
    }  # fmt: skip


def test_ntriples_as_rdf_1_2_and_as_rdf_star_writes_them(read):
    s, p, o, q = (f"<http://a/{letter}>" for letter in "spoq")
    reifies = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies>"
    new = f"_:n {reifies} <<( {s} {p} {o} )>> .\n_:n {q} {o} .\n"
    for text in (new, f"<< {s} {p} {o} >> {q} {o} .\n{s} {p} {o} .\n"):
        assert ("s p o", "q", "o") in named(read(text, "kb.nt"))
    late = f"{s} {p} {o} .\n" * 20_000 + f"<< {s} {p} {o} >> {q} {o} .\n"
    with pytest.raises(JaxkgError, match=r"kb.nt:20001: .*; in the format 'turtle' it is one"):
        read(late, "kb.nt")
    assert ("s p o", "q", "o") in named(read(late, "kb.nt", format="turtle"))


def test_the_parsers_stack_is_spared(read):
    nested = "<<( :s :p " * 200_000 + ":o" + " )>>" * 200_000
    with pytest.raises(JaxkgError, match=r"kb.ttl: statements nested deeper than 100 levels"):
        read(START + f":a :says {nested} .")


@pytest.mark.parametrize("size", [1, 2, 3, 7, -1])
def test_depth_is_counted_across_reads(size):
    def through(data):
        file = ShallowFile(Path("f"), io.BytesIO(data))
        return b"".join(iter(lambda: file.read(size), b""))

    flat = b"a <<( b )>> << c >> " * 300
    assert through(flat) == flat
    with pytest.raises(JaxkgError, match="deeper"):
        through(b"<<( a b " * 101)
