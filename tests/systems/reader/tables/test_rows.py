"""Tables whose rows have no name: one row is told by what several columns say."""

import itertools

import pytest
from readers import cited, reader_of
from row_facts import facts_of

from jaxkg.kg import KnowledgeGraph
from jaxkg.systems.reader.sets.unfit import contradicted
from jaxkg.systems.reader.settings import ReaderSettings
from jaxkg.systems.reader.system import Reader
from jaxkg.text.hashing import HashingEncoder

_RATES = {
    "Norway": (4.9, 4.6, 4.3, 4.2, 4.6, 4.4),
    "Sweden": (8.4, 8.6, 8.3, 9.0, 8.35, 8.8),
    "Finland": (8.0, 8.1, 7.5, 7.1, 7.8, 7.6),
}
_STAYS = """
Ann May Suite 2 310
Ann May Attic 5 450
Ann June Suite 1 170
Bo May Suite 4 640
Bo June Attic 3 290
Bo June Suite 7 980
"""


@pytest.fixture(scope="module")
def rates():
    keys = list(itertools.product(("Males", "Females", "Total"), ("2020", "2021")))
    rows = [(land, *key, str(x)) for land in _RATES for key, x in zip(keys, _RATES[land])]
    facts = facts_of(rows, "country", "sex", "year", "unemployment rate")
    return reader_of(facts, threshold=0.0)


@pytest.fixture(scope="module")
def stays():
    rows = [line.split() for line in _STAYS.strip().splitlines()]
    facts = facts_of(rows, "guest", "month", "category", "nights", "price")
    return reader_of(facts, threshold=0.0)


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("What was the unemployment rate of females in Norway in 2020?", ["4.3"]),
        ("What was the total unemployment rate in Sweden in 2021?", ["8.8"]),
        ("Which country had the highest total unemployment rate in 2021?", ["Sweden"]),
        ("Which country had the lowest unemployment rate for males in 2021?", ["Norway"]),
    ],
)
def test_a_row_is_told_by_three_columns(rates, question, meant):
    assert cited(rates, question) == meant


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("What is the price of the suite of Ann in May?", ["310"]),
        ("How many nights did Bo have the attic in June?", ["3"]),
        ("What is the total price of the suites of Bo?", ["1620"]),
        ("What is the average price of Bo?", ["636.67"]),
    ],
)
def test_rows_of_several_columns_are_added_up(stays, question, meant):
    assert cited(stays, question) == meant


def test_a_row_called_total_is_no_sum(rates):
    asked = rates.readings.asked("What was the total unemployment rate in Sweden in 2021?")
    assert not asked.cues.adds
    names = [rates.kg.name(mention.options[0].entity) for mention in asked.mentions]
    assert names == ["Total", "Sweden"]
    assert rates.readings.asked("What is the average rate in Sweden?").cues.adds == "mean"


def test_what_a_row_is_said_to_be_is_no_answer():
    facts = [(f"_:{at}", "crowd", crowd) for at, crowd in enumerate(("900", "1500", "700"))]
    facts += [(f"_:{at}", "ground", at_home) for at, at_home in enumerate(("Lea", "Dell", "Lea"))]
    kg = KnowledgeGraph.from_triples([*facts, *((f"_:{at}", "is a", "match") for at in range(3))])
    reader = Reader.build(kg, HashingEncoder(), settings=ReaderSettings(threshold=0.0))
    found = reader.look("Which match had the largest crowd?").found
    assert found
    assert all(kg.name(int(end)) != "match" for one in found for end in one.ends)
    assert cited(reader, "At which ground was the match with the largest crowd?") == ["Dell"]


@pytest.fixture(scope="module")
def school():
    students = {"Ada": "Lund", "Ben": "York", "Cleo": "Lund", "Dan": "Oslo"}
    courses = {"Genetics": "Moor", "Botany": "Moor", "Algebra": "Lind", "Topology": "Lind"}
    takes = ["Ada Genetics", "Ada Algebra", "Ben Genetics", "Cleo Topology", "Dan Topology"]
    facts = [*((who, "city", town) for who, town in students.items())]
    facts += [(what, "teacher", who) for what, who in courses.items()]
    for at, (who, what) in enumerate(map(str.split, takes)):
        facts += [(f"_:{at}", "student", who), (f"_:{at}", "course", what)]
    facts += [(who, "type", "student") for who in students]
    facts += [(what, "type", "course") for what in courses]
    return reader_of(facts, threshold=0.0)


def test_topics_meet_over_rows_that_link_two_tables(school):
    question = "Which students from Lund take a course of Lind?"
    assert cited(school, question) == ["Ada", "Cleo"]
    found = (one for one in school.look(question).found if len(one.topics) == 2)
    name = school.kg.relation_name
    walked = {tuple(map(name, one.relations)) for one in found if one.shape == "join"}
    assert ("^city", "^teacher", "^course", "student") in walked


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("Which students do not take Genetics?", ["Cleo", "Dan"]),
        ("Which courses does Ada not take?", ["Botany", "Topology"]),
    ],
)
def test_what_linked_rows_lead_to_is_left_out(school, question, meant):
    found = (one for one in school.look(question).found if one.shape == "except")
    assert meant in [[school.kg.name(int(end)) for end in one.ends] for one in found]


def test_what_is_denied_is_no_answer(school):
    asked = school.readings.asked("Which students do not take Genetics?")
    affirmed = [one for one in school.readings.of(asked) if one.shape in ("path", "join")]
    assert affirmed
    for question, denies in (
        ("Which students do not take Genetics?", True),
        ("Which students take Genetics?", False),
        ("Which students take Genetics or not?", False),
    ):
        asked = school.readings.asked(question)
        assert contradicted(asked, affirmed[0], school.readings.find) is denies
