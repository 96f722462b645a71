import numpy as np
import pytest

from jaxkg.kg import KnowledgeGraph
from jaxkg.kg.distances import Distances


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
