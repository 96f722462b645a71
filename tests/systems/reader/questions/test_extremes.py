"""The value of what is first in an order, or the thing itself."""

import pytest
from readers import reader_of
from row_facts import table_facts

from jaxkg.query import Domain, Extreme
from jaxkg.systems.reader.system import Reader

TOWERS = """
Grey Tower|Oslo|120|1931-05-01
Fish Tower|Bergen|88|1904-02-11
Long Tower|Oslo|240|1999-08-30
Salt Tower|Kiel|65|1880-03-12
Moss Tower|Kiel|101|1950-10-02
"""


@pytest.fixture(scope="module")
def towers() -> Reader:
    return reader_of(table_facts(TOWERS, "city", "height", "opened", kind="tower"))


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How tall is the tallest tower?", "240"),
        ("What is the height of the highest tower in Kiel?", "101"),
        ("What is the greatest height?", "240"),
        ("When did the oldest tower open?", "1880-03-12"),
        ("Which tower is the tallest?", "Long Tower"),
        ("What is the tallest tower?", "Long Tower"),
        ("What tower in Kiel has the largest height?", "Moss Tower"),
        ("Which city has the tallest tower?", "Oslo"),
    ],
)
def test_a_value_or_the_thing_that_has_it(towers, question, answer):
    assert towers.understand(question).readings[0].answers == (answer,)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is the tallest tower in the smallest city?", "Moss Tower"),
        ("What is the lowest tower in the city with the largest area?", "Fish Tower"),
        ("How high is the tallest tower in the smallest city?", "101"),
        ("What are the top 1 cities with the largest area?", "Bergen"),  # one order, said twice
        ("What city has the highest tower?", "Oslo"),  # towers are put in order, not cities
        ("Which cities touch the city with the smallest area?", "Bergen"),  # two cities are meant
    ],
)
def test_what_a_superlative_is_said_of(question, answer):
    facts = table_facts(TOWERS, "city", "height", kind="tower")
    for city, area, height in (("Oslo", "454", "3"), ("Bergen", "465", "7"), ("Kiel", "118", "5")):
        facts += [(city, "area", area), (city, "height", height), (city, "type", "city")]
    facts += [("Bergen", "touches", "Kiel")]
    assert reader_of(facts).understand(question).readings[0].answers == (answer,)


@pytest.mark.parametrize(
    "question",
    [
        "Name the two towers with the largest height.",
        "Which 2 towers are the tallest?",
        "What are the top 2 towers with the largest height?",
        "What are the two tallest towers?",
    ],
)
def test_as_many_as_a_question_begins_by_asking_for(towers, question):
    assert set(towers.understand(question).readings[0].answers) == {"Grey Tower", "Long Tower"}


def test_values_are_not_counted(towers):
    found = towers.look("How many people live in the tallest tower?").found
    counted = [one for one in found if one.shape == "count" and one.last >= 0]
    kinds = {towers.readings.vocabulary.ends_kind(one.last) for one in counted}
    assert kinds <= {"thing"}
    assert any(one.last == one.measure >= 0 for one in found)


def test_a_set_that_nothing_asks_for_is_put_in_no_order():
    facts = [(f"T-{n}", "type", "ticket") for n in range(1, 6)]
    facts += [(f"T-{n}", "points", str(n)) for n in range(1, 6)]
    facts += [
        ("T-1", "outward issue link relates ticket", "T-2"),
        ("T-2", "outward issue link relates ticket", "T-3"),
    ]
    tickets = reader_of(facts)
    understood = tickets.understand("Which ticket has the most points?")
    assert understood.readings[0].answers == ("T-5",)
    orders = [one.query for one in tickets.look("Which ticket has the most points?").found]
    assert Extreme(Domain(("points",)), ("points",), largest=True) in orders
    assert (
        Extreme(Domain(("outward issue link relates ticket",)), ("points",), largest=True)
        not in orders
    )


def test_of_two_measures_that_a_grade_fits_none_is_taken():
    sizes = "Alm 900 40\nBree 300 95\nCove 500 60"
    facts = table_facts(sizes, "area", "population", kind="state", cut=" ")
    states = reader_of(facts)
    understood = states.understand("Which is the largest state?")
    assert not understood.sure
    assert {reading.answers for reading in understood.readings[:2]} == {("Alm",), ("Bree",)}
    assert states.understand("Which state has the largest area?").sure
    alone = [fact for fact in facts if fact[1] != "population"]
    assert reader_of(alone).understand("Which is the largest state?").sure


def test_none_has_more_than_the_one_that_has_most():
    """No other measure stands in for the one that is asked for."""
    facts = table_facts(f"{TOWERS}New Tower|Oslo|30|2010-01-01", "city", "height", "opened")
    reader = reader_of([fact for fact in facts if fact[1] != "city"])
    highest = reader.understand("Which towers are higher than Long Tower?")
    assert not highest.sure
    assert not any("opened is after" in reading.words for reading in highest.readings)
    other = reader.understand("Which towers are higher than Grey Tower?")
    assert other.readings[0].answers == ("Long Tower",)


def test_a_class_that_is_said_again_in_another_clause_is_met_once(towers):
    asked = towers.readings.asked
    assert asked("Which towers are older than the towers in Kiel?").said_twice
    assert not asked("Show me the towers, only towers opened after 1940.").said_twice
    assert not asked("Is Long Tower a tower?").said_twice


def test_the_measure_that_stands_behind_a_superlative_orders():
    rows = "a 21.4 48\nb 14.2 71\nc 29.8 35"
    reader = reader_of(table_facts(rows, "temperature_c", "humidity_pct", cut=" "))
    found = reader.readings.of(reader.readings.asked("What is the highest temperature?"))
    orders = {reader.kg.relation_name(c.measure) for c in found if c.shape == "extreme"}
    assert orders == {"temperature_c"}
