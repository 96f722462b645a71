import dataclasses
import itertools
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph

FACTS = [
    ("m.02", "directed_by", "m.09"),
    ("m.01", "directed_by", "m.09"),
    ("m.01", "release_year", "1944"),
    ("m.02", "release_year", "1955"),
    ("m.01", "has_genre", "Fantasy"),
]
NAMES = {"m.01": "Kismet", "m.02": "Kismet", "m.09": "William Dieterle"}


@pytest.fixture
def graph():
    return KnowledgeGraph.from_triples(
        FACTS,
        names=NAMES | {"m.99": "not in the graph"},
        aliases={"m.09": ["Wilhelm Dieterle", "W. Dieterle"], "m.98": ["neither is this"]},
        provenance=[f"films.tsv:{line}" for line in range(1, 6)],
    )


def same(a, b):
    return (
        a.fingerprint == b.fingerprint
        and a.entity_ids.tolist() == b.entity_ids.tolist()
        and a.entity_names.tolist() == b.entity_names.tolist()
        and a.relations == b.relations
        and np.array_equal(a.triples, b.triples)
        and dict(a.aliases) == dict(b.aliases)
    )


def test_numbering_sorting_and_names(graph):
    assert graph.entity_ids.tolist() == ["1944", "1955", "Fantasy", "m.01", "m.02", "m.09"]
    assert graph.relations == ("directed_by", "has_genre", "release_year")
    assert graph.triples.tolist() == [
        [3, 0, 5],
        [3, 1, 2],
        [3, 2, 0],
        [4, 0, 5],
        [4, 2, 1],
    ]
    assert graph.triples.dtype == np.int32
    assert [graph.name(entity) for entity in (3, 4, 2)] == ["Kismet", "Kismet", "Fantasy"]
    assert dict(graph.aliases) == {5: ("Wilhelm Dieterle", "W. Dieterle")}
    assert (graph.num_entities, graph.num_relations, graph.num_triples) == (6, 3, 5)
    assert repr(graph) == "KnowledgeGraph(6 entities, 3 relations, 5 triples)"
    assert [graph.source(row) for row in range(5)] == [
        "films.tsv:2",
        "films.tsv:5",
        "films.tsv:3",
        "films.tsv:1",
        "films.tsv:4",
    ]


def test_the_order_of_the_facts_does_not_matter(graph):
    for seed in range(5):
        shuffled = random.Random(seed).sample(FACTS, len(FACTS))
        other = KnowledgeGraph.from_triples(
            shuffled, names=NAMES, aliases={"m.09": ["Wilhelm Dieterle", "W. Dieterle"]}
        )
        assert same(other, graph)


def test_repetitions_are_merged_and_counted():
    graph = KnowledgeGraph.from_triples([*FACTS, FACTS[0], FACTS[0]])
    assert (graph.num_triples, graph.duplicates) == (5, 2)


def test_entity_lookup_and_its_errors(graph):
    assert graph.entity("m.09") == 5
    with pytest.raises(JaxkgError, match=r"no entity 'Fantasie'; nearest: 'Fantasy'"):
        graph.entity("Fantasie")
    with pytest.raises(JaxkgError, match=r"'Kismet' is a display name.*'m.01', 'm.02'"):
        graph.entity("Kismet")


def test_relation_codes_and_names(graph):
    assert [graph.relation_code(name) for name in ("has_genre", "^has_genre")] == [1, 4]
    assert [graph.relation_name(code) for code in range(6)] == [
        "directed_by",
        "has_genre",
        "release_year",
        "^directed_by",
        "^has_genre",
        "^release_year",
    ]
    for code in range(6):
        assert graph.relation_code(graph.relation_name(code)) == code
    with pytest.raises(JaxkgError, match="no relation 'directed'; nearest: 'directed_by'"):
        graph.relation_code("directed")
    with pytest.raises(JaxkgError, match=r"no relation '\^genre'"):
        graph.relation_code("^genre")
    for code in (-1, 6):
        with pytest.raises(JaxkgError, match=r"not in \[0, 6\)"):
            graph.relation_name(code)


def test_triples_are_read_back_by_row(graph):
    assert graph.triple(0) == ("m.01", "directed_by", "m.09")
    assert {graph.triple(row) for row in range(5)} == set(FACTS)
    for row in (-1, 5):
        with pytest.raises(JaxkgError, match=rf"triple {row} is not in \[0, 5\)"):
            graph.triple(row)


