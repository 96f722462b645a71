"""Readings that no question means: true and false as things, things for people, the other end."""

from __future__ import annotations

import pytest
from readers import readings_of

from jaxkg.kg import KnowledgeGraph
from jaxkg.kg.queries.sets import QuerySets
from jaxkg.systems.reader.reading import Readings
from jaxkg.systems.reader.settings import ReaderSettings


def told(readings, question):
    """Relations walked by each reading, `^` backwards, and names answered."""
    names = readings.kg.relation_name
    found = {}
    for c in readings.of(readings.asked(question)):
        path = tuple(map(names, c.relations))
        found[path] = {readings.kg.name(end) for end in c.ends.tolist()}
    return found


HALLS = [
    *((hall, "step free", told) for hall, told in (("Ash", "yes"), ("Elm", "yes"), ("Oak", "no"))),
    *((hall, "listed hall", told) for hall, told in (("Ash", "no"), ("Elm", "yes"), ("Oak", "no"))),
    *((hall, "style", told) for hall, told in (("Ash", "gothic"), ("Elm", "plain"), ("Oak", "x"))),
]


def test_nothing_is_walked_to_over_true_and_false():
    found = told(readings_of(HALLS), "is the Ash step free?")
    assert ("step free",) in found
    assert not [path for path in found if "^step free" in path]


RACES = [
    *((f"result {n}", "rider", who) for n, who in enumerate(("Lio", "Bo"), start=1)),
    *((who, "rides", bike) for who, bike in (("Lio", "Tangerine"), ("Bo", "Kestrel"))),
    *((who, "mentor", other) for who, other in (("Bo", "Lio"), ("Al", "Lio"))),
    *((bike, "owner", who) for bike, who in (("Tangerine", "Bo"), ("Kestrel", "Al"))),
    *((bike, "is a", "bike") for bike in ("Tangerine", "Kestrel")),
    *((trip, "bike used", bike) for trip, bike in (("Fell", "Tangerine"), ("Moor", "Kestrel"))),
]


@pytest.mark.parametrize(
    ("question", "path", "there"),
    [
        ("which results is Lio rider of", ("^rider",), True),
        ("Whose mentor is Lio?", ("^mentor",), True),
        ("Who is Bo's mentor?", ("mentor",), True),
        ("At Moor, whose bike was out?", ("bike used", "owner"), True),
        ("Which bike was out at Moor?", ("bike used",), True),
        ("Who was at Moor?", ("^bike used",), False),
    ],
)
def test_which_end_is_asked_for(question, path, there):
    assert (path in told(readings_of(RACES), question)) == there


CARS = [
    *((car, "colour", told) for car, told in (("C1", "red"), ("C2", "blue"), ("C3", "green"))),
    *((car, "MOT due", when) for car, when in (("C1", "2025-10-01"), ("C2", "2026-03-01"))),
    ("C3", "MOT due", "2025-11-01"),
    *((who, "usual car", car) for who, car in (("Ann", "C1"), ("Bo", "C2"))),
]


def test_all_that_have_a_value_are_kept_to_it_not_those_that_somebody_has():
    cars = readings_of(CARS)
    found = cars.of(cars.asked("Which cars have an MOT due before December 2025?"))
    due = [
        {cars.kg.name(end) for end in c.ends.tolist()}
        for c in found
        if c.shape == "filter" and not c.relations
    ]
    assert {"C1", "C3"} in due
    assert {"C1"} not in due


def test_who_is_kept_to_people():
    facts = [("Glass", "studio", "Quill"), ("Glass", "is a", "game"), ("Quill", "is a", "studio")]
    facts += [(who, "studio", "Quill") for who in ("Ann", "Bo")]
    facts += [(who, told, value) for who in ("Ann", "Bo") for told, value in
              (("is a", "employee"), ("born", "1990-01-01"))]  # fmt: skip
    firm = readings_of(facts)
    found = firm.of(firm.asked("List everybody at Quill."))
    kept = [{firm.kg.name(end) for end in c.ends.tolist()} for c in found if c.topics]
    assert {"Ann", "Bo"} in kept
    assert {"Ann", "Bo", "Glass"} in kept


