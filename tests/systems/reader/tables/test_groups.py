"""Numbers of some rows for each group of these: per supplier, by colour."""

import pytest
from readers import reader_of
from row_facts import table_facts

from jaxkg.cite import check
from jaxkg.query import Rows

_GOODS = """
Hammer Acme red 12 40
Saw Borg red 18 5
Chisel Dale red 30 60
Brush Acme green 4 11
Roller Borg green 9 70
Primer Dale green 44 20
Plank Acme blue 7 8
Beam Borg blue 21 3
Panel Dale blue 16 90
"""


@pytest.fixture(scope="module")
def goods():
    columns = ("supplier", "colour", "price", "stock")
    return reader_of(table_facts(_GOODS, *columns, kind="product", cut=None), threshold=0.0)


def told(reader, question):
    answer = reader.ask(question)
    assert check(reader.kg, answer) == ()
    return {entity.name: entity.cells for entity in answer.entities}


@pytest.mark.parametrize(
    ("question", "groups"),
    [
        ("average stock by colour", {"green": "33.67", "red": "35", "blue": "33.67"}),
        ("total stock of red products per supplier", {"Acme": "40", "Borg": "5", "Dale": "60"}),
        ("How many red products does each supplier have?", {"Acme": "1", "Borg": "1", "Dale": "1"}),
        ("What is the average price per colour at Acme?", {"green": "4", "red": "12", "blue": "7"}),
    ],
)  # fmt: skip
def test_numbers_are_told_of_each_group_of_the_rows_that_are_meant(goods, question, groups):
    assert {name: cells[-1] for name, cells in told(goods, question).items()} == groups


def test_the_first_by_a_mean_are_offered_in_its_order(goods):
    seen = goods.look("What are the top 2 suppliers by average price?")
    tables = [entry for entry in seen.found if isinstance(entry.query, Rows)]
    means = [entry for entry in tables if entry.query.last == 2 and not entry.query.per]
    assert [[goods.kg.name(end) for end in entry.ends] for entry in means] == [["Dale", "Borg"]]


def test_by_a_name_is_no_group(goods):
    assert list(told(goods, "average stock by Acme")) == ["19.67"]