def test_tables_are_read_only_and_fields_frozen(graph):
    with pytest.raises(ValueError, match="read-only"):
        graph.triples[0, 0] = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        graph.relations = ()


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2), st.integers(0, 4)), min_size=1))
def test_find_agrees_with_a_dictionary(facts):
    graph = KnowledgeGraph.from_triples((f"e{h}", f"r{r}", f"e{t}") for h, r, t in facts)
    n, r = graph.num_entities, graph.num_relations
    rows = {tuple(triple): row for row, triple in enumerate(graph.triples.tolist())}
    asked = list(itertools.product(range(-1, n + 1), range(-1, 2 * r + 1), range(-1, n + 1)))
    found = graph.find(*np.array(asked).T)
    for (head, code, tail), row in zip(asked, found.tolist()):
        key = (tail, code - r, head) if code >= r else (head, code, tail)
        assert row == rows.get(key, -1)


def test_find_in_tables_whose_packed_keys_would_overflow():
    graph = KnowledgeGraph.from_triples([("a", "r", "b"), ("a", "s", "b")])
    top = np.iinfo(np.int32).max
    triples = np.array([[0, 0, 0], [top, 0, top], [top, 1, 0], [top, 1, top]], np.int32)
    wide = dataclasses.replace(graph, triples=triples)
    assert wide.find(*triples.T).tolist() == [0, 1, 2, 3]
    assert wide.find(top, 1, top - 1) == -1
    assert wide.find([2**62, -(2**62)], 0, 0).tolist() == [-1, -1]


def test_add_changes_a_copy(graph):
    before = graph.fingerprint
    more = graph.add(
        [("m.03", "directed_by", "m.09"), FACTS[0]],
        names={"m.03": "Faust", "m.01": "Kismet (1944)"},
        aliases={"m.09": ["Dieterle", "W. Dieterle"], "m.03": ["Fausto"]},
        provenance=["news:7", "news:8"],
    )
    assert graph.fingerprint == before
    assert (more.num_triples, more.duplicates) == (6, 1)
    assert more.name(more.entity("m.03")) == "Faust"
    assert more.name(more.entity("m.01")) == "Kismet (1944)"
    assert more.name(more.entity("m.02")) == "Kismet"
    assert more.aliases[more.entity("m.09")] == ("Wilhelm Dieterle", "W. Dieterle", "Dieterle")
    assert more.aliases[more.entity("m.03")] == ("Fausto",)
    row = int(more.find(more.entity("m.02"), 0, more.entity("m.09")))
    assert more.source(row) == "films.tsv:1; news:8"
    assert more.source(int(more.find(more.entity("m.03"), 0, more.entity("m.09")))) == "news:7"


def test_remove_undoes_add(graph):
    new = [("m.03", "filmed_in", "m.09"), ("a", "filmed_in", "m.03")]
    more = graph.add(new, names={"m.03": "Faust"}, aliases={"a": ["A"]})
    assert not same(more, graph)
    back = more.remove(new)
    assert same(back, graph)
    assert back.provenance.tolist() == graph.provenance.tolist()


def test_what_nothing_mentions_leaves_with_its_names(graph):
    fewer = graph.remove([FACTS[0], FACTS[1], FACTS[4]])
    assert fewer.entity_ids.tolist() == ["1944", "1955", "m.01", "m.02"]
    assert fewer.relations == ("release_year",)
    assert fewer.entity_names.tolist() == ["1944", "1955", "Kismet", "Kismet"]
    assert dict(fewer.aliases) == {}
    assert fewer.triples.tolist() == [[2, 0, 0], [3, 0, 1]]
    assert [fewer.source(row) for row in (0, 1)] == ["films.tsv:3", "films.tsv:4"]


def test_aliases_follow_their_entity_when_indices_move(graph):
    fewer = graph.remove([("m.01", "has_genre", "Fantasy")])
    assert dict(fewer.aliases) == {4: ("Wilhelm Dieterle", "W. Dieterle")}
    assert fewer.name(4) == "William Dieterle"


@pytest.mark.parametrize(
    "absent",
    [
        ("m.09", "directed_by", "m.01"),
        ("m.01", "^directed_by", "m.09"),
        ("m.01", "directed", "m.09"),
        ("m.77", "directed_by", "m.09"),
        ("m.01", "directed_by", "m.77"),
    ],
)
def test_removing_what_is_not_there_is_an_error(graph, absent):
    with pytest.raises(JaxkgError, match=rf"triple 2 to remove, \({absent[0]!r}, .*nothing was"):
        graph.remove([FACTS[0], absent])


def test_the_empty_graph_can_be_asked_and_filled():
    empty = KnowledgeGraph.from_triples([])
    assert repr(empty) == "KnowledgeGraph(0 entities, 0 relations, 0 triples)"
    assert empty.find([0, -1], 0, 0).tolist() == [-1, -1]
    with pytest.raises(JaxkgError, match="no entity 'a'"):
        empty.entity("a")
    assert same(empty.add(FACTS), KnowledgeGraph.from_triples(FACTS))
    assert same(KnowledgeGraph.from_triples(FACTS).remove(FACTS), empty)


