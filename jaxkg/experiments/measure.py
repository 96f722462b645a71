"""Questions drawn of a set, and what a run remembers of their answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxkg.answer import Answer
from jaxkg.evaluate import prediction_line
from jaxkg.kg import KnowledgeGraph
from jaxkg.kg.questions.passages import passage_id
from jaxkg.records import Question

if TYPE_CHECKING:
    from jaxkg.kg.hypergraph.graph import KnowledgeHypergraph

CHUNK = 2048
"""Questions answered at a time: what a crash can cost at most, and what is held at once."""


def drawn(questions: Sequence[Question], count: int | None, seed: int) -> list[Question]:
    """So many questions of a set, drawn by the seed, in their order; None takes all."""
    order = np.random.default_rng(seed).permutation(len(questions))[:count]
    return [questions[i] for i in sorted(order.tolist())]


def lines_of(
    questions: Sequence[Question],
    answers: Iterable[Answer],
    graph: KnowledgeGraph | KnowledgeHypergraph,
    check: Callable[[Answer], bool],
) -> Iterator[dict[str, Any]]:
    """What a run remembers of each question; entities are known by the graph's ids and names."""

    def name_of(id: str) -> str | None:
        return graph.entity_names[rows[0]] if (rows := graph.entity_ids.rows(id)) else None

    def ids_of(gold: str) -> Iterator[str]:
        """A gold answer is an id, else a name, which several entities may have."""
        if graph.entity_ids.rows(gold):
            yield gold
        else:
            yield from (graph.entity_ids[row] for row in graph.entity_names.rows(gold))
            yield gold  # a number, yes or no

    for question, answer in zip(questions, answers, strict=True):
        support, retrieved = (), None
        if (brought := question.passages) is not None:
            support = [passage_id(*brought.texts[place]) for place in brought.support]
            retrieved = [passage_id(some.title, some.text) for some in answer.passages]
        yield prediction_line(
            question,
            answer,
            check=check,
            name_of=name_of,
            ids_of=ids_of,
            support=support,
            retrieved=retrieved,
        )
