"""Steps along super-relations: which leave the nodes reached, and where chosen ones lead.

Rows of a frontier are super-relation paths: with N super-relations kept at each step, a question
has P = N^l paths after l steps, and row `question * P + path` holds the nodes of one of them. The
digits of `path` in base N, first step first, are the places of its super-relations in the sets.
"""

from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp

from jaxkg.candidates.expand import Revisit, barred
from jaxkg.ops import expand_ragged, first_of_each
from jaxkg.types import NULL, Frontier, Graph


class Onward(NamedTuple):
    """The runs that lead on from what super-relation paths have reached."""

    row: jax.Array  # [C] int32 super-relation path, clamped where not valid
    slot: jax.Array  # [C] int32, slot of the frontier the run leaves from
    run: jax.Array  # [C] int32, run 0 where not valid
    group: jax.Array  # [C] int32 super-relation of the run
    valid: jax.Array  # [C] bool, some edge of the run leads to a node that may be entered
    needed: jax.Array  # [2] int32, slots wanted for runs, and for the edges that were looked at
    overflow: jax.Array  # [] bool, True where some may be missing


class Step(NamedTuple):
    """Where the chosen super-relations lead."""

    frontier: Frontier  # rows are the N times longer paths; `row` need not ascend in a question
    walked: jax.Array  # [B] int32, distinct edges walked
    needed: jax.Array  # [] int32, slots wanted for edges


def onward(
    graph: Graph,
    frontier: Frontier,
    starts: Frontier,
    group: jax.Array,
    *,
    num_questions: int,
    num_paths: int,
    capacities: tuple[int, int],
    revisit: Revisit = "topic",
) -> Onward:
    """The runs that leave the nodes reached, without those that only go back to a topic.

    Args:
        graph: padded tensors.
        frontier: what each super-relation path has reached, see the module.
        starts: hop 0, its `row` being the question.
        group: [2R] int32, super-relation of each relation code.
        num_questions, num_paths: B, P; static.
        capacities: slots for the runs of all nodes, and for the edges of runs so short that all
            of them may go back to a topic; static.
        revisit: "topic" never returns to a start; the other rules bar nothing here. Static.
    """
    chex.assert_shape(group, (2 * graph.num_relations,))
    first_run = graph.run_offsets[frontier.node]
    count = jnp.where(frontier.valid, graph.run_offsets[frontier.node + 1] - first_run, 0)
    ragged = expand_ragged(count, capacity=capacities[0])
    run = jnp.where(ragged.valid, first_run[ragged.row] + ragged.position, 0)
    row, valid, overflow = frontier.row[ragged.row], ragged.valid, ragged.overflow
    looked = jnp.zeros((), jnp.int32)
    if revisit == "topic":
        first = graph.run_start[run]
        length = graph.run_start[run + 1] - first
        question = row // num_paths
        asked = jnp.where(starts.valid, starts.row, num_questions)
        topics = jnp.zeros(num_questions, jnp.int32).at[asked].add(1, mode="drop")
        # The tails of a run are distinct, so only one as short as this can be topics alone.
        doubtful = valid & (length <= topics[jnp.clip(question, 0, num_questions - 1)])
        edges = expand_ragged(jnp.where(doubtful, length, 0), capacity=capacities[1])
        tail = graph.tail[jnp.where(edges.valid, first[edges.row] + edges.position, 0)]
        topic = barred(question[edges.row], tail, edges.valid, starts, num_questions=num_questions)
        fresh = edges.valid & ~topic
        leads = jnp.zeros(run.shape, bool).at[edges.row].max(fresh)
        valid &= ~doubtful | leads
        looked, overflow = edges.needed, overflow | edges.overflow
    return Onward(
        row=row,
        slot=ragged.row,
        run=run,
        group=group[jnp.where(valid, graph.run_relation[run], 0)],
        valid=valid,
        needed=jnp.stack([ragged.needed, looked]),
        overflow=overflow,
    )


