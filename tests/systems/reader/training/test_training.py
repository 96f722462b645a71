import numpy as np
import pytest
from training.examples import make_examples
from training.fit import fit_confidence, fit_ranker, padded
from training.inverse import inverse_questions
from training.sources import lcquad, simple_questions
from training.spoken import spoken_world
from training.spoken_sets import set_questions
from training.worlds import grouped, make_world

from jaxkg.systems.reader.ranking import confidence, rank_on_host
from jaxkg.systems.reader.settings import ReaderSettings
from jaxkg.systems.reader.views import kept_views
from jaxkg.text import HashingEncoder

RIDE = {
    "question": "who designed goliath?",
    "group": "parks",
    "nodes": [
        {"nid": 0, "node_type": "class", "id": "parks.designer", "friendly_name": "Designer",
         "question_node": 1, "function": "none"},
        {"nid": 1, "node_type": "entity", "id": "m.1", "friendly_name": "Goliath",
         "question_node": 0, "function": "none"},
    ],
    "edges": [[0, "parks.designer.rides_designed", "Rides Designed", 1]],
}  # fmt: skip
TALLEST = {
    "question": "which ride is the tallest?",
    "group": "parks",
    "nodes": [
        {"nid": 0, "node_type": "class", "id": "parks.ride", "friendly_name": "Ride",
         "question_node": 1, "function": "none"},
        {"nid": 1, "node_type": "literal", "id": "0^^float", "friendly_name": "0",
         "question_node": 0, "function": "argmax"},
    ],
    "edges": [[0, "parks.ride.height", "Height", 1]],
}  # fmt: skip


def test_a_world_makes_its_questions_true_and_is_the_same_for_a_seed():
    world = make_world([RIDE, TALLEST], 3)
    again = make_world([RIDE, TALLEST], 3)
    assert world.kg.fingerprint == again.kg.fingerprint
    assert world.asked == again.asked
    designed, tallest = world.asked[:2]
    relation = next(iter(designed.relations))
    held = {kg_triple[0] for kg_triple in map(world.kg.triple, range(world.kg.num_triples))
            if kg_triple[1:] == (relation, "Goliath")}  # fmt: skip
    assert designed.answers == held
    assert held
    heights = {
        head: float(tail)
        for head, r, tail in map(world.kg.triple, range(world.kg.num_triples))
        if r in tallest.relations
    }
    assert tallest.answers == {max(heights, key=heights.__getitem__)}


def test_what_is_taken_out_has_no_answer():
    world = make_world([RIDE, TALLEST], 3, gone=1.0)
    assert all(not one.answers for one in world.asked if one.relations)


def test_sources_become_nodes_and_edges(tmp_path):
    (tmp_path / "lc.jsonl").write_text(
        '{"id": "1", "question": "How many movies did S. Kubrick direct?", "template": 101, '
        '"sparql": "SELECT DISTINCT COUNT(?uri) WHERE {?uri <http://dbpedia.org/ontology/director> '
        '<http://dbpedia.org/resource/S._Kubrick> . }"}\n'
    )
    [one] = lcquad(tmp_path / "lc.jsonl")
    assert one["edges"] == [[0, "dbo.Thing.director", "director", 1]]
    assert one["nodes"][0]["function"] == "count"
    assert one["nodes"][1]["friendly_name"] == "S. Kubrick"
    (tmp_path / "s.jsonl").write_text(
        '{"question": "where was bill born?", "topic": "bill", "relation": "people.person.born"}\n'
    )
    [simple] = simple_questions(tmp_path / "s.jsonl", count=1, seed=0)
    [group] = grouped([simple], size=5, seed=0)
    [asked, *_] = make_world(group, 0).asked
    assert asked.text == "where was bill born?"
    assert asked.answers


@pytest.mark.usefixtures("standard_promotion")
def test_the_ranker_and_its_confidence_learn():
    world = make_world([RIDE, TALLEST], 3, made_up=25)
    questions = [(one, ()) for one in world.asked]
    some = make_examples(world.kg, questions, HashingEncoder(), ReaderSettings(looked_at=80))
    losses: list[float] = []
    params, mean, scale = fit_ranker(
        *padded(some, 64),
        kept=kept_views(""),
        epochs=12,
        batch=8,
        told=lambda _, loss: losses.append(loss),
    )
    assert losses[-1] < 0.5 * losses[0]
    scores = rank_on_host(params, (some.views - mean) * scale)
    hits = [
        some.right[a + int(np.argmax(scores[a:b]))]
        for a, b in zip(some.offsets[:-1], some.offsets[1:])
    ]
    assert np.mean(hits) > 0.7
    cues = np.stack([np.ones(40), np.linspace(-1, 1, 40)], axis=1).astype(np.float32)
    sure = confidence(fit_confidence(cues, cues[:, 1] > 0, seeds=range(2)), cues)
    np.testing.assert_array_equal(sure > 0.5, cues[:, 1] > 0)
    assert sure[-1] > 0.9
    assert (np.diff(sure) > 0).all()


def test_most_questions_about_sets_have_a_right_reading():
    asked = lost = 0
    for seed in range(4):
        kg, questions = spoken_world(seed, 8, ask=set_questions)
        assert spoken_world(seed, 8, ask=set_questions)[1] == questions
        pairs = [(one, ()) for one in questions]
        some = make_examples(kg, pairs, None, ReaderSettings())
        asked, lost = asked + len(questions), lost + some.lost
    assert asked >= 24
    assert lost <= asked / 4


def test_made_up_verbs_tell_who_does_what_to_whom():
    graphs = list(inverse_questions(150))
    assert sum(len(asked) for _, asked in graphs) == 150
    met = 0
    for kg, asked in graphs:
        for form, text, gold, other in asked:
            assert gold
            assert other
            assert gold.isdisjoint(other)
            verb = text.split()[1]  # "Who blorps Ada Brandt?" over the label "blorps"
            if form == "Who {v}s @?" and verb in kg.relations:
                name = text.removeprefix(f"Who {verb} ").removesuffix("?")
                triples = kg.triples[kg.triples[:, 1] == kg.relations.index(verb)].tolist()
                ids = kg.entity_ids
                assert gold == {ids[h] for h, _, t in triples if ids[t] == name}
                met += 1
    assert met
