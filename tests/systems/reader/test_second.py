import dataclasses
import itertools
import random

import numpy as np
import pytest

from jaxkg.kg import KnowledgeGraph
from jaxkg.systems.reader.confidence import CUES, contradicted
from jaxkg.systems.reader.reading import Readings
from jaxkg.systems.reader.settings import ReaderSettings
from jaxkg.systems.reader.system import Reader
from jaxkg.systems.reader.training.examples import Examples, make_examples
from jaxkg.systems.reader.training.fit import fit_ranker, padded
from jaxkg.systems.reader.training.fit_second import fit_maps, fit_second, part_of
from jaxkg.systems.reader.training.splice import spliced
from jaxkg.systems.reader.training.spoken import spoken_world
from jaxkg.systems.reader.turns import best_parts, best_turns, outwards
from jaxkg.systems.reader.views import kept_views
from jaxkg.systems.reader.weights import ReaderWeights
from jaxkg.systems.reader.wording import told
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
    wordings = {told(c, readings.find) for c in readings.of(asked)}
    assert ("the born in of the directed by of it", "it, directed by, born in") in wordings
    assert any("whose directed by is the directed by of it" in phrase for phrase, _ in wordings)


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


def test_examples_are_kept_with_their_texts(tmp_path):
    kg, asked = spoken_world(1, 6)
    some = make_examples(kg, [(one, ()) for one in asked], HashingEncoder(), ReaderSettings())
    some.save(tmp_path / "some.npz")
    again = Examples.open(tmp_path / "some.npz")
    assert again.told == some.told
    assert again.asked == some.asked
    assert np.array_equal(again.views, some.views)
    last = part_of(again, np.array([len(again.asked) - 1]))
    assert last.told == again.told[again.offsets[-2] :]


@pytest.mark.usefixtures("standard_promotion")
def test_maps_learn_what_cosines_do_not_tell():
    order = np.random.default_rng(0)
    question = order.standard_normal((64, 16)).astype(np.float32)
    turned = question @ np.linalg.qr(order.standard_normal((16, 16)))[0].astype(np.float32)
    wrong = order.standard_normal((64, 3, 2, 16)).astype(np.float32)
    wordings = np.concatenate([np.stack([turned, turned], axis=1)[:, None], wrong], axis=1)
    right = np.zeros((64, 4), bool)
    right[:, 0] = True
    ask, tell = fit_maps(
        question, wordings, right, np.ones_like(right), seed=0, epochs=60, rate=3e-2
    )

    def best(ask, tell):
        told = wordings @ tell
        told /= np.linalg.norm(told, axis=-1, keepdims=True)
        return np.argmax(np.einsum("qcwe,qe->qc", told, question @ ask), axis=1)

    plain = np.eye(16, dtype=np.float32)
    assert np.mean(best(ask, tell) == 0) > 0.9 > np.mean(best(plain, plain) == 0)


@pytest.mark.usefixtures("standard_promotion")
def test_a_second_look_is_kept_and_looked_with(tmp_path):
    kg, asked = spoken_world(2, 12)
    encoder = HashingEncoder()
    some = make_examples(kg, [(one, ()) for one in asked], encoder, ReaderSettings(looked_at=60))
    kept = kept_views("")
    second = fit_second(some, encoder, kept=kept, maps=False, epochs=4, first_epochs=4)
    params, mean, scale = fit_ranker(*padded(some, 64), kept=kept, epochs=4)
    line = np.linspace(-1, 1, len(CUES), dtype=np.float32)
    about = {"version": "test", "encoder": "hashing"}
    weights = ReaderWeights(params, mean, scale, line, 0.5, about, second)
    weights.save(tmp_path / "w.npz")
    again = ReaderWeights.open(tmp_path / "w.npz")
    reader = Reader.build(kg, encoder, weights=again)
    plain = Reader.build(kg, encoder, weights=dataclasses.replace(again, second=None))
    without = Reader.build(
        kg, encoder, weights=again, settings=ReaderSettings(without="second look")
    )
    read = [[r.understand(one.text) for one in asked] for r in (reader, plain, without)]
    words = [[u.readings[0].words for u in some] for some in read]
    shares = [[u.confidence for u in some] for some in read]
    assert words[1] == words[2]
    assert shares[0] != shares[1]


def test_no_reading_leaves_a_denial_out_however_likely():
    facts = [
        ("Cake", "contains", "eggs"),
        ("Pie", "contains", "eggs"),
        ("Soup", "contains", "peas"),
    ]
    kg = KnowledgeGraph.from_triples(facts)
    readings = Readings(kg, None, ReaderSettings())
    for question, left_out in [
        ("Which dishes don't contain eggs?", True),
        ("What contains eggs?", False),
    ]:
        asked = readings.asked(question)
        path = next(c for c in readings.of(asked) if c.shape == "path" and len(c.relations) == 1)
        assert contradicted(asked, path, readings.find) is left_out
    asked = readings.asked("Does Cake contain eggs?")
    results = {c.result: contradicted(asked, c, readings.find) for c in readings.of(asked)}
    assert not results["yes"]
    asked = readings.asked("Is Cake sold?")
    assert all(contradicted(asked, c, readings.find) for c in readings.of(asked) if not c.result)
