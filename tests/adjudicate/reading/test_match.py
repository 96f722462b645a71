import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from jaxkg.adjudicate.prompts import line
from jaxkg.adjudicate.reading.match import Candidates, folded

ITEMS = [
    ("m1", "The Matrix"),
    ("m2", "Heat"),
    ("m3", "Heat"),
    ("c1", "Paris, Texas"),
    ("c2", "Paris"),
    ("p1", "Renée Zellweger"),
    ("y1", "World Cup 1994"),
    ("y2", "World Cup 1998"),
    ("b1", "Simon & Garfunkel"),
    ("s1", "+/-"),
    ("t1", "x < y"),
    ("n1", "Apollo Mission 13"),
    ("w1", "Crime; Punishment"),
    ("w2", "Crime"),
]
OFFERED = Candidates(ITEMS)


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("The Matrix", ("m1",)),
        ("matrix", ("m1",)),
        ("“The Matrix”", ("m1",)),
        ("THE  MATRIX!", ("m1",)),
        ("m1", ("m1",)),
        ("Heat", ("m2", "m3")),
        ("Heat [m3]", ("m3",)),
        ("Renee Zellweger", ("p1",)),
        ("Renée Zelweger", ("p1",)),
        ("Paris (path 2)", ("c2",)),
        ("+/-", ("s1",)),
        ("x ‹ y", ("t1",)),
        ("World Cup 1994", ("y1",)),
        ("World Cup 1996", ()),
        ("Apolo Mission 13", ("n1",)),
        ("Apollo Mission 14", ()),
        ("Alien", ()),
        ("Hea", ()),
        ("", ()),
    ],
)
def test_find(name, ids):
    assert OFFERED.find(name) == ids


@pytest.mark.parametrize(
    ("text", "ids", "missing"),
    [
        ("Paris; The Matrix", ("c2", "m1"), ()),
        ("Paris, Texas and The Matrix", ("c1", "m1"), ()),
        ("Paris, The Matrix", ("c2", "m1"), ()),
        ("Simon & Garfunkel, Paris", ("b1", "c2"), ()),
        ("Alien, Paris and Solaris", ("c2",), ("Alien", "Solaris")),
        ("Alien", (), ("Alien",)),
        ("Paris\nParis", ("c2",), ()),
        ("Crime; Punishment", ("w1",), ()),
        ("Crime", ("w2",), ()),
        ("Crime; Paris", ("w2", "c2"), ()),
        (" ; ", (), ()),
    ],
)
def test_find_all(text, ids, missing):
    assert OFFERED.find_all(text) == (ids, missing)


def test_two_equally_near_names_match_none():
    assert Candidates([("a", "Jon Smithson"), ("b", "Jan Smithson")]).find("Jen Smithson") == ()


@given(st.text(max_size=30))
def test_only_what_was_offered_can_come_out(text):
    found, _ = OFFERED.find_all(text)
    assert set(found) <= {entity for entity, _ in ITEMS}


@given(st.text(max_size=30))
def test_a_name_finds_itself_as_it_was_shown(name):
    shown = line(name).strip("\"'“”‘’«»` ")
    assume(folded(shown) and folded(shown) == folded(name))
    assert Candidates([("id", name)]).find(line(name)) == ("id",)
