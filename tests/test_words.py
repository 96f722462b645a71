import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxkg.words import one_line, relation_path_words, relation_words


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("directed_by", "directed by"),
        ("^directed_by", "directed by"),
        ("DIRECTED_BY", "directed by"),
        ("directedBy", "directed by"),
        ("_member_meronym", "member meronym"),
        ("capital-of", "capital of"),
        ("film.actor.film", "actor film"),
        ("people.person.place_of_birth", "place of birth"),
        ("location.location.location", "location"),
        ("base.x", "x"),
        ("/film/film/directed_by", "directed by"),
        ("/film/film/genre", "film genre"),
        ("/r/IsA", "is a"),
        ("/a/b/c_d./e/f/g_h", "c d, g h"),
        ("http://dbpedia.org/ontology/birthPlace", "birth place"),
        ("http://www.w3.org/1999/02/22-rdf-syntax-ns#type", "type"),
        ("http://dbpedia.org/ontology/spouse/", "spouse"),
        ("rdfs:label", "label"),
        ("U.S. state of birth", "U.S. state of birth"),
        ("is\nin", "is in"),
        ("version.2.0", "version.2.0"),
        ("→", "→"),
        ("^", ""),
        ("ist_Hauptstadt_von", "ist hauptstadt von"),
        ("हिन्दी_नाम", "हिन्दी नाम"),
        ("導演", "導演"),
        ("a\x1b[31m", "a\ufffd[31m"),
    ],
)
def test_relations_read_as_words(name, words):
    assert relation_words(name) == words


def test_the_arrow_shows_the_direction_of_every_step():
    assert relation_path_words(("^starred", "film.film.genre")) == "← starred → film genre"
    assert relation_path_words(()) == ""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Amélie", "Amélie"),
        ("a\tb\r\nc\u2028d\u00a0e", "a b  c d e"),
        ("\x1b[2J\x07", "\ufffd[2J\ufffd"),
        ("\x9b31m", "\ufffd31m"),
        ("evil\u202egnp.exe", "evilgnp.exe"),
        ("\ufeffHeat\u200b", "Heat"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("👩\u200d🚀", "👩\u200d🚀"),
        ("\ud800", "\ufffd"),
        ("\ufffe\uffff", "\ufffd\ufffd"),
        ("", ""),
    ],
)
def test_names_are_shown_on_one_line_without_controls(text, shown):
    assert one_line(text) == shown


@given(st.text(st.characters(codec=None)))
def test_what_is_shown_has_no_control_whatever_the_text(text):
    shown = one_line(text)
    assert one_line(shown) == shown
    bad = {"Cc", "Cs", "Zl", "Zp"}
    assert not any(unicodedata.category(char) in bad for char in shown)
    assert "\n" not in shown
    assert [c for c in shown if c.isalnum()] == [c for c in text if c.isalnum()]
