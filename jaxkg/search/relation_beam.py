"""Relation-path beam search, by whoever scores: a network inside jit or a language model outside.

`init`, `ask` and `tell` are pure. With a numeric scorer they run inside one jit-compiled program
(`search`); with any other scorer Python calls them and moves one array each way per hop.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxkg.candidates import Keep, Revisit, advance, available, visits
from jaxkg.candidates.expand import widened
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
    needed: jax.Array  # [KL] int32 slots of a hop: runs, K - 3 of the scorer, copied nodes, edges
    overflow: jax.Array  # [] bool
    visited: jax.Array  # [B, 2] int32 nodes reached and edges walked, summed over hops and paths
    memo: Any = None  # pytree [B, W, ...]: what the scorer keeps of each path; None at hop 0

    @property
    def steps(self) -> int:
        """K, capacities of a hop."""
        return self.needed.shape[0] // self.relations.shape[2]

    @property
    def open(self) -> jax.Array:
        """[B, W] bool: paths that can still grow."""
        return jnp.isfinite(self.score) & ~self.finished


class Scored(NamedTuple):
    """What a scorer says of the next relation of every path."""

    logits: jax.Array  # [B, W, 2R + 1] float32 log-probability of each relation, and of stopping
    memo: Any = None  # pytree [B, W, ...]; every continuation of a path finds the path's
    needed: Any = np.zeros(0, np.int32)  # [K - 3] int32 slots of its own steps
    overflow: Any = np.False_  # [] bool, one of those did not suffice
    behind: Any = None  # pytree, what the logits come of; for who looks at a layer
    looked: Any = np.int32(0)  # [B] int32 edges that it looked at


class Layer(NamedTuple):
    """One hop of a search as it was decided: also what was not taken."""

    beam: Beam  # before the hop
    options: jax.Array  # [B, W, 2R] bool
    scored: Scored


class BeamPaths(NamedTuple):
    """What a batch of searches comes to, without the nodes reached unless it is traced."""

    relations: jax.Array  # [B, W, L] int32 codes, best first, NULL past the end
    score: jax.Array  # [B, W] float32, -inf where there are fewer than W
    needed: jax.Array  # [C] int32, slots wanted
    overflow: jax.Array  # [] bool
    visited: jax.Array  # [B, 2] int32, see `Beam`
    hops: tuple[tuple[Layer, ...], Beam] | None = None  # of a traced search, see `search_layers`

    @classmethod
    def of(cls, beam: Beam, layers: tuple[Layer, ...] | None = None) -> "BeamPaths":
        """Of the last beam; of a traced search, with its layers."""
        hops = None if layers is None else (layers, beam)
        return cls(beam.relations, beam.score, beam.needed, beam.overflow, beam.visited, hops)


def init(starts: Frontier, *, num_questions: int, width: int, hops: int, steps: int = 3) -> Beam:
    """One empty path per question that has a start.

    Args:
        starts: hop 0, its `row` being the question.
        num_questions: B; static.
        width: W; static.
        hops: L, longest path; static.
        steps: K, capacities of a hop: three, and those of the scorer; static.
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
        needed=jnp.zeros(steps * hops, jnp.int32),
        overflow=jnp.zeros((), bool),
        visited=jnp.zeros((num_questions, 2), jnp.int32),
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
        needed=beam.needed.at[beam.steps * beam.hop].set(needed), overflow=beam.overflow | overflow
    )
    return options, noted


