"""Each oddity is found where it is, and not where it is not."""

import dataclasses

import pytest

from jaxkg.kg import KnowledgeGraph
from jaxkg.kg.check import KINDS, check_graph


def found(facts, names=None, meanings=None):
    """(kind, relation, how often) of what is odd in facts."""
    kg = KnowledgeGraph.from_triples(facts, names=names)
    kg = dataclasses.replace(kg, meanings=meanings or {})
    return {(one.kind, one.relation, one.times) for one in check_graph(kg)}


CITIES = {f"c{n}": f"City {n}" for n in range(4)}
FACTS = [(city, "river", f"river {city}") for city in CITIES]


def test_nothing_is_odd():
    assert found(FACTS, CITIES) == set()


def test_a_reference_to_nothing():
    homes = [(f"p{n}", "lives in", f"c{n}") for n in range(5)]  # there is no c4
    names = CITIES | {f"p{n}": f"Person {n}" for n in range(5)}
    assert found([*FACTS, *homes], names) == {("dangling", "lives in", 1)}
    assert found([*FACTS, *homes[:4]], names) == set()


def test_two_ids_of_one_name():
    assert found(FACTS, CITIES | {"c3": "City 2"}) == {("homonyms", "", 1)}


def test_an_id_without_a_name():
    names = {id: name for id, name in CITIES.items() if id != "c2"}
    assert found(FACTS, names) == {("unnamed", "", 1)}


def test_rows_of_one_id():
    born = [(f"p{n}", "born", str(1900 + n)) for n in range(30)]
    assert found(born) == set()
    assert found([*born, ("p7", "born", "1850")]) == {("repeated", "born", 1)}
    tags = [(f"p{n}", "tag", f"{kind} {n}") for n in range(30) for kind in "ab"]
    assert found(tags) == set()  # each has two


@pytest.mark.parametrize("relation", ["part of", "subclass_of", "reportsTo"])
def test_cycles(relation):
    ring = [("a", relation, "b"), ("b", relation, "c"), ("c", relation, "a"), ("d", relation, "d")]
    kg = KnowledgeGraph.from_triples([*ring, ("e", relation, "a")])
    cycles = [one for one in check_graph(kg) if one.kind == "cycles"]
    assert [(one.times, one.examples) for one in cycles] == [(2, ["a, b, c", "d"])]
    assert found([*ring[:2], ("e", relation, "a")]) == set()


def test_a_hierarchy_that_is_declared():
    ring = [("a", "feeds", "b"), ("b", "feeds", "c"), ("c", "feeds", "a")]
    assert found(ring) == set()
    assert found(ring, meanings={"feeds": {"hierarchy": True}}) == {("cycles", "feeds", 1)}


def test_values_that_do_not_fit():
    sizes = [(f"p{n}", "height", f"{150 + n} cm") for n in range(20)]
    assert found([*sizes, ("p20", "height", "tall"), ("p21", "height", "n/a")]) == {
        ("misfits", "height", 1)
    }


def test_a_relation_that_is_used_both_ways():
    owns = [(f"p{n}", "owns", f"boat {n}") for n in range(9)]
    assert found([*owns, ("boat 3", "owns", "p3")]) == {("both ways", "owns", 1)}
    knows = [*owns, ("boat 3", "owns", "p3")]
    assert found(knows, meanings={"owns": {"symmetric": True}}) == set()
    assert found([(tail, relation, head) for head, relation, tail in owns] + owns) == set()


def test_kinds_are_chosen_and_said():
    kg = KnowledgeGraph.from_triples(FACTS, names=CITIES | {"c3": "City 2"})
    assert check_graph(kg, kinds=["cycles"]) == []
    (one,) = check_graph(kg)
    assert str(one) == f"homonyms: 1 {KINDS['homonyms']}: City 2 (c2, c3)"
