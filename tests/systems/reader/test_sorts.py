"""Sorts of things told by their relations: pairs of relations by a table and by sparse products."""

import numpy as np
import pytest

from jaxkg.kg import KnowledgeGraph
from jaxkg.systems.reader.language import sorts
from jaxkg.systems.reader.reading import Readings
from jaxkg.systems.reader.settings import ReaderSettings


def brute_groups(having, had, count):
    sets = [set(having[had == code]) for code in range(count)]
    group = list(range(count))
    for a in range(count):
        for b in range(count):
            both = len(sets[a] & sets[b])
            if both and both / np.sqrt(len(sets[a]) * len(sets[b])) >= 0.4 and group[a] != group[b]:
                low, high = sorted((group[a], group[b]))
                group = [low if one == high else one for one in group]
    return [sorted(set(group)).index(one) for one in group]


@pytest.mark.parametrize("dense", [0, 1_000])
@pytest.mark.parametrize("seed", range(5))
def test_relations_that_the_same_things_have_are_together(monkeypatch, dense, seed):
    monkeypatch.setattr(sorts, "_DENSE", dense)
    order = np.random.default_rng(seed)
    count = 30
    having, had = np.nonzero(order.random((40, count)) < (0.08, 0.15, 0.2, 0.3, 0.5)[seed])
    assert sorts._together(having, had, count).tolist() == brute_groups(having, had, count)


def test_a_thing_is_of_the_sort_that_most_of_its_relations_are_in_and_of_equals_the_rarer():
    #         thing 0: codes 0, 1, 2; thing 1: 0, 2; thing 2: 0; groups: 0 0 1
    having, had = np.array([0, 0, 0, 1, 1, 2]), np.array([0, 1, 2, 0, 2, 0])
    assert sorts._of_entity(having, np.array([0, 0, 1])[had]).tolist() == [0, 1, 0]


@pytest.mark.parametrize("dense", [0, 1_000])
def test_sorts_are_the_same_by_a_table_and_by_sparse_products(monkeypatch, dense):
    monkeypatch.setattr(sorts, "_DENSE", dense)
    names = ("boss", "salary", "desk")
    people = [(f"p{n}", name, f"{name}{n}") for n in range(6) for name in names]
    boats = [(f"b{n}", name, f"{name}{n}") for n in range(6) for name in ("crew", "length")]
    kg = KnowledgeGraph.from_triples(people + boats)
    found = Readings(kg, None, ReaderSettings()).vocabulary.every_sort
    told = {tuple(kg.name(row) for row in one.members.tolist()) for one in found}
    assert {tuple(f"p{n}" for n in range(6)), tuple(f"b{n}" for n in range(6))} <= told
