"""Sets of which two relations lead to the same, or one to what is named and to nothing else."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from jaxkg.query import Comparison, Difference, Domain, Match, Node, Step
from jaxkg.systems.reader.language.lexicon.cue_words import ALONE
from jaxkg.systems.reader.sets.candidate import Asked, Candidate
from jaxkg.systems.reader.sets.measured import Measured

_MANY = 2_000
"""Entities of a class whose relations are looked at."""
_PATHS = 20
"""Paths, the best, of which what leads elsewhere is left out."""


class Matched:
    """Readings that compare two relations of one thing, or leave out what else one leads to.

    Args:
        measured: what compares values.
    """

    def __init__(self, measured: Measured) -> None:
        self.measured, self.find = measured, measured.find
        self.kg, self.vocabulary = measured.kg, measured.vocabulary

    def alike(self, asked: Asked) -> Iterator[Candidate]:
        """Things of a class of which two relations that are named lead to the same, or one to more
        than the other: "films directed by somebody who acted in them", "sold for more than the
        estimate"."""
        grade = asked.cues.comparative
        for kind in dict.fromkeys(mention.kind for mention in asked.classes):
            base = self.find.class_set(kind)
            own = {p for m in asked.classes if m.kind == kind for p in range(m.first, m.last + 1)}
            reached = self.vocabulary.around.ends(base.ends[:_MANY])
            said = {
                code: (asked.alignment.said(self.find.wordings(code)) or frozenset()) - own
                for code in reached
            }
            codes = [c for c in reached if said[c] and not self.vocabulary.role(c)]
            for entry, other in itertools.combinations(
                sorted(codes, key=lambda c: min(said[c])), 2
            ):
                kinds = {self.vocabulary.ends_kind(code) for code in (entry, other)}
                if said[entry] & said[other] or len(kinds) > 1 or kinds == {"boolean"}:
                    continue
                how: Comparison = "="
                if kinds != {"thing"}:
                    if grade is None:
                        continue
                    how = ">" if self.measured.largest(grade, entry) else "<"
                elif not len(np.intersect1d(reached[entry], reached[other])):
                    continue
                paths = ((self.kg.relation_name(code),) for code in (entry, other))
                query = Match(base.node, next(paths), how, next(paths))
                words = said[entry] | said[other] | (grade.words if how != "=" and grade else set())
                yield from self._kept(base, query, entry, frozenset(words))

    def alone(self, asked: Asked, readings: Sequence[Candidate]) -> Iterator[Candidate]:
        """What leads to what is named and to nothing else of it: "pizzas with only vegetables"."""
        folded = asked.cues.words.folded
        words = {spot for spot, word in enumerate(folded) if word in ALONE} - asked.cues.used
        paths = (
            entry for entry in readings if entry.last >= 0 and not (entry.result or entry.wanting)
        )
        for path in itertools.islice(paths, _PATHS) if words else ():
            query = path.query
            if not isinstance(query, Step) or query.closure or len(query.relations) > 1:
                continue
            others = Difference(Domain(query.relations), query.source)
            left = Difference(query, Step(others, query.relations))
            yield from self._kept(path, left, path.last, frozenset(words))

    def _kept(
        self, base: Candidate, query: Node, code: int, words: frozenset[int]
    ) -> Iterator[Candidate]:
        ends = self.find.sets.derive(query).nodes.astype(np.int64)
        if 0 < len(ends) < len(base.ends):
            fields = {"fit": 1.0, "explained": base.explained | words}
            yield self.measured.those(base, query, ends, code, **fields)
