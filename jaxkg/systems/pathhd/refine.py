"""Schemas that a language model chooses among the retrieved ones, by one short call a question."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from jaxkg.adjudicate.backend import Backend
from jaxkg.adjudicate.calls.refinement import Unrefined, choose_patterns
from jaxkg.kg import KnowledgeGraph
from jaxkg.records import Question
from jaxkg.systems.cited import Remarks
from jaxkg.systems.pathhd.records import Retrieved
from jaxkg.types import NULL
from jaxkg.words import relation_path_words


def refine_schemas(
    backend: Backend,
    kg: KnowledgeGraph,
    questions: Sequence[Question],
    candidates: Retrieved,
    *,
    most: int,
) -> tuple[Retrieved, list[Remarks]]:
    """Keep the schemas that a language model chooses; they stay in order of their scores.

    A question with no more candidates than wanted costs no call. Where a call fails, or nothing
    offered is chosen, all candidates are kept and the note says so.

    Args:
        backend: who chooses.
        kg: the graph.
        questions: Q of them.
        candidates: of the questions.
        most: schemas wanted of each question.

    Returns:
        The candidates, those not chosen at -inf, and what the calls cost and left, by question.

    Reference: PathHD, Appendix K.
    """
    there = np.isfinite(candidates.score)
    unsure = np.flatnonzero(there.sum(axis=1) > most).tolist()
    offered = {row: np.flatnonzero(there[row]) for row in unsure}
    asked = [
        Unrefined(
            questions[row].text,
            questions[row].id,
            tuple(
                relation_path_words(kg.relation_name(int(c)) for c in codes if c != NULL)
                for codes in candidates.relations[row, places]
            ),
        )
        for row, places in offered.items()
    ]
    score = candidates.score.copy()
    remarks = [Remarks() for _ in questions]
    for row, outcome in zip(unsure, choose_patterns(backend, asked, most=most), strict=True):
        cut = (outcome.note,) if outcome.note else ()
        if outcome.value is None:
            note = f"schemas not refined ({outcome.error}: {outcome.detail})"
            remarks[row] = Remarks(usage=outcome.usage, notes=(note, *cut))
            continue
        numbers = list(dict.fromkeys(outcome.value.patterns))
        real = [n for n in numbers if 1 <= n <= len(offered[row])]
        remarks[row] = Remarks(
            usage=outcome.usage,
            notes=cut if real else ("schemas not refined: the model chose none of them", *cut),
            dropped=tuple(f"pattern {n}" for n in numbers if n not in real),
        )
        if real:
            chosen = offered[row][np.array(real[:most]) - 1]
            score[row, np.setdiff1d(offered[row], chosen)] = -np.inf
    return dataclasses.replace(candidates, score=score), remarks
