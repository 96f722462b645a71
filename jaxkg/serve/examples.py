"""Questions to try, made up from what a graph says."""

from __future__ import annotations

import numpy as np

from jaxkg.kg import KnowledgeGraph
from jaxkg.records import Question

_LONGEST = 60
_BEFORE_THE_ASKED = {"at", "by", "for", "from", "in", "of", "on", "to", "with"}


def examples(kg: KnowledgeGraph, *, most: int = 8) -> list[Question]:
    """A question for each of the most frequent relations, with one fact's tail as its answer.

    Heads that share their name, or bear a long one, are not asked about. Which of the questions a
    system understands is for its answers to tell.

    >>> from jaxkg.kg import demo_graph
    >>> [question.text for question in examples(demo_graph(), most=2)]
    ['What is the starred of 12 Monkeys?', 'What is the genre of My Neighbor Totoro?']
    """
    relations = kg.triples[:, 1]
    order = np.argsort(-np.bincount(relations, minlength=kg.num_relations), kind="stable")
    questions: list[Question] = []
    for code in order[: 4 * most].tolist():
        rows = np.flatnonzero(relations == code)
        # Another place in each relation's table, so that not all are about the same entity.
        for row in np.roll(rows, -len(rows) * len(questions) // most)[:50].tolist():
            head, _, tail = kg.triples[row].tolist()
            name = kg.name(head)
            if len(name) <= _LONGEST and len(kg.entity_names.rows(name)) == 1:
                text = _worded(kg.relation_labels[code], name)
                answers = (kg.entity_ids[tail],)
                questions.append(Question(id=f"e{code}", text=text, answers=answers))
                break
        if len(questions) == most:
            break
    return questions


def _worded(label: str, name: str) -> str:
    words = label.split()
    if len(words) > 1 and words[0] in ("has", "is"):
        words = words[1:]
    said = " ".join(words)
    if words and words[-1] in _BEFORE_THE_ASKED:
        return f"What is {name} {said}?"
    return f"What is the {said} of {name}?"
