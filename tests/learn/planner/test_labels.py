import itertools

import jax
import numpy as np
import pytest

from jaxkg.kg import KnowledgeGraph
from jaxkg.learn.planner.labels import planner_from_labels, sample_relation_paths, wordings
from jaxkg.learn.planner.train import PlannerConfig, mined_log_probabilities
from jaxkg.tensors import tensor_graph
from jaxkg.words import TOPIC_WORD

mined = jax.jit(mined_log_probabilities)
FACTS = [
    ("Heat", "directed_by", "Mann"),
    ("Ali", "directed_by", "Mann"),
    ("Mann", "bornIn", "Chicago"),
    ("Lone", "next_to", "Lonely"),
]


@pytest.fixture(scope="module")
def world():
    kg = KnowledgeGraph.from_triples(FACTS)
    return kg, tensor_graph(kg)


def names(kg, paths):
    return {tuple(kg.relation_name(code) for code in path) for path in paths}


def test_every_relation_both_ways_and_the_longer_paths_that_exist(world):
    kg, tensors = world
    paths = sample_relation_paths(kg, tensors, hops=2, most=50, seed=0)
    assert len(paths) == len(set(paths))
    assert names(kg, paths) == {
        ("directed_by",),
        ("^directed_by",),
        ("bornIn",),
        ("^bornIn",),
        ("next_to",),
        ("^next_to",),
        ("directed_by", "bornIn"),
        ("^bornIn", "^directed_by"),
        # From one film of Mann to the other, never back along the same triple.
        ("directed_by", "^directed_by"),
    }
    longer = names(kg, sample_relation_paths(kg, tensors, hops=3, most=50, seed=0))
    assert ("^bornIn", "^directed_by", "directed_by") not in longer
    assert ("directed_by", "^directed_by") in longer
    assert max(map(len, longer)) <= 3


def test_wordings_say_the_path_in_the_relations_words():
    relations = ("directed_by", "bornIn")
    draw = np.random.default_rng(0)
    said = wordings([0, 1], relations, count=10, draw=draw)
    assert len(said) == len(set(said)) == 10
    for text in said:
        assert text.count(TOPIC_WORD) == 1
        assert "directed" in text
        assert "born" in text
        # The first hop is the inner phrase: the second is not said between it and the topic.
        first, last = sorted((text.index("directed"), text.index(TOPIC_WORD)))
        assert "born" not in text[first:last]
    forward, inverse = (set(wordings([c], relations, count=99, draw=draw)) for c in (0, 2))
    assert forward
    assert inverse
    assert forward.isdisjoint(inverse)
    assert wordings([0], ("of",), count=1, draw=draw)[0].count("of") >= 1


@pytest.mark.slow
@pytest.mark.usefixtures("standard_promotion")
def test_a_planner_that_understands_the_relations_words(world):
    kg, tensors = world
    told = []
    planner = planner_from_labels(
        kg,
        tensors,
        config=PlannerConfig(hops=2, width=32, epochs=20, learning_rate=0.02),
        most=20,
        on_progress=lambda *step: told.append(step),
    )
    assert planner.about["labels_only"] is True
    assert planner.about["wordings"] > 100
    assert planner.about["held_out_f1"] > 0.5
    assert planner.relations == kg.relations
    assert told[-1] == ("learn relation labels", 20, 20)
    codes = [p for n in (1, 2) for p in itertools.product(range(6), repeat=n)]
    table = np.asarray([[*p, *[-1] * (2 - len(p))] for p in codes], np.int32)
    for text, meant in (
        (f"what is the directed by of {TOPIC_WORD}", ("directed_by",)),
        (f"what was directed by {TOPIC_WORD}", ("^directed_by",)),
        (f"what is the born in of the directed by of {TOPIC_WORD}", ("directed_by", "bornIn")),
    ):
        scores = mined(planner.params, planner.label_ngrams(), planner.ngrams([text]), table[None])
        best = codes[int(np.argmax(scores[0]))]
        assert tuple(kg.relation_name(code) for code in best) == meant


def test_names_of_several_parts_are_said_whole_or_by_their_last():
    draw = np.random.default_rng(0)
    said = wordings([0], ["__film__film__genre"], count=40, draw=draw)
    assert any("film film genre" in text for text in said)
    assert any("film" not in text and "genre" in text for text in said)
    assert not any("film genre" in text and "film film genre" not in text for text in said)
    whole = wordings([0], ["directed_by"], count=40, draw=draw)
    assert all("directed" in text for text in whole)
