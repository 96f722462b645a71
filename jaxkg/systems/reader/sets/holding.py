"""Sets of which relations of true and false say yes or no, or that have anything of a relation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from jaxkg.query import Difference, Node, Value, Where
from jaxkg.systems.reader.language.lexicon.opposites import not_yet, turned
from jaxkg.systems.reader.language.lexicon.stems import alike
from jaxkg.systems.reader.sets.candidate import Asked, Candidate
from jaxkg.systems.reader.sets.candidates import Candidates
from jaxkg.systems.reader.sets.labels import folded_words
from jaxkg.systems.reader.sets.measured import MANY, SPOKEN_OF, MeasuredFinder
from jaxkg.systems.reader.words import words
from jaxkg.words import singular

_FEW = 200
"""Relations up to which every one of a graph is looked at."""
_DENIED = 4
"""Relations that are denied, the first ones."""
_FORM = 0.85
"""Likeness from which on a word is a form of a class's name."""
_DAYS = words("cues.done")
"""What words that say when something was done end with, in labels."""
_PAST = ("ed", "en")
_NAMED = 0.6
"""The same where it alone tells of what is spoken."""


class Holding(MeasuredFinder):
    """Readings that keep of a set what holds."""

    def _codes(self) -> list[int]:
        """Relations of true and false."""
        total = self.kg.num_relations
        return [c for c in range(total) if total <= _FEW and self.vocabulary.truths(c)]

    def is_said(self, asked: Asked) -> bool:
        """Whether a relation of true and false is named by its letters."""
        return any(asked.alignment.said(self.find.wordings(code)) for code in self._codes())

    def spoken_of(self, asked: Asked) -> list[Candidate]:
        """All of which a relation that is named says true or false: "what is vegan"."""
        codes = self._codes()
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
        if fit < SPOKEN_OF or not rest:
            return fit
        return min(fit, asked.alignment.of(tuple(map(" ".join, rest))).fit)

    def all(self, asked: Asked, base: Candidate) -> Iterator[Candidate]:
        """Those of a set for which a relation of true and false says true: "which allow dogs"."""
        for code in self.vocabulary.around.ends(base.ends[:MANY]):
            told = self.vocabulary.truths(code)
            fit = self.fit(asked, code) if told else 0.0
            denied = bool(told) and asked.alignment.denied(self.find.wordings(code))
            if not told or fit < SPOKEN_OF or told[denied] < 0:
                continue
            nodes, ends = self.vocabulary.around.pairs(base.ends, code)
            kept = np.unique(nodes[ends == told[denied]])
            query = Where(
                base.node, (self.kg.relation_name(code),), "=", self.kg.entity_ids[told[denied]]
            )
            yield self.measured.those(base, query, kept, code, fit=fit)

    def done(self, verbs: Mapping[int, frozenset[int]], bases: list[Candidate]) -> list[Candidate]:
        """Those of sets that have a day of something which is said in a word: "which orders were
        cancelled", where that was at some time, of some of them; "paid orders", too.

        Args:
            verbs: from `done`.
        """
        found: list[Candidate] = []
        for code, places in verbs.items():
            for base in (*bases, *found):
                some = np.unique(self.vocabulary.around.pairs(base.ends, code)[0])
                if base.measure != code and 0 < len(some) < len(base.ends):
                    path, none = (self.kg.relation_name(code),), Value("number", "0")
                    query = Where(base.node, path, ">", none, by="count")
                    fields = {"fit": 1.0, "explained": base.explained | places}
                    found.append(self.measured.those(base, query, some, code, **fields))
        return found

    def lacking(self, asked: Asked, bases: list[Candidate]) -> Iterator[Candidate]:
        """Those of sets of which a relation that is denied says nothing: "members without a
        trainer"; where no set is named, "who has no trainer?", of what is of their class."""
        for code, said in {**self._not_yet(asked), **denied(asked, self.find)}.items():
            named = any(mention.first not in said for mention in asked.classes)
            kinds = self.find.ends_classes(self.vocabulary.domain(code)[:MANY])
            own = () if named else map(self.find.class_set, kinds)
            yield from self._without((*bases, *own), code, said)
        total = self.kg.num_relations
        classes = self._denied_classes(asked) if total <= _FEW else {}
        for code in range(total) if classes else ():
            # "Which members have no visits", where visits say whose they are.
            heads = self.vocabulary.domain(code)
            for kind, places in classes.items():
                rows = heads[np.isin(heads, self.vocabulary.classes[kind])]
                if len(rows) and not self.vocabulary.role(code):
                    apart = [base for base in bases if kind not in base.classes]
                    of = None if len(rows) == len(heads) else kind
                    yield from self._without(apart, code + total, places, of)

    def _not_yet(self, asked: Asked) -> dict[int, frozenset[int]]:
        """Relations that things lack which are "still open" or "vacant", with the places of these
        words."""
        words, total = asked.cues.words.folded, self.kg.num_relations
        some: dict[int, frozenset[int]] = {}
        for code in range(total) if total <= _FEW else ():
            if not (self.vocabulary.role(code) or self.vocabulary.truths(code)):
                labels = map(folded_words, self.find.wordings(code))
                some[code] = frozenset().union(*(not_yet(words, label) for label in labels))
        return {code: places for code, places in some.items() if places}

    def _denied_classes(self, asked: Asked) -> dict[int, frozenset[int]]:
        """Classes that are denied, "no repairs", "never repaired", with the places of the words."""
        cues, words = asked.cues, asked.cues.words.folded
        places = {
            mention.kind: frozenset(mention.words)
            for mention in asked.classes
            if cues.denied(mention.first)
        }
        content = [p for p, size in enumerate(cues.content) if size == 1.0 and cues.denied(p)]
        others = () if places or not content else self.vocabulary.classes
        for kind in (kind for kind in others if kind not in self.vocabulary.sorts):
            names = [singular(name.lower()) for name in self.vocabulary.class_names(kind)]
            forms = [p for p in content if any(alike(words[p], n) >= _FORM for n in names)]
            if forms:
                places[kind] = frozenset(forms)
        return dict(list(places.items())[:_DENIED])

    def _without(
        self,
        bases: Iterable[Candidate],
        code: int,
        said: frozenset[int],
        of: int | None = None,
    ) -> Iterator[Candidate]:
        """Those of sets that a relation leads nowhere from, though from others it does; `of`: to
        none of a class, where it leads to others."""
        back = self.vocabulary.inverse(code)
        for base in bases:
            nodes, ends = self.vocabulary.around.pairs(base.ends, code)
            if of is not None:
                nodes = nodes[np.isin(ends, self.vocabulary.classes[of])]
            rest = np.setdiff1d(base.ends, nodes)
            if 0 < len(rest) < len(base.ends):
                none, path = Value("number", "0"), (self.kg.relation_name(code),)
                query: Node = Where(base.node, path, "=", none, by="count")
                if of is not None:
                    query = Difference(base.node, self.find.step(self.find.class_query(of), back))
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


def done(asked: Asked, find: Candidates) -> dict[int, frozenset[int]]:
    """Relations to days whose labels have a verb that is said, "cancelled at", with the places of
    its words; none where a day is asked for, or something denied."""
    cues, total = asked.cues, find.kg.num_relations
    negative = cues.negated is not None or cues.except_at is not None
    found: dict[int, frozenset[int]] = {}
    for code in range(0 if negative or cues.wants == "date" or total > _FEW else total):
        if find.vocabulary.role(code) or find.vocabulary.ends_kind(code) != "date":
            continue
        labels = (folded_words(label) for label in find.wordings(code))
        verbs = {words[0] for words in labels if len(words) == 2 and words[1] in _DAYS}
        said = [asked.alignment.said((verb,)) for verb in verbs if verb.endswith(_PAST)]
        if places := frozenset[int]().union(*filter(None, said)):
            found[code] = places
    return found
