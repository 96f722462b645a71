"""Search along super-relations, by whoever scores: a network in jit or a language model outside.

`begin`, `ask`, `tell` and `close` are pure, as in `jaxkg.search.relation_beam`: with a scorer that
runs on the device they make one program for jit (`super_search`), with any other Python calls them.
Reference: Wang et al., "Reasoning of large language models over knowledge graphs with
super-relations" (ReKnoS), Section 4.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxkg.candidates import Revisit
from jaxkg.candidates.super_relations import (
    Onward,
    candidates,
    connected,
    existing,
    extend,
    onward,
    place_in_set,
)
from jaxkg.select.super_paths import add_step, best_paths, keep_best, path_groups
from jaxkg.types import NULL, Frontier, Graph


class SuperSearch(NamedTuple):
    """The search paths Q_l of B questions after l steps, and what their super-relations reach.

    A step keeps N super-relations, so a question has P = N^l super-relation paths, all of which
    stay: a choice made early is revisited by any later step (Section 4.3).
    """

    sets: tuple[jax.Array, ...]  # l times [B, N] int32 super-relations, NULL for none
    weights: tuple[jax.Array, ...]  # l times [B, N] float32, Eq. 5
    totals: tuple[jax.Array, ...]  # [B, N^j] float32 for steps j = 0 ... l, Eq. 7
    exist: tuple[jax.Array, ...]  # [B, N^j] bool, the paths that reach an entity
    trail: tuple[Frontier, ...]  # l + 1 frontiers; rows are question * N^j + path
    candidates: tuple[jax.Array, ...]  # l times [B] int32, M of each step
    steps: jax.Array  # [B] int32, steps taken
    open: jax.Array  # [B] bool, still searching
    walked: jax.Array  # [B] int32, distinct edges walked, summed over steps
    overflow: jax.Array  # [] bool


def begin(starts: Frontier, *, num_questions: int) -> SuperSearch:
    """Before the first step.

    Args:
        starts: hop 0, its `row` being the question.
        num_questions: B; static.
    """
    has_start = jnp.zeros(num_questions, bool)
    row = jnp.where(starts.valid, starts.row, num_questions)
    has_start = has_start.at[row].set(True, mode="drop")
    return SuperSearch(
        sets=(),
        weights=(),
        totals=(jnp.zeros((num_questions, 1)),),
        exist=(has_start[:, None],),
        trail=(starts,),
        candidates=(),
        steps=jnp.zeros(num_questions, jnp.int32),
        open=has_start,
        walked=jnp.zeros(num_questions, jnp.int32),
        overflow=jnp.zeros((), bool),
    )


def ask(
    graph: Graph,
    group: jax.Array,
    search: SuperSearch,
    connections: jax.Array | None = None,
    *,
    num_groups: int,
    capacities: tuple[int, int],
    revisit: Revisit = "topic",
) -> tuple[jax.Array, Onward, SuperSearch]:
    """The candidates C_l of the next step.

    Args:
        graph: padded tensors.
        group: [2R] int32, super-relation of each relation code.
        search: where it is.
        connections: [S, S] bool super-relation graph; with it candidates are those of Eq. 1 as
            printed (after the first step), whether or not the question's own paths lead there.
            None asks for a witness that the question has reached.
        num_groups: S; static.
        capacities: see `candidates.super_relations.onward`; static.
        revisit: which nodes a path may return to; static.

    Returns:
        [B, S] bool, none for a question that is closed; the runs that lead on, for `tell`; the
        search with overflow noted.

    Reference: ReKnoS, Eq. 1.
    """
    batch, paths = search.totals[-1].shape
    here = search.trail[-1]
    # What a closed question has reached is not looked at.
    question = jnp.clip(here.row // paths, 0, batch - 1)
    here = here._replace(valid=here.valid & search.open[question])
    runs = onward(
        graph, here, search.trail[0], group,
        num_questions=batch, num_paths=paths, capacities=capacities, revisit=revisit,
    )  # fmt: skip
    if connections is not None and search.sets:
        options = connected(connections, search.sets[-1])
    else:
        options = candidates(runs, num_questions=batch, num_groups=num_groups, num_paths=paths)
    options &= search.open[:, None]
    return options, runs, search._replace(overflow=search.overflow | runs.overflow)


def tell(
    graph: Graph,
    search: SuperSearch,
    runs: Onward,
    options: jax.Array,
    scores: jax.Array,
    *,
    width: int,
    capacity: int,
    walk_best: int | None = None,
    floor: float | jax.Array = 0.0,
    revisit: Revisit = "topic",
) -> SuperSearch:
    """Take the step that the scores ask for.

    Args:
        graph: padded tensors.
        search, runs, options: from `ask`; options may have been taken away.
        scores: [B, S] float32, how much each candidate helps; not negative.
        width: N; static.
        capacity: slots for the edges walked; static.
        walk_best: walk only this many paths, the best: enough at the last step, where the others
            lead no further. None walks all of them. Static.
        floor: see `select.super_paths.keep_best`.
        revisit: which nodes a path may return to; static.

    Returns:
        The search one step on. A question without candidates takes no step and is closed; one
        whose step reached nothing (only with `connections`) is closed after it.

    Reference: ReKnoS, Eq. 2-7 and 9.
    """
    batch, paths = search.totals[-1].shape
    chosen = keep_best(scores, options, width=width, floor=floor)
    place = place_in_set(runs, chosen.group, num_groups=options.shape[1], num_paths=paths)
    exist = existing(runs, place, num_rows=batch * paths, width=width)
    exist = exist.reshape(batch, paths * width)
    totals = add_step(search.totals[-1], chosen.weight)
    wanted = exist
    if walk_best is not None:
        best, _ = best_paths(totals, exist, keep=walk_best)
        column = jnp.where(best == NULL, paths * width, best)
        rows = jnp.arange(batch, dtype=jnp.int32)[:, None]
        wanted = jnp.zeros_like(exist).at[rows, column].set(True, mode="drop")
    step = extend(
        graph,
        search.trail[-1],
        search.trail[0],
        runs,
        place,
        wanted.reshape(batch, paths, width),
        capacity=capacity,
        revisit=revisit,
    )
    count = jnp.sum(options, axis=1, dtype=jnp.int32)
    return SuperSearch(
        sets=(*search.sets, chosen.group),
        weights=(*search.weights, chosen.weight),
        totals=(*search.totals, totals),
        exist=(*search.exist, exist),
        trail=(*search.trail, step.frontier),
        candidates=(*search.candidates, count),
        steps=search.steps + (count > 0).astype(jnp.int32),
        open=search.open & jnp.any(exist, axis=1),
        walked=search.walked + step.walked,
        overflow=search.overflow | step.frontier.overflow,
    )


def close(search: SuperSearch, sufficient: jax.Array) -> SuperSearch:
    """End the search of the questions whose evidence suffices.

    Args:
        search: where it is.
        sufficient: [B] bool.
    """
    return search._replace(open=search.open & ~sufficient)


class Searched(NamedTuple):
    """A whole search."""

    search: SuperSearch  # after its last step
    memo: Any  # of the scorer
    needed: jax.Array  # [3L] int32 slots of a step: runs, edges looked at, edges walked
    overflow: jax.Array  # [] bool


def super_search(
    graph: Graph,
    starts: Frontier,
    group: jax.Array,
    score: Callable[[SuperSearch, jax.Array, Any], jax.Array],
    *,
    num_questions: int,
    num_groups: int,
    width: int,
    hops: int,
    capacities: tuple[int, ...],
    grow: Callable[[SuperSearch, Any], tuple[jax.Array, Any]] | None = None,
    memo: Any = None,
    connections: jax.Array | None = None,
    walk_best: int | None = None,
    backward: bool = True,
    floor: float | jax.Array = 0.0,
    revisit: Revisit = "topic",
) -> Searched:
    """The whole search, with a scorer that runs on the device.

    Args:
        graph: padded tensors.
        starts: hop 0, its `row` being the question.
        group: [2R] int32, super-relation of each relation code.
        score: from the search, its candidates [B, S] bool and the memo to the candidates' scores
            [B, S] float32; pure.
        num_questions, num_groups, width, hops: B, S, N, L; static.
        capacities: 3L slots: for runs, for the edges looked at (see `onward`) and for the edges
            walked, step by step; static.
        grow: from the search after a step, but for the last, and the memo to [B] bool, the
            questions whose evidence suffices, and the next memo; pure. None closes none.
        memo: any pytree, what the scorer keeps from step to step.
        connections, floor, revisit: see `ask` and `tell`.
        walk_best: see `tell`; of the last step alone.
        backward: False goes on from a step's best path alone, so that no later step returns to an
            alternative; static.
    """
    state, needed = begin(starts, num_questions=num_questions), []
    for step in range(hops):
        runs, looked, edges = capacities[3 * step : 3 * step + 3]
        options, leads, state = ask(
            graph, group, state, connections,
            num_groups=num_groups, capacities=(runs, looked), revisit=revisit,
        )  # fmt: skip
        few = walk_best if step == hops - 1 else (None if backward else 1)
        state = tell(
            graph, state, leads, options, score(state, options, memo),
            width=width, capacity=edges, walk_best=few,
            floor=floor, revisit=revisit,
        )  # fmt: skip
        needed += [leads.needed, state.trail[-1].needed[None]]
        if grow is not None and step < hops - 1:
            sufficient, memo = grow(state, memo)
            state = close(state, sufficient)
    return Searched(state, memo, jnp.concatenate(needed), state.overflow)


class BestPaths(NamedTuple):
    """The K best super-relation paths that end at each step, and the entities they extract.

    Q is K times L, shortest paths first. E slots are those of all frontiers after hop 0, one after
    the other.
    """

    groups: jax.Array  # [B, Q, L] int32 super-relations, NULL past the end and for no path
    score: jax.Array  # [B, Q] float32 sum of weights, 0 for no path
    extracted_by: jax.Array  # [E] int32, place in Q of the path that extracts a slot's node, NULL


def conclude(search: SuperSearch, *, keep: int, shorter: bool = True) -> BestPaths:
    """Choose the super-relation paths that answer.

    What shorter paths extract stays in question, since a step more may have led away from the
    answer. Backward reasoning is not here but in the search, which keeps every alternative of
    earlier steps (Section 4.3): see `super_search`.

    Args:
        search: after its last step.
        keep: K; static.
        shorter: False takes the paths that end at the last step that reached anything; static.

    Reference: ReKnoS, Eq. 6-9.
    """
    hops, batch = len(search.sets), search.steps.shape[0]
    reached = jnp.stack([jnp.any(exist, axis=1) for exist in search.exist[1:]], axis=1)
    deepest = jnp.sum(reached, axis=1)  # a step reaches nothing after one that reached nothing
    questions = jnp.arange(batch, dtype=jnp.int32)[:, None]
    groups, score, extracted = [], [], []
    for step in range(1, hops + 1):
        wanted = (deepest >= step) if shorter else (deepest == step)
        exist = search.exist[step] & wanted[:, None]
        path, total = best_paths(search.totals[step], exist, keep=keep)
        score.append(total)
        groups.append(
            jnp.pad(
                path_groups(path, search.sets[:step]),
                ((0, 0), (0, 0), (0, hops - step)),
                constant_values=NULL,
            )
        )
        paths, frontier = exist.shape[1], search.trail[step]
        place = jnp.full((batch, paths), NULL, jnp.int32)
        place = place.at[questions, jnp.where(path == NULL, paths, path)].set(
            jnp.arange(keep, dtype=jnp.int32)[None, :] + (step - 1) * keep, mode="drop"
        )
        of_slot = place.reshape(-1)[jnp.clip(frontier.row, 0, batch * paths - 1)]
        extracted.append(jnp.where(frontier.valid, of_slot, NULL))
    return BestPaths(
        jnp.concatenate(groups, axis=1),
        jnp.concatenate(score, axis=1),
        jnp.concatenate(extracted),
    )
