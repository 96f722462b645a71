import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxkg.errors import JaxkgError
from jaxkg.kg.encode import TripleEncoder

names = st.sampled_from(["a", "b", "ä", "Z", "aa"])
rows = st.lists(st.tuples(names, st.sampled_from(["r", "q"]), names))


def encode(batches, sources=None):
    encoder = TripleEncoder()
    for number, batch in enumerate(batches):
        encoder.add_triples(batch, sources[number] if sources else None)
    return encoder


@given(st.lists(rows))
def test_any_split_into_batches_gives_the_sorted_set(batches):
    table = encode(batches).finish()
    flat = [triple for batch in batches for triple in batch]
    assert table.entities == sorted({end for h, _, t in flat for end in (h, t)})
    assert table.relations == sorted({r for _, r, _ in flat})
    told = [(table.entities[h], table.relations[r], table.entities[t]) for h, r, t in table.triples]
    assert told == sorted(set(flat))
    assert table.duplicates == len(flat) - len(set(flat))
    assert table.triples.dtype == np.int32
    assert table.sources is None


def test_sources_of_repetitions_are_joined_in_reading_order():
    encoder = encode(
        [
            [("b", "r", "c")],
            [("a", "r", "b"), ("b", "r", "c")],
            [("a", "r", "b"), ("a", "r", "b"), ("a", "r", "b")],
        ],
        [None, ["f:1", "f:2"], ["e:9", None, "f:1"]],
    )
    table = encoder.finish()
    assert len(encoder) == 6
    assert table.triples.tolist() == [[0, 0, 1], [1, 0, 2]]
    assert table.sources == ["f:1; e:9", "f:2"]
    assert table.duplicates == 4


def test_a_table_of_integers_goes_in_by_name():
    encoder = encode([[("c", "s", "a")]])
    encoder.add_table(["a", "b"], ["r"], np.array([[1, 0, 0]], np.int32))
    table = encoder.finish()
    assert (table.entities, table.relations) == (["a", "b", "c"], ["r", "s"])
    assert table.triples.tolist() == [[1, 0, 0], [2, 1, 0]]


def test_renamed_relations_are_numbered_by_their_new_names():
    encoder = encode([[("a", "x", "b"), ("a", "y", "b")]])
    encoder.rename_relations({"x": "q", "y": "p"})
    assert encoder.finish().relations == ["p", "q"]


@pytest.mark.parametrize(
    "bad", [("a", "r"), ("a", "r", " "), ("a", "r", 3), "abc", ("a", "r", "b", "c")]
)
def test_malformed_rows_are_named(bad):
    with pytest.raises(JaxkgError, match=r"triple 2 is .*expected three non-blank strings"):
        encode([[("a", "r", "b"), bad]])


def test_the_mark_of_an_inverse_is_no_relation_name():
    with pytest.raises(JaxkgError, match=r"'\^r' starts with"):
        encode([[("a", "^r", "b")]]).finish()


@given(rows, st.dictionaries(names, st.lists(names, min_size=1, max_size=3), max_size=3))
def test_one_tail_for_several(flat, ends):
    sources = [f"f:{n}" for n in range(len(flat))]
    encoder = encode([flat[:2], flat[2:]], [sources[:2], sources[2:]])
    parts = {
        ("r", tail): some for tail, some in ends.items() if ("r", tail) in {t[1:] for t in flat}
    }
    if parts:
        encoder.split(parts)
    wanted = [
        ((h, r, t), source)
        for (h, r, tail), source in zip(flat, sources)
        for t in parts.get((r, tail), [tail])
    ]
    assert len(encoder) == len(wanted)
    table = encoder.finish()
    assert table.entities == sorted({end for (h, _, t), _ in wanted for end in (h, t)})
    told = [(table.entities[h], table.relations[r], table.entities[t]) for h, r, t in table.triples]
    assert told == sorted({triple for triple, _ in wanted})
    for triple, said in zip(told, table.sources or ()):
        assert set(said.split("; ")) == {source for t, source in wanted if t == triple}


def test_heads_are_left_out_with_what_only_they_have():
    encoder = encode([[("a", "r", "b"), ("x", "s", "y"), ("x", "r", "a"), ("b", "r", "x")]])
    encoder.add(["x", "c"], ["t", "r"], ["z", "a"], ["f:1", "f:2"])
    assert encoder.leave_out({"x", "unknown"}) == 3
    table = encoder.finish()
    assert (table.entities, table.relations) == (["a", "b", "c", "x"], ["r"])
    assert table.triples.tolist() == [[0, 0, 1], [1, 0, 3], [2, 0, 0]]
    assert table.sources == ["", "", "f:2"]
