import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxkg.errors import JaxkgError
from jaxkg.kg.names import AliasTable, NameCollector, NameTable, nearest

texts = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.lists(texts))
def test_every_way_of_reading_agrees_with_the_list(names):
    table = NameTable.from_names(names)
    assert len(table) == len(names)
    assert table.tolist() == names
    assert list(table) == names
    assert [table[row] for row in range(len(names))] == names
    assert [table[row - len(names)] for row in range(len(names))] == names
    assert table[::-1] == names[::-1]
    for name in names:
        assert table.rows(name) == tuple(i for i, other in enumerate(names) if other == name)


@given(st.sets(texts), texts)
def test_bisection_in_an_ascending_table_agrees_with_the_index(names, other):
    ordered = sorted(names)
    table = NameTable.from_names(ordered, ascending=True)
    for row, name in enumerate(ordered):
        assert table.rows(name) == (row,)
    assert (other in table) == (other in names)
    assert table.rows(other) == NameTable.from_names(ordered).rows(other)


@given(st.lists(texts, min_size=1), st.data())
def test_take(names, data):
    rows = data.draw(st.lists(st.integers(0, len(names) - 1)))
    assert NameTable.from_names(names).take(np.array(rows, int)).tolist() == [
        names[row] for row in rows
    ]


def test_take_stays_ascending_only_where_the_rows_ascend():
    table = NameTable.from_names(["a", "b", "c"], ascending=True)
    assert table.take(np.array([0, 2])).ascending
    shuffled = table.take(np.array([2, 0]))
    assert not shuffled.ascending
    assert shuffled.rows("a") == (1,)


def test_out_of_range_and_foreign_values():
    table = NameTable.from_names(["a"])
    for row in (1, -2):
        with pytest.raises(IndexError, match="of a table of 1"):
            table[row]
    assert 3 not in table


def test_arrays_are_read_only():
    table = NameTable.from_names(["ab"])
    for array in (table.blob, table.offsets):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_lone_surrogates_are_refused():
    with pytest.raises(JaxkgError, match=r"'a\\ud800'.*surrogate at character 1"):
        NameTable.from_names(["fine", "a\ud800"])


def test_inconsistent_arrays_are_refused():
    blob = np.frombuffer(b"abc", np.uint8)
    with pytest.raises(JaxkgError, match="run from 0 to 2, but there are 3 bytes"):
        NameTable(blob, np.array([0, 2]))
    with pytest.raises(JaxkgError, match="int32"):
        NameTable(blob, np.array([0, 3], np.int32))


def test_aliases_behave_like_the_dictionary():
    given = {7: ["seven", "VII", "seven"], 2: ["two"]}
    table = AliasTable.from_mapping(given)
    assert dict(table) == {2: ("two",), 7: ("seven", "VII")}
    assert list(table) == [2, 7]
    assert len(table) == 2
    assert 3 not in table
    with pytest.raises(KeyError):
        table[3]
    assert repr(table) == "AliasTable(3 aliases of 2 entities)"
    assert dict(AliasTable.from_mapping({})) == {}


def test_alias_owners_must_match():
    with pytest.raises(JaxkgError, match="one int32 owner per name"):
        AliasTable(np.array([1], np.int32), NameTable.from_names([]))


def test_collector_keeps_the_first_label_and_the_rest_as_aliases():
    names = NameCollector()
    names.label("x", "First")
    names.label("x", "First")
    names.label("x", "Second")
    names.alias("x", "Third")
    names.alias("x", "Second")
    assert names.display == {"x": "First"}
    assert list(names.aliases["x"]) == ["Second", "Third"]


def test_nearest_names_come_best_first_and_not_at_any_price():
    assert nearest("directedby", ["written_by", "directed_by"]).startswith(
        "; nearest: 'directed_by'"
    )
    assert nearest("zzzz", ["written_by"]) == ""
