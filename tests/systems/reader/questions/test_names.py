"""What things, relations and classes are called."""

from __future__ import annotations

import pytest
from readers import readings_of

from jaxkg.kg import KnowledgeGraph, read_graph
from jaxkg.systems.reader.language.grades import read_grades
from jaxkg.systems.reader.language.names import spelt_out
from jaxkg.systems.reader.language.vocabulary import Vocabulary
from jaxkg.systems.reader.reading import Readings
from jaxkg.systems.reader.settings import ReaderSettings

TREES = """
@prefix : <http://x.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:species rdfs:label "is a" . :keeper rdfs:label "looked after by" . :P19 rdfs:label "sown in" .
:Oak1 :P19 "1990" .
:Oak1 a :Tree ; :species :RedOak ; :girth "203 cm" ; :keeper :Ann .
:Oak2 a :Tree ; :species :RedOak ; :girth "88 cm" ; :keeper :Bo .
:RedOak a :Species ; :leaf "shed" ; :tint "red" ; :latin "Quercus" .
"""


def test_what_is_told_much_of_is_more_than_a_class(tmp_path):
    path = tmp_path / "trees.ttl"
    path.write_text(TREES)
    readings = Readings(read_graph(path), None, ReaderSettings())
    vocabulary = readings.vocabulary
    roles = {r.wordings[0]: r.role for r in vocabulary.relations}
    assert roles["is a"] == ""
    assert roles["type"] == "type"
    names = [
        readings.kg.name(m.options[0].entity) for m in readings.asked("is red oak red").mentions
    ]
    assert "RedOak" in names
    plain = [(f"T{n}", "is a", "oak") for n in range(3)]
    assert Vocabulary(KnowledgeGraph.from_triples(plain)).type_codes == [0]


def test_plain_texts_are_read_as_what_they_look_like_and_relations_told_by_their_ids_too(tmp_path):
    path = tmp_path / "trees.ttl"
    path.write_text(TREES)
    vocabulary = Vocabulary(read_graph(path))
    by_label = {r.wordings[0]: r for r in vocabulary.relations}
    assert by_label["girth"].tails == "number"
    assert by_label["looked after by"].wordings == ("looked after by", "keeper")
    assert by_label["is a"].wordings == ("is a", "species")
    assert by_label["sown in"].wordings == ("sown in",)


def test_names_of_one_word_are_opened_at_their_capitals():
    facts = [("BrassMonkeyRag", "shelf", "A2"), ("McDonald", "shelf", "B1")]
    readings = readings_of(facts)
    for text, name in (
        ("what shelf is brass monkey rag on", "BrassMonkeyRag"),
        ("what shelf is McDonald on", "McDonald"),
        ("what shelf is BrassMonkeyRag on", "BrassMonkeyRag"),
    ):
        (mention,) = readings.asked(text).mentions
        assert readings.kg.name(mention.options[0].entity) == name
        assert mention.score > 0.9


def test_counts_and_areas_in_other_words():
    facts = [("A-208", "panelCount", "18"), ("A-209", "panelCount", "4")]
    vocabulary = Vocabulary(KnowledgeGraph.from_triples(facts))
    assert vocabulary.wordings(0) == ("panel count", "number of panel")
    assert spelt_out("sq m") == spelt_out("m2") == "area"
    assert spelt_out("roof m2") == "roof area"


def test_fat_and_wide_are_measured():
    _, extreme, _ = read_grades(["which", "has", "the", "fattest", "trunk"], set(), set())
    assert extreme.largest
    assert "girth" in extreme.measure
    _, steepest, _ = read_grades(["the", "steepest"], set(), set())
    assert "gradient" in steepest.measure


@pytest.mark.parametrize("relation", ["engine", "engines"])
def test_a_class_is_all_of_it_not_those_that_somebody_has(relation):
    facts = [(f"E{n}", "is a", "engines") for n in (1, 2)]
    facts += [(f"E{n}", "weight", f"{n}00") for n in (1, 2)] + [("Mail", relation, "E1")]
    line = readings_of(facts)
    found = line.of(line.asked("Which engines weigh over 50?"))
    sets = [{line.kg.name(end) for end in c.ends.tolist()} for c in found if not c.relations]
    assert {"E1", "E2"} in sets
    assert {"E1"} not in sets


def films() -> KnowledgeGraph:
    facts = [
        (f"Film {n}", relation, f"{end} {n % 97}")
        for n in range(400)
        for relation, end in (("directed_by", "Ann"), ("starred_actors", "Bo"), ("in_mood", "glum"))
    ]
    facts += [("Heat", "written_by", "Jo Roe"), ("Heat", "starred_actors", "Al P")]
    facts += [("Heat", "has_tags", tag) for tag in ("director", "film", "The Appeared")]
    return KnowledgeGraph.from_triples(facts)


@pytest.mark.parametrize(
    ("text", "less"),
    [
        ("who acted in the films written by jo roe", "film"),  # part of many names
        ("who is the director of heat", "director"),  # speaks of a relation
        ("which mood appeared in Heat", "The Appeared"),  # written with a capital
    ],
)
def test_a_word_said_in_passing_is_less_of_a_topic_than_a_name_beside_it(text, less):
    readings = Readings(films(), None, ReaderSettings())
    asked = readings.asked(text)
    score = {readings.kg.name(m.options[0].entity): m.score for m in asked.mentions}
    assert len(score) == 2
    assert score.pop(less) < 0.6 < 0.9 < min(score.values())
    alone = readings.asked(f"what about the {less.lower()}").mentions
    assert [mention.score for mention in alone] == [pytest.approx(0.97, abs=0.04)]


@pytest.mark.parametrize(
    ("text", "negated", "excluded"),
    [
        ('What time does "Colour is not enough" start?', False, False),
        ("Does Life except Death start in Lab A?", False, False),
        ("Which talk is not in Lab A?", True, False),
        ('Is "Colour is not enough" not in Lab A?', True, False),
        ("Which talks are there except Life except Death?", False, True),
    ],
)
def test_words_of_names_deny_nothing(text, negated, excluded):
    talks = [("Colour is not enough", "Lab A"), ("Life except Death", "Lab B")]
    facts = [(talk, "room", room) for talk, room in talks]
    facts += [(talk, "is a", "talk") for talk, _ in talks]
    readings = readings_of(facts)
    cues = readings.asked(text).cues
    assert (cues.negated is not None, cues.except_at is not None) == (negated, excluded)
