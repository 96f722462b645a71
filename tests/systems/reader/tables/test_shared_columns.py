"""Tables that refer to the same rows by a column of one name: gigs and sponsors of stages."""

import numpy as np
import pytest
from readers import names_of, readings_of, tables_read
from row_facts import facts_of

from jaxkg.kg import KnowledgeGraph
from jaxkg.query import Total
from jaxkg.readings import say
from jaxkg.systems.reader.language.names import relation_wordings
from jaxkg.systems.reader.reading import Readings
from jaxkg.systems.reader.sets.unfit import contradicted
from jaxkg.systems.reader.settings import ReaderSettings

FILES = {
    "stages.csv": "id,name,floor\n1,Sunset,5\n2,Tent,0\n3,River,0\n4,Field,0\n",
    "artists.csv": "id,name,genre\n1,Lanterns,rock\n2,Baobab,afrobeat\n",
    "gigs.csv": "id,artist_id,stage_id,day\n1,1,1,Friday\n2,2,2,Saturday\n3,1,2,Sunday\n"
    "4,2,4,Sunday\n",
    "sponsors.csv": "id,name,stage_id,amount\n1,Pine Bank,2,30\n2,Volta,1,50\n",
    "checks.csv": "check_no,stage_id,inspector,day\nC1,1,Ruth,Friday\nC2,2,Karl,Monday\n",
    "readings.csv": "time,stage_id,noise\n08:00,1,48\n08:00,2,71\n14:00,1,5\n14:00,2,52\n"
    "20:00,1,55\n",
}


@pytest.fixture(scope="module")
def festival(tmp_path_factory) -> Readings:
    return tables_read(tmp_path_factory.mktemp("festival"), FILES)


def told(readings, question):
    """Readings in words, with what they answer."""
    kg, found = readings.kg, readings.of(readings.asked(question))
    return {say(kg, c.query): names_of(kg, c) for c in found}


@pytest.mark.parametrize(
    ("question", "reading", "wanted"),
    [
        (
            "Who sponsors the Tent?",
            "things whose stage id is Tent and that are a sponsors",
            {"Pine Bank"},
        ),
        (
            "How many readings does the Sunset have?",
            "how many things whose stage id is Sunset and that are a readings",
            {"3"},
        ),
        (
            "Which stages have no sponsors?",
            "all stages except the stage id of all sponsors",
            {"River", "Field"},
        ),
        (
            "Which stages were never checked?",
            "all stages except the stage id of all checks",
            {"River", "Field"},
        ),
    ],
)
def test_rows_of_one_table_are_told_from_those_of_another(festival, question, reading, wanted):
    assert told(festival, question)[reading] == wanted


def test_a_number_is_no_name_of_a_row_without_an_id(festival):
    assert not festival.asked("Which stages are on floor 5?").mentions
    assert told(festival, "Which stages are on floor 5?")["all stages whose floor is exactly 5"]


def test_who_is_not_answered_by_the_code_of_a_row(festival):
    asked = festival.asked("Who checked the Tent?")
    found = {say(festival.kg, c.query): c for c in festival.of(asked)}
    rows = found["things whose stage id is Tent and that are a check"]
    assert contradicted(asked, rows, festival.find)
    inspector = next(c for words, c in found.items() if words.startswith("the inspector of"))
    assert not contradicted(asked, inspector, festival.find)
    which = festival.asked("Which checks has the Tent?")
    assert not contradicted(which, rows, festival.find)


def test_rows_without_a_class_are_counted():
    rows = (("J. Frost", "Mill Lane"), ("M. Stone", "Oak Park"), ("J. Frost", "The Docks"))
    facts = facts_of(rows, "referee", "stadium", head="_:match_")
    readings = readings_of(facts)
    found = told(readings, "How many matches did J. Frost referee?")
    assert found["how many things whose referee is J. Frost"] == {"2"}


def test_an_id_of_capitals_is_a_topic():
    facts = [("SFO", "city", "San Mateo"), ("LAX", "city", "Los Angeles")]
    names = {"SFO": "San Francisco International", "LAX": "Los Angeles International"}
    readings = Readings(KnowledgeGraph.from_triples(facts, names=names), None, ReaderSettings())
    kg = readings.kg
    (mention,) = readings.asked("In which city is SFO?").mentions
    assert kg.entity_ids[mention.options[0].entity] == "SFO"
    assert all(m.last > m.first for m in readings.asked("IN WHICH CITY IS SFO?").mentions)


def test_values_part_no_tables_and_what_rows_say_is_said_once(festival):
    parts = {
        festival.kg.relation_name(code): festival.vocabulary.parts(code)
        for code in range(festival.kg.num_relations)
    }
    assert {name for name, kinds in parts.items() if kinds} == {"stage_id"}
    found = told(festival, "Which artists play on the Tent?")
    assert "the artist id of things whose stage id is Tent" in found
    assert "the artist id of things whose stage id is Tent and that are a gigs" not in found


