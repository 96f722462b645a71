"""A numeric scorer at work: super-relations and, beside them, its own beam of relation paths."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxkg.candidates import Revisit, start
from jaxkg.kg import Topics
from jaxkg.records import Question
from jaxkg.search import relation_beam
from jaxkg.search.plans import Plans
from jaxkg.search.relation_beam import Beam, Scored
from jaxkg.search.super_relations import BestPaths, SuperSearch, conclude, super_search
from jaxkg.systems.answering import Progress
from jaxkg.systems.reknos.scorers import (
    BeamScorer,
    NumericScorer,
    group_scores,
    probabilities,
    stop_share,
    within,
)
from jaxkg.systems.reknos.super_relations import SuperProblem
from jaxkg.systems.reknos.trace import Trace, read_traces
from jaxkg.tensors import batch_starts, bucket, pad, stream
from jaxkg.types import NULL, Graph


class NumericSearch(NamedTuple):
    """What one batch comes to."""

    relations: jax.Array  # [B, W, L] int32 codes of paths within the best super-relation paths
    score: jax.Array  # [B, W] float32 log-probability, -inf where there are fewer than W
    search: SuperSearch
    best: BestPaths
    needed: jax.Array  # [1] int32 slots of the first step; each step has four times as many
    overflow: jax.Array  # [] bool


class Look(NamedTuple):
    """A beam of relation paths and where they may go on to."""

    beam: Beam
    options: jax.Array  # [B, W, 2R] bool
    scores: jax.Array  # [B, W, 2R + 1] float32 log-probabilities of what is possible


class SuperGraph(NamedTuple):
    """A graph and its super-relations, see `SuperProblem`."""

    graph: Graph
    group: jax.Array  # [2R] int32
    connections: jax.Array | None
    named: jax.Array  # [N] bool


class SearchConfig(NamedTuple):
    """What a search is compiled for.

    Attributes:
        scorer: see `BeamScorer`.
        num_groups: of super-relations.
        width, beam_width, hops, keep, backward, shorter: see `ReKnoSSettings`; the sizes are N, W,
            L and K.
        revisit: which nodes a path may return to.
    """

    scorer: BeamScorer
    num_groups: int
    width: int
    beam_width: int
    hops: int
    keep: int
    backward: bool
    shorter: bool
    revisit: Revisit


@functools.partial(jax.jit, static_argnames=("config", "capacities"))
def search_batch(
    world: SuperGraph,
    weights: Any,
    reading: Any,
    row: jax.Array,
    node: jax.Array,
    floor: float,
    enough: float,
    *,
    config: SearchConfig,
    capacities: tuple[int, ...],
) -> NumericSearch:
    """Search for one padded batch: first super-relations, then relation paths within the best.

    Args:
        world: what is searched.
        weights, reading: see `NumericScorer`; B questions.
        row, node: [S] int32 topics.
        floor, enough: see `ReKnoSSettings`.
        config: static.
        capacities: one number, slots of all that the first step does; every step has four times
            those of the one before, so that few sizes, and few programs, serve all batches. Static.
    """
    graph, group, connections, named = world
    num_groups, beam_width, hops = config.num_groups, config.beam_width, config.hops
    starts, score = start(row, node), config.scorer(weights, reading)
    batch = jax.tree.leaves(reading)[0].shape[0]
    scale = jnp.asarray([4**hop for hop in range(hops) for _ in range(3)] * 3, jnp.int32)
    slots = tuple(capacities[0] << 2 * hop for hop in range(hops) for _ in range(3))

    def scored(beam: Beam, options: jax.Array) -> Scored:
        """A path that has reached nothing with a name of its own (events, roles) is not whole."""
        here = beam.frontier
        row = jnp.where(here.valid & named[here.node], here.row, beam.score.size)
        ends = jnp.zeros(beam.score.size, bool).at[row].set(True, mode="drop")
        may_stop = beam.open & (beam.hop > 0) & ends.reshape(beam.score.shape)
        scores = score(beam, options)
        return scores._replace(logits=probabilities(scores.logits, options, may_stop))

    def look(beam: Beam, hop: int) -> Look:
        options, beam = relation_beam.ask(graph, beam, capacity=slots[3 * hop])
        scores = scored(beam, options)
        return Look(beam._replace(memo=scores.memo), options, scores.logits)

    def grow(search: SuperSearch, before: Look) -> tuple[jax.Array, Look]:
        """The beam, within the super-relations of the step; is the whole path probably there?"""
        hop = len(search.sets)
        chosen = jnp.any(search.sets[-1][:, :, None] == group[None, None, :], axis=1)
        beam = relation_beam.tell(
            graph, before.beam, before.options & chosen[:, None, :], before.scores,
            capacities=(slots[3 * hop - 2], slots[3 * hop - 1]), width=beam_width,
            revisit=config.revisit,
        )  # fmt: skip
        after = look(beam, hop)
        return stop_share(after.beam, after.scores) >= enough, after

    first = relation_beam.init(starts, num_questions=batch, width=1, hops=hops)
    result = super_search(
        graph, starts, group,
        lambda search, options, seen: group_scores(seen.beam, seen.scores, group, num_groups),
        num_questions=batch, num_groups=num_groups, width=config.width, hops=hops, capacities=slots,
        grow=grow, memo=look(first, 0), connections=connections, walk_best=config.keep,
        floor=floor, backward=config.backward, revisit=config.revisit,
    )  # fmt: skip
    best = conclude(result.search, keep=config.keep, shorter=config.shorter)

    def scored_within(beam: Beam, options: jax.Array) -> Scored:
        scores = scored(beam, options)
        along, whole = within(beam, best.groups, group, num_groups)
        allowed = jnp.concatenate([along, whole[:, :, None]], axis=2)
        return scores._replace(logits=jnp.where(allowed, scores.logits, -jnp.inf))

    paths = relation_beam.search(
        graph, starts, scored_within,
        num_questions=batch, width=beam_width, hops=hops, capacities=slots, revisit=config.revisit,
    )  # fmt: skip
    _, whole = within(paths, best.groups, group, num_groups)  # the last hop ends all
    beside = result.memo.beam
    needed = jnp.concatenate([result.needed, beside.needed, paths.needed])
    return NumericSearch(
        paths.relations,
        jnp.where(whole, paths.score, -jnp.inf),
        result.search,
        best,
        jnp.max((needed - 1) // scale + 1)[None],
        result.overflow | beside.overflow | paths.overflow,
    )


def search_numerically(
    problem: SuperProblem,
    scorer: NumericScorer,
    questions: Sequence[Question],
    topics: Sequence[Topics],
    on_progress: Progress | None,
) -> tuple[Plans, list[Trace]]:
    """Search for any number of questions; a batch that is too large is halved.

    Args:
        problem: what is searched.
        scorer: without a language model.
        questions: any number.
        topics: of each question.
        on_progress: called with (stage, done, total).

    Returns:
        Relation paths within the best super-relation paths, and a trace of each question.
    """
    settings = problem.settings
    count, hops = len(questions), settings.hops
    relations = np.full((count, settings.beam_width, hops), NULL, np.int32)
    score = np.full((count, settings.beam_width), -np.inf, np.float32)
    completes = np.ones(count, bool)
    traces: list[Trace] = []
    reading = scorer.read(questions, topics)
    weights = jax.device_put(scorer.weights())
    rows = bucket(min(settings.batch_size, count))
    starts = batch_starts([topic.entities for topic in topics], min(settings.batch_size, rows))

    world = SuperGraph(problem.tensors.graph, problem.group, problem.connections, problem.named)
    config = SearchConfig(
        scorer.beam_scorer, len(problem.groups), settings.width, settings.beam_width, hops,
        settings.keep, settings.backward, settings.shorter, problem.revisit,
    )  # fmt: skip

    def run(indices: np.ndarray, slots: tuple[int, ...]) -> NumericSearch:
        row, node = starts(indices)
        read = jax.tree.map(lambda column: pad(column[indices], rows), reading)
        return search_batch(
            world, weights, read, row, node, settings.floor, settings.sufficient,
            config=config, capacities=slots,
        )  # fmt: skip

    capacities = problem.room.of(f"batches of {rows}", rows << 7, last=4 ** (hops - 1))
    for indices, batch, complete in stream(count, min(settings.batch_size, rows), run, capacities):
        relations[indices] = batch.relations[: len(indices)]
        score[indices] = batch.score[: len(indices)]
        completes[indices] = complete
        traces += read_traces(
            batch.search, batch.best, problem.groups, len(indices), complete=complete
        )
        if on_progress:
            on_progress("search", len(traces), count)
    return Plans(relations, np.exp(score), completes), traces
