"""A planning model's traces, learnt by the local planner, which then plans without a call.

Reference: Shrestha and Kim, Section III-A3; their student is a language model of four billion
parameters, this one a few vectors of n-grams.

A distilled planner beside its teacher, on questions neither was chosen by.
"""

from __future__ import annotations

import dataclasses
import itertools
import os
from collections.abc import Callable, Sequence

import numpy as np

from jaxkg.candidates import Revisit
from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph, entity_rows
from jaxkg.learn.planner.model import Planner
from jaxkg.learn.planner.traces import PlanTrace
from jaxkg.learn.planner.train import Examples, PlannerConfig, hasher_for, train_planner
from jaxkg.learn.planner.wordings import Wordings
from jaxkg.learn.words import label_table, question_table, seen_buckets
from jaxkg.search.plans import execute_paths, plan_paths
from jaxkg.tensors import TensorGraph
from jaxkg.types import NULL
from jaxkg.words import mask_mentions

_MOST = 8
"""Relation paths learnt of a question: three hops of two relations each."""


@dataclasses.dataclass(frozen=True)
class DistillReport:
    """What became of the traces.

    Attributes:
        traces: given.
        without_plan: those without a plan that holds.
        too_long: those whose plan is longer than the planner plans.
        held_out_probability: mean probability that the planner gives the teacher's plan on the
            traces held out, in the epoch kept.
        epochs: (loss, held-out probability) of each epoch.
    """

    traces: int
    without_plan: int
    too_long: int
    held_out_probability: float
    epochs: tuple[tuple[float, float], ...]


def distill(
    kg: KnowledgeGraph,
    traces: Sequence[PlanTrace],
    *,
    held_out: float = 0.1,
    config: PlannerConfig = PlannerConfig(),
    folder: str | os.PathLike[str] | None = None,
    seed: int = 0,
    on_progress: Callable[[str, int, int], None] | None = None,
) -> tuple[Planner, tuple[PlanTrace, ...], DistillReport]:
    """Train a planner to plan as the traces do; gold answers are never looked at.

    Args:
        kg: the graph the traces are of.
        traces: of a planning model.
        held_out: share of the traces that only choose the epoch; on them the student is compared
            with its teacher.
        config: sizes and schedule.
        folder: keeps the training's state; a later call goes on from there.
        seed: of split, weights, order and dropout.
        on_progress: called with (stage, done, total).

    Returns:
        The planner, the traces held out, and what became of all.

    Raises:
        JaxkgError: no trace has a plan, or one names a relation that is not the graph's.
    """
    if not 0 <= held_out < 1:
        raise JaxkgError(f"held_out must be a share in [0, 1), not {held_out}")
    tick = on_progress or (lambda stage, done, total: None)
    planned = [trace for trace in traces if trace.plans and trace.used]
    usable = [t for t in planned if all(len(t.plans[u]) <= config.hops for u in t.used)]
    if not usable:
        raise JaxkgError(
            f"none of the {len(traces)} traces has a plan of at most {config.hops} hops to learn"
        )
    masked = [mask_mentions(trace.question.text, trace.spans) for trace in usable]
    hasher = hasher_for(masked, config)
    relations = np.full((len(usable), _MOST, config.hops), NULL, np.int32)
    right = np.zeros((len(usable), _MOST), np.float32)
    for row, trace in enumerate(usable):
        for place, path in enumerate(teacher_paths(kg, trace)[:_MOST]):
            relations[row, place, : len(path)] = path
            right[row, place] = 1.0
    examples = Examples(question_table(hasher, masked), relations, right)
    order = np.random.default_rng(seed).permutation(len(usable))
    first = min(len(usable) - 1, round(held_out * len(usable)))
    aside, used = order[:first], order[first:]
    params, score, epochs = train_planner(
        label_table(hasher, kg.relations),
        Examples(*(part[used] for part in examples)),
        Examples(*(part[aside if first else used] for part in examples)),
        config,
        buckets=hasher.buckets,
        seed=seed,
        folder=folder,
        on_epoch=lambda epoch, loss, score: tick("distill", epoch, config.epochs),
    )
    tick("distill", config.epochs, config.epochs)
    report = DistillReport(
        traces=len(traces),
        without_plan=len(traces) - len(planned),
        too_long=len(planned) - len(usable),
        held_out_probability=score,
        epochs=epochs,
    )
    teachers = sorted({trace.model for trace in usable})
    read = [masked[i] for i in used]
    planner = Planner(
        params=params,
        relations=kg.relations,
        hasher=hasher,
        hops=config.hops,
        seen=seen_buckets(hasher, read),
        about={
            "distilled": dataclasses.asdict(report),
            "teachers": teachers,
            "seed": seed,
            "revisit": "topic",
        },
        wordings=Wordings.of(read),
    )
    return planner, tuple(usable[i] for i in (aside if first else used)), report


