"""What a question asks for: the kind of answer, and the noun that stands after which or what."""

from __future__ import annotations

from jaxkg.systems.reader.language.lexicon.cue_words import ASKS, AUXILIARY, LIGHT, STOP
from jaxkg.systems.reader.language.lexicon.stems import is_past
from jaxkg.words import singular

_DATES = {"year", "date", "day", "jahr", "datum", "years", "dates", "days", "jahre", "daten"}
_DETERMINER_WORDS = "the a an every each all any some der die das alle jeder jede"
_DETERMINERS = frozenset(_DETERMINER_WORDS.split())
_PREPOSITIONS = "on onto in into at to by for from with of under auf zu von mit bei"
BEFORE_WHICH = frozenset(_PREPOSITIONS.split())
IMPERATIVE = {"list", "name", "give", "show", "tell", "find", "count", "nenne", "zeige"}
_NO_NOUN_WORDS = "need needed pick write look looking check checking believe guess love everything"
_NO_NOUNS = frozenset(_NO_NOUN_WORDS.split())
"""First words of who asks without asking: "need the phone number of"."""
_OF_IS = {"got", "been", "a", "the", "on", "in", "at", "to", "not", "still", "there"}
_SUBJECTS = {"i", "he", "she", "it", "we", "they"}
_NEEDS = ("need", "needs", "want", "wants")
_EVERY = ("every", "each", "all")
_PEOPLE = {"everyone", "everybody", "anyone", "anybody", "people", "jeden", "leute"}


def asked_for(folded: list[str]) -> tuple[str, tuple[int, ...]]:
    """Kind of answer, and the words of the noun that stands after which, what or how many."""
    for place, word in enumerate(folded[:12]):
        if word not in ASKS and word not in ("how", "wie"):
            continue
        if (word == "was" and place) or _relative(folded, place):
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
            if noun and folded[after] == "s" and _goes_on(folded[after + 1 : after + 2]):
                break  # "which crew's got the Tern"
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


def _goes_on(after: list[str]) -> bool:
    """Whether what follows an "s" makes a verb of it: "which crew's got"."""
    return any(word in _OF_IS or is_past(word) or word.endswith("ing") for word in after)


def _relative(folded: list[str], place: int) -> bool:
    """Whether a "who" or "which" goes on with a noun: "every cook who", "the date on which"."""
    after = folded[place + 1 : place + 2]
    if after in (["one"], ["ones"], ["of"]):
        return False  # "the boats at Ash, which ones leak?"
    if ASKS.get(folded[place]) == "date" and place > 1 and _SUBJECTS & set(after):
        return True  # "weight of Bramble when he arrived"
    noun = place - 1 - (folded[place - 1] in BEFORE_WHICH if place else 0)
    if noun < 1 or folded[noun] in STOP or folded[noun] in IMPERATIVE:
        return False
    return bool(_DETERMINERS & set(folded[:noun]))


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
