"""Questions of which two relations lead to the same, or one to nothing else."""

import pytest
from readers import cited, reader_of
from row_facts import table_facts

from jaxkg.systems.reader.language.cues import read_cues
from jaxkg.systems.reader.system import Reader

_FILMS = """
Tide|Mo Rey|Mo Rey;Al Dun|120|90
Fog|Al Dun|Ina Orr|80|95
Rust|Ina Orr|Ina Orr|40|70
Dew|Mo Rey|Al Dun|55|20
"""


@pytest.fixture(scope="module")
def films() -> Reader:
    facts = []
    for line in _FILMS.strip().splitlines():
        name, director, actors, earned, cost = line.split("|")
        facts += [(name, "type", "film"), (name, "directed by", director)]
        facts += [(name, "acted in by", actor) for actor in actors.split(";")]
        facts += [(name, "revenue", earned), (name, "budget", cost)]
    facts += [(name, "type", "actor") for name in ("Mo Rey", "Al Dun", "Ina Orr")]
    facts += [("Mo Rey", "born in", "Ulm"), ("Al Dun", "born in", "Ulm")]
    return reader_of(facts, threshold=0.0)


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("Which films were directed by someone who also acted in them?", {"Tide", "Rust"}),
        ("Which films have a revenue larger than their budget?", {"Tide", "Dew"}),
        ("Which films have exactly two actors born in Ulm?", {"Tide"}),
        ("Which films did all actors born in Ulm act in?", {"Tide"}),
        ("Which films had only actors born in Ulm?", {"Tide", "Dew"}),
        ("Which films have only Ina Orr acting in them?", {"Fog", "Rust"}),
    ],
)
def test_two_relations_are_compared(films, question, meant):
    assert set(cited(films, question)) == meant


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("Which orders were shipped after their required date?", {"O2"}),
        ("Which orders were required before they were shipped?", {"O2"}),
        ("Which orders were shipped before they were required?", {"O1", "O3"}),
    ],
)
def test_dates_are_compared_by_what_tells_their_labels_apart(question, meant):
    dates = {
        "O1": ("2024-01-05 10:00:00", "2024-01-03 09:00:00"),
        "O2": ("2024-02-05 10:00:00", "2024-02-09 09:00:00"),
        "O3": ("2024-03-05 10:00:00", "2024-03-01 09:00:00"),
    }
    facts = [(order, "type", "order") for order in dates]
    for order, (required, shipped) in dates.items():
        facts += [(order, "required date", required), (order, "shipped date", shipped)]
        facts += [(order, "order date", "2024-01-01 08:00:00")]
    assert set(reader_of(facts).understand(question).readings[0].answers) == meant


STOCK = """
A1|Hammer|12|20|2024-01-03|2024-01-10
A2|Saw|40|10|2024-02-01|2024-02-20
A3|Drill|3|5|2024-03-05|2024-03-06
A4|Tape|100|50|2024-01-15|2024-01-25
"""
COLUMNS = ("product name", "stock", "reorder level", "last ordered", "last delivered")


@pytest.fixture(scope="module")
def stock() -> Reader:
    return reader_of(table_facts(STOCK, *COLUMNS, kind="item"), threshold=0.0)


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("Which items have less stock than the reorder level?", {"A1", "A3"}),
        ("Which items are below their reorder level?", {"A1", "A3"}),
        ("Which items have stock above the reorder level?", {"A2", "A4"}),
        ("How many days are there between the order and the delivery of Tape?", {"10 days"}),
        ("What was delivered to Saw?", {"2024-02-20"}),
    ],
)
def test_two_values_of_a_row_are_compared_in_other_words(stock, question, meant):
    assert set(stock.understand(question).readings[0].answers) == meant


def test_the_one_row_that_tells_of_a_thing_has_its_values():
    reader = reader_of(table_facts(STOCK, "product", *COLUMNS[1:], kind="item"), threshold=0.0)
    question = "How many days are there between the order and the delivery of Tape?"
    assert cited(reader, question) == ["10 days"]


def test_a_row_is_meant_by_the_name_that_it_alone_has(stock):
    finder = stock.readings.finder
    mention = finder.mentions(read_cues("What is the stock of Saw?"))[0]
    assert {stock.kg.name(option.entity) for option in mention.options} == {"A2", "Saw"}
    twice = reader_of(table_facts(STOCK.replace("Tape", "Saw"), *COLUMNS, kind="item"))
    mention = twice.readings.finder.mentions(read_cues("What is the stock of Saw?"))[0]
    assert [twice.kg.name(option.entity) for option in mention.options] == ["Saw"]
