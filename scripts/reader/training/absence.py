"""Graphs without what a question needs: the right thing to do there is to withhold.

Absence by construction: of an own graph, relations, topics or classes that the gold expressions
quote are left out, for many questions at once, so that a graph's words are read a few times only.
"""

from __future__ import annotations

import dataclasses
import random
import re
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from jaxkg.kg import KnowledgeGraph
from jaxkg.systems.reader.language.vocabulary import Vocabulary
from jaxkg.words import relation_words

QUOTED = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"")
"""A thing or a relation in an own graph's `gold`."""
PARTS = 4
"""Parts that the relations of a graph are told apart into; one is left out, or alone left."""
TABLES = 6
"""Small tables that are made of a graph."""
CHANCE = frozenset({"yesno", "count", "comparison", "superlative"})
"""Kinds of questions whose answers may come out right by chance."""


_Needs = tuple[frozenset[int], frozenset[int]]


@dataclasses.dataclass(frozen=True)
class Absence:
    """A part of a graph and what is asked of it.

    Attributes:
        how: "whole", "relation", "few", "topic", "class" or "table": what was left out.
        kg: what is left.
        asked: rows of the questions, and whether what each needs is gone.
    """

    how: str
    kg: KnowledgeGraph
    asked: tuple[tuple[int, bool], ...]


def absences(
    name: str, kg: KnowledgeGraph, questions: Sequence[Mapping[str, Any]]
) -> Iterator[Absence]:
    """The graph itself, then parts of it that lack what some of the questions need.

    Args:
        name: of the graph; it seeds what is drawn.
        kg: an own graph.
        questions: about it, with their `gold` expressions.
    """
    drawn = random.Random(zlib.crc32(name.encode()))
    told = Vocabulary(kg)
    yield Absence("whole", kg, tuple((row, False) for row in range(len(questions))))
    needs = needed(told, [one.get("gold") or "" for one in questions])
    able = {row: some for row, some in enumerate(needs) if some[0] and questions[row]["answers"]}
    wanted = sorted({code for codes, _ in able.values() for code in codes})
    drawn.shuffle(wanted)
    others = [c for c, r in enumerate(told.relations) if not r.role and c not in wanted]
    drawn.shuffle(others)
    taken: set[int] = set()
    for part in range(PARTS):
        gone = {*wanted[part::PARTS]}
        rows = [row for row, (codes, _) in able.items() if codes & gone and row not in taken]
        taken |= {*rows}
        if rows:
            left = ~np.isin(kg.triples[:, 1], [*gone])
            yield from _part("relation", kg, left, [(row, True) for row in rows])
        few = gone | {*others[part::PARTS]}
        left = np.array([r.role != "" or c in few for c, r in enumerate(told.relations)])
        rows = [(row, False) for row, (codes, _) in able.items() if codes and codes <= few]
        without = [(row, True) for row, (codes, _) in able.items() if codes and not codes & few]
        rows += drawn.sample(without, min(len(without), 5))
        yield from _part("few", kg, left[kg.triples[:, 1]], rows)
    for _ in range(2):
        rows = [row for row, (_, things) in able.items() if things and drawn.random() < 0.35]
        gone = {thing for row in rows for thing in able[row][1] if thing not in told.classes}
        left = np.logical_not(_about(kg, gone))
        some = [(row, True) for row in rows if able[row][1] & gone]
        yield from _part("topic", kg, left, some)
    kinds = sorted({thing for _, things in able.values() for thing in things & {*told.classes}})
    for kind in drawn.sample(kinds, min(len(kinds), 2)):
        gone = {kind, *told.classes[kind].tolist()}
        left = np.logical_not(_about(kg, gone))
        some = [(row, True) for row, (_, things) in able.items() if kind in things]
        yield from _part("class", kg, left, some)
    yield from _tables(told, able, drawn)


def _tables(
    told: Vocabulary,
    able: Mapping[int, tuple[frozenset[int], frozenset[int]]],
    drawn: random.Random,
) -> Iterator[Absence]:
    """Small tables: three relations of one thing, half of them without classes, and questions that
    need one relation of something that stands there."""
    kg, triples = told.kg, told.kg.triples
    plain = {c for c, r in enumerate(told.relations) if not r.role}
    simple = {row: some for row, some in able.items() if len(some[0]) == 1 and some[1]}
    for row in drawn.sample(sorted(simple), min(len(simple), TABLES)):
        beside = sorted({*triples[_about(kg, simple[row][1]), 1].tolist()} & plain)
        if len(beside) < 3:
            continue
        kept = {*drawn.sample(beside, 3)}
        roles = {c for c, r in enumerate(told.relations) if r.role == "alias"}
        roles |= {*told.type_codes} if drawn.random() < 0.5 else set()
        left = np.isin(triples[:, 1], [*kept, *roles])
        there = {*triples[np.isin(triples[:, 1], [*kept])][:, [0, 2]].ravel().tolist()}
        some = [(r, not codes <= kept) for r, (codes, ends) in simple.items() if ends <= there]
        yield from _part("table", kg, left, drawn.sample(some, min(len(some), 8)))


def _about(kg: KnowledgeGraph, things: Collection[int]) -> np.ndarray:
    """[T] bool: triples that begin or end at some things."""
    return np.asarray(np.isin(kg.triples[:, [0, 2]], [*things]).any(axis=1))


def _part(
    how: str, kg: KnowledgeGraph, left: np.ndarray, rows: Sequence[tuple[int, bool]]
) -> Iterator[Absence]:
    """A part of a graph, unless hardly anything is left of it or nothing is asked."""
    if rows and left.sum() >= 5:
        ids, gone = kg.entity_ids, kg.triples[~left].tolist()
        less = kg.remove((ids[h], kg.relations[r], ids[t]) for h, r, t in gone) if gone else kg
        yield Absence(how, less, tuple(rows))


def needed(told: Vocabulary, golds: Sequence[str]) -> list[_Needs]:
    """Codes of the relations and rows of the things that gold expressions quote."""
    kg, place, found = told.kg, places(told), []
    parts = {re.split("[/#]", id)[-1]: row for row, id in enumerate(kg.entity_ids)}
    for gold in golds:
        quoted = [one or other for one, other in QUOTED.findall(gold)]
        codes = [place.get(relation_words(text.lstrip("-~")).lower()) for text in quoted]
        things: set[int] = set()
        for text, code in zip(quoted, codes):
            if code is None:
                rows = kg.entity_ids.rows(text) or kg.entity_names.rows(text)
                things |= {*map(int, rows)} or ({parts[text]} if text in parts else set())
        found.append((frozenset(c for c in codes if c is not None), frozenset(things)))
    return found


def places(told: Vocabulary) -> dict[str, int]:
    """Codes of a graph's ordinary relations by their names and labels, in small letters."""
    place: dict[str, int] = {}
    for code, relation in enumerate(told.relations):
        for label in () if relation.role else (told.kg.relations[code], *relation.wordings):
            place.setdefault(relation_words(label).lower(), code)
    return place
