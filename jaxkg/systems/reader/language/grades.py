"""Comparatives and superlatives of a question: what is measured, which way, and how many."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence

from jaxkg.systems.reader.language.lexicon.cue_words import (
    ADDING,
    AGES,
    ASKS,
    BASE_FORMS,
    COMPARATIVE,
    GRADABLE,
    IMPERATIVE,
    STOP,
)
from jaxkg.systems.reader.language.names import ARTICLES
from jaxkg.words import singular

_LESS = ("less", "least", "weniger", "wenigsten")
_MORE = (*_LESS, "more", "most", "mehr", "am")
_NO_GRADES = {("at", "least"), ("at", "most"), ("no", "longer"), ("any", "longer")}
_LASTING = ("serving", "standing", "established")
_BEEN = frozenset(["been", "worked", "served", "lived", "employed", "stayed"])
_OF_VALUES = ("top", "maximum", "max", "minimum", "min")
_NUMERALS = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
_ZAHLEN = ["zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn"]
_ORDINALS = ["second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]
_ORDNUNG = ["zweit", "dritt", "viert", "fünft", "sechst", "siebt", "acht", "neunt", "zehnt"]
NUMERALS = {word: n for words in (_NUMERALS, _ZAHLEN) for n, word in enumerate(words, start=2)}
"""Small numbers in words."""
PLACES = {word: n for n, word in enumerate(_ORDINALS, start=2)} | {
    stem + end: n for n, stem in enumerate(_ORDNUNG, start=2) for end in ("e", "er", "es", "en")
}
"""Ordinals from the second on."""


@dataclasses.dataclass(frozen=True)
class Grade:
    """A comparative or superlative.

    Attributes:
        largest: whether its extreme is the largest.
        measure: what is measured, "" for a count; measures after `!` go the other way.
        words: places of its words.
        most: how many are asked for.
        nth: whether the `most`-th alone is: "the second largest".
        counts: whether it is said of a number of things: "most", "the largest number of".
        adds: "sum" or "mean" of what is no superlative at all, but is said as one, of all values:
            "the total cost", "the average age".
    """

    largest: bool
    measure: str
    words: frozenset[int] = frozenset()
    most: int = 1
    nth: bool = False
    counts: bool = False
    adds: str = ""

    def sign(self, wordings: Sequence[str], kind: str) -> bool:
        """Whether the largest values of a relation come first.

        >>> old = Grade(False, "birth date !age")
        >>> old.sign(("born on",), "date"), old.sign(("age",), "number")
        (False, True)
        """
        parts = {part for wording in wordings for part in wording.lower().split()}
        turned = any(f"!{part}" in self.measure.split() for part in parts)
        # The oldest was born first, and has the largest number of years; but not of founding.
        named = parts & set(self.measure.split())
        # "Been here longest": there from the earliest date.
        only_turned = all(part[0] == "!" for part in self.measure.split())
        turned |= kind == "date" and bool(self.measure) and only_turned
        turned |= kind == "date" and "length" in self.measure.split() and not named
        turned |= "birth" in self.measure.split() and kind == "number" and not named
        return self.largest != turned

    def measures(self, wordings: Sequence[str], dated: bool) -> bool:
        """Whether values of a relation may be what is measured: the oldest is not the widest.

        Args:
            wordings: of the relation.
            dated: whether its values are dates or years.

        >>> age = Grade(False, "birth !age")
        >>> age.measures(("width",), False), age.measures(("width",), True)
        (False, True)
        """
        parts = {part for wording in wordings for part in wording.lower().split()}
        return dated or "birth" not in self.measure.split() or not AGES.isdisjoint(parts)

    @property
    def measured(self) -> str:
        """What is measured, in words."""
        return self.measure.replace("!", "")


_NUMBERS = ("number", "anzahl", "zahl")
_AFTER_VERBS = "look looks looked looking named called takes took comes came asks asked goes went"
_AFTER_WHICH = frozenset(_AFTER_VERBS.split())
"""Words before an "after" that tells no time."""


def read_grades(
    folded: Sequence[str], taken: Collection[int], used: set[int]
) -> tuple[Grade | None, Grade | None, int | None]:
    """The first comparative, the first superlative, and the word of a "how old".

    Args:
        folded: the question's words.
        taken: places that speak of a value to compare with.
        used: places of cues; those found are added.
    """
    comparative = extreme = None
    how_much = None
    for place, word in enumerate(folded):
        after = folded[place + 1] if place + 1 < len(folded) else ""
        if place not in taken and (adds := adding(folded, place)) in ("sum", "mean"):
            number = place + (after in _NUMBERS)
            extreme = extreme or Grade(True, "", frozenset({place, number}), adds=adds)
            used.update((place, number))
            continue
        grade = GRADABLE.get(word)
        if grade is None or place in taken:
            continue
        largest, measure = grade
        if (word in _MORE and after in GRADABLE) or (word == "first" and after == "time"):
            continue
        how = folded[place - 1] if place else ""
        if (how, word) in _NO_GRADES:
            continue
        words = {place}
        if how in _MORE and how != "am" and word in BASE_FORMS:
            largest = largest != (how in _LESS)
            words.add(place - 1)
            compares = how in ("less", "more", "mehr", "weniger")
        elif word in BASE_FORMS:
            if how in ("how", "wie"):
                how_much = place
                used.add(place - 1)
            continue
        else:
            compares = bool(COMPARATIVE.search(word))
        if word in ("longest", "longer") and (
            after in _LASTING or not _BEEN.isdisjoint(folded[:place])
        ):
            # Not the length of anything: who was there first.
            measure = " ".join(part for part in measure.split() if part.startswith("!"))
            words |= {place + 1} if after in _LASTING else set()
        counts = not measure and word not in _OF_VALUES
        if after in _NUMBERS and word not in BASE_FORMS:
            measure, counts = "", True
            words.add(place + 1)
        made = Grade(largest, measure, frozenset(words), counts=counts)
        if compares:
            comparative = comparative or made
        else:
            # "The highest total" is of totals.
            before = extreme if extreme is not None and not extreme.adds else None
            extreme = before or _counted(made, folded, min(words))
        used |= words
    if extreme is not None:
        used |= extreme.words
    if comparative is None and extreme is None:
        # "Was A founded after B?"
        for place, word in enumerate(folded[1:], start=1):
            looks_after = word == "after" and folded[place - 1] in _AFTER_WHICH
            if word in ("before", "after", "vor", "nach") and not (looks_after or place in taken):
                later = word in ("after", "nach")
                comparative = Grade(later, "date year", frozenset({place}))
                used.add(place)
                break
    return comparative, extreme, how_much


def adding(folded: Sequence[str], place: int) -> str:
    """Whether a word asks for a "sum", a "mean" or a "median" of values; "" for others.

    >>> [adding(text.split(), at) for text, at in (("what does it mean", 3), ("the mean cost", 1))]
    ['', 'mean']
    """
    word, before = folded[place], folded[place - 1] if place else ""
    if word == "mean" and before in ARTICLES:
        return "mean"
    return ADDING.get(word, "")


def _counted(grade: Grade, folded: Sequence[str], first: int) -> Grade:
    """With how many, or which one, is asked for: "three oldest", "top 5", "second largest", "which
    5 rooms are the largest"."""
    before, last = folded[first - 1] if first else "", max(grade.words) + 1
    after = folded[last] if last < len(folded) else ""
    for word, place in ((before, first - 1), (after, last)):
        number = _small_number(word)
        # "The largest 2 rooms", but "the oldest of two".
        if number > 1 and (place < first or folded[first] in ("top", "first", "last")):
            return dataclasses.replace(grade, words=grade.words | {place}, most=number)
    if (begun := _begun_with(folded, first)) is not None:
        return dataclasses.replace(grade, words=grade.words | {begun[0]}, most=begun[1])
    if before in PLACES:
        words = grade.words | {first - 1}
        return dataclasses.replace(grade, words=words, most=PLACES[before], nth=True)
    return grade


def _begun_with(folded: Sequence[str], first: int) -> tuple[int, int] | None:
    """The place and the number of things that a question begins by asking for, before a word."""
    place = next((p for p, word in enumerate(folded[:first]) if word not in STOP), first)
    number, after = _small_number(folded[place]), (*folded, "")[place + 1]
    asks = not {*ASKS, *IMPERATIVE}.isdisjoint(folded[:place])
    return (place, number) if asks and number > 1 and singular(after) != after else None


def _small_number(word: str) -> int:
    """What a number in words or in at most three digits says; 0 of other words."""
    return int(word) if word.isdecimal() and len(word) < 4 else NUMERALS.get(word, 0)
