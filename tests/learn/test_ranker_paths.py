from jaxkg.learn.ranker_paths import surrounding_paths


def around(graph, topics):
    """Relation paths by a plain walk, either way along every edge."""
    beside = {}
    for h, r, t in graph.triples.tolist():
        beside.setdefault(h, set()).add((r, t))
        beside.setdefault(t, set()).add((r, h))
    found = set()
    for topic in topics:
        for first, node in beside.get(topic, ()):
            found.add((first, -1))
            found |= {(first, second) for second, _ in beside[node]}
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
        assert [tuple(p) for p in short.of(0).tolist()] == [
            path for path in around(graph, [0]) if path[1] == -1
        ]


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
