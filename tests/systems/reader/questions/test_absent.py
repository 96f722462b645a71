"""What a small table does not hold is withheld; what it holds is answered."""

import pytest

from jaxkg.kg import KnowledgeGraph
from jaxkg.systems.reader.system import Reader
from jaxkg.text import HashingEncoder
from jaxkg.text.best import best_encoder

SHIPS = {
    "Petrel": ("Ines Varga", "1931-05-04", "4200"),
    "Gannet": ("Olaf Brandt", "1948-11-19", "6100"),
    "Dunlin": ("Ines Varga", "1957-02-27", "2900"),
}


@pytest.fixture(params=["hashing", "minilm"], scope="module")
def reader(request):
    encoder = HashingEncoder()
    if request.param == "minilm":
        encoder, _ = best_encoder()
        if encoder.name == "hashing":
            pytest.skip("MiniLM is not installed")
    facts = [
        (ship, name, value)
        for ship, row in SHIPS.items()
        for name, value in zip(("captain", "launched", "tonnage"), row)
    ]
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
