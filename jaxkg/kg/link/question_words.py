"""Words that questions are made of, and that therefore say little about their topic."""

from __future__ import annotations

import re
from collections.abc import Iterable

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
