import functools

import jax
import numpy as np

from jaxkg.candidates.nearest import near_pairs, nearest
from jaxkg.systems.proh.synonyms import near_names, with_synonyms

_nearest = functools.partial(jax.jit, static_argnames=("k", "block"))(nearest)
_pairs = functools.partial(jax.jit, static_argnames=("threshold", "capacities"))(near_pairs)


def vectors(rng, count, dim=4):
    """Products of these are exact, and many are equal."""
    return (rng.integers(-2, 3, (count, dim)) / 2).astype(np.float32)


def test_the_nearest_rows_are_those_of_a_full_sort():
    rng = np.random.default_rng(0)
    queries, table = vectors(rng, 5), vectors(rng, 23)
    table[[3, 11]] = 0
    row, score = jax.device_get(_nearest(queries, table, k=6, block=8))
    full = queries @ table.T
    full[:, [i for i in range(23) if not table[i].any()]] = -np.inf
    order = np.argsort(-full, axis=1, kind="stable")[:, :6]
    np.testing.assert_array_equal(row, order)
    np.testing.assert_array_equal(score, np.take_along_axis(full, order, 1))
    few, _ = jax.device_get(_nearest(queries, table[:5], k=6, block=8))
    assert (few == -1).sum(axis=1).tolist() == [6 - np.any(table[:5], axis=1).sum()] * 5


def test_pairs_are_those_of_the_full_product():
    rng = np.random.default_rng(1)
    one, other = vectors(rng, 128), vectors(rng, 30)
    found = jax.device_get(_pairs(one, other, threshold=2.75, capacities=(64, 512)))
    assert not found.overflow
    there = found.first >= 0
    product = one @ other.T
    pairs = np.stack([found.first[there], found.second[there]], 1)
    order = np.lexsort((pairs[:, 0], pairs[:, 1], pairs[:, 0] // 64))
    np.testing.assert_array_equal(order, np.arange(len(pairs)))
    wanted = np.argwhere(product >= 2.75)
    np.testing.assert_array_equal(pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))], wanted)
    np.testing.assert_array_equal(found.cosine[there], product[tuple(pairs.T)])
    tight = jax.device_get(_pairs(one, other, threshold=2.75, capacities=(64, 8)))
    assert tight.overflow
    assert tight.needed[1] == len(wanted) > 8


def test_blocks_and_reruns_find_every_pair_once():
    rng = np.random.default_rng(2)
    table = vectors(rng, 150)
    pairs, cosine = near_names(table, threshold=1.0, block_rows=64)
    full = table @ table.T
    wanted = np.argwhere(np.triu(full, 1) >= 1.0)
    assert len(wanted) > 1024, "no rerun was needed"
    np.testing.assert_array_equal(pairs, wanted)
    np.testing.assert_array_equal(cosine, full[wanted[:, 0], wanted[:, 1]])


def test_synonyms_are_confirmed_by_a_stricter_threshold_or_by_a_model():
    import json

    from jaxkg.adjudicate import Scripted
    from jaxkg.kg.hypergraph.graph import Hyperedge, KnowledgeHypergraph

    graph = KnowledgeHypergraph.from_edges([Hyperedge("x", ("a", "b", "c", "d"))])
    table = np.asarray([[1, 0], [0.8, 0.6], [0.96, 0.28], [0, 1]], np.float32)

    def groups(**options):
        found = with_synonyms(graph, lambda names: table, threshold=0.75, **options)
        return [found.hyperedge(e).entities for e in found.rows_of_kind("synonym").tolist()]

    assert groups() == [("a", "b", "c")]
    told = []
    assert groups(largest=2, on_left_out=told.append) == []
    assert told == [
        "1 groups of more than 2 near names are left out, the largest of 3: raise the threshold"
    ]
    assert groups(confirm=0.95) == [("a", "c")]
    model = Scripted(lambda request: json.dumps({"groups": [[1, 2], [3], [9, 1]]}))
    assert groups(confirm=model) == [("a", "b")]
    assert "1. a" in model.requests[0].messages[1].content
    assert groups(confirm=Scripted(lambda request: "?")) == []
