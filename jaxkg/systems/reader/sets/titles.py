"""Rows that codes call, answered by a column: what a question's noun names, or what titles a row.

"Which lender lent the clock" asks for no loan L2021-002, and who asks which loans are overdue has
more from the titles of their objects than from their codes alone.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

import numpy as np

from jaxkg.cached import cached_method
from jaxkg.kg.files.tables.keys import KEY, NAMES
from jaxkg.kg.files.tables.record_names import COMMON
from jaxkg.kg.queries.rules import refusal
from jaxkg.query import Calculation, Column, Compared, Count, Exists, Query, Rows, Step, Total
from jaxkg.systems.reader.sets.candidate import Asked, Candidate
from jaxkg.systems.reader.sets.candidates import Candidates
from jaxkg.systems.reader.sets.labels import folded_words
from jaxkg.systems.reader.views import Seen
from jaxkg.words import singular

_LOOKED_AT = 8
"""Best readings that are looked at for rows."""
_SAMPLE = 20
"""Names that are looked at for codes."""
_ROWS = 2_000
"""Rows of a class that are looked at for a title."""
_HAVE = 0.9
"""Share of rows that have a column which titles them."""
_APART = 0.4
"""Share of rows with different ends of it, at least; one with a digit counts half."""
_FEW = 0.05
"""The same where rows are called by what says nothing at all."""
_PERSON = ("full", "name")
"""What the first and last names beside rows of others come to: who has a book on loan."""
_AS_GOOD = 0.5
"""Share of the best from which on a column of names is preferred."""
_OPAQUE = re.compile(r"(?=\S*\d)\S{20,}")
_LONGEST = 80
"""Mean length of titles, in characters."""
_VALUES = Count | Total | Exists | Compared | Calculation | Rows


class Titles:
    """The columns that rows without names of their own are answered by.

    Args:
        find: over the graph.
    """

    def __init__(self, find: Candidates) -> None:
        self.find, self.kg, self.vocabulary = find, find.kg, find.vocabulary

    def projected(self, seen: Seen) -> Seen:
        """The same, where the best readings lead to rows by the column that the noun names."""
        found, noun = list(seen.found), _first_run(seen.asked.cues.noun)
        told = tuple(singular(seen.asked.cues.words.folded[place]) for place in noun)
        if seen.asked.cues.wants == "person":
            told = told or _PERSON
        if not told or not KEY.isdisjoint(told):
            return seen
        for place in np.argsort(-seen.scores, kind="stable")[:_LOOKED_AT].tolist():
            kinds = self._rows(found[place])
            if not kinds and len(told) == 1:  # rows with names of their own
                kinds = self._kinds(found[place])
                said = found[place].last >= 0 and self._label(found[place].last)
                kinds = () if said and told[0] in said else kinds
            named = any(kind.kind in kinds and kind.last in noun for kind in seen.asked.classes)
            columns = [code for kind in kinds for code in self._columns(kind)]
            columns += self.vocabulary.alias_codes if kinds else ()
            columns = [] if named else [c for c in columns if self._names(c, told, found[place])]
            if columns:
                found[place] = self._step(found[place], columns[0])
        return dataclasses.replace(seen, found=found)

    def _names(self, code: int, told: tuple[str, ...], candidate: Candidate) -> bool:
        """Whether a noun names a column: by any word, where codes call the rows, else by the last
        of its label; a person, by all of it."""
        if told == _PERSON:
            return _PERSON in self._labels(code)
        if self._are_codes(candidate.ends):
            return not self._label(code).isdisjoint(told)
        return any(words[-1:] == (told[-1],) for words in self._labels(code))

    def query(self, asked: Asked, candidate: Candidate) -> Query:
        """What a reading means, rows with their titles beside their codes."""
        words = asked.cues.words.folded
        title = self._title(self._rows(candidate))
        if title < 0 or any(words[place] in KEY for place in asked.cues.noun):
            return candidate.query
        query = Rows(candidate.node, (Column((self.kg.relation_name(title),)),))
        return candidate.query if refusal(self.find.sets.values, query) else query

    def _step(self, candidate: Candidate, code: int) -> Candidate:
        """A reading's rows by a column that all of them have; the reading where some have none."""
        some, _ = self.vocabulary.around.pairs(candidate.ends, code)
        query = Step(candidate.node, (self.kg.relation_name(code),))
        if len(np.unique(some)) < len(candidate.ends) or refusal(self.find.sets.values, query):
            return candidate
        ends = self.find.sets.derive(query).nodes
        relations = (*candidate.relations, code)
        return candidate._replace(query=query, ends=ends, relations=relations, last=code)

    def _rows(self, candidate: Candidate) -> tuple[int, ...]:
        """Classes of the rows called by codes that a reading leads to; none where it leads to
        anything else."""
        return self._kinds(candidate) if self._are_codes(candidate.ends) else ()

    def _kinds(self, candidate: Candidate) -> tuple[int, ...]:
        """Classes of what a reading leads to; none where some are of none."""
        if candidate.result or candidate.wanting or isinstance(candidate.query, _VALUES):
            return ()
        some = [self.vocabulary.kinds_of(end) for end in candidate.ends[:_SAMPLE].tolist()]
        kinds = self.find.end_classes(candidate) if all(some) else ()
        return kinds or tuple(sorted({kind for each in some for kind in each}) if all(some) else ())

    def _label(self, code: int) -> set[str]:
        return {word for words in self._labels(code) for word in words}

    def _labels(self, code: int) -> list[tuple[str, ...]]:
        """The words of each label of a relation, in the singular."""
        return [tuple(map(singular, folded_words(text))) for text in self.find.wordings(code)]

    def _are_codes(self, nodes: np.ndarray) -> bool:
        names = map(self.kg.name, nodes[:_SAMPLE].tolist())
        return all(" " not in name and any(map(str.isdigit, name)) for name in names)

    @cached_method
    def _columns(self, kind: int) -> tuple[int, ...]:
        """Relation codes of what a row of a class has one of, but for numbers and days."""
        vocabulary = self.vocabulary
        codes = [code for code in sorted(vocabulary.had(kind)) if code < self.kg.num_relations]
        things = [code for code in codes if vocabulary.ends_kind(code) == "thing"]
        return tuple(c for c in things if vocabulary.functional(c) and not vocabulary.truths(c))

    @cached_method
    def _title(self, kinds: tuple[int, ...]) -> int:
        """The relation code that says best what each row of some classes is; -1 for none."""
        if not kinds:
            return -1
        rows = np.unique(np.concatenate([self.vocabulary.classes[k][:_ROWS] for k in kinds]))
        codes = set.intersection(*(set(self._columns(kind)) for kind in kinds))
        shares = {code: self._apart(rows, code) for code in sorted(codes)}
        most = max(shares.values(), default=0.0)
        ranks = {
            c: (self._says_name(c, share / most), share) for c, share in shares.items() if most
        }
        best = max(ranks, key=lambda code: ranks[code], default=-1)
        opaque = all(map(_OPAQUE.fullmatch, map(self.kg.name, rows[:_SAMPLE].tolist())))
        least = _FEW if opaque else _APART
        return best if best >= 0 and shares[best] >= least else -1

    def _says_name(self, code: int, share: float) -> int:
        """How well a label says that a column nearly as good as the best is of names."""
        words = self._labels(code)[0]
        named = share >= _AS_GOOD and words[-1:] == (NAMES[0],)
        return named + (named and "".join(words).endswith(COMMON))

    def _apart(self, rows: np.ndarray, code: int) -> float:
        """Share of rows that a column tells from one another in words; 0 where it has too few of
        them, addresses, codes or long texts."""
        some, ends = self.vocabulary.around.pairs(rows, code)
        distinct = np.unique(ends)
        if len(some) < _HAVE * len(rows) or self._are_codes(distinct):
            return 0.0
        names = [self.kg.name(end) for end in distinct[:_SAMPLE].tolist()]
        if any("@" in name or "://" in name for name in names):
            return 0.0
        if sum(map(len, names)) > _LONGEST * len(names):
            return 0.0
        numbered = sum(any(map(str.isdigit, name)) for name in names)
        return len(distinct) / len(rows) * (1 - numbered / len(names) / 2)


def _first_run(places: Sequence[int]) -> Sequence[int]:
    """The first of places that follow one another."""
    return [place for at, place in enumerate(places) if place == places[0] + at]