@pytest.mark.parametrize("kind", [[], [("is a", "reading")]])
def test_rows_are_counted_with_a_class_that_is_named_or_with_none(kind):
    facts = [
        (f"_:reading_{at}", column, cell)
        for at, sensor in enumerate(("roof", "cellar", "roof"))
        for column, cell in [("sensor", sensor), ("noise", f"{40 + at}.5"), *kind]
    ]
    readings = readings_of(facts)
    question = "How many readings has the roof?" if kind else "How many came from the roof?"
    counts = [set(answer) for words, answer in told(readings, question).items() if "roof" in words]
    assert {"2"} in counts


def test_the_code_of_a_person_answers_who():
    facts = [("E1", "is a", "employee"), ("E1", "leads", "Dock"), ("E2", "is a", "employee")]
    readings = readings_of(facts)
    asked = readings.asked("Who leads the Dock?")
    leader = readings.kg.entity("E1")
    found = [c for c in readings.of(asked) if c.ends.tolist() == [leader]]
    assert found
    assert not any(contradicted(asked, one, readings.find) for one in found)


TWICE = np.array([1, 1])


@pytest.fixture(scope="module")
def visits():
    rows = [("7", "3", "checkup", "3"), ("8", "1", "fracture", "7"), ("7", "2", "checkup", "2")]
    facts = facts_of(rows, "patient_id", "room", "reason", "minutes", head="visit ")
    return readings_of(facts)


def test_an_id_that_comes_again_is_what_it_is_of(visits):
    kg = visits.kg
    assert relation_wordings(kg, kg.relation_code("patient_id"), rows=False, ends=TWICE)[0] == (
        "patient"
    )
    bank = [("t", "bank_id", "7"), ("t", "bank", "Ely")]
    other = KnowledgeGraph.from_triples(bank)
    code = other.relation_code("bank_id")
    assert relation_wordings(other, code, rows=False, ends=TWICE) == ("bank id",)
    assert relation_wordings(kg, kg.relation_code("room"), rows=False, ends=TWICE) == ("room",)
    played = KnowledgeGraph.from_triples([("p", "trackName", "Forge"), ("p", "big_deal_name", "X")])
    names = (relation_wordings(played, code, rows=False, ends=TWICE) for code in range(2))
    assert {*names} == {("big deal name",), ("track name", "track")}
    both = KnowledgeGraph.from_triples([("p", "trackName", "Forge"), ("p", "track", "7")])
    code = both.relation_code("trackName")
    assert relation_wordings(both, code, rows=False, ends=TWICE) == ("track name",)
    facts = facts_of((("7", "3"), ("8", "3")), "imdb_id", "by_id", head="p")
    vocabulary = readings_of(facts).vocabulary
    labels = {relation.wordings[0] for relation in vocabulary.relations}
    assert labels == {"imdb id", "by"}


@pytest.mark.parametrize(
    ("question", "wanted", "other"),
    [
        ("What was the reason of patient 7?", "patient id", "minutes"),
        ("Which reasons did room 3 see?", "room", "minutes"),
    ],
)
def test_a_number_behind_a_label_is_of_that_relation(visits, question, wanted, other):
    bounded = [words for words in told(visits, question) if "exactly" in words]
    assert any(f"{wanted} is exactly" in words for words in bounded)
    assert not any(f"{other} is exactly" in words for words in bounded)
    assert not any("with exactly" in words for words in bounded)


def test_the_rating_of_a_row_of_ratings():
    rows = [(film, score, "ratings") for film, score in zip(("Gulls", "Gulls", "Tides"), "453")]
    facts = facts_of(rows, "film", "rating", "is a", head="_:rating_")
    readings = readings_of(facts)
    found = told(readings, "Which ratings does Gulls have?")
    assert found["the rating of ratings whose film is Gulls"] == {"4", "5"}


def test_a_reading_without_a_number_that_is_said_does_not_answer(visits):
    asked = visits.asked("Which patients had 3 fractures?")
    found = [c for c in visits.of(asked) if c.shape == "path"]
    assert found
    assert all(contradicted(asked, one, visits.find) for one in found)
    plain = visits.asked("Which patients had fractures?")
    patients = visits.kg.relation_code("patient_id")
    best = next(one for one in visits.of(plain) if one.last == patients)
    assert not contradicted(plain, best, visits.find)


@pytest.fixture(scope="module")
def plays():
    rows = [("Mira", "Tide", "yes", "12"), ("Vils", "Forge", "no", "18")]
    rows += [("Mira", "Tide", "no", "9"), ("Mira", "Gran", "no", "7")]
    facts = facts_of(rows, "artistName", "trackName", "liked", "ms", head="_:play_")
    return readings_of(facts)


