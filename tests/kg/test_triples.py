"""Packed triples are the triples, whatever the widths, and no whole column is ever converted."""

import tracemalloc

import chex
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxkg.kg import KnowledgeGraph, save_graph
from jaxkg.kg import triples as packing
from jaxkg.kg.names import AliasTable, NameTable
from jaxkg.kg.stores.arrays import ArrayStore, save_index
from jaxkg.kg.triples import PackedTriples

TRIPLES = st.sets(st.tuples(st.integers(0, 6), st.integers(0, 2), st.integers(0, 6)), max_size=30)


@given(TRIPLES, st.data())
def test_what_is_read_is_what_was_packed(facts, data):
    triples = np.array(sorted(facts), np.int32).reshape(-1, 3)
    packed = PackedTriples.of(triples, 7, 3)
    count = len(triples)
    assert packed.shape == triples.shape
    chex.assert_trees_all_equal(np.asarray(packed), triples)
    ends = st.integers(-count - 2, count + 2) | st.none()
    step = data.draw(st.integers(1, 3))
    some = [
        slice(data.draw(ends), data.draw(ends), step),
        np.array(data.draw(st.lists(st.sampled_from(range(count)) if count else st.nothing()))),
        data.draw(st.lists(st.booleans(), min_size=count, max_size=count).map(np.array)),
    ]
    for rows in some:
        rows = rows.astype(np.int64) if isinstance(rows, np.ndarray) and not len(rows) else rows
        chex.assert_trees_all_equal(packed[rows], triples[rows])
        for column in range(3):
            assert packed[rows, column].dtype == np.int32
            chex.assert_trees_all_equal(packed[rows, column], triples[rows, column])
    for row in range(count):
        assert packed[row].tolist() == triples[row].tolist()


def many_relations(count):
    """A fact of each relation, and an entity that is in all of them."""
    facts = [("all", f"r{row:06}", f"e{row % 50}") for row in range(count)]
    return KnowledgeGraph.from_triples(facts)


@pytest.mark.slow
@pytest.mark.parametrize(("relations", "width"), [(1 << 16, "uint16"), ((1 << 16) + 1, "int32")])
def test_relations_take_the_room_they_need(tmp_path, relations, width):
    kg = many_relations(relations)
    save_index(save_graph(kg, tmp_path / "graph"), kg)
    store = ArrayStore.open(tmp_path / "graph")
    assert store.kg.triples.widths == {"offsets": "uint32", "relations": width}
    last, everyone = kg.triples[-1].tolist(), kg.entity("all")
    runs = store.runs(np.array([everyone]))
    chex.assert_trees_all_equal(runs.relation, np.arange(relations))
    assert store.fetch(runs.take(np.array([relations - 1]))).triples.tolist() == [last]
    assert relations - 1 in store.runs(np.array([last[2]])).relation.tolist()
    assert store.holds([kg.triple(relations - 1)]) == [True]


def test_wide_and_narrow_say_the_same(rng, tmp_path, monkeypatch):
    drawn = zip(*(rng.integers(0, most, 300).tolist() for most in (20, 5, 20)))
    kg = KnowledgeGraph.from_triples([(f"e{h}", f"r{r}", f"e{t}") for h, r, t in drawn])
    save_index(save_graph(kg, tmp_path / "narrow"), kg)
    with monkeypatch.context() as patch:
        patch.setattr(packing, "relation_width", lambda count: np.int32)
        patch.setattr(packing, "offset_width", lambda count: np.int64)
        save_index(save_graph(kg, tmp_path / "wide"), kg)
    narrow, wide = (ArrayStore.open(tmp_path / name) for name in ("narrow", "wide"))
    assert wide.kg.triples.widths == {"offsets": "int64", "relations": "int32"}
    nodes = np.arange(kg.num_entities)
    runs = narrow.runs(nodes)
    chex.assert_trees_all_equal(runs, wide.runs(nodes))
    chex.assert_trees_all_equal(narrow.fetch(runs), wide.fetch(runs))
    chex.assert_trees_all_equal(narrow.everything(), wide.everything())
    chex.assert_trees_all_equal(narrow.some(7), wide.some(7))
    assert narrow.stats() == wide.stats()
    assert narrow.kg.fingerprint == kg.fingerprint
    assert {array.dtype for array in narrow.everything()} == {np.dtype(np.int64)}


def test_no_column_is_converted_to_read_a_part(tmp_path):
    count = 200_000
    ids = NameTable.from_names([f"e{row:06}" for row in range(count)], ascending=True)
    rows = np.arange(count, dtype=np.int32)
    kg = KnowledgeGraph(
        entity_ids=ids,
        entity_names=ids,
        relations=("r",),
        triples=np.stack([rows, 0 * rows, rows[::-1]], axis=1),
        aliases=AliasTable(rows, ids),
    )
    save_index(save_graph(kg, tmp_path / "graph"), kg)
    store = ArrayStore.open(tmp_path / "graph")
    tracemalloc.start()
    found = store.fetch(store.runs(np.array([5, 100_000])))
    assert len(store.described(found.triples[:, 2]).names) == 4
    assert store.holds([("e000005", "r", "e199994")]) == [True]
    assert store.search(["e000007"]) == [[7]]
    assert store.kg.aliases[7] == ("e000007",)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * count  # a column of 16 bits
