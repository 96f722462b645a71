"""What a question asks for: the kind of answer, and the noun that stands after which or what."""

from __future__ import annotations

from jaxkg.systems.reader.language.lexicon.cue_words import ASKS, AUXILIARY, LIGHT, STOP
from jaxkg.words import singular

_DATES = {"year", "date", "day", "jahr", "datum", "years", "dates", "days", "jahre", "daten"}
_PREPOSITIONS = "on onto in into at to by for from with of under auf zu von mit bei"
BEFORE_WHICH = frozenset(_PREPOSITIONS.split())
IMPERATIVE = {"list", "name", "give", "show", "tell", "find", "count", "nenne", "zeige"}
_NO_NOUN_WORDS = "need needed pick write look looking check checking believe guess love everything"
_NO_NOUNS = frozenset(_NO_NOUN_WORDS.split())
"""First words of who asks without asking: "need the phone number of"."""
_NEEDS = ("need", "needs", "want", "wants")
_EVERY = ("every", "each", "all")
_PEOPLE = {"everyone", "everybody", "anyone", "anybody", "people", "jeden", "leute"}


def asked_for(folded: list[str]) -> tuple[str, tuple[int, ...]]:
    """Kind of answer, and the words of the noun that stands after which, what or how many."""
    for place, word in enumerate(folded[:12]):
        if word not in ASKS and word not in ("how", "wie"):
            continue
        if word == "was" and place:
            continue
        after = place + 1
        if word in ("how", "wie"):
            if folded[after : after + 1] not in (["many"], ["viele"]):
                continue
            after += 1
        if folded[after : after + 1] == ["of"]:  # "which of our bands"
            after += 1
        noun = []
        while after < len(folded) and len(noun) < 4 and folded[after] not in AUXILIARY:
            if folded[after] in ("of", "in", "that", "who", "from", "at", "by", "von", "did", "to"):
                break
            if folded[after] not in STOP:
                noun.append(after)
            after += 1
        kind = ASKS.get(word, "thing")
        if kind != "thing":
            return kind, ()
        # "What is the name of ..." and "who directed" have a verb there, which does no harm.
        if kind == "thing" and noun and folded[noun[0]] in _DATES:
            kind = "date"
        return kind, tuple(noun)
    aside = STOP | LIGHT | _NO_NOUNS
    every = max((folded.index(word) for word in _EVERY if word in folded[:12]), default=0)
    every = max([every, *(at + 1 for at, word in enumerate(folded[:8]) if word in _NEEDS)])
    first = next((i for i, w in enumerate(folded) if i >= every and w not in aside), None)
    if _PEOPLE & set(folded[:4]):
        return "person", ()
    if first is None:
        return "", ()
    last = first + 1
    if any(word in ASKS for word in folded[:12]):  # "the board games of which", as one noun
        while last < len(folded) and folded[last] not in STOP:
            last += 1
    noun = tuple(range(first, last))
    return "date" if folded[first] in _DATES else "", noun


def is_plural(folded: list[str], noun: tuple[int, ...]) -> bool | None:
    """Whether the noun asked for, or the verb that follows, is in the plural."""
    for word in folded[:3]:
        if word in ("are", "were", "sind", "waren", "all", "alle"):
            return True
        if word in ("is", "was", "ist", "war", "has", "hat") and folded[0] not in AUXILIARY:
            return None if word == "was" and folded[0] == "was" else False
    if noun:
        last = folded[noun[-1]]
        return singular(last) != last
    return None
