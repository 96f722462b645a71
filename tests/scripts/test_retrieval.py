import math

import numpy as np
import pytest
from lib.retrieval import Distances, breakdown, retrieval, retrieval_similarity

from jaxkg.kg import KnowledgeGraph


@pytest.mark.parametrize("seed", range(5))
def test_distances_are_those_of_floyd_and_warshall(seed):
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, 12, (11, 2))
    kg = KnowledgeGraph.from_triples([(f"n{a}", "r", f"n{b}") for a, b in pairs.tolist()])
    count = kg.num_entities
    table = np.where(np.eye(count, dtype=bool), 0, np.inf)
    for head, _, tail in kg.triples.tolist():
        table[head, tail] = table[tail, head] = min(1, table[head, tail])
    for middle in range(count):
        table = np.minimum(table, table[:, middle, None] + table[None, middle])
    far = Distances(kg)
    for _ in range(20):
        sources, targets = (rng.choice(count, 2, replace=False).tolist() for _ in range(2))
        expected = table[np.ix_(sources, targets)].min()
        assert far.hops(sources, targets) == (None if np.isinf(expected) else expected)


def test_nothing_is_not_reached():
    far = Distances(KnowledgeGraph.from_triples([("a", "r", "b")]))
    assert far.hops([], [0]) is None
    assert far.hops([0], []) is None
    assert far.hops([0], [1]) == 1


# a - b - c - d in a row, e - f apart.
KG = KnowledgeGraph.from_triples(
    [("a", "r", "b"), ("c", "r", "b"), ("c", "r", "d"), ("e", "r", "f")]
)
FAR = Distances(KG)


def rows(names):
    return [KG.entity(name) for name in names]


@pytest.mark.parametrize(
    ("topics", "gold", "extracted", "expected"),
    [
        ("a", "c", "bc", "retrieved"),
        ("a", "cd", "d", "retrieved"),
        ("a", "c", "b", "misdirection"),
        ("a", "d", "b", "depth limit"),
        ("a", "cd", "", "misdirection"),
        ("ac", "d", "b", "misdirection"),
        ("a", "f", "b", "path absent"),
        ("a", "", "b", "path absent"),
        ("", "a", "", "path absent"),
    ],
)
def test_what_became_of_a_retrieval(topics, gold, extracted, expected):
    found = retrieval(FAR, rows(topics), rows(gold), rows(extracted), limit=2)
    assert found == expected


def test_shares_are_of_the_misses():
    kinds = ["retrieved"] * 6 + ["misdirection"] * 3 + ["path absent"]
    assert breakdown(kinds) == {
        "retrieval_rate": 0.6,
        "path absent": 0.25,
        "depth limit": 0.0,
        "misdirection": 0.75,
    }
    assert breakdown([])["retrieval_rate"] == 0
    assert breakdown(["retrieved"])["misdirection"] == 0


def test_retrieval_similarity_is_the_cosine_of_the_two_sets_means():
    vectors = {"a": [1.0, 0.0], "b": [0.0, 1.0], "c": [0.6, 0.8]}

    def encode(texts):
        return np.array([vectors[text] for text in texts])

    assert retrieval_similarity(encode, ["a"], ["c"]) == pytest.approx(0.6)
    assert retrieval_similarity(encode, ["a", "b"], ["c"]) == pytest.approx(1.4 / 2**0.5)
    assert retrieval_similarity(encode, [], ["c"]) == 0
    assert math.isnan(retrieval_similarity(encode, ["a"], []))
