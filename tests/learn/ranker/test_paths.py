from jaxkg.learn.ranker.paths import surrounding_paths


def around(graph, topics, *, hops=2, directed=False):
    """Relation paths by a plain walk, either way along every edge."""
    beside = {}
    for h, r, t in graph.triples.tolist():
        beside.setdefault(h, set()).add((r, t))
        beside.setdefault(t, set()).add((r + directed * graph.tensors.graph.num_relations, h))
    found, level = set(), {((), topic) for topic in topics}
    for _ in range(hops):
        level = {((*path, r), to) for path, node in level for r, to in beside.get(node, ())}
        found |= {path + (-1,) * (hops - len(path)) for path, _ in level}
    return sorted(found)


def test_paths_equal_a_plain_walk(random_graph):
    for seed in range(4):
        graph = random_graph(seed)
        topics = [[0], [3, 4], [], [13], [1, 1], [2]]
        table = surrounding_paths(graph.tensors, topics, batch_size=4)
        for row, some in enumerate(topics):
            assert [tuple(path) for path in table.of(row).tolist()] == around(graph, some)
        assert table.complete.all()
        assert table.question.tolist() == sorted(table.question.tolist())
        short = surrounding_paths(graph.tensors, topics, hops=1)
        assert [tuple(p) for p in short.of(0).tolist()] == around(graph, [0], hops=1)
        long = surrounding_paths(graph.tensors, topics, hops=3, directed=True, batch_size=4)
        for row, some in enumerate(topics):
            walked = around(graph, some, hops=3, directed=True)
            assert [tuple(path) for path in long.of(row).tolist()] == walked


def test_a_hub_is_cut_short_and_says_so(random_graph):
    graph = random_graph(1)
    table = surrounding_paths(graph.tensors, [[0], [5]], most_nodes=3)
    whole = around(graph, [0])
    found = [tuple(path) for path in table.of(0).tolist()]
    assert not table.complete[0]
    assert set(found) <= set(whole)
    # Every first step keeps at least one node, so none is lost.
    assert {path[0] for path in found} == {path[0] for path in whole}
    assert surrounding_paths(graph.tensors, []).relations.shape == (0, 2)
