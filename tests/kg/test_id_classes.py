"""Classes that ids say, and what a reader makes of them."""

import pytest

from jaxkg.kg import KnowledgeGraph
from jaxkg.kg.typed_schema import RELATION, id_classes, with_id_classes
from jaxkg.systems.reader.system import Reader
from jaxkg.text import HashingEncoder

FACTS = [
    ("state/colorado", "state_population", "2889000"),
    ("state/colorado", "population_density", "28"),
    ("state/texas", "state_population", "14229000"),
    ("state/texas", "population_density", "53"),
    ("state/texas", "borders", "state/colorado"),
    ("river/colorado", "river_length", "2333"),
    ("river/red", "river_length", "1638"),
    ("river/colorado", "traverses", "state/texas"),
    ("place/colorado river", "elevation", "10"),
    ("place/red hill", "elevation", "90"),
]
NAMES = {id: id.partition("/")[2] for fact in FACTS for id in fact[::2] if "/" in id}


@pytest.fixture(scope="module")
def reader():
    kg, classes = with_id_classes(KnowledgeGraph.from_triples(FACTS, names=NAMES))
    assert classes == ("place", "river", "state")
    return Reader.build(kg, HashingEncoder())


def test_every_thing_has_the_class_of_its_id():
    classes = id_classes(KnowledgeGraph.from_triples(FACTS))
    assert classes["river/red"] == "river"
    assert classes["state/texas"] == "state"
    assert "2333" not in classes
    kg, _ = with_id_classes(KnowledgeGraph.from_triples(FACTS))
    assert kg.num_triples == len(FACTS) + len(classes)
    assert ("river/red", RELATION, "river") in set(map(kg.triple, range(kg.num_triples)))


@pytest.mark.parametrize(
    "facts",
    [
        [("http://a.b/x", "r", "http://a.b/y"), ("http://a.b/y", "r", "https://a.b/x")],
        [("m.0a", "r", "m.0b"), ("m.0b", "r", "m.0a")],
        [("city/a", "r", "city/b"), ("city/b", "r", "city/a")],  # one class says nothing
        [("city/a", "type", "town"), ("river/b", "r", "city/a")],
        [("city/a", "r", "river/b"), ("city/c", "r", "river/d"), ("a", "r", "x"), ("b", "r", "x")],
        [("either/or", "r", "x"), ("and/or", "r", "x")],  # each of one thing
    ],
)
def test_other_ids_say_no_class(facts):
    kg = KnowledgeGraph.from_triples(facts)
    assert with_id_classes(kg) == (kg, ())


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("What is the population of Texas?", ("14229000",)),
        ("How long is the Colorado River?", ("2333",)),
    ],
)
def test_a_class_in_a_name_or_a_label_says_what_is_meant(reader, question, answers):
    assert reader.understand(question).readings[0].answers == answers


def test_ids_say_nothing_where_things_are_of_classes_already():
    assert id_classes(KnowledgeGraph.from_triples([*FACTS, (FACTS[0][0], "is a", "town")])) == {}
