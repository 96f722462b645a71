import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jaxkg.errors import JaxkgError
from jaxkg.score import hdc

PATHS = np.array(
    [[0, 1, 2], [0, 1, 3], [0, -1, -1], [3, 3, 3], [0, 1, 2], [-1, -1, -1], [3, 3, -1], [2, 0, 1]]
)


def walk(trie, index):
    """Relations from the root to where path `index` ends."""
    starts = np.cumsum([1, *(len(level) for level in trie.parent)])
    node, path = int(trie.node[index]), []
    if node == 0:
        return path
    level = int(np.searchsorted(starts, node, side="right")) - 1
    local = node - starts[level]
    while level >= 0:
        path.append(int(trie.relation[level][local]))
        local = int(trie.parent[level][local])
        level -= 1
    return path[::-1]


def test_each_prefix_is_one_node():
    trie = hdc.build_trie(PATHS)
    assert [len(level) for level in trie.parent] == [3, 3, 4]
    assert trie.node[0] == trie.node[4]
    for index, path in enumerate(PATHS):
        assert walk(trie, index) == [r for r in path if r >= 0]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 3), max_size=4), max_size=30),
    st.sampled_from([None, lambda n: max(8, n)]),
)
def test_round_trip(paths, bucket):
    padded = np.full((len(paths), 4), -1, np.int32)
    for row, path in zip(padded, paths):
        row[: len(path)] = path
    trie = hdc.build_trie(padded, bucket=bucket)
    assert [walk(trie, i) for i in range(len(paths))] == paths
    if bucket is None:
        for n, level in enumerate(trie.parent):
            assert len(level) == len({tuple(p[: n + 1]) for p in paths if len(p) > n})
    else:
        assert all(len(level) >= 8 for level in trie.parent)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ghrr-haar", "bipolar", "real", "hrr"])
def test_encode_trie_equals_encode_paths(name):
    a = hdc.operator(name, 64)
    table = a.random((4,), key=jax.random.key(0))
    trie = hdc.build_trie(PATHS, bucket=lambda n: n + 3)
    got = jax.jit(hdc.encode_trie, static_argnums=0)(a, table, trie)
    expected = hdc.encode_paths(a, table, jnp.asarray(PATHS))
    np.testing.assert_allclose(jax.vmap(a.flatten)(got), jax.vmap(a.flatten)(expected), atol=1e-5)


def test_bad_input_is_told():
    with pytest.raises(JaxkgError, match="path 1 has a relation after a NULL"):
        hdc.build_trie(np.array([[0, 1], [-1, 2]]))
    with pytest.raises(JaxkgError, match="integer"):
        hdc.build_trie(np.array([[0.5, 1]]))
