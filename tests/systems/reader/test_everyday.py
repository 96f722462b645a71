"""Plain questions about tables as people keep them, once read wrong and with confidence."""

from __future__ import annotations

import pytest
from readers import reader_of, readings_of

from jaxkg.systems.reader.language.cues import read_cues
from jaxkg.systems.reader.reading import Readings

HUTS = [
    *((hut, "town", town) for hut, town in (("Glorer Hütte", "Kals"), ("A Hut", "Lienz"))),
    *((hut, "height", high) for hut, high in (("Glorer Hütte", "2642"), ("A Hut", "1831"))),
    ("A Hut", "inspected", "2024-03-02"),
    ("Glorer Hütte", "inspected", "2023-05-01"),
    *((hut, "dogs allowed", told) for hut, told in (("A Hut", "yes"), ("Glorer Hütte", "no"))),
    ("A Hut", "model", "SG 4.5-145"),
    ("A Hut", "reason for closing", "snow"),
]
OFFICE = [
    *((who, "type", "Translator") for who in ("Yuki", "Ines", "Bo", "Carla")),
    *((who, "sworn translator", told) for who, told in (("Yuki", "yes"), ("Ines", "no"))),
    *((who, "sworn translator", told) for who, told in (("Bo", "no"), ("Carla", "yes"))),
    *((who, "lives in", town) for who, town in (("Yuki", "Leipzig"), ("Bo", "Malmo"))),
    ("Manual", "reviewed by", "Yuki"),
]


@pytest.fixture(scope="module")
def huts() -> Readings:
    return readings_of(HUTS)


@pytest.fixture(scope="module")
def office() -> Readings:
    return readings_of(OFFICE)


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("How high is the Glorer Hütte?", {"Glorer Hütte"}),
        ("In welchem Ort liegt die Glorer Hütte?", {"Glorer Hütte"}),
        ("How high is the A Hut?", {"A Hut"}),
        ("glorer town", {"Glorer Hütte"}),
        ("which glorer dogs are there", {"Glorer Hütte"}),
        ("Which Glorer things are there?", {"Glorer Hütte"}),
        ("Welche Glorer Orte gibt es?", {"Glorer Hütte"}),
    ],
)
def test_what_is_asked_for_is_no_name(huts, question, named):
    found = huts.asked(question).mentions
    assert {huts.kg.name(mention.options[0].entity) for mention in found} == named


@pytest.mark.parametrize(
    ("question", "spoken"),
    [
        ("How many translators are there?", False),
        ("Which translators live in Leipzig?", False),
        ("Who translated the Manual?", False),
        ("Which translators are sworn?", True),
        ("Who is a sworn translator?", True),
    ],
)
def test_a_class_alone_says_nothing_of_what_is_true_of_some(office, question, spoken):
    found = office.of(office.asked(question))
    sworn = office.kg.relation_code("sworn translator")
    assert any(one.measure == sworn and one.shape == "filter" for one in found) == spoken


def test_a_total_is_added_up_and_is_not_the_things_that_it_is_of():
    facts = [(mill, "site", "Moor") for mill in ("M1", "M2")]
    facts += [(mill, "capacity", told) for mill, told in (("M1", "3"), ("M2", "4"))]
    reader = reader_of(facts, threshold=0.0)
    answer = reader.ask("What is the total capacity at Moor?")
    assert [entity.name for entity in answer.entities] == ["7"]
    assert not reader.ask("What is the capacity of M1?").abstained


def test_what_was_last_done_and_what_is_shared():
    recently = read_cues("Which hut was inspected most recently?").extreme
    assert recently.largest
    assert read_cues("Which hut was recently inspected?").extreme is None
