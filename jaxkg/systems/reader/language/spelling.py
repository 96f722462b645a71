"""Words of a question that are slips of words of the graph's relations and classes.

Letters alone would find them, too, but a sentence vector of a misspelt word says nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set

from rapidfuzz import fuzz, process

from jaxkg.kg.link.folding import Words
from jaxkg.systems.reader.language.lexicon.cue_words import GRADABLE, LIGHT, STOP
from jaxkg.systems.reader.language.lexicon.stems import stem
from jaxkg.systems.reader.language.lexicon.synonyms import meanings

_LONG = 5
"""Letters from which on a word is long enough to tell a slip."""
_CLOSE, _CLOSER = 83.0, 87.0
"""Likeness of a slip, in percent; where nothing tells which words there are, it is more."""


class Spelling:
    """Puts the words of relations and classes right.

    Args:
        labels: words of the graph's relations and classes.
        knows: whether a word is one of the language; None where nothing tells.
    """

    def __init__(self, labels: Iterable[str], knows: Callable[[str], bool] | None) -> None:
        self._right = [word for word in dict.fromkeys(labels) if len(word) >= _LONG]
        self._stems = set(map(stem, self._right))
        self._knows = knows

    def put_right(self, words: Words, names: Set[int]) -> Words:
        """The words of a question, slips put right.

        Args:
            words: of the question.
            names: places of words that name something.

        >>> from jaxkg.kg.link.folding import split_words
        >>> Spelling(["trainer", "status"], None).put_right(split_words("staus?"), set()).folded
        ['status']
        """
        folded = [
            word if place in names else self._right_word(word)
            for place, word in enumerate(words.folded)
        ]
        return words if folded == words.folded else words._replace(folded=folded)

    def _right_word(self, word: str) -> str:
        if len(word) < _LONG or not word.isalpha() or word in STOP or word in LIGHT:
            return word
        if word in GRADABLE or stem(word) in self._stems or len(meanings(word)) > 1:
            return word
        if self._knows is not None and self._knows(word):
            return word
        least = _CLOSE if self._knows is not None else _CLOSER
        near = process.extractOne(word, self._right, scorer=fuzz.ratio, score_cutoff=least)
        return word if near is None else near[0]
