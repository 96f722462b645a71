"""Execution of relation paths, all questions of a batch at once."""

import functools
from collections.abc import Callable

import chex
import jax
import jax.numpy as jnp

from jaxkg.candidates.expand import Keep, Revisit, find_run, prune, walk, widened
from jaxkg.ops import running_sum
from jaxkg.types import NULL, Fit, Frontier, Graph, Value


def follow(
    graph: Graph,
    starts: Frontier,
    relations: jax.Array,
    *,
    capacities: tuple[int, ...],
    revisit: Revisit = "topic",
    keep: Callable[[int, Frontier], jax.Array] | None = None,
) -> tuple[Frontier, ...]:
    """Execute one relation path (or sequence of relation sets) per row.

    From the nodes of a row, hop l walks every edge whose relation is among `relations[row, l]`.
    A hop that allows no relation ends the row's path: what it reached before is its result, see
    `answers`. Flat frontiers cost what the edges cost: a hub is dear only to the rows it is in.

    Args:
        graph: padded tensors.
        starts: hop 0, see `candidates.start`.
        relations: [B, L, W] int32 codes, NULL where fewer than W are allowed; the codes of one hop
            of one row are distinct.
        capacities: slots of each hop's frontier, length L; static.
        revisit: which nodes may be reached again; static.
        keep: from the hops taken before and the edges walked to [F] bool, see `expand.Keep`; None
            keeps every edge.

    Returns:
        L + 1 frontiers, hop 0 first, linked by `parent`. Where one has `overflow`, it and all later
        ones are incomplete; `needed` is exact for the first that has it.

    Reference: Shrestha and Kim, "Efficient multi-hop question answering over knowledge graphs via
    LLM planning and embedding-guided search", Algorithm 1.

    >>> from jaxkg import KnowledgeGraph, tensor_graph
    >>> from jaxkg.candidates import start
    >>> kg = KnowledgeGraph.from_triples([("Heat", "starring", "Pacino"), ("Ali", "by", "Mann")])
    >>> starts = start(jnp.asarray([0]), jnp.asarray([kg.entity("Heat")]))
    >>> path = jnp.asarray([[[kg.relation_code("starring")]]])
    >>> _, reached = follow(tensor_graph(kg).graph, starts, path, capacities=(4,))
    >>> [kg.name(int(n)) for n in reached.node[reached.valid]]
    ['Pacino']
    """
    chex.assert_rank(relations, 3)
    chex.assert_type(relations, jnp.int32)
    if len(capacities) != relations.shape[1]:
        raise ValueError(f"{relations.shape[1]} hops require as many capacities, not {capacities}")
    if keep is None and revisit != "none" and set(capacities) == {max(capacities, default=0)}:
        capacity = capacities[0]
        if starts.row.shape[0] <= capacity:
            # Hops of one size are one hop, traced and compiled once.
            def step(before: Frontier, allowed: jax.Array) -> tuple[Frontier, Frontier]:
                after = _hop(graph, before, allowed, (starts,), capacity, revisit)
                return after, after

            by_hop = relations.swapaxes(0, 1)
            _, after = jax.lax.scan(step, widened(starts, capacity), by_hop)
            return (starts, *(Frontier(*columns) for columns in zip(*after, strict=True)))
    trail = (starts,)
    for hop, capacity in enumerate(capacities):
        own = keep and functools.partial(keep, hop)
        after = _hop(graph, trail[-1], relations[:, hop], trail, capacity, revisit, own)
        trail = (*trail, after)
    return trail


def _hop(
    graph: Graph,
    before: Frontier,
    relations: jax.Array,
    earlier: tuple[Frontier, ...],
    capacity: int,
    revisit: Revisit,
    keep: Keep | None = None,
) -> Frontier:
    """One hop of `follow`, [B, W] codes being allowed; `earlier` as of `prune`."""
    allowed = relations[before.row]  # [F, W]
    node = jnp.broadcast_to(before.node[:, None], allowed.shape)
    first, count = find_run(graph, node, allowed)
    count = jnp.where(before.valid[:, None], count, 0)
    parent = jnp.repeat(jnp.arange(before.node.shape[0], dtype=jnp.int32), allowed.shape[1])
    reached = walk(graph, before, parent, first.ravel(), count.ravel(), capacity=capacity)
    return prune(reached, earlier, revisit, keep)


def fit(value: Value, trail: tuple[Frontier, ...]) -> Fit[Value]:
    """What was read from a trail, and the slots that `follow` wanted for it.

    Args:
        value: any pytree.
        trail: result of `follow` over L hops.

    Returns:
        The value with [L] int32 slots and [] bool overflow.
    """
    needed = jnp.stack([frontier.needed for frontier in trail[1:]])
    return Fit(value, needed, jnp.any(jnp.stack([frontier.overflow for frontier in trail])))


def visits(frontier: Frontier, *, num_rows: int) -> jax.Array:
    """What one hop came to, row by row.

    Args:
        frontier: after a hop.
        num_rows: static.

    Returns:
        [num_rows, 2] int32: nodes reached, each once, and edges walked, those back to where a row
        must not return too.
    """
    size = frontier.row.shape[0]
    # Slots past those walked have rows of no meaning.
    walked = jnp.arange(size, dtype=jnp.int32) < frontier.needed
    row = jnp.where(walked, frontier.row, num_rows)
    bounds = jnp.searchsorted(row, jnp.arange(num_rows + 1, dtype=jnp.int32)).astype(jnp.int32)
    nodes = jnp.pad(running_sum(frontier.valid.astype(jnp.int32)), (1, 0))
    sums = jnp.stack([nodes[bounds], bounds], axis=1)
    return sums[1:] - sums[:-1]


def path_length(relations: jax.Array) -> jax.Array:
    """Hops of each row's path: those before the first hop that allows nothing.

    Args:
        relations: [B, L, W] int32 codes.

    Returns:
        [B] int32 in [0, L].
    """
    open_hops = jnp.any(relations != NULL, axis=2)
    return jnp.sum(jnp.cumprod(open_hops.astype(jnp.int32), axis=1), axis=1, dtype=jnp.int32)


def answers(trail: tuple[Frontier, ...], relations: jax.Array) -> tuple[jax.Array, ...]:
    """Which slots of each hop are a row's result: those at the hop where its path ends.

    Args:
        trail: result of `follow`.
        relations: [B, L, W] int32 codes it was called with.

    Returns:
        L + 1 masks, [F] bool each. A path of length 0 has no result.
    """
    length = path_length(relations)
    return tuple(
        frontier.valid & (length[frontier.row] == hop) & (hop > 0)
        for hop, frontier in enumerate(trail)
    )
