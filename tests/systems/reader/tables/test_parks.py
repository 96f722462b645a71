"""A table as people have it: what is denied of things two steps away, and "the most" of things."""

import pytest
from readers import readings_of
from row_facts import table_facts

from jaxkg.query import Domain
from jaxkg.systems.reader.reading import Readings
from jaxkg.systems.reader.sets.unfit import contradicted
from jaxkg.systems.reader.views import NAMES, views

ROWS = """
Elm Green|park|Harrow|playground|Sue Lowe|12
Mill Field|park|Harrow|pond|Tom Reed|30
Castle Moor|park|Wickby|pond|Sue Lowe|75
Dene Wood|park|Wickby|bandstand|Ana Cole|8
Long Meadow|park|Sefton|skate ramp|Ana Cole|5
"""


@pytest.fixture(scope="module")
def parks() -> Readings:
    return readings_of(table_facts(ROWS, "is a", "town", "feature", "warden", "area"))


def told(readings, question):
    """Readings by what they answer."""
    found = readings.of(readings.asked(question))
    return [(c, frozenset(readings.kg.name(end) for end in c.ends.tolist())) for c in found]


def test_the_most_of_some_things_is_no_largest_of_another_number(parks):
    asked = parks.asked("Which town has the most parks?")
    found = parks.of(asked)
    area = parks.kg.relation_code("area")
    sizes = [c for c in found if c.shape == "extreme" and c.measure == area]
    assert sizes
    assert all(contradicted(asked, c, parks.find) for c in sizes)
    counted = [c for c in found if c.shape == "extreme" and c.measure not in (area, -1)]
    towns = set(parks.vocabulary.domain(parks.vocabulary.inverse(parks.kg.relation_code("town"))))
    of_towns = [c for c in counted if towns.issuperset(c.ends.tolist())]
    assert of_towns
    assert not any(contradicted(asked, c, parks.find) for c in of_towns)
    assert all(contradicted(asked, c, parks.find) for c in counted if c not in of_towns)
    asked = parks.asked("Which park has the most area?")
    sizes = [c for c in parks.of(asked) if c.shape == "extreme" and c.measure == area]
    assert not any(contradicted(asked, c, parks.find) for c in sizes)


STAFF = [
    ("Ann", "salary", "180,000"), ("Bob", "salary", "120,000"), ("Cy", "salary", "70,000"),
    ("Di", "salary", "72,000"), ("Di", "boss", "Bob"), ("Cy", "boss", "Bob"),
    ("Bob", "boss", "Ann"),
    ("Ann", "started", "2009-05-01"), ("Bob", "started", "2012-09-15"),
    ("Cy", "started", "2018-01-08"), ("Di", "started", "2021-03-22"), ("Di", "desk", "7"),
]  # fmt: skip


@pytest.fixture(scope="module")
def staff() -> Readings:
    return readings_of(STAFF)


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("Who earns less than Di?", {"Cy"}),
        ("Who has a higher salary than Di?", {"Ann", "Bob"}),
        ("Who started before Cy?", {"Ann", "Bob"}),
        ("Who started later than Bob?", {"Cy", "Di"}),
    ],
)
def test_those_are_found_who_have_more_than_one_that_is_named(staff, question, wanted):
    found = [(c, ends) for c, ends in told(staff, question) if c.shape == "filter"]
    best = max(found, key=lambda one: (one[0].fit, -len(one[0].relations)))
    assert best[1] == wanted
    assert len(best[0].topics) == 1


def test_a_set_is_compared_with_one_that_it_does_not_start_from(staff):
    found = told(staff, "Who under Bob earns less than Di?")
    both = [(c, ends) for c, ends in found if c.shape == "filter" and len(c.topics) == 2]
    assert any(ends == {"Cy"} for _, ends in both)
    assert all(len(dict(c.topics)) == 2 for c, _ in both)


@pytest.mark.parametrize(
    "question",
    [
        "Does Bob earn more than Di?",
        "Who earns more, Bob or Di?",
        "Who earns the most?",
        "Who looks after Di?",
        "Which room is named after Bob?",
    ],
)
def test_no_others_are_compared_with_two_or_where_no_time_is_told(staff, question):
    assert not list(staff.operators.pairs.beyond(staff.asked(question), []))


def test_a_number_whose_label_is_said_is_asked_for(staff):
    asked = staff.asked("What is the salary of Bob?")
    found = [c for c in staff.of(asked) if c.shape == "path" and len(c.relations) == 1]
    column = NAMES.index("number for thing")
    seen = views(asked, found, staff.find)[:, column]
    of = {staff.kg.relation_name(c.last): told for c, told in zip(found, seen.tolist())}
    assert of["salary"] == 0
    assert of["started"] == 1


def test_of_a_class_that_is_called_as_a_relation_is_all_are_meant():
    facts = [(f"o{n}", "product", name) for n, name in enumerate(("Blend", "Decaf"))]
    facts += [(name, "is a", "product") for name in ("Blend", "Decaf", "Owl")]
    prices = {"Blend": "14", "Decaf": "18", "Owl": "21"}
    facts += [(name, "price", cost) for name, cost in prices.items()]
    shop = readings_of(facts)
    found = told(shop, "Which products cost more than 15?")
    assert any(c.shape == "filter" and ends == {"Decaf", "Owl"} for c, ends in found)
    assert Domain(("^product",)) not in [c.query.source for c, _ in found if c.shape == "filter"]