def teacher_paths(kg: KnowledgeGraph, trace: PlanTrace) -> list[tuple[int, ...]]:
    """Relation paths that the plans a trace was answered with allow, as codes.

    Raises:
        JaxkgError: a relation is not the graph's.
    """
    paths: dict[tuple[int, ...], None] = {}
    for use in trace.used:
        hops = [[kg.relation_code(name) for name in hop] for hop in trace.plans[use]]
        paths.update(dict.fromkeys(itertools.product(*hops)))
    return list(paths)


@dataclasses.dataclass(frozen=True)
class Agreement:
    """How near a student comes to its teacher.

    Attributes:
        questions: compared.
        same_plan: share whose best plan is one the teacher answered with.
        teacher_f1, student_f1: mean F1 of the plans' answers, over the questions with gold answers
            that are entities of the graph; None where there is none.
        with_gold: how many those are.
    """

    questions: int
    same_plan: float
    teacher_f1: float | None
    student_f1: float | None
    with_gold: int


def compare_with_teacher(
    kg: KnowledgeGraph, tensors: TensorGraph, planner: Planner, traces: Sequence[PlanTrace]
) -> Agreement:
    """Plan the traces' questions with the student and execute both sides' plans.

    Args:
        kg, tensors: the graph.
        planner: the student.
        traces: the teacher's, with at least one plan used each.

    Returns:
        Agreement of plans, and answer F1 of both.
    """
    revisit = planner.about.get("revisit", "topic")
    topics = [[kg.entity(node) for node in trace.linked] for trace in traces]
    masked = [mask_mentions(trace.question.text, trace.spans) for trace in traces]
    best = plan_paths(tensors, planner, masked, topics, revisit=revisit).relations[:, 0]
    taught = [teacher_paths(kg, trace) for trace in traces]
    chosen = [tuple(code for code in row if code != NULL) for row in best.tolist()]
    same = [path in paths for path, paths in zip(chosen, taught)]
    gold = [
        {row for answer in trace.question.answers or () for row in entity_rows(kg, answer)}
        for trace in traces
    ]
    count = sum(bool(some) for some in gold)
    mine = reached_sets(tensors, topics, [[path] for path in chosen], planner.hops, revisit)
    its = reached_sets(tensors, topics, taught, planner.hops, revisit)
    f1 = [[_f1(s, right) for s, right in zip(side, gold) if right] for side in (its, mine)]
    teacher, student = (float(np.mean(side)) if count else None for side in f1)
    return Agreement(len(traces), float(np.mean(same)), teacher, student, count)


def reached_sets(
    tensors: TensorGraph,
    topics: Sequence[Sequence[int]],
    paths: Sequence[Sequence[tuple[int, ...]]],
    hops: int,
    revisit: Revisit,
) -> list[set[int]]:
    """Nodes that the relation paths of each question reach together."""
    flat = [(q, path) for q, some in enumerate(paths) for path in some if path]
    table = np.full((len(flat), hops), NULL, np.int32)
    for row, (_, path) in enumerate(flat):
        table[row, : len(path)] = path
    reached = execute_paths(tensors, [topics[q] for q, _ in flat], table, revisit=revisit)
    found: list[set[int]] = [set() for _ in paths]
    for row, node in zip(reached.row.tolist(), reached.node.tolist()):
        found[flat[row][0]].add(node)
    return found


def _f1(found: set[int], gold: set[int]) -> float:
    return 2 * len(found & gold) / (len(found) + len(gold))
