"""How far a language model is trusted: an exam in SELECTs, sat once and kept.

What a small model writes is often wrong where it is sure, what a large one writes seldom is, and
neither says so: many servers tell no log-probabilities. So a model answers questions about two
made-up tables first, in other words than their columns', some of which nothing answers.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import Any

from jaxkg.adjudicate.around.cache import kept_of
from jaxkg.adjudicate.backend import Backend, innermost
from jaxkg.adjudicate.endpoint.capacity import is_local
from jaxkg.adjudicate.endpoint.openai import OpenAIBackend
from jaxkg.kg import KnowledgeGraph
from jaxkg.kg.files.textfile import toml_beside
from jaxkg.kg.queries.sets import QuerySets
from jaxkg.systems.parts import Trust
from jaxkg.systems.selecting import SUREST, SelectWriter, Written

_PASS = 0.75
"""Share of the exam from which on a model is trusted."""


@dataclasses.dataclass(frozen=True)
class Exam:
    """What a model made of the exam.

    Attributes:
        right, asked: SELECTs that find what they should, or that are rightly left out; all.
    """

    right: int
    asked: int

    @property
    def share(self) -> float:
        """The share of SELECTs to be right, one right and one wrong added; 13 / 14 of all right."""
        return (self.right + 1) / (self.asked + 2)

    @property
    def passed(self) -> bool:
        """Whether the model is trusted.

        >>> Exam(9, 12).passed, Exam(8, 12).passed
        (True, False)
        """
        return self.right >= _PASS * self.asked

    @property
    def line(self) -> str:
        """The result, and what follows from it."""
        follows = (
            "passed: jaxkg answers by every SELECT of the model that finds something."
            if self.passed
            else "not passed: jaxkg answers by those SELECTs of the model that it is sure of."
        )
        return f"Exam: {self.right} of {self.asked} SELECTs right, {follows}"


def examined(backend: Backend) -> Exam | None:
    """Let a model sit the exam: a call for each of its questions.

    Returns:
        None where a call fails, or is held back.
    """
    sets, questions = _exam()
    writer = SelectWriter(sets, backend, trust=lambda: 1.0)
    written = writer.write([(text, "exam") for text in questions], [()] * len(questions))
    if any(each.outcome.error not in (None, "unparsed") for each in written):
        return None
    gold = questions.values()
    right = sum(_found(sets, each) == set(names) for each, names in zip(written, gold))
    return Exam(right, len(questions))


def trust_of(backend: Backend, trust: Trust = "exam") -> float | None:
    """How often a model's SELECTs are right, where it is trusted.

    A server elsewhere sits the exam now, unless its replies are kept from an earlier one. One on
    this machine may be slow: it sits it in `jaxkg llm check`, and is not trusted before.

    Args:
        backend: the model.
        trust: "always" and "never" spare the exam.

    Returns:
        None of a model that is not trusted.
    """
    if trust == "never":
        return None
    if trust == "always":
        return SUREST
    replies, server = kept_of(backend), innermost(backend)
    exam = examined(replies) if replies is not None else None
    if exam is None and isinstance(server, OpenAIBackend) and not is_local(server.base_url):
        exam = examined(backend)
    return exam.share if exam is not None and exam.passed else None


@functools.cache
def _exam() -> tuple[QuerySets, Mapping[str, Sequence[str]]]:
    """The graph that is asked, and what answers each question."""
    tables = dict(toml_beside(__file__))
    questions = tables.pop("questions")
    triples = [fact for name, table in tables.items() for fact in _facts(name, table)]
    return QuerySets(KnowledgeGraph.from_triples(triples)), questions


def _facts(name: str, table: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """The triples of a table."""
    _, *columns = table["columns"]
    facts = [
        (row, column, cell)
        for row, *cells in table["rows"]
        for column, cell in zip(columns, cells, strict=True)
        if cell
    ]
    return facts + [(row, "is a", name) for row, *_ in table["rows"]]


def _found(sets: QuerySets, written: Written) -> set[str]:
    """What a SELECT finds, as the exam writes it; nothing where none was written."""
    if written.query is None:
        return {"unreadable"} if written.outcome.error else set()
    result = sets.execute(written.query)
    if result.number is not None:
        return {f"{result.number:g}"}
    return {sets.kg.name(row) for row in result.rows.tolist()}
