import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxkg.errors import JaxkgError
from jaxkg.kg.names import NameCollector, NameTable, nearest

texts = st.text(st.characters(exclude_categories=["Cs"]))
with_surrogates = st.text()


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


@given(st.sets(texts), with_surrogates)
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


def test_lone_surrogates_are_refused():
    with pytest.raises(JaxkgError, match=r"'a\\ud800'.*surrogate at character 1"):
        NameTable.from_names(["fine", "a\ud800"])


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