DISHES = [
    *((dish, "has nuts", told) for dish, told in (("Curry", "yes"), ("Pie", "no"), ("Stew", "no"))),
    *((dish, "vegetarian", told) for dish, told in (("Curry", "yes"), ("Pie", "yes"))),
    ("Stew", "vegetarian", "no"),
    *((dish, "is a", "dish") for dish in ("Curry", "Pie", "Stew")),
    *((dish, "contains", what) for dish, what in (("Curry", "milk"), ("Stew", "wheat"))),
]


@pytest.mark.parametrize(
    ("question", "relation", "kept", "left"),
    [
        ("Which dishes come without nuts?", "has nuts", {"Pie", "Stew"}, {"Curry"}),
        ("Which dishes have no nuts?", "has nuts", {"Pie", "Stew"}, {"Curry"}),
        ("Which dishes can't be without nuts?", "has nuts", {"Curry"}, {"Pie", "Stew"}),
        ("Which dishes are vegetarian?", "vegetarian", {"Curry", "Pie"}, {"Stew"}),
        ("Which vegetarian dishes have neither wheat nor milk?", "vegetarian",
         {"Curry", "Pie"}, {"Stew"}),
        ("Which dishes are vegetarian not?", "vegetarian", {"Stew"}, {"Curry", "Pie"}),
    ],
)  # fmt: skip
def test_what_a_not_denies_stands_after_it(question, relation, kept, left):
    kitchen = readings_of(DISHES)
    found = [
        {kitchen.kg.name(end) for end in c.ends.tolist()}
        for c in kitchen.of(kitchen.asked(question))
        if c.shape == "filter" and kitchen.kg.relations[c.measure] == relation and not c.topics
    ]
    assert kept in found
    assert left not in found


def test_the_oldest_is_not_the_widest():
    facts = [(f"P{n}", "bore mm", str(100 * n)) for n in (1, 2)]
    facts += [(f"P{n}", "fitted", f"200{n}-01-01") for n in (1, 2)]
    pumps = readings_of(facts)
    found = [c for c in pumps.of(pumps.asked("oldest pump?")) if c.shape == "extreme"]
    assert {pumps.kg.relations[c.measure] for c in found} == {"fitted"}


PARKS = [
    *((park, "is a", "park") for park in ("Ash", "Elm", "Oak")),
    *((park, "open in winter", told) for park, told in (("Ash", "yes"), ("Elm", "no"))),
    ("Oak", "open in winter", "no"),
    *((park, "area", told) for park, told in (("Ash", "3"), ("Elm", "9"), ("Oak", "2"))),
    *((park, "keeper", who) for park, who in (("Ash", "Ann"), ("Elm", "Ann"), ("Oak", "Bo"))),
    ("Ann", "trained by", "Cy"),
    ("Bo", "trained by", "Cy"),
]


@pytest.mark.parametrize(
    ("question", "kept"),
    [
        ("Which parks are closed in winter?", {"Elm", "Oak"}),
        ("Which parks do we lose over the winter because they are not open?", {"Elm", "Oak"}),
        ("Which parks are open in winter?", {"Ash"}),
        ("Which parks are closed in winter and larger than 3?", {"Elm"}),
    ],
)
def test_closed_is_not_open(question, kept):
    parks = readings_of(PARKS)
    found = [c for c in parks.of(parks.asked(question)) if c.shape == "filter" and not c.topics]
    truth = [c for c in found if parks.kg.relations[c.measure] == "open in winter"]
    assert kept in [{parks.kg.name(end) for end in c.ends.tolist()} for c in truth]


