"""Names a model wrote, matched to the candidates it was offered.

The one way a model's words become entities, relations or edges: what matches no candidate is
dropped, and the caller counts it.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable

from rapidfuzz import fuzz, process

from jaxkg.adjudicate.prompts import line

_NEAR = 90.0  # similarity (0 to 100) from which a name counts as a candidate's misspelt
_SHORTEST_NEAR = 5  # characters; shorter names are too alike for that
_LONGEST_NEAR = 500  # the same; what is longer is no name, and takes long to compare
_MOST_WORDS = 400  # names of a list in one string, and the words between them
_LONGEST_STRETCH = 16  # of them that can be one name
_SEPARATORS = re.compile(r"[;|\n]")
_LIST_WORDS = re.compile(r"(\s*,\s*(?:and\s+)?|\s+and\s+|\s*&\s*)")
_REMARK = re.compile(r"\s*[(\[][^()\[\]]*[)\]]\s*$")
_ID = re.compile(r"\[([^\[\]]+)\]\s*$")
_MARKS = re.compile(r"[\W_]+")
_ARTICLE = re.compile(r"^(?:the|an?)\s+(?=\S)")


class Candidates:
    """Ids by name, for names that come back nearly right.

    A name is looked up as an id, as an id in square brackets behind it, as it stands, without case,
    accents, punctuation and article, without a remark in brackets, and last as a misspelling: 90 %
    alike, the same digits, and nearer to one candidate than to any other. Homonyms all match.
    """

    def __init__(self, items: Iterable[tuple[str, str]]) -> None:
        """Takes (id, name) pairs; several names of one id are several pairs."""
        self._ids: dict[str, str] = {}
        self._by_name: dict[str, list[str]] = defaultdict(list)
        self._by_folded: dict[str, list[str]] = defaultdict(list)
        for identity, name in items:
            self._ids[line(identity)] = identity
            for table, key in ((self._by_name, line(name)), (self._by_folded, folded(name))):
                if identity not in table[key]:
                    table[key].append(identity)

    def find(self, name: str) -> tuple[str, ...]:
        """Ids the name stands for, usually one; empty where it was not offered.

        Example:
            >>> offered = Candidates([("Q1", "The Matrix"), ("Q2", "Heat"), ("Q3", "Heat")])
            >>> offered.find("matrix"), offered.find("Heat [Q3]"), offered.find("Alien")
            (('Q1',), ('Q3',), ())
        """
        name = line(name).strip("\"'“”‘’«»` ")
        if found := self._exact(name):
            return found
        bare = _REMARK.sub("", name)
        if bare != name and (found := self._exact(bare)):
            return found
        return self._near(folded(bare))

    def find_all(self, text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Ids of a list of names written in one string, and the parts that match nothing.

        Semicolons, bars and line breaks separate names; commas and "and" do only where the whole
        is no candidate, and the longest stretch that is one counts, so "Paris, Texas, Lyon" can be
        two names.

        Example:
            >>> Candidates([("a", "Paris, Texas"), ("b", "Lyon")]).find_all("Paris, Texas and Lyon")
            (('a', 'b'), ())
        """
        if whole := self._exact(line(text)):
            return whole, ()
        found: dict[str, None] = {}
        missing: list[str] = []
        for part in _SEPARATORS.split(text):
            if not part.strip():
                continue
            if ids := self.find(part):
                found.update(dict.fromkeys(ids))
            else:
                ids, lost = self._stretches(_LIST_WORDS.split(line(part)))
                found.update(dict.fromkeys(ids))
                missing += lost
        return tuple(found), tuple(missing)

    def _exact(self, name: str) -> tuple[str, ...]:
        if name in self._ids:
            return (self._ids[name],)
        if (tagged := _ID.search(name)) and tagged[1].strip() in self._ids:
            return (self._ids[tagged[1].strip()],)
        return tuple(self._by_name.get(name) or self._by_folded.get(folded(name)) or ())

    def _near(self, key: str) -> tuple[str, ...]:
        if not _SHORTEST_NEAR <= len(key) <= _LONGEST_NEAR:
            return ()
        names = list(self._by_folded)
        best = process.extract(key, names, scorer=fuzz.ratio, score_cutoff=_NEAR, limit=2)
        if not best or (len(best) == 2 and best[0][1] == best[1][1]):
            return ()
        name = best[0][0]
        same_digits = re.findall(r"\d", name) == re.findall(r"\d", key)
        return tuple(self._by_folded[name]) if same_digits else ()

    def _stretches(self, pieces: list[str]) -> tuple[list[str], list[str]]:
        """Reads names and the words between them (every second piece), longest match first."""
        if len(pieces) == 1:
            return [], pieces
        found: list[str] = []
        missing: list[str] = ["".join(pieces[_MOST_WORDS:])] if pieces[_MOST_WORDS:] else []
        pieces = pieces[: _MOST_WORDS - 1]  # ends in a name
        at = 0
        while at < len(pieces):
            last = len(pieces) if len(pieces) - at < _LONGEST_STRETCH else at + _LONGEST_STRETCH - 1
            for end in range(last, at, -2):
                if ids := self.find("".join(pieces[at:end])):
                    found += ids
                    break
            else:
                end = at + 1
                if pieces[at]:
                    missing.append(pieces[at])
            at = end + 1
        return found, missing


def folded(name: str) -> str:
    """A name without case, accents, punctuation and a leading article.

    Example:
        >>> folded("The  Été—Indien!")
        'ete indien'
    """
    plain = unicodedata.normalize("NFKD", line(name)).casefold()
    plain = "".join(char for char in plain if not unicodedata.combining(char))
    words = _MARKS.sub(" ", plain).strip()
    # A name of punctuation alone ("+/-") keeps it.
    return _ARTICLE.sub("", words) or plain.strip()
