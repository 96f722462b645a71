"""Words of a question that a relation of the graph bears in its label.

Such a word asks for that relation, whether or not what the question names has it: a reading that
leaves the word aside, because a nearby fact looks a little like it, is hardly meant.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

import numpy as np

from jaxkg.systems.reader.language.lexicon.cue_words import LIGHT, STOP
from jaxkg.systems.reader.language.lexicon.synonyms import meanings
from jaxkg.systems.reader.sets.alignment import Alignment
from jaxkg.systems.reader.sets.labels import folded_words

_LOOKED_AT = 60
"""Labels that are compared with a question, those first that share the most words with it."""


class LabelIndex:
    """Labels of relations by the words in them and by what these mean.

    Args:
        labels: wordings of each relation.
    """

    def __init__(self, labels: Iterable[tuple[str, ...]]) -> None:
        self._by_meaning: dict[str | int, set[tuple[str, ...]]] = defaultdict(set)
        self._place: dict[tuple[str, ...], int] = {}
        for wordings in labels:
            self._place.setdefault(wordings, len(self._place))
            for word in {w for text in wordings for w in folded_words(text)}:
                if word not in STOP and word not in LIGHT:
                    for meaning in meanings(word):
                        self._by_meaning[meaning].add(wordings)

    def named(self, alignment: Alignment) -> np.ndarray:
        """[words] in [0, 1]: how surely a word belongs to the label of a relation.

        The likeness of the word, times the share of the label's words that the question has.
        """
        sharing: Counter[tuple[str, ...]] = Counter()
        for place in np.flatnonzero(alignment.content >= 1.0).tolist():
            told = (self._by_meaning.get(m, set()) for m in meanings(alignment.words[place]))
            sharing.update(set().union(*told))
        found = np.zeros(len(alignment.words), np.float32)
        # Of labels that share as many the first, whichever order a set happens to have.
        order = sorted(sharing, key=lambda label: (-sharing[label], self._place[label]))
        for wordings in order[:_LOOKED_AT]:
            lex, share, _ = alignment.letters(wordings)
            found = np.maximum(found, lex * np.float32(share))
        return np.where(alignment.content > 0, found, np.float32(0))