def test_fingerprints_see_every_part_but_provenance(graph):
    parts = {"names": NAMES, "aliases": {"m.09": ["W"]}}
    base = KnowledgeGraph.from_triples(FACTS, **parts)
    assert KnowledgeGraph.from_triples(FACTS, **parts, provenance=["x"] * 5).fingerprint == (
        base.fingerprint
    )
    changed = [
        KnowledgeGraph.from_triples(FACTS[1:], **parts),
        KnowledgeGraph.from_triples(FACTS, names=NAMES | {"m.01": "K"}, aliases=parts["aliases"]),
        KnowledgeGraph.from_triples(FACTS, names=NAMES, aliases={"m.09": ["V"]}),
        KnowledgeGraph.from_triples(FACTS, names=NAMES, aliases={"m.01": ["W"]}),
        KnowledgeGraph.from_triples([(h, r + "s", t) for h, r, t in FACTS], **parts),
        KnowledgeGraph.from_triples([(t, r, h) for h, r, t in FACTS], **parts),
    ]
    assert len({graph.fingerprint for graph in (base, *changed)}) == len(changed) + 1


def test_ids_that_tell_nothing_are_no_names():
    ids = ["m.0abc_1", "g.125_cxx77", "/m/010016", "/g/11x", "_:b0", "m.night", "g.1", "AC/m.0x"]
    graph = KnowledgeGraph.from_triples([(one, "r", "Kismet") for one in ids])
    told = {one: graph.has_name(graph.entity(one)) for one in ids}
    assert [one for one, named in told.items() if named] == ["m.night", "g.1", "AC/m.0x"]
    named = graph.add(names={"m.0abc_1": "Alien"})
    assert named.has_name(named.entity("m.0abc_1"))


def test_names_that_are_none_are_refused():
    for name in (" ", None):
        with pytest.raises(JaxkgError, match=r"display name of 'm.01' is (' '|None); leave it out"):
            KnowledgeGraph.from_triples(FACTS, names={"m.01": name})
    for aliases in ("alias", ["fine", ""], [3]):
        with pytest.raises(JaxkgError, match=r"aliases of 'm.01' must be"):
            KnowledgeGraph.from_triples(FACTS, aliases={"m.01": aliases})
        with pytest.raises(JaxkgError, match=r"aliases of 'm.01' must be"):
            KnowledgeGraph.from_triples(FACTS).add(aliases={"m.01": aliases})


def test_tables_that_do_not_fit_together_are_refused(graph):
    with pytest.raises(JaxkgError, match=r"\[T, 3\] int32"):
        dataclasses.replace(graph, triples=graph.triples.astype(np.int64))
    with pytest.raises(JaxkgError, match=r"6 display names .* of which there are 5"):
        dataclasses.replace(graph, entity_ids=graph.entity_ids.take(np.arange(5)))
    with pytest.raises(JaxkgError, match=r"5 sources .* of which there are 4"):
        dataclasses.replace(graph, triples=graph.triples[:4].copy())


def test_relations_have_display_names(graph):
    assert graph.relation_labels == ("directed by", "has genre", "release year")
    assert graph.relation_names == {}
    names = {"has_genre": ["genre", "Genre (film)"], "release_year": ["year"], "absent": ["x"]}
    named = KnowledgeGraph.from_triples(FACTS, names=NAMES, relation_names=names)
    assert named.relation_labels == ("directed by", "genre", "year")
    assert dict(named.relation_aliases) == {1: ("Genre (film)",)}
    assert named.fingerprint != KnowledgeGraph.from_triples(FACTS, names=NAMES).fingerprint
    more = named.add([("a", "born_in", "b")], relation_names={"born_in": ["birthplace"]})
    assert more.relation_labels == ("birthplace", "directed by", "genre", "year")
    assert dict(more.relation_aliases) == {2: ("Genre (film)",)}
    assert same(more.remove([("a", "born_in", "b")]), named)
    less = named.remove([FACTS[0], FACTS[1]])
    assert (less.relation_labels, dict(less.relation_aliases)) == (
        ("genre", "year"),
        {0: ("Genre (film)",)},
    )
    with pytest.raises(JaxkgError, match="'born_in', which no triple mentions"):
        named.add(relation_names={"born_in": ["birthplace"]})
    with pytest.raises(JaxkgError, match="names of the relation 'r' must be a list"):
        KnowledgeGraph.from_triples([("a", "r", "b")], relation_names={"r": "name"})
