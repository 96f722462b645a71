"""The part of a text that asks, in the order in which it is understood.

What is beside the question is left out; what it is asked of, said first, goes to where
the question has a pronoun: "The nurse from Tern Ness, who trained her?"
"""

from __future__ import annotations

import itertools
import re
from typing import NamedTuple

from jaxkg.systems.reader.language.lexicon.cue_words import ASKS, GRADABLE

# A full stop ends a sentence after a word in small letters alone: "St. Mira", "No. 2", "A v. B".
_END = re.compile(r"[?!;](?=\s)|(?<=[a-z]{3})(?<!\bProf)\.(?=\s+[A-Z])|(?<=[a-z]{2}):(?=\s)")
_ASKING = {*ASKS, "how", "wie", "list", "name", "give", "show", "find", "count", "nenne", "zeige"}
_FEW = 4
"""Words from which on what stands before a colon has to ask to be a part of the question."""
_WORD = re.compile(r"[^\W\d_]+")
INTERROGATIVES = "who|whom|whose|what|which|when|where|how"
_OPENERS = (
    f"{INTERROGATIVES}|who's|what's|when's|where's|why|is|was|are|were|does|"
    "do|did|has|have|had|can|could"
)
LINKS = "in|on|at|to|from|for|by|with|of|under"
"""Prepositions that a question may begin with."""
_LINKS = f"{LINKS}|about"
_FRONTED = re.compile(
    r"^\W*(?P<there>there(?:['’]s| is| are| was| were) (?:just |only )?)?"
    rf"(?!(?:{_OPENERS}|{_LINKS}|i|we|you|it|there|(?:a|my) \w+ of (?:mine|ours)|if|since|"
    r"because|as|while|after|before|during|so|and|well|ok|list|name|give|show|tell|find|count|"
    r"please|not)\b)"
    r"(?P<topic>\w.*?)\s*(?:[,:;]|\s[-–—]|(?(there)\.(?=\s)|(?!)))\s*"
    r"(?:(?:now|so|well|and|then|say|ok)\s+)?"
    rf"(?P<asks>(?:(?:{_LINKS})\s+)?(?:{_OPENERS})\b.*)$",
    re.IGNORECASE | re.DOTALL,
)
_OWNED = re.compile(
    rf"\b(?:their|his|its|her(?=\s+(?!(?:{_LINKS}|and|or|{_OPENERS})\b)\w))\b", re.IGNORECASE
)
_STANDS_FOR = re.compile(
    r"\b(?:he|him|she|her|they|them|(?:those|these) two|it|this one|that one|"
    r"(?:that|this|those|these)(?=\W*$))\b",
    re.IGNORECASE,
)


class Moved(NamedTuple):
    """A text put in another order."""

    text: str
    origins: tuple[int, ...]
    """Where each character stood before."""

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where a part of it stood before."""
        return self.origins[start], self.origins[end - 1] + 1


def topic_in_place(text: str) -> Moved:
    """A question whose topic is said first, with the topic where its pronoun was.

    >>> topic_in_place("The nurse from Tern Ness, who trained her?").text
    'who trained The nurse from Tern Ness?'
    >>> topic_in_place("Alien: who's its director?").text
    "who's Alien's director?"
    >>> topic_in_place("Who trained her, and when was it?").text
    'Who trained her, and when was it?'
    """
    told = _FRONTED.match(text)
    unmoved = Moved(text, tuple(range(len(text))))
    if told is None:
        return unmoved
    owned = _OWNED.search(told["asks"])
    found = owned or _STANDS_FOR.search(told["asks"])
    if found is None:
        return unmoved
    start, topic = told.start("asks"), range(*told.span("topic"))
    before, after = range(start, start + found.start()), range(start + found.end(), len(text))
    origins = (*before, *topic, *after)
    letters = [text[place] for place in origins]
    if owned and text[topic[-1]].isalnum():
        end = len(before) + len(topic)
        letters[end:end] = "'s"
        origins = (*origins[:end], topic[-1], topic[-1], *origins[end:])
    return Moved("".join(letters), origins)


def _grades(text: str) -> bool:
    """Whether a text compares: a few words, or a question."""
    words = _WORD.findall(text.lower())
    asks = len(words) < _FEW or not _ASKING.isdisjoint(words)
    return asks and any(word in GRADABLE for word in words)


def without_asides(text: str) -> str:
    """The sentences that ask, as long as the whole: what is beside them is blank.

    >>> without_asides("I need it soon: who made Alien? Thanks a lot")
    '                who made Alien?             '
    >>> without_asides("Who wrote St. Mira?")
    'Who wrote St. Mira?'
    """
    cuts = [0, *(match.end() for match in _END.finditer(text)), len(text)]
    parts = [text[a:b] for a, b in itertools.pairwise(cuts)]
    asking = [part.rstrip().endswith("?") for part in parts]
    if not any(asking):
        asking = [bool(_ASKING & set(_WORD.findall(part.lower())[:3])) for part in parts]
    if not any(asking):
        return text
    # "Bigger pen: Ash or Elm?"
    asking = [
        asks or (part.rstrip().endswith(":") and _grades(part)) for part, asks in zip(parts, asking)
    ]

    return "".join(part if asks else " " * len(part) for part, asks in zip(parts, asking))
