"""One hop: from a frontier along chosen runs of edges to the next frontier."""

from collections.abc import Callable
from typing import Literal

import chex
import jax
import jax.numpy as jnp

from jaxkg.ops import expand_ragged, first_of_each, stretches
from jaxkg.ops.ranges import Ranged, at_home
from jaxkg.types import NULL, Frontier, Graph

Revisit = Literal["topic", "none", "any"]
"""Which nodes a search may return to: "topic" all but where it started, "none" none that it reached
at an earlier hop, "any" all."""

Keep = Callable[[Frontier], jax.Array]
"""From the edges walked, returns that are forbidden left out, to [F] bool: those that bring their
targets along. Pure."""


def start(row: jax.Array, node: jax.Array) -> Frontier:
    """The frontier at hop 0.

    Args:
        row: [F] int32 ascending, the row each start belongs to.
        node: [F] int32 topic entity, NULL for an empty slot.

    Returns:
        A frontier of F slots; node NULL is a hole.
    """
    chex.assert_equal_shape([row, node])
    chex.assert_type([row, node], jnp.int32)
    valid = node != NULL
    nothing = jnp.full(node.shape, NULL, jnp.int32)
    return Frontier(
        row=row,
        node=jnp.maximum(node, 0),
        edge=nothing,
        parent=nothing,
        valid=valid,
        needed=jnp.sum(valid, dtype=jnp.int32),
        overflow=jnp.zeros((), bool),
    )


def widened(frontier: Frontier, size: int) -> Frontier:
    """The same frontier in `size` slots, those past its own being holes of its last row."""
    more = size - frontier.row.shape[0]
    return frontier._replace(
        row=jnp.pad(frontier.row, (0, more), mode="edge"),
        node=jnp.pad(frontier.node, (0, more)),
        edge=jnp.pad(frontier.edge, (0, more), constant_values=NULL),
        parent=jnp.pad(frontier.parent, (0, more), constant_values=NULL),
        valid=jnp.pad(frontier.valid, (0, more)),
    )


