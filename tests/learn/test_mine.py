import brute_force
import numpy as np
import pytest
from programs import random_topics

from jaxkg.learn import mine
from jaxkg.learn.mine import follow_counts, mine_paths, targets_table, walk_counts
from jaxkg.tensors import Capacities

HOPS, EVERY, ROWS, LONG = 2, 64, 12, 2


def questions_of(rng, world, rows=ROWS):
    topics = random_topics(rng, rows, most=2)
    targets = []
    for nodes in topics:
        paths = list(brute_force.relation_paths(world.facts, nodes, HOPS).values())
        some = set(rng.choice(14, 2).tolist())
        targets.append(sorted(some | paths[rng.integers(len(paths))] if paths else some))
    return topics, targets


def expected_of(world, nodes, goal):
    """Exact F1 of every path that the enumeration proposes; the path of it.

    What is proposed skips long runs past the first hop.
    """
    exact, proposed = {}, {}
    for path, reached in brute_force.relation_paths(world.facts, nodes, HOPS, longest=LONG).items():
        whole = brute_force.answers(world.facts, nodes, [{code} for code in path], "topic")
        scores = (np.float32(brute_force.f1(some, goal)) for some in (whole, reached))
        exact[path], proposed[path] = map(float, scores)
    kept = {path: f1 for path, f1 in exact.items() if f1 > 0 and proposed[path] > 0}
    return kept, {path: proposed[path] for path in kept}


def mined_of(mined, row):
    codes = [tuple(c for c in path if c != -1) for path in mined.relations[row].tolist()]
    f1 = mined.f1[row].tolist()
    kept = [(path, score) for path, score in zip(codes, f1) if path]
    assert [bool(path) for path in codes] == [score > 0 for score in f1]
    assert list(zip(codes, f1))[: len(kept)] == kept
    order = [(-score, len(path)) for path, score in kept]
    assert order == sorted(order)
    return kept


def test_every_path_with_the_f1_of_its_execution(random_graph, rng):
    world = random_graph(1)
    topics, targets = questions_of(rng, world)
    told = []
    mined = mine_paths(
        world.tensors,
        topics,
        targets,
        hops=HOPS,
        keep=EVERY,
        fan_out=LONG,
        batch_size=8,
        on_progress=lambda done, total: told.append((done, total)),
    )
    assert mined.incomplete == 0
    corrected = 0
    for row in range(ROWS):
        exact, proposed = expected_of(world, topics[row], targets[row])
        got = mined_of(mined, row)
        assert dict(got) == exact
        assert len(got) == len(exact)
        corrected += exact != proposed
    assert corrected > 0
    assert told[:2] == [(8, 2 * ROWS), (ROWS, 2 * ROWS)]
    assert told == sorted(told)
    assert ROWS < told[-1][0] <= 2 * ROWS


@pytest.mark.slow
@pytest.mark.parametrize("too_small", ["enumeration", "execution"])
def test_what_outgrows_the_largest_bucket_is_counted(random_graph, monkeypatch, too_small):
    world = random_graph(0)
    hub_codes = [c for c in range(6) if len(world.facts.tails(0, c)) > 1]
    topics = [[0], [1], [0]]
    targets = [sorted(set(world.facts.tails(0, hub_codes[0])) - {0}), [2], [2, 3]]

    passes = iter(("enumeration", "execution"))

    def small(slots, close):
        # Either pass sizes its slots itself, up to the limit.
        return Capacities(slots=slots, limit=4 if next(passes) == too_small else 1 << 20)

    monkeypatch.setattr(mine, "Capacities", small)
    mined = mine_paths(world.tensors, topics, targets, hops=HOPS, fan_out=LONG)
    assert mined.incomplete >= 2
    for row, nodes in enumerate(topics):
        exact, _ = expected_of(world, nodes, targets[row])
        assert all(exact[path] == f1 for path, f1 in mined_of(mined, row))


def test_questions_without_topic_or_target_have_no_path(random_graph):
    world = random_graph(0)
    mined = mine_paths(world.tensors, [[], [0], [13]], [[1], [], [0]], hops=HOPS)
    assert not mined.f1.any()
    assert (mined.relations == -1).all()
    assert mined.incomplete == 0


