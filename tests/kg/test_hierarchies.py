import dataclasses
import itertools

import pytest

from jaxkg.kg import KnowledgeGraph
from jaxkg.kg.hierarchies import hierarchies


def chain(relation, *names):
    return [(a, relation, b) for a, b in itertools.pairwise(names)]


@pytest.mark.parametrize(
    ("facts", "found"),
    [
        (chain("reports to", "Ann", "Bo", "Cy"), ("reports to",)),
        (chain("lives in", "Ann", "Rome"), ()),
        (chain("knows", "Ann", "Bo", "Cy", "Ann"), ()),
        (chain("knows", "Ann", "Bo", "Bo"), ()),
        (chain("part_of", "bolt", "wheel", "car", "wheel"), ("part_of",)),
        (chain("http://www.w3.org/2004/02/skos/core#broader", "a", "b", "c"), True),
        (chain("next", *(f"n{number}" for number in range(200))), ()),
        ([*chain("has", "a", "b"), *chain("has", "c", "d")], ()),
    ],
)
def test_a_hierarchy_goes_on_and_ends(facts, found):
    kg = KnowledgeGraph.from_triples(facts)
    assert hierarchies(kg) == (kg.relations if found is True else found)


def test_what_is_declared_counts():
    ring, line = chain("feeds", "a", "b", "c", "a"), chain("next", "a", "b", "c")
    meanings = {"feeds": {"hierarchy": True}, "next": {"hierarchy": False}}
    kg = KnowledgeGraph.from_triples([*ring, *line])
    assert hierarchies(kg) == ("next",)
    assert hierarchies(dataclasses.replace(kg, meanings=meanings)) == ("feeds",)
