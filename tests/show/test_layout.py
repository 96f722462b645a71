import itertools

from hypothesis import given
from hypothesis import strategies as st

from jaxkg.show.svg import columns, heights, neighbours

GRAPHS = st.integers(1, 12).flatmap(
    lambda count: st.tuples(
        st.just(count),
        st.lists(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)), max_size=25),
        st.lists(st.integers(0, count - 1), min_size=1, max_size=3),
    )
)


def test_columns_follow_the_distance_from_the_roots_whichever_way_edges_point():
    assert columns(5, [(1, 0), (1, 2), (3, 2), (4, 0)], [0]) == [[0], [1, 4], [2], [3]]
    assert columns(3, [(0, 1), (1, 2)], [0, 2]) == [[0, 2], [1]]


def test_a_node_beside_no_root_starts_a_walk_of_its_own():
    assert columns(4, [(0, 1), (3, 2)], [0]) == [[0, 2], [1, 3]]


@given(GRAPHS)
def test_every_node_has_one_column_and_no_edge_skips_one(graph):
    count, edges, roots = graph
    found = columns(count, edges, roots)
    assert sorted(itertools.chain.from_iterable(found)) == list(range(count))
    column = {node: at for at, nodes in enumerate(found) for node in nodes}
    assert all(column[root] == 0 for root in roots)
    assert all(abs(column[a] - column[b]) <= 1 for a, b in edges)
    for node in range(count):
        beside = [column[other] for other in neighbours(count, edges)[node]]
        assert column[node] == 0 or column[node] - 1 in beside


@given(GRAPHS, st.lists(st.floats(1, 50), min_size=12, max_size=12), st.floats(0, 20))
def test_no_two_nodes_of_a_column_overlap(graph, sizes, gap):
    count, edges, roots = graph
    found = columns(count, edges, roots)
    y = heights(found, edges, sizes[:count], gap)
    for column in found:
        for above, below in itertools.pairwise(column):
            assert y[below] - y[above] >= (sizes[above] + sizes[below]) / 2 + gap - 1e-6
    assert abs(min(y[n] - sizes[n] / 2 for n in range(count))) < 1e-6


def crossings(found, edges):
    place = {node: (at, row) for at, nodes in enumerate(found) for row, node in enumerate(nodes)}
    drawn = [sorted((place[a], place[b])) for a, b in edges]
    return sum(
        a[0] == c[0] and b[0] == d[0] and (a[1] - c[1]) * (b[1] - d[1]) < 0
        for (a, b), (c, d) in itertools.combinations(drawn, 2)
    )


def test_crossings_that_need_not_be_are_undone():
    # In the order in which nodes are found, one edge would cross another.
    shared = [(0, 1), (0, 2), (0, 3), (1, 4), (3, 4), (2, 5)]
    assert crossings(columns(6, shared, [0]), shared) == 0
    # Two stars whose leaves come interleaved, and a ladder that comes upside down.
    stars = [(0, 1), (0, 2), (1, 3), (2, 4), (1, 5), (2, 6)]
    assert crossings(columns(7, stars, [0]), stars) == 0
    ladder = [(0, 1), (0, 2), (0, 3), (1, 6), (2, 5), (3, 4), (4, 7), (5, 8), (6, 9)]
    assert crossings(columns(10, ladder, [0]), ladder) == 0


def test_a_node_stands_level_with_what_it_is_joined_to():
    edges = [(0, 1), (0, 2), (1, 3), (2, 4)]
    y = heights(columns(5, edges, [0]), edges, [10.0] * 5, 10.0)
    assert y[1] == y[3]
    assert y[2] == y[4]
    assert y[0] == (y[1] + y[2]) / 2
