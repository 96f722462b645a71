"""Questions as people chat: what leads up to them, what is said after them, requests."""

from __future__ import annotations

import pytest
from readers import readings_of

from jaxkg.systems.reader.language.asides import topic_in_place, without_asides
from jaxkg.systems.reader.language.cues import read_cues
from jaxkg.systems.reader.reading import Readings

SONGS = [
    *((song, "is a", "song") for song in ("Two Kettles", "Radio Days", "Ash")),
    *((song, "made by", band) for song, band in (("Two Kettles", "Okavi"), ("Ash", "Tern"))),
    *((band, "is a", "band") for band in ("Okavi", "Tern")),
    *((band, "active", told) for band, told in (("Okavi", "yes"), ("Tern", "no"))),
]


@pytest.fixture(scope="module")
def songs() -> Readings:
    return readings_of(SONGS)


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("The record that is on the desk, who made it?", None),
        ("In 1990, who made Ash?", None),
        ("who made ash, i or Ann in 1990", None),
        ("Bigger band: Okavi or Tern?", None),
        ("My guess: Okavi or Tern?", "Okavi or Tern?"),
        ("If I had to buy one, which is older: Ash or Elm?", None),
    ],
)
def test_what_is_beside_a_question_is_left_out(text, asks):
    assert without_asides(text).strip() == (text if asks is None else asks)
    assert len(without_asides(text)) == len(text)


@pytest.mark.parametrize(
    ("text", "yesno"),
    [
        ("Ash is a song, or did I dream that?", True),
        ("ash is a song right", True),
        ("I cannot say whether Ash is new; is it?", True),
        ("which is right", False),
        ("Apart from Ash, which song is new?", False),
        ("Have you got a song by Tern?", False),
        ("May I ask if Ash is a song?", True),
        ("If I wanted a song, which band should I try?", False),
        ("Can I get a song at Tern?", True),
        ("It's Ann who made Ash, isn't it?", True),
    ],
)
def test_what_asks_whether(text, yesno):
    assert read_cues(without_asides(text)).yesno == yesno


def test_more_words_that_count():
    assert read_cues("How often did Tern play?").count
    assert read_cues("No. of songs by Tern").count
    assert not read_cues("What is the no of Tern?").count


def test_what_is_asked_for_stands_in_the_sentence_that_asks(songs):
    asked = songs.asked("A radio station is on about Two Kettles. Which of our bands is this?")
    assert [asked.cues.words.folded[place] for place in asked.cues.noun] == ["bands"]
    # "Radio" may be a part of "Radio Days", but is not surely.
    assert {songs.kg.name(m.options[0].entity) for m in asked.mentions} == {"Two Kettles"}
    asked = songs.asked("I have always loved Two Kettles. How many bands made it?")
    assert asked.cues.count
    asked = songs.asked("Okavi is much asked for. Who sang of kettles with her?")
    assert "Okavi" in {songs.kg.name(m.options[0].entity) for m in asked.mentions}


@pytest.mark.parametrize(
    ("text", "wants", "noun"),
    [
        ("Which crew's got the Tern?", "thing", ["crew"]),
        ("Which author's books sell?", "thing", ["author", "books"]),
        ("Which of our bands is new?", "thing", ["bands"]),
        ("What's the longest course?", "thing", ["longest", "course"]),
        ("The songs at Ash, which ones are new?", "thing", []),
        ("whos barred", "person", []),
        ("wheres Kit based", "place", []),
        ("wher is Kit", "place", []),
        ("need the address of Ann", "", ["address"]),
    ],
)
def test_what_is_asked_for(text, wants, noun):
    cues = read_cues(text)
    assert cues.wants == wants
    assert [cues.words.folded[place] for place in cues.noun if place < 12][: len(noun)] == noun
    assert "s" not in [cues.words.folded[place] for place in cues.noun]


def test_the_topic_may_stand_before_a_now():
    assert topic_in_place("The Elm, now who sold it?").text == "who sold The Elm?"
