"""Questions whose words stand in another order, are misspelt, or speak of what was named before."""

from __future__ import annotations

import pytest
from readers import answers_of, readings_of

from jaxkg.query import Where
from jaxkg.systems.reader.language.asides import topic_in_place
from jaxkg.systems.reader.language.cues import read_cues

TICKETS = [
    *((who, "is a", "ranger") for who in ("Ann", "Bo", "Cy")),
    *((who, "rope ticket", told) for who, told in zip(("Ann", "Bo", "Cy"), ("yes", "yes", "no"))),
    *((who, "base", hut) for who, hut in (("Ann", "Ash"), ("Bo", "Elm"), ("Cy", "Ash"))),
    *((job, "is a", "job") for job in ("J1", "J2")),
    *((job, "done by", who) for job, who in (("J1", "Ann"), ("J1", "Bo"), ("J2", "Ann"))),
]  # fmt: skip


def test_what_is_left_out_is_no_start():
    tickets = readings_of(TICKETS)
    found = answers_of(tickets, "Who has a rope ticket, leaving out the Ash crew?")
    assert {"Bo"} in found
    assert {"Ann"} not in found
    assert {"Bo"} in answers_of(tickets, "Who has a rope ticket but isn't at Ash?")


def test_the_class_that_is_asked_for_is_answered():
    found = answers_of(readings_of(TICKETS), "Which jobs were done by more than one ranger?")
    assert {"J1"} in found
    assert {"Ann"} not in found


def test_what_has_a_relation_is_found_without_a_name():
    kit = readings_of(
        [("Tent", "lent to", "Ann"), ("Pan", "lent to", "Bo"), ("Axe", "weighs", "2")]
    )
    assert {"Tent", "Pan"} in answers_of(kit, "What's out on loan right now, all of it")


@pytest.mark.parametrize(
    ("text", "moved"),
    [
        ("There's a boat with a crane. When did it sail?", "When did a boat with a crane sail?"),
        ("There are just two at Ash, who owns them?", "who owns two at Ash?"),
        ("A boat has a crane. When did it sail?", None),
    ],
)  # fmt: skip
def test_what_there_is_goes_to_its_pronoun(text, moved):
    assert topic_in_place(text).text == (text if moved is None else moved)


@pytest.mark.parametrize(
    ("text", "yesno", "wants"),
    [
        ("GR-06 back running yet?", True, ""),
        ("which is back yet?", False, "thing"),
        ("when did he arrive", False, "date"),
    ],
)
def test_what_a_question_wants(text, yesno, wants):
    cues = read_cues(text)
    assert (cues.yesno, cues.wants) == (yesno, wants)


def test_every_one_is_asked_for():
    cues = read_cues("For the morning report I need every piste off the gondola")
    assert [cues.words.folded[at] for at in cues.noun] == ["piste"]


MEETS = [
    *((hall, "kind", "church") for hall in ("Ash", "Elm", "Oak")),
    *((hall, "organ", told) for hall, told in (("Ash", "yes"), ("Elm", "yes"), ("Oak", "no"))),
    *((hall, "heated", told) for hall, told in (("Ash", "no"), ("Elm", "yes"), ("Oak", "yes"))),
    *((hall, "sold out", told) for hall, told in (("Ash", "no"), ("Elm", "yes"), ("Oak", "no"))),
    *((piece, "language", what) for piece, what in (("Lux", "Latin"), ("Tide", "English"))),
    *((piece, "language", "Polish") for piece in ("Kolysanka",)),
    *((song, "sung on", day) for song, day in (("Lux", "2025-03-12"), ("Tide", "2025-03-13"))),
]  # fmt: skip


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("which churches are still available?", {"Ash", "Oak"}),
        ("Which aren't in English or Latin?", {"Kolysanka"}),
        ("what is sung on 12 March?", {"Lux"}),
        ("what was sung on March 13th?", {"Tide"}),
    ],
)
def test_two_truths_and_what_is_neither(question, names):
    assert names in answers_of(readings_of(MEETS), question)


def test_one_truth_is_told_once():
    meets = readings_of(MEETS)
    found = meets.of(meets.asked("which churches have an organ?"))
    assert not [
        c for c in found if isinstance(c.query, Where) and isinstance(c.query.source, Where)
    ]


def test_a_day_without_a_year_is_of_the_year_that_has_it():
    halls = readings_of([("Ash", "opened", "2019-05-01"), ("Elm", "opened", "2021-03-12")])
    assert {"Elm"} in answers_of(halls, "which opened on 12 March?")
    twice = readings_of([("Ash", "opened", "2019-03-12"), ("Elm", "opened", "2021-03-12")])
    assert {"Elm"} not in answers_of(twice, "which opened on 12 March?")


def test_neither_of_two_is_not_both():
    found = answers_of(readings_of(MEETS), "Which aren't in English or Latin?")
    assert {"Lux", "Tide"} not in found


CARS = [
    *((car, "type", what) for car, what in (("Kilo 1", "estate"), ("Kilo 2", "estate"))),
    *((car, "mileage", far) for car, far in (("Kilo 1", "10"), ("Kilo 2", "20"), ("Bike", "30"))),
    *((car, "MOT due", day) for car, day in (("Kilo 1", "2025-01-15"), ("Bike", "2025-05-28"))),
    *((car, "hire", cost) for car, cost in (("Kilo 1", "£95 a month"), ("Bike", "£8.50/day"))),
    ("Kilo 2", "hire", "£1,200"),
]


def test_money_for_each_of_something_has_a_price():
    assert {"Bike"} in answers_of(readings_of(CARS), "which is the cheapest to hire?")
    assert {"Kilo 2"} in answers_of(readings_of(CARS), "which costs more than £100 to hire?")


def test_what_is_due_sooner_comes_first():
    found = answers_of(readings_of(CARS), "Kilo 1 or Bike, whose MOT is due sooner?")
    assert {"Kilo 1"} in found


def test_a_class_that_is_asked_for_is_no_part_of_what_was_said_first():
    gardens = readings_of(
        [
            ("Lisset", "is a", "castle"), ("Drosk", "is a", "castle"), ("Mere", "is a", "garden"),
            ("Lisset", "has garden", "Mere"), ("Drosk", "has garden", "Elm"),
            ("Elm", "is a", "garden"),
        ]
    )  # fmt: skip
    assert {"Lisset"} in answers_of(gardens, "The Mere garden - which castle does it belong to?")


def test_what_a_thing_is_said_to_be_says_nothing_else():
    rivers = readings_of(
        [
            ("Sarn", "is a", "river"), ("Mossbeck", "is a", "river"), ("Sarn", "length", "128"),
            ("Mossbeck", "length", "63"), ("Mossbeck", "joins", "Sarn"),
        ]
    )  # fmt: skip
    asked = rivers.asked("how long is the river Mossbeck?")
    assert not asked.alignment.content[asked.cues.words.folded.index("river")]
    plain = rivers.asked("which river is longest?")
    assert plain.alignment.content[plain.cues.words.folded.index("river")]


def test_what_is_needed_is_asked_for():
    cues = read_cues("For the slides I need the run with our best accuracy")
    assert [cues.words.folded[at] for at in cues.noun] == ["run"]