def test_rows_are_not_what_several_names_in_them_are_of(plays):
    kinds = {sort.words for sort in plays.vocabulary.sorts.values() if "track" in sort.words}
    assert kinds == {("track name", "track")}
    counts = told(plays, "How many tracks by Mira are there?")
    assert counts["how many track name of things whose artist name is Mira"] == {"2"}


def test_tracks_are_no_numbers_of_rows(plays):
    found = told(plays, "Which tracks are by Mira?")
    assert found["the track name of things whose artist name is Mira"] == {"Tide", "Gran"}
    assert "the ms of things whose artist name is Mira" not in found
    assert "the ms of things whose artist name is Mira" in told(plays, "What is by Mira?")


def test_what_is_true_of_some_rows_of_a_topic_is_walked_on_from(plays):
    found = told(plays, "Which tracks by Mira are liked?")
    assert found["the track name of things whose artist name is Mira and whose liked is yes"] == {
        "Tide"
    }
    assert not any("liked is yes" in words for words in told(plays, "Which tracks are by Mira?"))


def test_who_is_no_yes(plays):
    asked = plays.asked("Who liked Forge?")
    code = plays.kg.relation_code("liked")
    found = [c for c in plays.of(asked) if c.last == code]
    assert found
    assert all(contradicted(asked, one, plays.find) for one in found)
    what = plays.asked("What liked Forge?")
    assert not any(contradicted(what, c, plays.find) for c in plays.of(what) if c.last == code)


@pytest.mark.parametrize(("of", "role"), [("is a", ""), ("made by", "type")])
def test_the_type_of_what_is_a_something_else_is_no_class(of, role):
    facts = [(f"S{n}", "type", kind) for n, kind in enumerate(("hot", "damp", "hot"))]
    facts += [(f"S{n}", of, "sensor") for n in range(3)] + [("E", "is a", "hub")]
    vocabulary = readings_of(facts).vocabulary
    assert vocabulary.role(vocabulary.kg.relation_code("type")) == role
    rows = [("_:r1", "type", "sick"), ("_:r2", "type", "off"), ("E", "is a", "hub")]
    other = readings_of(rows).vocabulary
    assert other.role(other.kg.relation_code("type")) == ""


def test_a_small_number_is_no_part_of_a_name():
    facts = [("3 Quay Street", "rooms", "4"), ("Boeing 747", "rooms", "9")]
    readings = readings_of(facts)
    assert not readings.asked("Which homes have 3 rooms?").mentions
    assert readings.asked("How many rooms has the 747?").mentions


def test_what_a_topic_says_of_rows_is_not_counted():
    rows = [("Bolt", "gold", "2008"), ("Bolt", "gold", "2012"), ("Lee", "gold", "2016")]
    facts = facts_of([*rows, ("Bolt", "silver", "2017")], "name", "medal", "year")
    readings = readings_of(facts)
    found = told(readings, "How many gold medals did Bolt win?")
    counts = [words for words in found if words.startswith("how many")]
    assert counts
    assert not any("how many medal of" in words and "gold" in words for words in counts)
    assert any(found[words] == {"2"} for words in counts)


def test_several_numbers_do_not_say_how_many_there_are():
    rows = [("1", "Lamp", "2", "9.63"), ("3", "Lamp", "1", "9.7"), ("3", "Lamp", "5", "8.1")]
    facts = facts_of(rows, "store", "product", "quantity", "price")
    readings = readings_of(facts)
    asked, kg = readings.asked("How many lamps did store 3 sell?"), readings.kg
    found = [c for c in readings.of(asked) if c.last == kg.relation_code("quantity")]
    several = [c for c in found if not c.result and len(c.ends) > 1]
    assert several
    assert all(contradicted(asked, one, readings.find) for one in several)
    for question in (
        "What quantities of lamps did store 3 sell?",
        "How many quantity has store 3?",
    ):
        named, code = readings.asked(question), kg.relation_code("quantity")
        several = [c for c in readings.of(named) if c.last == code and len(c.ends) > 1]
        assert several
        assert not all(contradicted(named, one, readings.find) for one in several)


@pytest.mark.parametrize(
    ("question", "fine"),
    [
        ("What is the size of Depot 12?", True),
        ("What is the total size of all 3 depots?", True),
        ("What is the total size of all 7 depots?", False),
    ],
)
def test_a_number_that_is_in_a_name_or_counts_a_class_is_not_left_out(question, fine):
    facts = [(f"Depot {n}", "is a", "depot") for n in (12, 14, 15)]
    facts += [(f"Depot {n}", "size", f"{n}00") for n in (12, 14, 15)]
    readings = readings_of(facts)
    asked, code = readings.asked(question), readings.kg.relation_code("size")
    found = [c for c in readings.of(asked) if code in (c.last, c.measure)]
    # What is added up is read as what comes first.
    found = [one._replace(query=Total(one.node, ("size",), "sum")) for one in found]
    assert found
    assert any(not contradicted(asked, one, readings.find) for one in found) == fine