def candidates(runs: Onward, *, num_questions: int, num_groups: int, num_paths: int) -> jax.Array:
    """The candidates of a step: super-relations connected to those of the step before.

    The connection must be witnessed at a node that the question has reached. Definition 1 as
    printed accepts a witness anywhere in the graph; with that, three super-relations can be
    connected in a row and no walk take them (Theorem 4.2 fails from length 3 on). What is found
    here is a subset of Eq. 1, and each of it leads somewhere.

    Args:
        runs: from `onward`.
        num_questions, num_groups, num_paths: B, S, P; static.

    Returns:
        [B, S] bool.

    Reference: ReKnoS, Eq. 1.
    """
    place = (runs.row // num_paths) * num_groups + runs.group
    seen = jnp.zeros(num_questions * num_groups, bool)
    seen = seen.at[jnp.where(runs.valid, place, seen.shape[0])].set(True, mode="drop")
    return seen.reshape(num_questions, num_groups)


def connected(connections: jax.Array, last: jax.Array) -> jax.Array:
    """The candidates of a step as Eq. 1 prints them, from the super-relation graph alone.

    Args:
        connections: [S, S] bool, Definition 1; see `SuperRelations.connections`.
        last: [B, N] int32, the set of the step before, NULL where it has fewer than N.

    Returns:
        [B, S] bool: a super-relation that some member of the set connects to.

    Reference: ReKnoS, Eq. 1.

    >>> connections = jnp.asarray([[False, True], [False, False]])
    >>> connected(connections, jnp.asarray([[0, -1], [1, -1]])).tolist()
    [[False, True], [False, False]]
    """
    chex.assert_rank([connections, last], 2)
    following = connections[jnp.maximum(last, 0)] & (last != NULL)[:, :, None]
    return jnp.any(following, axis=1)


def place_in_set(runs: Onward, chosen: jax.Array, *, num_groups: int, num_paths: int) -> jax.Array:
    """Where in its question's set each run's super-relation stands.

    Args:
        runs: from `onward`.
        chosen: [B, N] int32 super-relations, distinct within a question, NULL for none.
        num_groups, num_paths: S, P; static.

    Returns:
        [C] int32 in [0, N), NULL for a run that is not valid or not chosen.
    """
    batch, width = chosen.shape
    column = jnp.where(chosen == NULL, num_groups, chosen)
    table = jnp.full((batch, num_groups), NULL, jnp.int32)
    table = table.at[jnp.arange(batch, dtype=jnp.int32)[:, None], column].set(
        jnp.arange(width, dtype=jnp.int32)[None, :], mode="drop"
    )
    question = jnp.clip(runs.row // num_paths, 0, batch - 1)
    return jnp.where(runs.valid, table[question, runs.group], NULL)


def existing(runs: Onward, place: jax.Array, *, num_rows: int, width: int) -> jax.Array:
    """Which longer super-relation paths reach an entity; no edge is walked to know it.

    Args:
        runs: from `onward`.
        place: [C] int32 from `place_in_set`.
        num_rows: B * P, paths so far; static.
        width: N; static.

    Returns:
        [B * P * N] bool.
    """
    there = jnp.zeros(num_rows * width, bool)
    row = jnp.where(place == NULL, there.shape[0], runs.row * width + place)
    return there.at[row].set(True, mode="drop")


def extend(
    graph: Graph,
    frontier: Frontier,
    starts: Frontier,
    runs: Onward,
    place: jax.Array,
    wanted: jax.Array,
    *,
    capacity: int,
    revisit: Revisit = "topic",
) -> Step:
    """The entities of longer super-relation paths.

    Args:
        graph: padded tensors.
        frontier: what each path has reached, P paths a question.
        starts: hop 0, its `row` being the question.
        runs: from `onward`.
        place: [C] int32 from `place_in_set`.
        wanted: [B, P, N] bool, the longer paths to walk.
        capacity: slots for the edges walked; static.
        revisit: see `onward`.

    Returns:
        The entities of each wanted path, each once a path, linked to the frontier by `parent`; the
        first walk that reaches a node is its witness.

    Reference: ReKnoS, Eq. 9.
    """
    num_questions, num_paths, width = wanted.shape
    longer = jnp.where(place == NULL, 0, runs.row * width + place)
    first = graph.run_start[runs.run]
    walks = (place != NULL) & wanted.reshape(-1)[jnp.clip(longer, 0, wanted.size - 1)]
    length = jnp.where(walks, graph.run_start[runs.run + 1] - first, 0)
    ragged = expand_ragged(length, capacity=capacity)
    valid = ragged.valid
    edge = jnp.where(valid, first[ragged.row] + ragged.position, 0)
    node = jnp.maximum(graph.tail[edge], 0)
    row = longer[ragged.row]
    question = jnp.clip(row // (num_paths * width), 0, num_questions - 1)
    slots = jnp.arange(capacity, dtype=jnp.int32)
    distinct = first_of_each((question, edge), valid) == slots
    walked = jnp.zeros(num_questions, jnp.int32).at[question].add(distinct.astype(jnp.int32))
    if revisit == "topic":
        valid &= ~barred(question, node, valid, starts, num_questions=num_questions)
    valid &= first_of_each((row, node), valid) == slots
    reached = Frontier(
        row=row,
        node=node,
        edge=edge,
        parent=runs.slot[ragged.row],
        valid=valid,
        needed=ragged.needed,
        overflow=ragged.overflow,
    )
    return Step(reached, walked, ragged.needed)