def tell(
    graph: Graph,
    beam: Beam,
    options: jax.Array,
    scores: jax.Array,
    *,
    capacities: tuple[int, int],
    width: int | None = None,
    margin: float | jax.Array = float("inf"),
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
        width: W, places of the new beam; None keeps their number. Static.
        margin: paths that score this much below the question's best are dropped.
        revisit: which nodes a path may return to; static.
        keep: see `candidates.Keep`; rows are places of the new beam. None keeps every edge.

    Returns:
        The beam one hop on, each path with the memo of the one that it extends. Finished paths keep
        their place as long as they are good enough; a path cannot stop before its first relation,
        and stops by itself after its last.
    """
    batch, places, hops = beam.relations.shape
    width, stop = width or places, options.shape[2]
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
        (question * places + choice.parent).ravel(),
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
        needed=jax.lax.dynamic_update_slice(
            beam.needed, needed, (beam.steps * (beam.hop + 1) - 2,)
        ),
        overflow=beam.overflow | frontier.overflow,
        visited=beam.visited
        + visits(frontier, num_rows=batch * width).reshape(batch, width, 2).sum(axis=1),
        memo=jax.tree.map(lambda leaf: leaf[question, choice.parent], beam.memo),
    )


def search(
    graph: Graph,
    starts: Frontier,
    score: Callable[..., Scored],
    *,
    num_questions: int,
    width: int,
    hops: int,
    capacities: tuple[int, ...],
    margin: float | jax.Array = float("inf"),
    revisit: Revisit = "topic",
    memo: Any = None,
) -> Beam:
    """Beam search over relation paths with a scorer that runs on the device.

    Args:
        graph: padded tensors.
        starts: hop 0, its `row` being the question.
        score: from a beam, its options [B, W, 2R] bool and the capacities of the scorer's own steps
            at this hop to `Scored`; pure. What it returns as memo it finds in the next beam. A
            relation that scores -inf is not taken.
        num_questions, width, hops: B, W, L; static. The first beam has a single place.
        capacities: KL slots, in the order of `Beam.needed`, K being 3 and the scorer's; static.
        margin, revisit: see `tell`.
        memo: of empty paths, [B, W, ...], for a scorer that keeps one. With it hops that all have
            the same capacities are one hop in a loop, compiled once; the scorer then finds W places
            at hop 0 as well, all but the first of them empty.

    Returns:
        The last beam: paths best first, all finished.
    """
    steps = len(capacities) // hops
    if memo is not None and capacities == capacities[:steps] * hops:
        beam = init(starts, num_questions=num_questions, width=width, hops=hops, steps=steps)
        if starts.row.shape[0] <= capacities[-1]:
            frontier = widened(beam.frontier, capacities[-1])
            return jax.lax.fori_loop(
                0,
                hops,
                lambda _, beam: _hop(
                    graph, beam, score, capacities[:steps], width, margin, revisit
                )[1],
                beam._replace(frontier=frontier, memo=memo),
            )
    return search_layers(
        graph, starts, score,
        num_questions=num_questions, width=width, hops=hops, capacities=capacities, margin=margin,
        revisit=revisit,
    )[1]  # fmt: skip


def search_layers(
    graph: Graph,
    starts: Frontier,
    score: Callable[..., Scored],
    *,
    num_questions: int,
    width: int,
    hops: int,
    capacities: tuple[int, ...],
    margin: float | jax.Array = float("inf"),
    revisit: Revisit = "topic",
    keep: Callable[[int, Frontier], jax.Array] | None = None,
    ends: bool = True,
) -> tuple[tuple[Layer, ...], Beam]:
    """`search`, with every hop as it was decided.

    Args:
        graph, starts, score, num_questions, width, hops, capacities, margin, revisit: see
            `search`.
        keep: from the hops taken before and the edges walked, see `tell`.
        ends: False leaves the last hop untaken: its layer says what could be; static.

    Returns:
        L layers, and the last beam.
    """
    steps = len(capacities) // hops
    beam = init(starts, num_questions=num_questions, width=1, hops=hops, steps=steps)
    layers = []
    for hop in range(hops):
        own = capacities[steps * hop : steps * (hop + 1)]
        keep_hop = keep and functools.partial(keep, hop)
        taken = ends or hop < hops - 1
        layer, beam = _hop(graph, beam, score, own, width, margin, revisit, keep_hop, taken=taken)
        layers.append(layer)
    return tuple(layers), beam


def _hop(
    graph: Graph,
    beam: Beam,
    score: Callable[..., Scored],
    capacities: tuple[int, ...],
    width: int,
    margin: float | jax.Array,
    revisit: Revisit,
    keep: Keep | None = None,
    *,
    taken: bool = True,
) -> tuple[Layer, Beam]:
    """One hop of a search with K capacities: as it was decided, and the beam after it."""
    runs, *own, nodes, edges = capacities
    options, beam = ask(graph, beam, capacity=runs)
    scored = score(beam, options, *own)
    layer = Layer(beam, options, scored)
    needed = beam.needed
    if own:
        needed = jax.lax.dynamic_update_slice(
            needed, jnp.asarray(scored.needed), (beam.steps * beam.hop + 1,)
        )
    beam = beam._replace(
        needed=needed,
        overflow=beam.overflow | scored.overflow,
        visited=beam.visited.at[:, 1].add(scored.looked),
        memo=scored.memo,
    )
    if taken:
        beam = tell(
            graph, beam, options, scored.logits,
            capacities=(nodes, edges), width=width, margin=margin, revisit=revisit, keep=keep,
        )  # fmt: skip
    return layer, beam
