"""Path sums by listing every walk, in plain Python over any numbers (floats or traced arrays)."""

from collections.abc import Callable, Collection, Sequence


def all_walks(
    edges: Sequence[tuple[int, int, int]],
    topics: Collection[int],
    hops: int,
    revisit: str = "topic",
) -> list[list[int]]:
    """Every walk of 1 to `hops` edges from a topic, as edge numbers.

    Under "topic" no walk enters a topic; under "any" all are there.
    """
    barred = set(topics) if revisit == "topic" else set()
    grown: list[tuple[int, list[int]]] = [(topic, []) for topic in topics]
    found = []
    for _ in range(hops):
        grown = [
            (tail, [*walk, number])
            for node, walk in grown
            for number, (head, _, tail) in enumerate(edges)
            if head == node and tail not in barred
        ]
        found += [walk for _, walk in grown]
    return found


def enumerated_sums(
    edges: Sequence[tuple[int, int, int]],
    walks: Sequence[Sequence[int]],
    weight: Callable,
    length: Callable,
    cost: Callable,
) -> dict[int, tuple]:
    """For every entity reached: the summed weight of its walks, and their weighted summed costs.

    Args:
        edges: (head, code, tail).
        walks: edge numbers.
        weight: of (hop from 0, code); length: of a number of edges; cost: of an edge number.
    """
    sums: dict[int, tuple] = {}
    for walk in walks:
        product = length(len(walk))
        total = 0.0
        for hop, number in enumerate(walk):
            product = product * weight(hop, edges[number][1])
            total = total + cost(number)
        end = edges[walk[-1]][2]
        mass, costs = sums.get(end, (0.0, 0.0))
        sums[end] = (mass + product, costs + product * total)
    return sums
