"""Sets of which two relations lead to the same, or one to a set alone, all of it or so many."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from jaxkg.query import Comparison, Match, Node, Quantifier, Step, inverse
from jaxkg.systems.reader.language.lexicon.cue_words import ALONE, EACH, EVERY
from jaxkg.systems.reader.sets.candidate import Asked, Candidate
from jaxkg.systems.reader.sets.measured import MeasuredFinder

_MANY = 2_000
"""Entities of a class whose relations are looked at."""
_PATHS = 20
"""Paths, the best, of which it is counted what else they lead to."""


class Matched(MeasuredFinder):
    """Readings that compare two relations of one thing, or count where one leads."""

    def alike(self, asked: Asked) -> Iterator[Candidate]:
        """Things of a class of which two relations that are named lead to the same, or one to more
        than the other: "films directed by somebody who acted in them", "sold for more than the
        estimate"."""
        grade = asked.cues.comparative
        for kind in dict.fromkeys(mention.kind for mention in asked.classes):
            base = self.find.class_set(kind)
            own = {p for m in asked.classes if m.kind == kind for p in m.words}
            reached = self.vocabulary.around.ends(base.ends[:_MANY])
            codes = [c for c in reached if not self.vocabulary.role(c)]
            codes = [c for c in codes if asked.alignment.letters(self.find.wordings(c))[1] > 0]
            for pair in itertools.combinations(codes, 2):
                kinds = {self.vocabulary.ends_kind(code) for code in pair}
                if len(kinds) > 1 or kinds == {"boolean"}:
                    continue
                said = {
                    c: (asked.alignment.said(t) or frozenset()) - own for c, t in self._apart(pair)
                }
                if not all(said.values()) or frozenset.intersection(*said.values()):
                    continue
                entry, other = sorted(pair, key=lambda code: min(said[code]))
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

    def _apart(self, pair: tuple[int, int]) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Two relations with their wordings, of values without the words that both have: the
        "shipped date" and the "required date"."""
        words = [{w for label in self.find.wordings(c) for w in label.split()} for c in pair]
        both = words[0] & words[1] if self.vocabulary.ends_kind(pair[0]) != "thing" else set()
        for code in pair:
            labels = self.find.wordings(code)
            parts = (" ".join(w for w in label.split() if w not in both) for label in labels)
            yield code, tuple(part or label for part, label in zip(parts, labels))

    def quantified(self, asked: Asked, readings: Sequence[Candidate]) -> Iterator[Candidate]:
        """What leads to what is named and to nothing else of it, to all of it, or to so many:
        "pizzas with only vegetables", "who sat every exam of May", "with exactly two Greek gods".
        """
        folded = asked.cues.words.folded
        spots = [
            (spot, frozenset((spot,)))
            for spot, word in enumerate(folded)
            if (word in ALONE or (spot and word in EACH | EVERY)) and spot not in asked.cues.used
        ]
        bounds = [b for b in asked.cues.bounds if b.low.isdecimal() and not (b.high or b.unit)]
        paths = (
            entry for entry in readings if entry.last >= 0 and not (entry.result or entry.wanting)
        )
        for path in itertools.islice(paths, _PATHS) if spots or bounds else ():
            query = path.query
            if not isinstance(query, Step) or query.closure or len(query.relations) != 1:
                continue
            ends = self.find.sets.derive(query.source).nodes
            back = Quantifier(query, (inverse(query.relations[0]),), query.source)
            for spot, words in spots:
                if folded[spot] in ALONE:
                    meant = dataclasses.replace(back, by="outside")
                    yield from self._kept(path, meant, path.last, words)
                elif len(ends) > 1 and self._speaks_of(asked, spot, path.last, ends):
                    meant = dataclasses.replace(back, by="missing")
                    yield from self._kept(path, meant, path.last, words)
            for bound in bounds if len(ends) > 1 else ():
                if bound.comparison != "in":
                    meant = dataclasses.replace(back, comparison=bound.comparison, n=int(bound.low))
                    yield from self._kept(path, meant, path.last, frozenset(bound.words))

    def _speaks_of(self, asked: Asked, spot: int, code: int, ends: np.ndarray) -> bool:
        """Whether the next word but one at most says a relation, or a class of what it is of."""
        kinds = set(self.find.ends_classes(ends))
        said = {m.first for m in asked.classes if m.kind in kinds}
        said |= asked.alignment.said(self.find.wordings(code)) or frozenset()
        return not said.isdisjoint((spot + 1, spot + 2))

    def _kept(
        self, base: Candidate, query: Node, code: int, words: frozenset[int]
    ) -> Iterator[Candidate]:
        ends = self.find.sets.derive(query).nodes.astype(np.int64)
        if 0 < len(ends) < len(base.ends):
            fields = {"fit": 1.0, "explained": base.explained | words}
            yield self.measured.those(base, query, ends, code, **fields)