@pytest.mark.parametrize("fan_out", [1, 2, 99])
def test_walks_are_counted_run_by_run(random_graph, rng, fan_out):
    world = random_graph(4)
    topics = random_topics(rng, 6, most=2)
    targets = random_topics(rng, 6, most=2)
    enter = [{c for t in some for c in range(6) if len(world.facts.tails(t, (c + 3) % 6))}
             for some in targets]  # fmt: skip
    nodes, expected = [(row, node) for row, some in enumerate(topics) for node in some], []
    for hop in range(3):
        runs = [(row, c, world.facts.tails(n, c)) for row, n in nodes for c in range(6)]
        runs = [run for run in runs if len(run[2])]
        walked = [run for run in runs if hop == 0 or len(run[2]) <= fan_out]
        walked = [run for run in walked if hop < 2 or run[1] in enter[run[0]]]
        nodes = [(row, node) for row, _, tails in walked for node in tails]
        expected += [len(runs), len(nodes)]
    assert walk_counts(world.tensors, topics, targets, hops=3, fan_out=fan_out) == expected


def test_many_walks_are_counted_by_a_sample(random_graph, monkeypatch):
    world = random_graph(4)
    topics = [[n] for n in range(12)] * 8
    targets = [[n] for n in range(12)] * 8
    true = walk_counts(world.tensors, topics, targets, hops=3, fan_out=99)
    monkeypatch.setattr(mine, "_SAMPLED_WALKS", 200)
    sampled = walk_counts(world.tensors, topics, targets, hops=3, fan_out=99)
    assert sampled[:2] == true[:2]
    assert sampled != true
    np.testing.assert_allclose(sampled, true, rtol=0.3)
    assert walk_counts(world.tensors, [], [], hops=2, fan_out=9) == [0, 0, 0, 0]


def test_targets_are_distinct_sorted_and_padded():
    table = targets_table([[5, 2, 5], [], [7]], num_rows=8, slots=9)
    assert len(table.row) == len(table.node) == 16
    assert table.row.tolist() == [0, 0, 2] + [-1] * 13
    assert table.node.tolist() == [2, 5, 7] + [-1] * 13
    assert table.size.tolist() == [2, 0, 1, 0, 0, 0, 0, 0]
    assert {part.dtype for part in table} == {np.dtype(np.int32)}


def test_followed_edges_are_counted_as_followed(random_graph, rng):
    world = random_graph(4)
    topics = random_topics(rng, 12, most=2)
    paths = rng.integers(-1, 6, (12, 3)).astype(np.int32)
    paths[:, 1] = np.where(paths[:, 0] == -1, -1, paths[:, 1])
    paths[:, 2] = np.where(paths[:, 1] == -1, -1, paths[:, 2])
    counts = [0, 0, 0]
    for some, path in zip(topics, paths.tolist(), strict=True):
        nodes = set(some)
        for hop, code in enumerate(path):
            tails = [] if code == -1 else [world.facts.tails(n, code) for n in nodes]
            counts[hop] += sum(map(len, tails))
            nodes = {tail for each in tails for tail in each}
    assert follow_counts(world.tensors, topics, paths) == counts
    assert min(counts) > 0


@pytest.mark.slow
def test_few_programs_mine_a_list_whose_parts_differ(random_graph, monkeypatch):
    monkeypatch.setattr(mine, "_LEAST_SLOTS", 8)
    world = random_graph(4)
    edges = [sum(len(world.facts.tails(node, code)) for code in range(6)) for node in range(12)]
    topics = [[int(np.argmin(edges))]] * 256 + [[int(np.argmax(edges))]] * 256
    assert max(edges) > 2 * min(edges)
    before = mine._propose._cache_size(), mine._execute_f1._cache_size()
    mined = mine_paths(world.tensors, topics, [[0], [1]] * 256, hops=HOPS, batch_size=64)
    assert mined.incomplete == 0
    assert (mine._propose._cache_size(), mine._execute_f1._cache_size()) == tuple(
        programs + 1 for programs in before
    )
