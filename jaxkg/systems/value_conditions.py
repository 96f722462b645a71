"""What a question asks of the values of what was found: the latest, those founded after 1966.

Its words say whether something is ordered or compared, and which way; a small model says by which
of the values around what was found.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from jaxkg.answer import Answer
from jaxkg.kg.link.folding import split_words
from jaxkg.kg.queries.rules import refusal
from jaxkg.kg.queries.sets import QuerySets
from jaxkg.query import Entities, Extreme, Node, Value, Where
from jaxkg.search.path_steps import ranges
from jaxkg.systems.reader.language.bounds import Bound
from jaxkg.systems.reader.language.cues import read_cues
from jaxkg.systems.reader.language.grades import Grade
from jaxkg.systems.reader.language.lexicon.stems import stem
from jaxkg.text import TextEncoder

VIEWS = ("text", "words", "share", "other kind")
"""How the text vectors of a path and a question agree, which part of the path's words is in the
question, how many of the entities have such a value, and whether another kind is asked for."""
WEIGHTS = np.array([8.9, 5.1, 2.4, -1.5])
"""Of the views, learned on the training part of CWQ, by a script that stands at commit 9f319df7."""

Asked: TypeAlias = Grade | Bound
_YEAR = re.compile(r"(?:1\d|20)\d\d(?:-|$)")


class ValuePath(NamedTuple):
    """A relation path from entities to values.

    Attributes:
        relations: one, or two through nodes without a name.
        kind: "number" or "date".
        share: of the entities that have such a value.
    """

    relations: tuple[str, ...]
    kind: str
    share: float


@functools.lru_cache(maxsize=64)  # several stages of an answer ask
def asked_of_values(question: str) -> Asked | None:
    """Whether a question's words order or compare, and how.

    >>> asked_of_values("Which of their albums was released last?").largest
    True
    >>> bound = asked_of_values("Which team was founded after 1966?")
    >>> bound.comparison, bound.low
    ('>', '1966')
    """
    cues = read_cues(question)
    # A year that something happened in is mostly no value of the answer.
    bounds = [bound for bound in cues.bounds if bound.comparison != "in"]
    if bounds:
        return bounds[0]
    # "The second largest" is no order's first.
    return None if cues.extreme is None or cues.extreme.nth else cues.extreme


class ValueConditions:
    """Finds the condition that a question puts on the values of entities."""

    def __init__(self, sets: QuerySets, encoder: TextEncoder) -> None:
        self.sets, self.kg, self.encoder = sets, sets.kg, encoder
        self._kept: dict[str, np.ndarray] = {}

    def of(self, question: str, nodes: Sequence[int], *, least: float) -> Node | None:
        """The query graph of the likeliest condition; None where there is none.

        Args:
            question: the question.
            nodes: entities that were found.
            least: score of a path to values from which on it is believed.
        """
        asked = asked_of_values(question)
        paths = [] if asked is None else self.paths(np.unique(np.array(nodes, np.int64)))
        if asked is None or not paths:
            return None
        scores = self.views(question, asked, paths) @ WEIGHTS
        best = int(np.argmax(scores))
        if scores[best] < least:
            return None
        source = Entities(tuple(self.kg.entity_ids[node] for node in nodes))
        query = self._query(source, asked, paths[best])
        return None if refusal(self.sets.values, query) else query

    def paths(self, nodes: np.ndarray) -> list[ValuePath]:
        """The paths from entities to numbers and dates.

        Args:
            nodes: [n] distinct entities.
        """
        kg, around = self.kg, self.sets.around
        source, code, end, _ = around.edges(nodes)
        direct = self._valued[code]
        found = [np.stack([code[direct], np.full(direct.sum(), -1), source[direct]])]
        source, code, end = source[~direct], code[~direct], end[~direct]
        unnamed = [node for node in np.unique(end).tolist() if not kg.has_name(node)]
        middle, second, _, _ = around.edges(np.array(unnamed, np.int64))
        valued = self._valued[second]
        middle, second = np.unique(np.stack([middle[valued], second[valued]]), axis=1)
        at, edge = ranges(np.searchsorted(middle, end), np.searchsorted(middle, end, side="right"))
        found.append(np.stack([code[edge], second[at], source[edge]]))
        distinct = np.unique(np.concatenate(found, axis=1), axis=1)
        steps, counts = np.unique(distinct[:2], axis=1, return_counts=True)
        made = []
        for pair, count in zip(steps.T.tolist(), counts.tolist()):
            names = tuple(kg.relation_name(step) for step in pair if step >= 0)
            kind = self.sets.values.relation_kinds[names[-1]]
            made.append(ValuePath(names, kind, count / len(nodes)))
        return made

    def views(self, question: str, asked: Asked, paths: Sequence[ValuePath]) -> np.ndarray:
        """[P, 4] float64, what speaks for each path to values, see `VIEWS`."""
        texts = [
            " ".join(self.kg.relation_labels[self.kg.relation_code(r) % self.kg.num_relations]
                     for r in path.relations)
            for path in paths
        ]  # fmt: skip
        said, wanted = _stems(question), _kind_asked(asked)
        views = np.zeros((len(paths), len(VIEWS)))
        views[:, 0] = self._vectors(texts) @ self.encoder([question])[0]
        for row, (text, path) in enumerate(zip(texts, paths)):
            words = _stems(text)
            views[row, 1] = len(words & said) / max(1, len(words))
            views[row, 2] = path.share
            views[row, 3] = wanted is not None and path.kind != wanted
        return views

    def _query(self, source: Entities, asked: Asked, path: ValuePath) -> Node:
        if isinstance(asked, Grade):
            label = self.kg.relation_labels[self.kg.relation_code(path.relations[-1])]
            largest = asked.sign((label,), path.kind)
            return Extreme(source, path.relations, largest, asked.most)
        how = asked.comparison if path.kind == "date" else asked.for_numbers
        kind = "date" if path.kind == "date" else "number"
        kept = Where(source, path.relations, how, Value(kind, asked.low))
        return Where(kept, path.relations, "<=", Value(kind, asked.high)) if asked.high else kept

    def _vectors(self, texts: Sequence[str]) -> np.ndarray:
        """[P, D] float64 text vectors of paths, kept: there are few of them."""
        if new := sorted({*texts} - self._kept.keys()):
            self._kept.update(zip(new, self.encoder(new).astype(float)))
        return np.stack([self._kept[text] for text in texts])

    @functools.cached_property
    def _valued(self) -> np.ndarray:
        """[2R] bool, the codes that lead to numbers or dates."""
        kinds = map(self.sets.values.relation_kinds.get, self.kg.relations)
        forth = np.array([kind in ("number", "date") for kind in kinds], bool)
        return np.concatenate([forth, np.zeros_like(forth)])


def _stems(text: str) -> set[str]:
    return {stem(word) for word in split_words(text).folded if len(word) > 2}


def _kind_asked(asked: Asked) -> str | None:
    """What is ordered or compared, where the words tell: "number" or "date"."""
    if isinstance(asked, Bound):
        return "date" if _YEAR.match(asked.low) else "number"
    measures = asked.measure.split()
    if {"date", "year"} & {*measures}:
        return "date"
    return "number" if measures[:1] == ["size"] else None


def conditioned(answer: Answer, told: Answer) -> Answer:
    """An answer with the condition that it meets: its query graph, and the walks to values.

    Args:
        answer: those that meet it, with the walks from the topics.
        told: the same ones, as the condition alone tells of them.
    """
    renamed = {path.id: f"p{len(told.paths) + n}" for n, path in enumerate(answer.paths, start=1)}
    walks = {each.entity: each.paths for each in told.entities}
    entities = tuple(
        dataclasses.replace(
            each, paths=(*(renamed[path] for path in each.paths), *walks[each.entity])
        )
        for each in answer.entities
    )
    paths = (dataclasses.replace(path, id=renamed[path.id]) for path in answer.paths)
    return dataclasses.replace(
        answer,
        entities=entities,
        paths=(*told.paths, *paths),
        notes=(*answer.notes, *told.notes),
        reading=told.reading,
        query=told.query,
    )
