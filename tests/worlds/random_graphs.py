"""Small random graphs with everything that makes a real one awkward, all in one bucket.

Hubs, parallel relations between the same two nodes, self loops, nodes without an edge. All graphs
of one size have the same padded shapes, so that each function under test compiles once.
"""

import dataclasses
import functools

import numpy as np
from brute_force import Facts

NODES, EDGES, RUNS = 16, 128, 128
ENTITIES = 14  # the last two never have an edge, and two more rows are padding
INT32 = np.iinfo(np.int32)


@dataclasses.dataclass(frozen=True)
class RandomGraph:
    """Unique triples, [T, 3] int32, sorted."""

    triples: np.ndarray
    num_relations: int
    num_entities: int = ENTITIES

    @functools.cached_property
    def tensors(self):
        """The `TensorGraph` of the triples, its graph in the one bucket of all these graphs."""
        from jaxkg.tensors import edge_tables

        exact = edge_tables(self.triples, self.num_entities, self.num_relations)
        return dataclasses.replace(exact, graph=repad(exact.graph))

    @functools.cached_property
    def graph(self):
        return self.tensors.graph

    @functools.cached_property
    def facts(self) -> Facts:
        return Facts(self.triples.tolist(), self.num_relations)


def random_graph_from(seed: int, *, num_relations: int = 3) -> RandomGraph:
    """12 connected-ish nodes under 14 ids: node 0 is a hub, 12 and 13 have no edge."""
    rng = np.random.default_rng(seed)
    linked = ENTITIES - 2

    def some(count):
        return rng.integers(linked, size=count), rng.integers(num_relations, size=count)

    blocks = []
    heads, codes = some(16)
    blocks.append((heads, codes, rng.integers(linked, size=16)))
    # A hub that every relation leaves, and that is met from both sides.
    spokes, codes = some(10)
    blocks.append((np.zeros(10), np.arange(10) % num_relations, spokes))
    blocks.append((spokes[:4], codes[:4], np.zeros(4)))
    # Parallel relations.
    blocks.append((np.full(num_relations, 1), np.arange(num_relations), np.full(num_relations, 2)))
    loops, codes = some(2)
    blocks.append((loops, codes, loops))
    # Both ways round, under one relation.
    heads, codes = some(3)
    tails, _ = some(3)
    blocks += [(heads, codes, tails), (tails, codes, heads)]
    columns = [np.concatenate(column) for column in zip(*blocks)]
    triples = np.unique(np.stack(columns, axis=1).astype(np.int32), axis=0)
    return RandomGraph(triples, num_relations)


def repad(graph, *, nodes=NODES, edges=EDGES, runs=RUNS, garbage=None):
    """The same graph in a bigger bucket; `garbage` (a Generator) fills padding with any numbers."""
    import jax

    old_edges, old_runs = np.asarray(graph.tail), np.asarray(graph.run_relation)
    real_edges, real_runs = int(graph.offsets[-1]), int(graph.run_offsets[-1])
    assert nodes >= graph.num_nodes
    assert edges >= len(old_edges)
    assert runs >= len(old_runs)

    def column(values, real, size):
        padded = np.full(size, -1, np.int32)
        if garbage is not None:
            padded = garbage.integers(INT32.min, INT32.max, size, np.int32, endpoint=True)
        padded[:real] = np.asarray(values)[:real]
        return padded

    def offsets(values):
        padded = np.full(nodes + 1, values[-1], np.int32)
        padded[: len(values)] = values
        return padded

    codes = 2 * graph.num_relations
    edge_start = np.asarray(graph.edge_start)
    if len(edge_start):
        edge_start = np.pad(edge_start, (0, nodes * codes + 1 - len(edge_start)), mode="edge")
    run_start = column(graph.run_start, real_runs + 1, runs + 1)
    if garbage is None:
        run_start[real_runs:] = real_edges
    return jax.device_put(
        dataclasses.replace(
            graph,
            head=column(graph.head, real_edges, edges),
            relation=column(graph.relation, real_edges, edges),
            tail=column(graph.tail, real_edges, edges),
            offsets=offsets(np.asarray(graph.offsets)),
            run_relation=column(graph.run_relation, real_runs, runs),
            run_start=run_start,
            run_offsets=offsets(np.asarray(graph.run_offsets)),
            edge_start=edge_start,
            # Pinned, so that graphs whose busiest node has 4 to 7 runs share programs.
            lookup_steps=max(3, graph.lookup_steps),
        )
    )