def test_which_has_more_is_no_tie():
    parks = readings_of(PARKS)
    found = parks.of(parks.asked("Ash or Elm, which has more?"))
    counted = [c for c in found if c.shape == "compare"]
    assert counted
    assert all(len(c.ends) == 1 for c in counted)


def test_since_when_and_for_how_long():
    facts = [(who, "start date", day) for who, day in (("Ann", "1999-04-01"), ("Bo", "2005-03-02"))]
    staff = readings_of(facts)
    (bound,) = staff.asked("Who has been with us since 1999?").cues.bounds
    assert (bound.comparison, bound.low) == ("in", "1999")
    (bound,) = staff.asked("Who joined since 1999?").cues.bounds
    assert bound.comparison == ">="
    first = staff.asked("Who has worked here longest?").cues.extreme
    assert not first.sign(("start date",), "date")


KILN = [
    *((pot, "is a", "piece") for pot in ("Moon jar", "Tea bowl", "Wine jug")),
    *((pot, "kiln", kiln) for pot, kiln in (("Moon jar", "Old"), ("Wine jug", "Old"))),
    *((pot, "fired on", f"2024-0{n}-02") for n, pot in enumerate(("Moon jar", "Wine jug"), 3)),
    *((pot, "fired at", heat) for pot, heat in (("Moon jar", "980 C"), ("Wine jug", "1240 C"))),
    *((pot, "fire permit", f"2023-0{n}-02") for n, pot in enumerate(("Moon jar", "Wine jug"), 3)),
    *((pot, "price", price) for pot, price in (("Moon jar", "420"), ("Wine jug", "150"))),
    *((pot, "potter", who) for pot, who in (("Moon jar", "Ines"), ("Tea bowl", "Ines"))),
]


@pytest.mark.parametrize(
    ("question", "path", "there"),
    [
        ("Which pieces were fired in the Old?", ("^kiln", "fired on"), False),
        ("Which pieces were fired in the Old?", ("^kiln", "price"), False),
        ("Which pieces were fired in the Old?", ("^kiln",), True),
        ("Which piece price has the Old?", ("^kiln", "price"), True),
        ("What was fired in the Old?", ("^kiln",), True),
        ("When was it fired in the Old?", ("^kiln", "fired on"), True),
        ("What day was it fired in the Old?", ("^kiln", "fired on"), True),
        ("What is the fire date in the Old?", ("^kiln", "fired on"), True),
        ("What is the date it was fired in the Old?", ("^kiln", "fired on"), True),
        ("What was fired in the Old?", ("^kiln", "fired at"), True),
        ("What was fired in the Old?", ("^kiln", "fire permit"), True),
        ("What pieces are by Ines?", ("^potter",), True),
        ("How many pieces is the Moon jar?", ("price",), True),
        ("Which pieces is the Moon jar?", ("price",), False),
    ],
)
def test_what_was_done_is_no_day_and_a_class_no_value(question, path, there):
    assert (path in told(readings_of(KILN), question)) == there


@pytest.mark.parametrize("more", [[], [("Lens", "has class", "artefact")]])
def test_a_class_is_told_by_whichever_relation_leads_to_it(more):
    facts = [
        *((who, "has class", "bard") for who in ("Elra", "Oss")),
        *((thing, "is a", "artefact") for thing in ("Crown", "Star")),
        *((thing, "was created by", "Zethrix") for thing in ("Crown", "Star", "Oss")),
        *((thing, "was created by", "Zethrix") for thing, _, _ in more),
        *more,
    ]
    kg = KnowledgeGraph.from_triples(facts)
    readings = Readings(kg, None, ReaderSettings())
    found = readings.of(readings.asked("Which artefacts did Zethrix make?"))
    kept = [one for one in found if len(one.ends) == 2 + len(more) and one.classes]
    assert kept
    for one in found:
        assert QuerySets(kg).execute(one.query).rows.tolist() == one.ends.tolist()
