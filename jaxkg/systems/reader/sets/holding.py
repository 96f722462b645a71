"""Sets of which relations of true and false say yes or no, or that have anything of a relation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from jaxkg.query import Value, Where
from jaxkg.systems.reader.language.lexicon.opposites import turned
from jaxkg.systems.reader.sets.candidate import Asked, Candidate
from jaxkg.systems.reader.sets.candidates import Candidates
from jaxkg.systems.reader.sets.labels import folded_words
from jaxkg.systems.reader.sets.measured import Measured
from jaxkg.words import singular

_MANY = 2_000
"""Entities of a set whose relations are looked at."""
_FEW = 200
"""Relations up to which every one of a graph is looked at."""
_DENIED = 4
"""Relations that are denied, the first ones."""
_SPOKEN_OF = 0.5
"""Fit from which on a relation of true and false is taken as named."""
_NAMED = 0.6
"""The same where it alone tells of what is spoken."""


class Holding:
    """Readings that keep of a set what holds.

    Args:
        measured: what knows how well relations agree with words.
    """

    def __init__(self, measured: Measured) -> None:
        self.measured = measured
        self.find = measured.find
        self.kg = measured.kg
        self.vocabulary = measured.vocabulary

    def spoken_of(self, asked: Asked) -> list[Candidate]:
        """All of which a relation that is named says true or false: "what is vegan"."""
        total = self.kg.num_relations
        codes = [c for c in range(total) if total <= _FEW and self.vocabulary.truths(c)]
        asked.alignment.prepare([self.find.wordings(code) for code in codes])
        named = [c for c in codes if self.fit(asked, c) >= _NAMED]
        return list(map(self.find.having, named))

    def fit(self, asked: Asked, code: int) -> float:
        """As `Measured.fit`, of a relation of true and false; a word for what it says no to speaks
        of it, too. What it says of a class must be spoken of: "translator" alone says nothing of
        "sworn translator"."""
        fit = self.measured.fit(asked, code, "")
        labels = map(folded_words, self.find.wordings(code))
        if any(turned(asked.alignment.words, label) for label in labels):
            fit = max(fit, _NAMED)
        rest = [
            told
            for words in (wording.split() for wording in self.find.wordings(code))
            if (told := [w for w in words if singular(w.lower()) not in self.vocabulary.kind_words])
            and len(told) < len(words)
        ]
        if fit < _SPOKEN_OF or not rest:
            return fit
        return min(fit, asked.alignment.of(tuple(map(" ".join, rest))).fit)

    def all(self, asked: Asked, base: Candidate) -> Iterator[Candidate]:
        """Those of a set for which a relation of true and false says true: "which allow dogs"."""
        for code in self.vocabulary.around.ends(base.ends[:_MANY]):
            told = self.vocabulary.truths(code)
            fit = self.fit(asked, code) if told else 0.0
            denied = bool(told) and asked.alignment.denied(self.find.wordings(code))
            if not told or fit < _SPOKEN_OF or told[denied] < 0:
                continue
            nodes, ends = self.vocabulary.around.pairs(base.ends, code)
            kept = np.unique(nodes[ends == told[denied]])
            query = Where(
                base.node, (self.kg.relation_name(code),), "=", self.kg.entity_ids[told[denied]]
            )
            yield self.measured.those(base, query, kept, code, fit=fit)

    def lacking(self, asked: Asked, bases: list[Candidate]) -> Iterator[Candidate]:
        """Those of sets of which a relation that is denied says nothing: "members without a
        trainer"; where no set is named, "who has no trainer?", of what is of their class."""
        for code, said in denied(asked, self.find).items():
            named = any(mention.first not in said for mention in asked.classes)
            kinds = self.find.ends_classes(self.vocabulary.domain(code)[:_MANY])
            own = () if named else map(self.find.class_set, kinds)
            yield from self._without((*bases, *own), code, said)
        total = self.kg.num_relations
        classes = [each for each in asked.classes if asked.cues.denied(each.first)][:_DENIED]
        for code in range(total) if classes and total <= _FEW else ():
            # "Which members have no visits", where visits say whose they are.
            kinds = set(self.find.ends_classes(self.vocabulary.domain(code)[:_MANY]))
            for mention in classes:
                if mention.kind in kinds and not self.vocabulary.role(code):
                    apart = [base for base in bases if mention.kind not in base.classes]
                    yield from self._without(
                        apart, code + total, frozenset(range(mention.first, mention.last + 1))
                    )

    def _without(
        self, bases: Iterable[Candidate], code: int, said: frozenset[int]
    ) -> Iterator[Candidate]:
        """Those of sets that a relation leads nowhere from, though from others it does."""
        for base in bases:
            nodes, _ = self.vocabulary.around.pairs(base.ends, code)
            rest = np.setdiff1d(base.ends, nodes)
            if 0 < len(rest) < len(base.ends):
                none = Value("number", "0")
                query = Where(base.node, (self.kg.relation_name(code),), "=", none, by="count")
                fields = {"fit": 1.0, "explained": base.explained | said}
                yield self.measured.those(base, query, rest, code, **fields)


def denied(asked: Asked, find: Candidates) -> dict[int, frozenset[int]]:
    """Relations, none of true and false, that are said behind a "no", a "not" or a "without", with
    the places of their words."""
    cues, total = asked.cues, find.kg.num_relations
    if (cues.negated is None and cues.except_at is None) or total > _FEW:
        return {}
    codes = [c for c in range(total) if not (find.vocabulary.role(c) or find.vocabulary.truths(c))]
    said = {code: asked.alignment.said(find.wordings(code)) for code in codes}
    behind = {code: words for code, words in said.items() if words and cues.denied(min(words))}
    return {code: behind[code] for code in sorted(behind, key=lambda c: min(behind[c]))[:_DENIED]}
