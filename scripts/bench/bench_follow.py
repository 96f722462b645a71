"""Throughput of relation-path execution beside a dict-of-sets and a scipy.sparse executor.

All executors run the gold plans of the same MetaQA questions under the same rule (the topic is
dropped after every hop) and must agree with the gold answers. The two references give answer sets
only; jaxkg is timed without (a) and with (b) one witness path for every answer. Two minutes.

    python scripts/bench/bench_follow.py --hops 3
"""

from __future__ import annotations

import functools
import os
import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy.sparse

from jaxkg.candidates import answers, fit, follow, start
from jaxkg.kg import KnowledgeGraph
from jaxkg.search.plans import execute_batch
from jaxkg.tensors import Capacities, TensorGraph, pad, stream

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.record import Record, arguments, numbers
from lib.seconds import Fastest, fastest
from lib.sets import sets


def dict_of_sets(kg: KnowledgeGraph, topics: np.ndarray, paths: list[tuple[int, ...]]):
    """The plain Python executor: sets of neighbours by (node, relation code)."""
    neighbours: dict[tuple[int, int], list[int]] = defaultdict(list)
    for head, relation, tail in kg.triples.tolist():
        neighbours[head, relation].append(tail)
        neighbours[tail, relation + kg.num_relations].append(head)
    neighbours = dict(neighbours)

    def run() -> list[set[int]]:
        found = []
        for topic, path in zip(topics.tolist(), paths):
            frontier = {topic}
            for code in path:
                frontier = {
                    tail for node in frontier for tail in neighbours.get((node, code), ())
                } - {topic}
            found.append(frontier)
        return found

    return run


def sparse_products(
    kg: KnowledgeGraph, topics: np.ndarray, paths: list[tuple[int, ...]], *, in_place: bool
):
    """Questions grouped by plan, one row each, times one adjacency matrix per hop.

    The topic of each row is dropped by sparse algebra, or in place: the entries are set to 0 and
    removed, which is several times faster.
    """
    shape = (kg.num_entities, kg.num_entities)
    matrices = {}
    for code in range(2 * kg.num_relations):
        rows = kg.triples[kg.triples[:, 1] == code % kg.num_relations]
        ends = (rows[:, 0], rows[:, 2]) if code < kg.num_relations else (rows[:, 2], rows[:, 0])
        ones = np.ones(len(rows), np.int32)
        matrices[code] = scipy.sparse.csr_matrix((ones, ends), shape=shape)
    groups = defaultdict(list)
    for index, path in enumerate(paths):
        groups[path].append(index)

    def run() -> list[tuple[list[int], scipy.sparse.csr_matrix]]:
        found = []
        for path, members in groups.items():
            size = len(members)
            who = np.arange(size)
            asked = scipy.sparse.csr_matrix(
                (np.ones(size, np.int32), (who, topics[members])), shape=(size, shape[1])
            )
            frontier = asked
            for code in path:
                frontier = frontier @ matrices[code]
                if not in_place:
                    frontier = (frontier - frontier.multiply(asked)).sign()
                    frontier.eliminate_zeros()
                    continue
                counts = np.diff(frontier.indptr)
                frontier.data[frontier.indices == np.repeat(topics[members], counts)] = 0
                frontier.eliminate_zeros()
                frontier.data[:] = 1
            found.append((members, frontier))
        return found

    return run


def sets_of_sparse(found, count: int) -> list[set[int]]:
    sets: list[set[int]] = [set()] * count
    for members, frontier in found:
        for row, index in enumerate(members):
            sets[index] = set(
                frontier.indices[frontier.indptr[row] : frontier.indptr[row + 1]].tolist()
            )
    return sets


@functools.partial(jax.jit, static_argnames=("capacities",))
def answers_alone(graph, row, node, relations, *, capacities):
    """Rows and nodes of all answers, without back-pointers."""
    trail = follow(graph, start(row, node), relations, capacities=capacities)
    masks = answers(trail, relations)
    columns = (
        jnp.concatenate([frontier.row for frontier in trail[1:]]),
        jnp.concatenate([frontier.node for frontier in trail[1:]]),
        jnp.concatenate(masks[1:]),
    )
    return fit(columns, trail)


