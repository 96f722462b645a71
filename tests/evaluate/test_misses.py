import pytest

from jaxkg.evaluate.misses import breakdown, retrieval
from jaxkg.kg import KnowledgeGraph
from jaxkg.kg.distances import Distances

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
