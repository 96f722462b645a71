"""Small random hypergraphs with everything that makes a real one awkward, all in one bucket.

A hub in nearly every hyperedge, arity 1 to 6, twins over the same entities, an entity in none.
"""

import dataclasses
import functools

import numpy as np

NODES, EDGES, MEMBERS = 16, 24, 128
ENTITIES, DIM, ROWS = 13, 4, 4


@dataclasses.dataclass(frozen=True)
class RandomHypergraph:
    """Hyperedges as sorted tuples of nodes; vectors whose products are exact in float32."""

    edges: tuple[tuple[int, ...], ...]
    question: np.ndarray  # [ROWS, DIM]
    entity: np.ndarray  # [NODES, DIM]
    edge: np.ndarray  # [EDGES, DIM]
    topics: tuple[tuple[int, ...], ...]
    targets: tuple[tuple[int, ...], ...]

    def incident(self, node):
        return [number for number, edge in enumerate(self.edges) if node in edge]

    @functools.cached_property
    def tensors(self):
        import jax

        from jaxkg.tensors import pad
        from jaxkg.tensors.hypergraph import hyperedge_tables

        pairs = [(number, node) for number, edge in enumerate(self.edges) for node in edge]
        owner, node = np.asarray(pairs).T
        exact = hyperedge_tables(owner, node, EDGES, ENTITIES).graph
        nodes = np.full(NODES + 1, len(pairs), np.int32)
        nodes[: ENTITIES + 1] = exact.incident_offsets[: ENTITIES + 1]
        count = len(pairs)
        return jax.device_put(
            dataclasses.replace(
                exact,
                member_offsets=exact.member_offsets[: EDGES + 1],
                member=pad(np.asarray(exact.member)[:count], MEMBERS),
                incident=pad(np.asarray(exact.incident)[:count], MEMBERS),
                incident_offsets=nodes,
            )
        )

    def columns(self):
        """node_row, node, edge_row, edge, bonus, in fixed sizes."""
        import jax

        def flat(lists, size):
            pairs = [(row, item) for row, items in enumerate(lists) for item in sorted(items)]
            row, item = np.full(size, ROWS - 1, np.int32), np.full(size, -1, np.int32)
            for slot, (r, i) in enumerate(pairs):
                row[slot], item[slot] = r, i
            return row, item

        return jax.device_put((*flat(self.topics, 8), *flat(self.targets, 8), np.zeros(8, "f4")))


def random_hypergraph_from(seed: int) -> RandomHypergraph:
    rng = np.random.default_rng(seed)
    linked = ENTITIES - 1
    edges = []
    for number in range(EDGES - 2):
        some = set(rng.choice(linked, rng.integers(1, 7), replace=False).tolist())
        if number % 3:
            some = set(sorted(some)[:5]) | {0}
        edges.append(tuple(sorted(some)))
    edges += [edges[0], edges[1]]

    def vectors(count):
        return (rng.integers(-1, 4, (count, DIM)) / 4).astype(np.float32)

    def lists(high):
        return tuple(
            tuple(sorted(rng.choice(high, rng.integers(0, 3), replace=False).tolist()))
            for _ in range(ROWS)
        )

    question = vectors(ROWS)
    return RandomHypergraph(
        tuple(edges), question, vectors(NODES), vectors(EDGES), lists(linked), lists(EDGES)
    )
