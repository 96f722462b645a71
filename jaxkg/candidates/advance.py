"""Growing partial relation paths: which relations each may take, and the nodes it has then."""

import chex
import jax
import jax.numpy as jnp

from jaxkg.candidates.expand import Keep, Revisit, barred, find_run, walk
from jaxkg.ops import expand_ragged, first_of_each, stretches
from jaxkg.types import NULL, Frontier, Graph


def available(
    graph: Graph, frontier: Frontier, *, num_rows: int, capacity: int
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """The relations that leave some node of each row.

    Args:
        graph: padded tensors.
        frontier: nodes of each partial path, `row` being the path.
        num_rows: number of paths P; static.
        capacity: slots for the runs of all nodes; static.

    Returns:
        [P, 2R] bool over relation codes; [] int32 slots needed; [] bool overflow (then some
        relations may be missing).

    Reference: ReKnoS, Eq. 1, for groups of one relation.
    """
    first = graph.run_offsets[frontier.node]
    count = jnp.where(frontier.valid, graph.run_offsets[frontier.node + 1] - first, 0)
    ragged = expand_ragged(count, capacity=capacity)
    run = jnp.where(ragged.valid, first[ragged.row] + ragged.position, 0)
    codes = 2 * graph.num_relations
    place = frontier.row[ragged.row] * codes + graph.run_relation[run]
    seen = jnp.zeros(num_rows * codes, bool)
    seen = seen.at[jnp.where(ragged.valid, place, seen.shape[0])].set(True, mode="drop")
    return seen.reshape(num_rows, codes), ragged.needed, ragged.overflow


def advance(
    graph: Graph,
    frontier: Frontier,
    starts: Frontier,
    parent: jax.Array,
    relation: jax.Array,
    *,
    rows_per_question: int,
    capacities: tuple[int, int],
    revisit: Revisit = "topic",
    keep: Keep | None = None,
) -> tuple[Frontier, jax.Array]:
    """Extend partial paths by one relation each; several may extend the same path.

    Args:
        graph: padded tensors.
        frontier: nodes of the paths so far, grouped by `row` in ascending order.
        starts: hop 0, its `row` being the question.
        parent: [P] int32, path that each new path extends.
        relation: [P] int32 code to walk, NULL for a path that walks nowhere.
        rows_per_question: P / B; static.
        capacities: slots for the copied nodes, and for the edges walked; static.
        revisit: "topic" drops returns to a start; the other rules bar nothing here. Static.
        keep: see `Keep`; the rows of the edges are the new paths. None keeps every edge.

    Returns:
        The nodes of the new paths, each once, without back-pointers; [2] int32 slots needed. Its
        `overflow` covers both capacities.
    """
    chex.assert_equal_shape([parent, relation])
    size = frontier.row.shape[0]
    own = stretches(frontier.row, frontier.valid, num_rows=parent.shape[0])

    copied = expand_ragged(
        jnp.where(relation == NULL, 0, own.length[parent]), capacity=capacities[0]
    )
    slot = own.slot[jnp.clip(own.first[parent][copied.row] + copied.position, 0, size - 1)]
    moved = frontier._replace(
        row=copied.row, node=frontier.node[slot], parent=slot, edge=slot, valid=copied.valid
    )
    first, count = find_run(graph, moved.node, relation[moved.row])
    every = jnp.arange(capacities[0], dtype=jnp.int32)
    reached = walk(
        graph, moved, every, first, jnp.where(moved.valid, count, 0), capacity=capacities[1]
    )
    valid = reached.valid
    if revisit == "topic":
        question = reached.row // rows_per_question
        count = parent.shape[0] // rows_per_question
        valid &= ~barred(question, reached.node, valid, starts, num_questions=count)
    if keep is not None:
        valid &= keep(reached._replace(valid=valid))
    alone = first_of_each((reached.row, reached.node), valid)
    valid &= alone == jnp.arange(capacities[1], dtype=jnp.int32)
    needed = jnp.stack([copied.needed, reached.needed])
    overflow = copied.overflow | reached.overflow
    nothing = jnp.full(capacities[1], NULL, jnp.int32)
    return reached._replace(valid=valid, overflow=overflow, parent=nothing, edge=nothing), needed
