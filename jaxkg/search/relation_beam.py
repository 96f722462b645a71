"""Relation-path beam search, by whoever scores: a network inside jit or a language model outside.

`init`, `ask` and `tell` are pure. With a numeric scorer they run inside one jit-compiled program
(`search`); with any other scorer Python calls them and moves one array each way per hop.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxkg.candidates import Keep, Revisit, advance, available
from jaxkg.select import choose
from jaxkg.types import NULL, Frontier, Graph


class Beam(NamedTuple):
    """W partial relation paths for each of B questions, and the nodes each has reached."""

    relations: jax.Array  # [B, W, L] int32 codes, NULL past the end
    score: jax.Array  # [B, W] float32 log-probability, -inf for an empty place
    finished: jax.Array  # [B, W] bool
    hop: jax.Array  # [] int32, hops taken
    starts: Frontier  # rows are questions
    frontier: Frontier  # rows are places of the beam, question * W + place
    needed: jax.Array  # [3L] int32: slots for runs, copied nodes and edges, hop by hop
    overflow: jax.Array  # [] bool

    @property
    def open(self) -> jax.Array:
        """[B, W] bool: paths that can still grow."""
        return jnp.isfinite(self.score) & ~self.finished


def init(starts: Frontier, *, num_questions: int, width: int, hops: int) -> Beam:
    """One empty path per question that has a start.

    Args:
        starts: hop 0, its `row` being the question.
        num_questions: B; static.
        width: W; static.
        hops: L, longest path; static.
    """
    has_start = jnp.zeros(num_questions, bool).at[starts.row].max(starts.valid)
    first = (jnp.arange(width) == 0)[None, :] & has_start[:, None]
    return Beam(
        relations=jnp.full((num_questions, width, hops), NULL, jnp.int32),
        score=jnp.where(first, 0.0, -jnp.inf),
        finished=jnp.zeros((num_questions, width), bool),
        hop=jnp.zeros((), jnp.int32),
        starts=starts,
        frontier=starts._replace(row=starts.row * width),
        needed=jnp.zeros(3 * hops, jnp.int32),
        overflow=jnp.zeros((), bool),
    )


def ask(graph: Graph, beam: Beam, *, capacity: int) -> tuple[jax.Array, Beam]:
    """Which relations each open path may take next.

    Args:
        graph: padded tensors.
        beam: where the search is.
        capacity: slots for the runs of all its nodes; static.

    Returns:
        [B, W, 2R] bool, and the beam with `needed` and `overflow` noted.
    """
    batch, width = beam.score.shape
    options, needed, overflow = available(
        graph, beam.frontier, num_rows=batch * width, capacity=capacity
    )
    options = options.reshape(batch, width, -1) & beam.open[:, :, None]
    noted = beam._replace(
        needed=beam.needed.at[3 * beam.hop].set(needed), overflow=beam.overflow | overflow
    )
    return options, noted


def tell(
    graph: Graph,
    beam: Beam,
    options: jax.Array,
    scores: jax.Array,
    *,
    capacities: tuple[int, int],
    margin: float = float("inf"),
    revisit: Revisit = "topic",
    keep: Keep | None = None,
) -> Beam:
    """Take the best continuations, given what each would score.

    Args:
        graph: padded tensors.
        beam: where the search is.
        options: [B, W, 2R] bool from `ask`.
        scores: [B, W, 2R + 1] float32 log-probability of each relation, and of stopping.
        capacities: slots for the copied nodes, and for the edges walked; static.
        margin: paths that score this much below the question's best are dropped.
        revisit: which nodes a path may return to; static.
        keep: see `candidates.Keep`; rows are places of the new beam. None keeps every edge.

    Returns:
        The beam one hop on. Finished paths keep their place as long as they are good enough; a path
        cannot stop before its first relation, and stops by itself after its last.
    """
    batch, width, hops = beam.relations.shape
    stop = options.shape[2]
    grown = jnp.where(options, beam.score[:, :, None] + scores[:, :, :-1], -jnp.inf)
    # What a scorer says of an empty place, NaN included, counts for nothing.
    stops = beam.open & (beam.hop > 0)
    stopped = jnp.where(stops, beam.score + scores[:, :, -1], -jnp.inf)
    stopped = jnp.where(beam.finished, beam.score, stopped)
    choice = choose(
        jnp.concatenate([grown, stopped[:, :, None]], axis=2), width=width, margin=margin
    )
    takes = choice.valid & (choice.action < stop)
    relation = jnp.where(takes, choice.action, NULL)
    question = jnp.arange(batch, dtype=jnp.int32)[:, None]
    relations = jnp.where(choice.valid[:, :, None], beam.relations[question, choice.parent], NULL)
    relations = relations.at[:, :, beam.hop].set(jnp.where(takes, relation, NULL))
    frontier, needed = advance(
        graph,
        beam.frontier,
        beam.starts,
        (question * width + choice.parent).ravel(),
        relation.ravel(),
        rows_per_question=width,
        capacities=capacities,
        revisit=revisit,
        keep=keep,
    )
    # A path whose only way on was back to its topic has reached nothing.
    there = frontier.valid.astype(jnp.int32)
    nodes = jnp.zeros(batch * width, jnp.int32).at[frontier.row].add(there)
    alive = choice.valid & (~takes | (nodes.reshape(batch, width) > 0))
    return Beam(
        relations=jnp.where(alive[:, :, None], relations, NULL),
        score=jnp.where(alive, choice.score, -jnp.inf),
        finished=alive & (~takes | (beam.hop == hops - 1)),
        hop=beam.hop + 1,
        starts=beam.starts,
        frontier=frontier,
        needed=jax.lax.dynamic_update_slice(beam.needed, needed, (3 * beam.hop + 1,)),
        overflow=beam.overflow | frontier.overflow,
    )


def search(
    graph: Graph,
    starts: Frontier,
    score: Callable[[Beam], jax.Array],
    *,
    num_questions: int,
    width: int,
    hops: int,
    capacities: tuple[int, ...],
    margin: float = float("inf"),
    revisit: Revisit = "topic",
) -> Beam:
    """Beam search over relation paths with a scorer that runs on the device.

    Args:
        graph: padded tensors.
        starts: hop 0, its `row` being the question.
        score: from a beam to [B, W, 2R + 1] float32 log-probabilities of the next relation and of
            stopping; pure.
        num_questions, width, hops: B, W, L; static.
        capacities: 3L slots, in the order of `Beam.needed`; static.
        margin, revisit: see `tell`.

    Returns:
        The last beam: paths best first, all finished.
    """
    beam = init(starts, num_questions=num_questions, width=width, hops=hops)
    for hop in range(hops):
        runs, nodes, edges = capacities[3 * hop : 3 * hop + 3]
        options, beam = ask(graph, beam, capacity=runs)
        beam = tell(
            graph,
            beam,
            options,
            score(beam),
            capacities=(nodes, edges),
            margin=margin,
            revisit=revisit,
        )
    return beam
