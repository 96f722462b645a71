import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph, save_graph
from jaxkg.kg.stores import around, arrays
from jaxkg.kg.stores.arrays import ArrayStore, facts_of, has_index, save_index

TRIPLES = st.sets(
    st.tuples(st.integers(0, 6), st.integers(0, 2), st.integers(0, 6)), min_size=1, max_size=40
)


@given(TRIPLES, st.integers(0, 3))
def test_runs_and_facts_are_what_the_triples_say(triples, whole):
    kg = KnowledgeGraph.from_triples((f"e{h}", f"r{r}", f"e{t}") for h, r, t in triples)
    before, arrays._READ_WHOLE = arrays._READ_WHOLE, whole  # hubs, from so many facts on
    try:
        store = ArrayStore(kg)
        nodes = np.arange(kg.num_entities)
        runs = store.runs(nodes)
        counts = {(n, r, i): s for n, r, i, s in zip(*(column.tolist() for column in runs))}
        expected: dict[tuple[int, int, bool], set[int]] = {}
        for row, (head, relation, tail) in enumerate(kg.triples.tolist()):
            expected.setdefault((head, relation, False), set()).add(row)
            expected.setdefault((tail, relation, True), set()).add(row)
        assert counts == {key: len(rows) for key, rows in expected.items()}
        for place, key in enumerate(counts):
            facts = store.fetch(runs.take(np.array([place])))
            assert set(facts.rows.tolist()) == expected[key]
            assert facts.triples.tolist() == kg.triples[facts.rows].tolist()
        assert len(store.fetch(runs).rows) == kg.num_triples
    finally:
        arrays._READ_WHOLE = before


@pytest.fixture
def films():
    return KnowledgeGraph.from_triples(
        [("m1", "by", "p1"), ("m2", "by", "p1"), ("m3", "by", "p2")],
        names={"m1": "The Insider", "m2": "Heat", "m3": "Heat", "p1": "Michael Mann"},
        aliases={"p2": ["Paul Morrissey", "Morrissey"]},
    )


def test_names_are_found_in_any_spelling(films):
    store = ArrayStore(films)
    ids = films.entity_ids
    found = store.search(["heat", "INSIDER", "morrissey", "Michael  Mann", "nobody"])
    assert [[ids[row] for row in some] for some in found] == [
        ["m2", "m3"], ["m1"], ["p2"], ["p1"], []
    ]  # fmt: skip
    assert [ids[row] for row in store.near("Micheal Mann")] == ["p1"]
    assert store.near("Somebody Else") == []
    assert [store.named([name])[0] for name in ("m1", "Heat", "heat")] == [[0], [1, 2], []]


def test_of_many_namesakes_those_with_most_facts():
    crowd = [(f"p{n:03}", "knows", f"q{k}") for n in range(60) for k in range(1 + n % 2)]
    kg = KnowledgeGraph.from_triples(crowd, names={f"p{n:03}": "Smith" for n in range(60)})
    [found] = ArrayStore(kg).search(["smith"])
    assert [kg.entity_ids[row] for row in found] == [f"p{n:03}" for n in range(1, 60, 2)]


def test_a_folder_says_what_memory_says(films, tmp_path):
    folder = save_graph(films, tmp_path / "films")
    assert not has_index(folder)
    with pytest.raises(JaxkgError, match="kg index FOLDER"):
        ArrayStore.open(folder)
    save_index(folder, films)
    assert has_index(folder)
    assert facts_of(folder) == 3
    mapped, memory = ArrayStore.open(folder), ArrayStore(films)
    nodes = np.arange(films.num_entities)
    assert all(map(np.array_equal, mapped.runs(nodes), memory.runs(nodes)))
    assert mapped.search(["heat", "mann"]) == memory.search(["heat", "mann"])
    assert mapped.described(nodes) == memory.described(nodes)
    assert mapped.stats() == memory.stats()
    assert mapped.schema.fingerprint == films.fingerprint
    assert mapped.holds([("m1", "by", "p1"), ("m1", "by", "p2"), ("x", "by", "p1")]) == [
        True, False, False
    ]  # fmt: skip


def test_an_index_of_another_graph_is_refused(films, tmp_path):
    folder = save_graph(films, tmp_path / "films")
    save_index(folder, films.add([("m4", "by", "p2")]))
    with pytest.raises(JaxkgError, match="of another graph"):
        ArrayStore.open(folder)


def test_a_sample_is_kept_with_the_index(films, tmp_path, monkeypatch):
    folder = save_graph(films, tmp_path / "films")
    save_index(folder, films)
    assert ArrayStore.open(folder).sample is None
    monkeypatch.setattr(arrays, "SAMPLED", 2)
    monkeypatch.setattr(around, "SAMPLED", 2)
    sample = around.sample_graph(ArrayStore(films))
    assert 0 < sample.num_triples <= 2
    save_index(folder, films)
    store = ArrayStore.open(folder)
    assert store.sample is not None
    assert store.sample.fingerprint == sample.fingerprint
    monkeypatch.setattr(store, "fetch", None)
    assert around.sample_graph(store) is store.sample
