"""A reading of a question: an executable query graph and what it denotes."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from jaxkg.limits import LIMITS
from jaxkg.query import Calculation, Compared, Count, Exists, Node, Query, Rows, Total
from jaxkg.systems.reader.language.cues import Cues
from jaxkg.systems.reader.language.grades import Grade
from jaxkg.systems.reader.language.lexicon.cue_words import STOP
from jaxkg.systems.reader.language.topics import CERTAIN, ClassMention, Mention
from jaxkg.systems.reader.sets.alignment import Alignment
from jaxkg.words import singular

_CLAUSES = re.compile(r"[,;:.!?()]|\b(?:and|or|und|oder)\b")
"""What stands between two clauses, which may speak of the same things."""


class Candidate(NamedTuple):
    """A reading of a question.

    Attributes:
        query: what it means.
        ends: [n] entities it denotes; of a count those counted, of yes or no the evidence.
        relations: codes it walks, in order.
        classes: classes it names.
        topics: (mention, option) places it starts from.
        shape: "path", "class", "join", "count", "yesno", "extreme", "filter", "union", "except",
            "compare".
        result: a number, also with its unit, "yes" or "no"; "" where the ends are the answer.
        explained: places of words that its operator explains.
        last: the code that leads to its ends, -1 for a class.
        measure: relation code its operator compares by, -1 without one.
        fit: how well the operator's own words agree with the measure, in [0, 1].
        between: classes of what it walks through.
        graded: classes of what is put in order, or of what is counted to do so.
        picked: relations that were walked when a value picked some out, -1 where none did.
        through: nodes without a name that it walks through, as Freebase has them.
        quick: see `Candidates.quick`.
        wanting: where it leads nowhere, the share of the topic's sort that has what it lacks; 1
            where nothing is left of a set.
        legs: where each branch of a join starts, for the order of words: (mention, codes).
    """

    query: Query
    ends: np.ndarray
    relations: tuple[int, ...] = ()
    classes: tuple[int, ...] = ()
    topics: tuple[tuple[int, int], ...] = ()
    shape: str = "path"
    result: str = ""
    explained: frozenset[int] = frozenset()
    last: int = -1
    measure: int = -1
    fit: float = 0.0
    legs: tuple[tuple[int, tuple[int, ...]], ...] = ()
    between: tuple[int, ...] = ()
    graded: tuple[int, ...] = ()
    picked: int = -1
    through: int = 0
    quick: float = 0.0
    wanting: float = 0.0

    @property
    def node(self) -> Node:
        """Its query graph as one that further ones are built on."""
        assert not isinstance(self.query, Count | Total | Exists | Compared | Calculation | Rows)
        return self.query

    @property
    def whole_class(self) -> bool:
        """Whether it is all of a class, or of what has a relation, and nothing is walked."""
        return self.shape == "class" and not self.relations


@dataclasses.dataclass
class Asked:
    """A question as it is read: its cues, mentions, classes and alignment.

    Attributes:
        named: [words] how surely each belongs to the label of a relation, see `LabelIndex`.
        sense: gives what is asked for against each sort of the graph, see `Senses`.
        cut: whether too much lies around the topics to walk on from all of it.
        notes: what of the question is not looked at.
        part: whether names or words of it are not, so that no answer is sure.
        rows: see `Candidates.row_sets`; None before they are looked for.
        unknown: places of words written as names of which the graph has none.
    """

    cues: Cues
    mentions: list[Mention]
    classes: list[ClassMention]
    alignment: Alignment
    named: np.ndarray
    sense: Callable[[], Mapping[int, np.ndarray]] = dict
    cut: bool = False
    notes: tuple[str, ...] = ()
    part: bool = False
    rows: list[Candidate] | None = None
    unknown: frozenset[int] = frozenset()

    @property
    def sentence(self) -> str:
        """As much of the question as one sentence may have."""
        words = self.cues.words
        most = LIMITS.sentence
        return words.text if len(words.spans) <= most else words.text[: words.spans[most - 1][1]]

    @property
    def options(self) -> Iterator[tuple[tuple[int, int], int]]:
        """Whom each mention may name: places of the mention and the option, and the entity."""
        for place, mention in enumerate(self.mentions):
            for at, option in enumerate(mention.options):
                yield (place, at), option.entity

    @functools.cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """Places of two mentions that may be joined: of all of them, or of the surest."""
        pairs = list(itertools.combinations(range(len(self.mentions)), 2))
        if len(pairs) <= LIMITS.pairs:
            return pairs
        sure = [mention.score for mention in self.mentions]
        return sorted(sorted(pairs, key=lambda p: -sure[p[0]] - sure[p[1]])[: LIMITS.pairs])

    @functools.cached_property
    def said_twice(self) -> frozenset[int]:
        """Classes that the question speaks of in two places of one clause, by one name."""
        named = [topic for topic in self.mentions if topic.score >= CERTAIN]
        names = {place for topic in named for place in (*topic.words, *topic.beside)}
        words, text, spans = self.alignment.words, self.cues.words.text, self.cues.words.spans
        places = {
            (m.kind, singular(words[m.first]), m.first)
            for m in self.classes
            if m.first not in names
        }
        return frozenset(
            kind
            for (kind, name, first), (other, again, last) in itertools.pairwise(sorted(places))
            if (kind, name) == (other, again)
            and not _CLAUSES.search(text[spans[first][1] : spans[last][0]])
        )

    @functools.cached_property
    def nested(self) -> tuple[frozenset[int], frozenset[int]] | None:
        """Classes of a superlative and of one within it, "the largest city of the smallest state";
        None of others, also of two that are said of one: "the top 3 cities by largest area"."""
        outer, inner = self.cues.extreme, self.cues.inner
        if outer is None or inner is None:
            return None
        whole, part = self._graded(outer), self._graded(inner)
        if not whole or not part or not {m.first for m in whole}.isdisjoint(m.first for m in part):
            return None
        return frozenset(m.kind for m in whole), frozenset(m.kind for m in part)

    def _graded(self, grade: Grade) -> list[ClassMention]:
        """Classes that a superlative stands before, else those that it is said of: "with the"."""
        low, words = min(grade.words), self.alignment.words
        before = [m for m in self.classes if m.last < low]
        said = [m for m in before if STOP.issuperset(words[m.last + 1 : low])]
        return self.ordered(grade) or said

    def ordered(self, grade: Grade) -> list[ClassMention]:
        """Classes that a superlative stands right before, which is not said of a number of them."""
        after = max(grade.words, default=-1) + 1
        return [m for m in self.classes if m.first == after and not grade.counts]

    def adds(self, candidate: Candidate) -> bool:
        """Whether what a reading puts in order is all added up: "the total fee"."""
        grade = self.cues.extreme
        return candidate.shape == "extreme" and grade is not None and bool(grade.adds)

    @functools.cached_property
    def sorts(self) -> Mapping[int, np.ndarray]:
        """What is asked for against each sort of the graph."""
        return self.sense()
