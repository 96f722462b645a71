from jaxkg.cite import check
from jaxkg.kg import KnowledgeGraph
from jaxkg.query import Entities, Step
from jaxkg.records import Question
from jaxkg.systems.reader import Reader
from jaxkg.systems.reader.language.vocabulary import Vocabulary

SHELTER = KnowledgeGraph.from_triples(
    [
        *(("tabby", "subclass of", "cat"), ("cat", "subclass of", "pet")),
        *(("beagle", "subclass of", "dog"), ("dog", "subclass of", "pet")),
        *(("Tom", "type", "tabby"), ("Kit", "type", "cat"), ("Rex", "type", "beagle")),
        *(("Tom", "owner", "Ann"), ("Kit", "owner", "Ann"), ("Rex", "owner", "Ann")),
    ]
)
CAR = KnowledgeGraph.from_triples(
    [
        *(("engine", "part of", "car"), ("wheel", "part of", "car"), ("tyre", "part of", "wheel")),
        *(("valve", "part of", "tyre"), ("car", "made in", "Turin"), ("tyre", "made in", "Lyon")),
    ]
)


def answer(kg, question):
    [found] = Reader.build(kg).answer([Question("q", question)])
    assert check(kg, found) == ()
    return found


def test_what_is_of_a_class_is_of_all_above_it():
    found = answer(SHELTER, "Which cats does Ann own?")
    assert {e.name for e in found.entities} == {"Tom", "Kit"}
    [first, *_] = Reader.build(SHELTER).understand("How many pets are there?").readings
    assert first.answers == ("3",)
    assert "directly or indirectly is subclass of pet" in first.words


def test_things_that_are_a_class_themselves_are_walked_through():
    kg = KnowledgeGraph.from_triples(
        [("cat", "is a", "pet"), ("pet", "is a", "animal"), ("Tom", "is a", "cat")]
    )
    vocabulary = Vocabulary(kg)
    members = vocabulary.classes[kg.entity("animal")]
    assert {kg.entity_ids[row] for row in members.tolist()} == {"cat", "pet", "Tom"}


def test_a_type_of_a_type_is_no_wider_class():
    kg = KnowledgeGraph.from_triples(
        [("Alien", "type", "film"), ("film", "type", "sort of work"), ("sort of work", "type", "x")]
    )
    assert Vocabulary(kg).classes[kg.entity("sort of work")].tolist() == [kg.entity("film")]


def test_a_hierarchy_is_offered_at_any_depth_after_its_plain_step():
    reader = Reader.build(CAR)
    seen = reader.look("What are the parts of the car?")
    parts = Step(Entities(("car",)), ("^part of",), False)
    plain = next(place for place, one in enumerate(seen.found) if one.query == parts)
    deep = next(
        place
        for place, one in enumerate(seen.found)
        if one.query == Step(Entities(("car",)), ("^part of",), False, "+")
    )
    assert {CAR.entity_ids[row] for row in seen.found[deep].ends.tolist()} == {
        *("engine", "wheel", "tyre", "valve"),
    }
    assert seen.scores[deep] < seen.scores[plain]
    understood = reader.understood(seen)
    assert understood.sure
    assert [set(one.answers) for one in understood.readings[:2]] == [
        {"engine", "wheel"},
        {"engine", "wheel", "tyre", "valve"},
    ]
    assert not any("made" in str(one.query) and "+" in str(one.query) for one in seen.found)
