"""Rows of amounts: how many of something there are, and what there is the most of."""

import pytest
from row_facts import facts_of

from jaxkg.kg import KnowledgeGraph
from jaxkg.query import Total
from jaxkg.systems.reader.system import Reader

ROWS = [
    ("Rook", "Ann", "3", "2024-03-02"), ("Rook", "Bo", "4", "2024-03-09"),
    ("Wren", "Ann", "2", "2024-04-01"), ("Wren", "Bo", "1", "2024-04-02"),
    ("Wren", "Bo", "1", "2024-04-03"),
]  # fmt: skip


@pytest.fixture(scope="module", params=["quantity", "Btls"])
def reader(request):
    facts = facts_of(ROWS, "wine", "buyer", request.param, "date", head="_:row ")
    return Reader.build(KnowledgeGraph.from_triples(facts)), request.param


def test_how_many_is_the_sum_of_what_rows_are_of(reader):
    read, column = reader
    found = read.understand("How many bottles of Rook were bought?").readings
    sums = [one for one in found if isinstance(one.candidate.query, Total)]
    assert sums[0].answers == ("7",)
    assert sums[0].candidate.query.path == (column,)


def test_a_row_that_is_asked_for_is_counted():
    facts = facts_of(ROWS, "wine", "buyer", "quantity", "date", head="_:row ")
    facts += [(f"_:row {at}", "is a", "purchase") for at in range(len(ROWS))]
    read = Reader.build(KnowledgeGraph.from_triples(facts))
    assert read.understand("How many purchases of Wren?").readings[0].answers == ("3",)


def test_the_most_in_total_is_by_the_sum():
    rows = [("Rook", "Ann", "5"), *(("Wren", buyer, "4") for buyer in ("Ann", "Bo"))]
    facts = facts_of(rows, "wine", "buyer", "bottles", head="_:row ")
    read = Reader.build(KnowledgeGraph.from_triples(facts))
    [best, *_] = read.understand("Which wine has the most bottles in total?").readings
    assert best.answers == ("Wren",)
