"""Which of several things of one name is meant, where the question adds it.

"When did Jonas Weir join - the captain, I mean?", "Bramble? The rabbit, not the cat.", "Bramble the
rabbit".
"""

from __future__ import annotations

import dataclasses
import re

import numpy as np

from jaxkg.kg.link.folding import Words, split_words
from jaxkg.systems.reader.language.bounds import words_in
from jaxkg.systems.reader.language.lexicon.cue_words import STOP
from jaxkg.systems.reader.language.lexicon.stems import stem
from jaxkg.systems.reader.language.topics import Mention, Option
from jaxkg.systems.reader.language.vocabulary import Vocabulary

_ASIDE = re.compile(
    r"(?:[-–—(,;:.?!]\s*)(?:and\s+|i mean\s+)?(not\s+)?(?=(?:the|that|my|our)\s)", re.I
)
_ENDS = re.compile(r"[-–—(),;:.?!]|$| not ")
_FILLERS = frozenset(["one", "ones", "mean", "i", "that", "is", "was"])
_NEIGHBOURS = 60
"""Neighbours whose names may tell a thing apart, at most."""


def told_apart(
    text: str, words: Words, mentions: list[Mention], vocabulary: Vocabulary
) -> list[Mention]:
    """Mentions without the homonyms that the question rules out, and without what rules them out.

    Args:
        text: the whole question, with its asides.
        words: of what of it was read; their spans are places in `text`.
        mentions: found in it.
        vocabulary: of the graph.
    """
    kept = list(mentions)
    asides = _asides(text)
    for mention in mentions:
        if mention not in kept or len(mention.options) < 2:
            continue
        after = words.folded[mention.last + 1 : mention.last + 3]
        apposed = len(after) == 2 and after[0] == "the"  # "Bramble the cat"
        if not asides and not apposed:
            continue
        own = set(words.folded[mention.first : mention.last + 1])
        called = [_called(option, vocabulary) for option in mention.options]
        spans, options = [], list(range(len(called)))
        for start, end, denied in asides:
            told = {stem(w) for w in split_words(text[start:end]).folded if w not in own}
            told = {word for word in told if word not in STOP and word not in _FILLERS}
            fits = [n for n in options if told and told <= called[n]]
            left = [n for n in options if n not in fits] if denied else fits
            if fits and left and (len(left) < len(options) or spans):
                options = left
                spans.append((start, end))
        if not spans and apposed:
            fits = [n for n in options if stem(after[1]) in called[n]]
            if len(fits) == 1:
                options = fits
                at = mention.last + 1
                spans.append((words.spans[at][0], words.spans[at + 1][1]))
        if not spans:
            continue
        beside = {place for span in spans for place in words_in(words, *span)}
        kept = [m for m in kept if m is mention or not beside & set(m.words)]
        one = dataclasses.replace(
            mention,
            options=tuple(mention.options[n] for n in options),
            beside=tuple(sorted({*mention.beside, *beside})),
        )
        kept[kept.index(mention)] = one
    return kept


def _asides(text: str) -> list[tuple[int, int, bool]]:
    """Where something is added that starts with an article, and whether it is denied."""
    found = []
    for match in _ASIDE.finditer(text):
        end = _ENDS.search(text, match.end())
        found.append((match.end(), end.start() if end else len(text), bool(match[1])))
    return found


def _called(option: Option, vocabulary: Vocabulary) -> set[str]:
    """Words that tell a thing from others of its name: its own, of its classes and facts."""
    kg = vocabulary.kg
    told = [kg.name(option.entity)]
    told += [
        name for kind in vocabulary.kinds_of(option.entity) for name in vocabulary.class_names(kind)
    ]
    for code, ends in vocabulary.around.ends(np.array([option.entity])).items():
        told += [*vocabulary.wordings(code), *map(kg.name, ends[:_NEIGHBOURS].tolist())]
    return {stem(word) for name in told for word in split_words(name).folded}
