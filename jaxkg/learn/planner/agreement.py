"""A distilled planner beside its teacher, on questions neither was chosen by."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from jaxkg.candidates import Revisit
from jaxkg.kg import KnowledgeGraph, entity_rows
from jaxkg.learn.planner.distill import teacher_paths
from jaxkg.learn.planner.model import Planner
from jaxkg.learn.planner.traces import PlanTrace
from jaxkg.search.plans import execute_paths, plan_paths
from jaxkg.tensors import TensorGraph
from jaxkg.types import NULL
from jaxkg.words import mask_mentions


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
    scores = [
        np.mean([_f1(some, right) for some, right in zip(side, gold) if right]) if count else None
        for side in (its, mine)
    ]
    return Agreement(
        questions=len(traces),
        same_plan=float(np.mean(same)),
        teacher_f1=None if scores[0] is None else float(scores[0]),
        student_f1=None if scores[1] is None else float(scores[1]),
        with_gold=count,
    )


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