def find_run(graph: Graph, node: jax.Array, relation: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The contiguous edges of each (node, relation), from the table of starts or by bisection.

    Args:
        graph: padded tensors.
        node: [...] int32, in range.
        relation: [...] int32 code, NULL for none.

    Returns:
        First edge and number of edges, both [...] int32; the number is 0 where there are none.

    >>> from jaxkg import KnowledgeGraph, tensor_graph
    >>> kg = KnowledgeGraph.from_triples([("Heat", "starring", n) for n in ("Pacino", "De Niro")])
    >>> graph, heat = tensor_graph(kg).graph, jnp.asarray([kg.entity("Heat")])
    >>> first, count = find_run(graph, heat, jnp.asarray([kg.relation_code("starring")]))
    >>> count.tolist()
    [2]
    """
    if isinstance(graph.offsets, Ranged):
        # The runs of a node lie where its offsets do: bisected there, two numbers are exchanged.
        return at_home(find_run, graph, graph.offsets, node, relation)
    if graph.edge_start.shape[0]:
        key = node * (2 * graph.num_relations) + jnp.maximum(relation, 0)
        first = graph.edge_start[key]
        return first, jnp.where(relation == NULL, 0, graph.edge_start[key + 1] - first)
    end = graph.run_offsets[node + 1]
    last = graph.run_relation.shape[0] - 1

    def halve(_, bounds):
        low, high = bounds
        middle = (low + high) >> 1
        below = (graph.run_relation[jnp.minimum(middle, last)] < relation) & (middle < high)
        return jnp.where(below, middle + 1, low), jnp.where(below, high, middle)

    # A loop is a small program on a CPU; elsewhere each of its steps is launched by itself.
    unrolled = jax.default_backend() != "cpu"
    bounds = graph.run_offsets[node], end
    low, _ = jax.lax.fori_loop(0, graph.lookup_steps, halve, bounds, unroll=unrolled)
    run = jnp.minimum(low, last)
    is_there = (low < end) & (graph.run_relation[run] == relation) & (relation != NULL)
    first = graph.run_start[run]
    return first, jnp.where(is_there, graph.run_start[run + 1] - first, 0)


def walk(
    graph: Graph,
    frontier: Frontier,
    parent: jax.Array,
    first: jax.Array,
    count: jax.Array,
    *,
    capacity: int,
) -> Frontier:
    """Walk stretches of edges, each from a slot of the frontier.

    Args:
        graph: padded tensors.
        frontier: where the stretches start.
        parent: [S] int32, slot of `frontier` each stretch leaves from, ascending.
        first: [S] int32, first edge of each stretch.
        count: [S] int32, number of edges; 0 walks nothing.
        capacity: slots of the result; static.

    Returns:
        The next frontier, before `prune`: a node appears once for each edge that reaches it.
    """
    chex.assert_equal_shape([parent, first, count])
    ragged = expand_ragged(count, capacity=capacity)
    edge = jnp.where(ragged.valid, first[ragged.row] + ragged.position, 0)
    slot = parent[ragged.row]
    return Frontier(
        row=frontier.row[slot],
        node=jnp.maximum(graph.tail[edge], 0),
        edge=edge,
        parent=slot,
        valid=ragged.valid,
        needed=ragged.needed,
        overflow=ragged.overflow,
    )


def expand(graph: Graph, frontier: Frontier, *, capacity: int) -> Frontier:
    """Walk every edge of every node of the frontier, inverse edges included.

    Args:
        graph: padded tensors.
        frontier: F slots.
        capacity: slots of the result; static.

    Returns:
        The next frontier, before `prune`; `overflow` where the edges did not fit.
    """
    first, count = _every_edge(graph, frontier.node)
    count = jnp.where(frontier.valid, count, 0)
    slots = jnp.arange(frontier.node.shape[0], dtype=jnp.int32)
    return walk(graph, frontier, slots, first, count, capacity=capacity)


def _every_edge(graph: Graph, node: jax.Array) -> tuple[jax.Array, jax.Array]:
    if isinstance(graph.offsets, Ranged):
        return at_home(_every_edge, graph, graph.offsets, node)
    first = graph.offsets[node]
    return first, graph.offsets[node + 1] - first


def barred(
    question: jax.Array,
    node: jax.Array,
    valid: jax.Array,
    starts: Frontier,
    *,
    num_questions: int,
) -> jax.Array:
    """Which slots hold a topic of their own question.

    A question has few topics: slots are compared with them one after the other, which costs a
    gather each, and compiles in a fraction of what a hash table takes.

    Args:
        question: [F] int32 in [0, B); node: [F] int32; valid: [F] bool.
        starts: hop 0, its `row` being the question, ascending.
        num_questions: B; static.

    Returns:
        [F] bool, False where not valid.
    """
    own = stretches(starts.row, starts.valid, num_rows=num_questions)
    topics = starts.node[own.slot]
    first, count = own.first[question], jnp.where(valid, own.length[question], 0)

    def compare(state: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        turn, is_barred = state
        topic = topics[jnp.clip(first + turn, 0, topics.shape[0] - 1)]
        return turn + 1, is_barred | ((turn < count) & (topic == node))

    most = jnp.max(count, initial=0)
    start = (jnp.int32(0), jnp.zeros(valid.shape, bool))
    return jax.lax.while_loop(lambda state: state[0] < most, compare, start)[1]


def prune(
    frontier: Frontier,
    earlier: tuple[Frontier, ...],
    revisit: Revisit,
    keep: Keep | None = None,
) -> Frontier:
    """Keep each (row, node) once, and drop returns that the rule forbids.

    The survivor is the first slot, so its `parent` and `edge` are one witness of the node; every
    witness chain obeys the rule because every hop did.

    Args:
        frontier: result of a walk.
        earlier: the frontiers of all hops before, hop 0 first.
        revisit: see `Revisit`.
        keep: see `Keep`; None keeps every edge.

    Returns:
        The same slots with fewer valid ones.
    """
    if revisit not in ("topic", "none", "any"):
        raise ValueError(f'revisit is "topic", "none" or "any", not {revisit!r}')
    barred = {"topic": earlier[:1], "none": earlier, "any": ()}[revisit]
    blocks = (*barred, frontier)
    row = jnp.concatenate([block.row for block in blocks])
    node = jnp.concatenate([block.node for block in blocks])
    valid = jnp.concatenate([block.valid for block in blocks])
    offset = row.shape[0] - frontier.row.shape[0]
    first = first_of_each((row, node), valid)[offset:] - offset
    if keep is not None:
        allowed = frontier.valid & (first >= 0)
        surviving = allowed & keep(frontier._replace(valid=allowed))
        first = first_of_each((frontier.row, frontier.node), surviving)
    return frontier._replace(valid=first == jnp.arange(frontier.row.shape[0], dtype=jnp.int32))
