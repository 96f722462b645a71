import itertools

from jaxkg.kg import KnowledgeGraph
from jaxkg.query import path_query
from jaxkg.readings import say
from jaxkg.systems.cited import RetrievedEntities
from jaxkg.systems.paths import walk_words


def test_a_walk_is_said_alike_whether_its_words_are_kept_or_not():
    kg = KnowledgeGraph.from_triples(
        [
            ("Alien", "director", "Ridley Scott"),
            ("It", "written by", "the director"),
            ("the director", "written by", "Dead or Alive"),
            ("Alien", "type", "Film"),
            ("It", "type", "Film"),
            ("m.0abc12", "type", "of"),
            ("director", "director", "director"),
        ]
    )
    steps = [sign + name for name in kg.relations for sign in ("", "^")]
    steps.append("director|^director")
    paths = [(), *itertools.product(steps), *itertools.product(steps, repeat=2)]
    topics = [(entity,) for entity in kg.entity_ids] + [("Alien", "It")]
    for path, topic in itertools.product(paths, topics * 2):
        assert walk_words(kg, topic, path) == say(kg, path_query(topic, path)), (topic, path)
    assert walk_words(kg, ("Film",), ("^type",)) == "all films"
    assert walk_words(kg, ("Alien", "It"), ("director",)) == "the director of [either Alien or It]"


def test_what_was_retrieved_counts_each_entity_once():
    kg = KnowledgeGraph.from_triples([("Alien", "director", "Ridley Scott")])
    found = RetrievedEntities(kg.entity_ids, kg.triples[[0, 0], 2], frozenset({"yes"}))
    assert len(found) == 2
    assert sorted(found) == ["Ridley Scott", "yes"]
    assert "Ridley Scott" in found
    assert "Alien" not in found
