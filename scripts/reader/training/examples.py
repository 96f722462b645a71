"""Questions with the views of all their readings and which of them are right."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph
from jaxkg.systems.reader.reading import Readings
from jaxkg.systems.reader.sets.candidate import Candidate
from jaxkg.systems.reader.settings import ReaderSettings
from jaxkg.systems.reader.system import Reader, Understood
from jaxkg.systems.reader.vectors import ReaderTexts
from jaxkg.systems.reader.views import ANCHORS, NAMES, views
from jaxkg.text import TextEncoder
from jaxkg.text.encoder import Change
from training.maker import Asked

_MOST_WRONG = 60
"""Wrong readings that are kept of a question: those that look best."""


@dataclasses.dataclass(frozen=True)
class Examples:
    """Views of questions' readings, end to end.

    Attributes:
        views: [N, F] float32.
        right: [N] bool.
        offsets: [Q + 1] where each question starts.
        lost: questions that none of the readings answers.
    """

    views: np.ndarray
    right: np.ndarray
    offsets: np.ndarray
    lost: int = 0

    @property
    def count(self) -> int:
        """Q, those that are lost not counted."""
        return len(self.offsets) - 1

    def __add__(self, other: Examples) -> Examples:
        """Both together."""
        return Examples(
            np.concatenate([self.views, other.views]),
            np.concatenate([self.right, other.right]),
            np.concatenate([self.offsets, other.offsets[1:] + self.offsets[-1]]),
            self.lost + other.lost,
        )

    def save(self, path: Path) -> None:
        """Write one `.npz` file."""
        np.savez(
            path,
            views=self.views,
            right=self.right,
            offsets=self.offsets,
            names=np.frombuffer("\n".join(NAMES).encode(), np.uint8),
            lost=self.lost,
        )

    @classmethod
    def open(cls, path: Path) -> Examples:
        """Read a file of `save`; a view that it lacks is 0.

        Raises:
            JaxkgError: it has views that there are none of any more.
        """
        with np.load(path) as file:
            names = tuple(file["names"].tobytes().decode().split("\n"))
            if not set(names) <= set(NAMES):
                raise JaxkgError(f"{path} holds examples of other views: make them again")
            views = np.zeros((len(file["views"]), len(NAMES)), np.float32)
            views[:, [NAMES.index(name) for name in names]] = file["views"]
            return cls(views, file["right"], file["offsets"], int(file["lost"]))


def no_examples() -> Examples:
    """None yet."""
    return Examples(np.zeros((0, len(NAMES)), np.float32), np.zeros(0, bool), np.zeros(1, np.int64))


def answers_of(kg: KnowledgeGraph, candidate: Candidate) -> frozenset[str]:
    """What a reading answers: a number, yes, no, or entity ids."""
    if candidate.result:
        return frozenset({candidate.result})
    return frozenset(kg.entity_ids[end] for end in candidate.ends.tolist())


def _f1(found: frozenset[str], wanted: frozenset[str]) -> float:
    return 2 * len(found & wanted) / (len(found) + len(wanted)) if found else 0.0


def right_readings(kg: KnowledgeGraph, asked: Asked, found: Sequence[Candidate]) -> np.ndarray:
    """[C] bool: readings with the right answers, of the right relations where some are."""
    right = np.array([answers_of(kg, c) == asked.answers for c in found], bool)
    if not right.any() and asked.partly and not next(iter(asked.answers)).isdigit():
        scores = np.array([_f1(answers_of(kg, c), asked.answers) for c in found])
        if len(scores) and scores.max() >= 0.5:
            return scores >= scores.max() - 0.01
    if asked.relations and right.any():
        wanted = {r.removeprefix("^") for r in asked.relations}
        walked = [
            {
                kg.relations[code % kg.num_relations]
                for code in (*c.relations, c.measure)
                if code >= 0
            }
            for c in found
        ]
        meant = right & np.array([some == wanted for some in walked])
        return meant if meant.any() else right
    return right


Right = Callable[[KnowledgeGraph, Asked, Sequence[Candidate]], np.ndarray]
"""Tells which readings of a question are right."""


def told_apart(reader: Reader, questions: Sequence[Asked]) -> tuple[np.ndarray, np.ndarray]:
    """What the confidence reads of questions, and whether the best reading is right.

    Args:
        reader: with a trained ranker.
        questions: those without answers are never right.

    Returns:
        [Q, K] float32 and [Q] bool.
    """
    cues, right = [], []
    for one in questions:
        understood = reader.understand(one.text)
        if understood.cues is not None:
            cues.append(understood.cues)
            right.append(best_right(reader.kg, one, understood))
    return np.array(cues, np.float32), np.array(right, bool)


def best_right(kg: KnowledgeGraph, asked: Asked, understood: Understood) -> bool:
    """Whether the best reading, or what stands before all and leads nowhere, is right."""
    best = understood.wanting or understood.readings[0].candidate
    names = {kg.name(end) for end in best.ends.tolist()}
    plain = not best.result and names == asked.answers
    return answers_of(kg, best) == asked.answers or (plain and bool(names))


def make_examples(
    kg: KnowledgeGraph,
    questions: Sequence[tuple[Asked, Sequence[str]]],
    encoder: TextEncoder | None,
    settings: ReaderSettings,
    maps: tuple[np.ndarray, np.ndarray] | None = None,
    change: Change | None = None,
    *,
    right_of: Right = right_readings,
) -> Examples:
    """Views of questions about one graph.

    Args:
        kg: the graph.
        questions: each with its topics where they are known.
        encoder: of texts; asked once for all questions.
        settings: of the reader.
        maps: of phrases and labels, see `TextVectors`.
        change: of the encoder, see `ReaderTexts`.
        right_of: which readings are right.
    """
    readings = Readings(kg, ReaderTexts.of(encoder, maps, change), settings)
    every = deque(readings.asked(one.text, topics) for one, topics in questions)
    if encoder is not None:
        if kg.num_relations < 500:
            known = readings.vocabulary
            labels = [text for relation in known.relations for text in relation.wordings]
            labels += [text for kind in known.classes for text in known.class_words(kind)]
            readings.vectors([*labels, *ANCHORS.values()])
        readings.encode(every)
    rows, marks, offsets, lost = [], [], [0], 0
    for one, _ in questions:
        asked = every.popleft()
        found = readings.of(asked)
        right = right_of(kg, one, found)
        if not right.any():
            lost += 1
            continue
        wrong = np.flatnonzero(~right)[:_MOST_WRONG]
        kept = np.sort(np.concatenate([np.flatnonzero(right)[:10], wrong]))
        rows.append(views(asked, [found[i] for i in kept], readings.find, readings.linking))
        marks.append(right[kept])
        offsets.append(offsets[-1] + len(kept))
    if not rows:
        return dataclasses.replace(no_examples(), lost=lost)
    return Examples(np.concatenate(rows), np.concatenate(marks), np.array(offsets), lost)


def gather(some: Iterable[Examples], *, told: Callable[[int], None] | None = None) -> Examples:
    """All examples together."""
    whole, parts = no_examples(), []
    for number, part in enumerate(some, start=1):
        parts.append(part)
        if told is not None:
            told(number)
    for part in parts:
        whole = whole + part
    return whole