def flat_frontiers(
    tensors: TensorGraph, topics: np.ndarray, table: np.ndarray, *, batch: int, witnesses: bool
):
    """jaxkg, in batches; the result on the host is part of the time."""
    capacities = Capacities(slots=(batch,) * table.shape[1], close=True)

    def dispatch(indices: np.ndarray, slots: tuple[int, ...]):
        row, node = np.arange(batch, dtype=np.int32), pad(topics[indices], batch)
        relations = pad(table[indices], batch)[:, :, None]
        if witnesses:
            return execute_batch(
                tensors.graph, row, node, relations, capacities=slots, revisit="topic"
            )
        return answers_alone(tensors.graph, row, node, relations, capacities=slots)

    def run():
        return [
            (indices, found.value)
            for indices, found, _ in stream(len(topics), batch, dispatch, capacities)
        ]

    return run


def sets_of_flat(parts, count: int, *, witnesses: bool) -> list[set[int]]:
    sets: list[set[int]] = [set() for _ in range(count)]
    for indices, found in parts:
        row, node, valid = (found.row, found.node, found.valid) if witnesses else found
        for r, n in zip(row[valid].tolist(), node[valid].tolist()):
            sets[int(indices[0]) + r].add(n)
    return sets


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__, seed=False)
    parser.add_argument("--hops", type=int, default=3, choices=(1, 2, 3))
    numbers(parser, batch=1024, repeats=5)
    options = parser.parse_args(argv)
    record, world = Record(__file__, options), sets("metaqa", options.data)
    kg, questions = world.kg, world.questions(f"metaqa-{options.hops}")
    topics = np.array([kg.entity(question.topics[0]) for question in questions], np.int32)
    paths = [tuple(kg.relation_code(r) for r in question.paths[0]) for question in questions]
    codes = np.array(paths, np.int32)
    count = len(questions)

    runs: dict[str, tuple[Callable[[], Any], Callable[[Any], list[set[int]]]]] = {
        "dict of sets": (dict_of_sets(kg, topics, paths), lambda found: found),
    }
    for name, in_place in (("by sparse algebra", False), ("in place", True)):
        runs[f"scipy.sparse, topic dropped {name}"] = (
            sparse_products(kg, topics, paths, in_place=in_place),
            lambda found: sets_of_sparse(found, count),
        )
    for name, witnesses in (("answers alone", False), ("with a witness each", True)):
        run = flat_frontiers(world.tensors, topics, codes, batch=options.batch, witnesses=witnesses)
        runs[f"jaxkg follow, {name}"] = (
            run,
            lambda found, w=witnesses: sets_of_flat(found, count, witnesses=w),
        )

    record.note(
        f"{count:,} gold {options.hops}-hop plans, best of {options.repeats} rounds in which the "
        "executors take turns; ratios are of CPU seconds, scipy uses one core; load average "
        f"{os.getloadavg()[0]:.0f}"
    )
    against = ("x dict of sets", "x scipy.sparse", "x scipy.sparse in place")
    table = record.table("executor", "questions/s", "questions/CPU-s", "agree", *against)
    best: dict[str, Fastest] = {}
    for turn in range(options.repeats):
        for name, (run, _) in runs.items():
            now = fastest(run, repeats=1, warm=turn == 0)
            before = best.get(name, now)
            best[name] = Fastest(
                min(now.seconds, before.seconds), min(now.cpu, before.cpu), now.result
            )
    reference: list[set[int]] = []
    for name, (_, as_sets) in runs.items():
        found = as_sets(best[name].result)
        reference = reference or found
        agree = sum(a == b for a, b in zip(found, reference))
        ratios = [best[other].cpu / best[name].cpu for other in list(runs)[:3]]
        speeds = (count / best[name].seconds, count / best[name].cpu)
        table.add(name, *speeds, f"{agree:,}/{count:,}", *ratios)
    record.save()


if __name__ == "__main__":
    main()
