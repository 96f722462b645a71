"""What kind of thing a reading leads to, and what kind is asked for."""

from __future__ import annotations

import functools

import numpy as np

from jaxkg.systems.reader.language.topics import soft_class
from jaxkg.systems.reader.sets.candidate import Asked, Candidate
from jaxkg.systems.reader.sets.candidates import Candidates
from jaxkg.systems.reader.sets.labels import SAID
from jaxkg.systems.reader.sets.paths.quick import aligned

ANCHORS = {
    "person": "person",
    "place": "place, city, country or building",
    "date": "date or year",
    "number": "number or amount",
    "thing": "thing",
}
"""Kinds of things in words, for telling what a label speaks of."""
_OLD = {"old", "alt"}
_DAYS = {"year", "date", "day", "month", "years", "dates", "days", "jahr", "datum", "tag", "monat"}
"""What is asked for where a time of day is no answer."""
_WEEKDAYS = {"day", "days", "weekday", "weekdays"}
"""Words of relations that tell days of the week, and of who asks for them."""
_TIME = (["time"], ["uhr"], ["uhrzeit"])
"""What is asked for where a time of day is."""


class TypeViews:
    """Of one question's readings; what many of them share is worked out once.

    Args:
        asked: the question.
        find: what found the readings.
    """

    def __init__(self, asked: Asked, find: Candidates) -> None:
        self.asked, self.find = asked, find
        self.vocabulary = find.vocabulary
        self.noun = asked.alignment.noun
        self.vectors = asked.alignment.vectors
        nouns = set(asked.cues.noun)
        self._day = not _DAYS.isdisjoint(self.noun)
        # "What time does it start" wants no day, where the graph tells times.
        self._clocks = self.vocabulary.clocks if self.noun in _TIME else frozenset()
        self._named = {mention.kind for mention in asked.classes}
        self._wanted = {m.kind for m in asked.classes if {m.first, m.last} & nouns}
        self.by_letters = functools.cache(functools.partial(soft_class, self.noun))
        self.by_vectors = functools.cache(self._by_vectors)
        self.person_or_place = functools.cache(self._person_or_place)

    def __call__(self, candidate: Candidate, kinds: tuple[int, ...]) -> dict[str, float]:
        """Views of one reading, by their names.

        Args:
            candidate: the reading.
            kinds: classes of what it leads to.
        """
        names = tuple(name for kind in kinds for name in self.vocabulary.class_words(kind))
        ahead = 0 <= candidate.last < self.find.kg.num_relations
        label = self.find.wordings(candidate.last) if candidate.last >= 0 else ()
        named, wanted = self._named, self._wanted
        told = {*kinds, *candidate.classes, *candidate.between}
        found = {
            "class named": len(named & told) / len(named) if named else 0.0,
            "spread": float(bool(candidate.relations) and not candidate.topics),
            "asked class": float(bool(wanted & set(kinds))),
            "asked class missed": float(bool(wanted) and not wanted & set(kinds)),
            "noun lex class": self.by_letters(names),
            "noun lex last": self.by_letters(label) if ahead else 0.0,
        }
        if self.noun and self.vectors.encoder is not None:
            found["noun sem class"] = self.by_vectors(names) if names else 0.0
            found["noun sem last"] = self.by_vectors(label) if label and ahead else 0.0
        alike = [self.asked.sorts[kind] for kind in kinds if kind in self.asked.sorts]
        if alike:
            of_noun = np.max(alike, axis=0)
            found |= zip(("noun sem relations", "noun sem names", "noun sem behind"), of_noun)
        nouns = ("noun lex class", "noun lex last", "noun sem class", "noun sem last")
        found["noun fit"] = max(found.get(name, 0.0) for name in nouns)
        return found | self._wants(candidate, kinds, names or (label if ahead else ()), label)

    def _wants(
        self,
        candidate: Candidate,
        kinds: tuple[int, ...],
        told: tuple[str, ...],
        label: tuple[str, ...],
    ) -> dict[str, float]:
        """Whether it is a person, a place, a date or a number, as was asked."""
        kind = self.vocabulary.ends_kind(candidate.last) if candidate.last >= 0 else "thing"
        if candidate.result.isdigit():
            kind = "number"
        found: dict[str, float] = {}
        wants = "date" if self._clocks else self.asked.cues.wants
        if wants in ("person", "place"):
            gap = 0.0
            if told and self.vectors.encoder is not None:
                gap = self.person_or_place(told, wants)
            found[f"wants {wants}"] = gap - 0.5 * (kind != "thing")
            general = {self.vocabulary.general(known) for known in kinds}
            found[f"asked {wants} met"] = wants in general
            other = general & {"person", "place"} - {wants}
            found[f"asked {wants} missed"] = bool(other) or kind != "thing"
        elif wants in ("date", "number"):
            clock = candidate.last in self.vocabulary.clocks
            met = clock if self._clocks else kind == wants and not (clock and self._day)
            if _WEEKDAYS & set(self.noun) and kind == "thing":
                # "Which days" may be those of a week.
                met = any(not _WEEKDAYS.isdisjoint(wording.split()) for wording in label)
            if wants == "number" and _OLD & set(self.noun):  # by an age, or by when it began
                met = kind == "date" or soft_class(["age"], label) > 0
            found[f"wants {wants}"] = 1.0 if met else -1.0
        elif kind != "thing" and not candidate.result:
            # "What is the salary of Ann" asks for one.
            said = aligned(self.asked, candidate.last, self.vocabulary).best_lex
            found["number for thing"] = float(said < SAID)
        return found

    def _by_vectors(self, told: tuple[str, ...]) -> float:
        """Cosine of what is asked for and the nearest of some words."""
        return float((self.vectors(told) @ self.vectors([" ".join(self.noun)])[0]).max())

    def _person_or_place(self, told: tuple[str, ...], wants: str) -> float:
        """How much nearer some words are to the one than to the other."""
        both = self.vectors([ANCHORS["person"], ANCHORS["place"]])
        near = self.vectors(told) @ both.T
        gaps = near[:, 0] - near[:, 1] if wants == "person" else near[:, 1] - near[:, 0]
        return float(gaps.max())
