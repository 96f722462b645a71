import itertools
import random

import numpy as np
import pytest
from training.examples import Examples, make_examples
from training.splice import spliced
from training.spoken import spoken_world

from jaxkg.kg import KnowledgeGraph
from jaxkg.systems.reader.corrections import nameless
from jaxkg.systems.reader.reading import Readings
from jaxkg.systems.reader.settings import ReaderSettings
from jaxkg.systems.reader.turns import back, best_parts, best_turns, outwards
from jaxkg.systems.reader.views import NAMES, views
from jaxkg.text import HashingEncoder

FILMS = KnowledgeGraph.from_triples(
    [
        ("Alien", "directed_by", "Ridley Scott"),
        ("Gladiator", "directed_by", "Ridley Scott"),
        ("Ridley Scott", "born_in", "South Shields"),
    ]
)


@pytest.mark.parametrize("seed", range(5))
def test_turns_are_the_best_of_all_orders(seed):
    cover = np.random.default_rng(seed).random((1, 3, 6))
    total, least = best_turns(cover)
    chosen = list(itertools.combinations(range(6), 3))
    sums = [sum(cover[0, s, w] for s, w in enumerate(words)) for words in chosen]
    worst = [min(cover[0, s, w] for s, w in enumerate(words)) for words in chosen]
    assert total[0] == pytest.approx(max(sums))
    assert least[0] == pytest.approx(max(worst))
    cuts = itertools.combinations_with_replacement(range(7), 2)
    shared = [
        cover[0, 0, :a].sum() + cover[0, 1, a:b].sum() + cover[0, 2, b:].sum() for a, b in cuts
    ]
    assert best_parts(cover)[0] == pytest.approx(max(shared))


def test_more_steps_than_words_are_told_by_none():
    assert [x.tolist() for x in best_turns(np.ones((1, 3, 2)))] == [[0.0], [0.0]]
    assert outwards(0, 1, 4).tolist() == [0, 1, 2, 3]


def test_a_reading_is_told_without_its_names():
    readings = Readings(FILMS, None, ReaderSettings())
    asked = readings.asked("Where was the director of Alien born?")
    wordings = {nameless(FILMS, asked, c) for c in readings.of(asked)}
    assert "what [what it is directed by] is born in" in wordings
    assert "other things that are directed by what it is directed by" in wordings


@pytest.mark.parametrize(
    ("question", "unsaid"),
    [
        ("Which films were directed by the director of Alien?", False),
        ("Which films share a director with Alien?", True),
        ("Which films have the film director of Alien?", True),
    ],
)
def test_a_step_back_is_said_where_its_relation_is_said_twice(question, unsaid):
    readings = Readings(FILMS, None, ReaderSettings())
    asked = readings.asked(question)
    directed = FILMS.relation_code("directed_by")
    there = directed, readings.vocabulary.inverse(directed)
    assert back(asked, *there, readings.find) is unsaid
    assert not back(asked, directed, directed, readings.find)
    [same] = [c for c in readings.of(asked) if c.relations == there]
    names = dict(zip(NAMES, views(asked, [same], readings.find)[0].tolist()))
    assert names["returns"] == names["there and back"] == unsaid


def test_the_graph_of_spoken_questions_has_their_answers():
    kg, asked = spoken_world(3, 12)
    ids = set(kg.entity_ids)
    assert len(asked) == 12
    assert all(one.answers and one.answers <= ids for one in asked)
    assert any(len(one.relations) > 1 for one in asked)
    gone, left = spoken_world(3, 12, gone=1.0)
    assert gone.num_triples == sum(r == "type" for _, r, _ in map(kg.triple, range(kg.num_triples)))
    assert not any(one.answers for one in left)


def test_a_longer_question_tells_its_topic_by_a_relation():
    person = {"nid": 0, "node_type": "class", "id": "people.person", "friendly_name": "Person",
              "question_node": 1, "function": "none"}  # fmt: skip
    city = {"nid": 1, "node_type": "entity", "id": "m.1", "friendly_name": "Rome",
            "question_node": 0, "function": "none"}  # fmt: skip
    born = ["people.person.born_in", "Born in"]
    whole = {"question": "who was born in rome?", "nodes": [person, city],
             "edges": [[0, *born, 1]], "group": "people"}  # fmt: skip
    country = {**city, "friendly_name": "Italy"}
    capital = {"nid": 0, "node_type": "class", "id": "location.city", "friendly_name": "City",
               "question_node": 1, "function": "none"}  # fmt: skip
    there = {"question": "?", "nodes": [capital, country], "group": "people",
             "edges": [[0, "location.city.country", "Country", 1]]}  # fmt: skip
    ranged = {"question": "?", "nodes": [person, {**capital, "nid": 1, "question_node": 0}],
              "edges": [[0, *born, 1]], "group": "people"}  # fmt: skip
    made = [spliced(whole, [there, ranged], random.Random(seed)) for seed in range(20)]
    assert spliced(whole, [], random.Random(0)) is None
    for one in filter(None, made):
        [name] = [n["friendly_name"] for n in one["nodes"] if n["node_type"] == "entity"]
        assert name.lower() in one["question"].lower()
        assert "rome" not in one["question"].lower()
        assert len(one["edges"]) > 1


def test_examples_are_kept(tmp_path):
    kg, asked = spoken_world(1, 6)
    some = make_examples(kg, [(one, ()) for one in asked], HashingEncoder(), ReaderSettings())
    some.save(tmp_path / "some.npz")
    again = Examples.open(tmp_path / "some.npz")
    assert again.count + again.lost == len(asked)
    for name in ("views", "right", "offsets"):
        assert np.array_equal(getattr(again, name), getattr(some, name))
