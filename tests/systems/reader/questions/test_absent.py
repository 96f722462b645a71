"""What a small table does not hold is withheld; what it holds is answered."""

import pytest
from readers import reader_of
from row_facts import table_facts

from jaxkg.kg import KnowledgeGraph
from jaxkg.systems.reader.sets.unfit import contradicted
from jaxkg.systems.reader.system import Reader
from jaxkg.text import HashingEncoder
from jaxkg.text.best import best_encoder

SHIPS = """
Petrel|Ines Varga|1931-05-04|4200
Gannet|Olaf Brandt|1948-11-19|6100
Dunlin|Ines Varga|1957-02-27|2900
"""


@pytest.fixture(params=["hashing", "minilm"], scope="module")
def reader(request):
    encoder = HashingEncoder()
    if request.param == "minilm":
        encoder, _ = best_encoder()
        if encoder.name == "hashing":
            pytest.skip("MiniLM is not installed")
    facts = table_facts(SHIPS, "captain", "launched", "tonnage")
    return Reader.build(KnowledgeGraph.from_triples(facts), encoder)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who is the captain of Petrel?", "Ines Varga"),
        ("When was Gannet launched?", "1948-11-19"),
        ("What is the tonnage of Dunlin?", "2900"),
    ],
)
def test_what_a_table_holds_is_answered(reader, question, answer):
    understood = reader.understand(question)
    assert understood.sure
    assert understood.readings[0].answers == (answer,)


@pytest.mark.parametrize(
    "question",
    [
        "Who is the captain of the Albatross?",
        "When was the Albatross launched?",
        "Who paid for the lighthouse?",
        "When did the harbour open?",
        "Where is Petrel moored?",
    ],
)
def test_what_a_table_does_not_hold_is_withheld(reader, question):
    assert not reader.understand(question).sure


def test_a_name_that_nothing_bears_is_not_left_out(reader):
    asked = reader.readings.asked("Which ship with the largest tonnage sails to Narnia?")
    assert {asked.cues.words.folded[place] for place in asked.unknown} == {"narnia"}
    best = reader.readings.of(asked)[0]
    assert contradicted(asked, best, reader.readings.find)
    answer = reader.ask("Which ship with the largest tonnage sails to Old Narnia?")
    assert "nothing is called 'Old Narnia'" in (answer.abstained or "")
    plain = reader.readings.asked("Which ship has the largest tonnage?")
    assert not plain.unknown
    assert not contradicted(plain, best, reader.readings.find)


def test_names_are_unknown_only_where_capitals_tell_them(reader):
    asked = reader.readings.asked
    assert not asked("WHICH SHIP SAILS TO NARNIA?").unknown
    assert not asked("Welches Schiff fährt nach Narnia?").unknown
    assert not asked("When was old Captain Ines Varga's Petrel launched?").unknown
    assert not asked("What Tonnage has the old Dunlin?").unknown


def test_a_number_does_not_answer_who(reader):
    asked = reader.readings.asked("Who launched Gannet?")
    when = reader.kg.relation_code("launched")
    launched = next(c for c in reader.readings.of(asked) if c.last == when)
    assert contradicted(asked, launched, reader.readings.find)


_FERRIES = """
F1|Norline|Tarn|Oslo
F2|Norline|Bray|Tarn
F3|Seaways|Oslo|Bray
F4|Seaways|Kiel|Bray
"""


@pytest.fixture(scope="module")
def ferries() -> Reader:
    return reader_of(table_facts(_FERRIES, "operator", "from port", "to port", kind="ferry"))


@pytest.mark.parametrize(
    ("question", "none"),
    [
        ("Which ferries sail from Tarn to Bray?", "from port is Tarn that are also"),
        ("Which Norline ferries go to Bray?", "operator is Norline that are also"),
        ("Which ferries go from Kiel to Tarn?", "from port is Kiel that are also"),
    ],
)
def test_what_two_names_do_not_share_is_told(ferries, question, none):
    answer = ferries.ask(question)
    assert not answer.entities
    assert answer.abstained.startswith("there seems to be none: ferries whose ")
    assert none in answer.abstained


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("Which ferries sail from Bray to Tarn?", {"F2"}),
        ("Which ferries go to Bray?", {"F3", "F4"}),
        ("Which ferries come from Bray?", {"F2"}),
        ("Which Seaways ferries go to Bray?", {"F3", "F4"}),
    ],
)
def test_a_particle_tells_which_way(ferries, question, meant):
    assert {entity.name for entity in ferries.ask(question).entities} == meant


@pytest.mark.parametrize(("column", "question"), [
    ("date closed", "Which tickets are still open?"), ("returned", "Which tickets are still out?"),
    ("assignee", "Which tickets are unassigned?"),
])  # fmt: skip
def test_what_is_not_there_yet_is_asked_for_by_its_opposite(column, question):
    cells = ("2024-03-01", "2024-03-04", "") if column != "assignee" else ("Ann", "Bo", "")
    facts = [(f"Leak {at}", column, cell) for at, cell in enumerate(cells) if cell]
    facts += [(f"Leak {at}", "is a", "tickets") for at in range(3)]
    understood = Reader.build(KnowledgeGraph.from_triples(facts)).understand(question)
    assert understood.readings[0].answers == ("Leak 2",)
