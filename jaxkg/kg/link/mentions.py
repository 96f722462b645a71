"""Names found in texts, whole words long, the longest of those that overlap."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import ahocorasick_rs

from jaxkg.kg.link.folding import MARK, split_words, word_key
from jaxkg.limits import looked_at

_WORDS = """
a about after all also am an and any are as at be became become been before being between but by
came can come could d did do does done during each ever first for from gave get give given go had
has have he her hers him his how i if in into is it its just last list ll made make many may me more
most much my name named names near no not now of off on one ones only or other our out over please
re s same say see share shared shares she show since so some t take tell than that the their them
then there these they this those through to too took under until up us used ve very was we went were
what whats when where which while who whom whos whose why will with would you your

actor actors actress actresses answer appear appeared appears belong belongs book books born call
called capital child children cities city countries country create created creator daughter die died
direct directed director directors exist fall falls father film films find found genre genres happen
happened husband include kind kinds language languages listed live lived lives located location main
member members mother movie movies parent parents people person persons place places play played
plays primary question release released screenplay screenwriter screenwriters script scripts son
speak spoke spoken spouse star starred starring stars start started state states thing things time
times title titles type types use wife word words work worked works write writer writers writes
written wrote year years
"""

QUESTION_WORDS = frozenset(_WORDS.split())
"""English function words, and the nouns and verbs that ask for a thing rather than name it."""


def relation_words(relations: Iterable[str]) -> frozenset[str]:
    """The words of relation names and their regular inflections.

    A question about `directed_by` will say "director" or "directs"; an entity that happens to be
    called "director" should not win over the one the question is about. Of a dotted name only the
    last part is read, the others being its type.

    >>> words = relation_words(["film.film.directed_by", "starred_actors"])
    >>> {"director", "directing", "stars", "actor"} <= words, "film" in words
    (True, False)
    """
    words: set[str] = set()
    for name in relations:
        last = re.split(r"[./#]", name.rstrip("./#"))[-1]
        spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", last).casefold()
        for word in re.findall(r"[^\W\d_]+", spaced):
            words.add(word)
            if len(word) > 3:
                words.update(_inflections(word))
    return frozenset(words)


def _inflections(word: str) -> set[str]:
    """Regular forms of a verb or noun; some are no words, which does no harm."""
    root = re.sub(r"(?:ions?|ings?|ed|[eo]rs?|e?s|e)$", "", word)
    if len(root) < 3:
        root = word
    roots = {word, root}
    if re.search(r"([b-df-hj-np-tv-z])\1$", root):
        roots.add(root[:-1])
    endings = ("", "s", "e", "es", "ed", "er", "ers", "or", "ors", "ing", "ion", "ions")
    return {stem + ending for stem in roots for ending in endings}


class Mention(NamedTuple):
    """A name in a text."""

    name: int
    """Place in the list of names."""
    start: int
    end: int
    """Characters of the text."""


class NameFinder:
    """Finds names in texts, whatever their case, spacing and punctuation.

    Example:
        >>> finder = NameFinder(["Nintendo", "Mario + Rabbids", "Mario", "the"])
        >>> [finder.names[m.name] for m in finder.find("the makers of Mario + Rabbids: nintendo?")]
        ['Mario + Rabbids', 'Nintendo']

    Attributes:
        names: as given.
    """

    def __init__(self, names: Iterable[str]) -> None:
        """Take names; blank ones and those of question words alone ("who", "the") match nothing."""
        self.names: Sequence[str] = tuple(names)
        self._rows: dict[str, list[int]] = {}
        for row, name in enumerate(self.names):
            key = word_key(looked_at(name))
            words = key[1:-1].split(MARK)
            if any(len(word) > 1 and word not in QUESTION_WORDS for word in words):
                self._rows.setdefault(key, []).append(row)
        self._keys = list(self._rows)
        self._automaton = ahocorasick_rs.AhoCorasick(self._keys, store_patterns=False)

    def find(self, text: str) -> list[Mention]:
        """All mentions in order of place; homonyms share one, in the order of the names."""
        words = split_words(text)
        starts = [at for at, char in enumerate(words.key) if char == MARK]
        rank = {at: place for place, at in enumerate(starts)}
        spans = sorted(
            (
                (rank[start], rank[end - 1] - 1, pattern)
                for pattern, start, end in self._automaton.find_matches_as_indexes(
                    words.key, overlapping=True
                )
            ),
            key=lambda span: (span[0], -span[1]),
        )
        found: list[Mention] = []
        covered = -1
        for first, last, pattern in spans:
            if last <= covered:
                continue  # within a longer name
            covered = last
            start, end = words.spans[first][0], words.spans[last][1]
            found += [Mention(row, start, end) for row in self._rows[self._keys[pattern]]]
        return found
