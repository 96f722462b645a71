"""The part of a text that asks, in the order in which it is understood.

What is polite or beside the question is left out; what it is asked of, said first, goes to where
the question has a pronoun: "The nurse from Tern Ness, who trained her?"
"""

from __future__ import annotations

import itertools
import re
from typing import NamedTuple

from jaxkg.systems.reader.language.lexicon.cue_words import ASKS, GRADABLE, MANNERS
from jaxkg.systems.reader.rules import ALL, Rules

# A full stop ends a sentence after a word in small letters alone: "St. Mira", "No. 2", "A v. B".
_END = re.compile(r"[?!;](?=\s)|(?<=[a-z]{3})\.(?=\s+[A-Z])|(?<=[a-z]{2}):(?=\s)")
_ASKING = {*ASKS, "how", "wie", "list", "name", "give", "show", "find", "count", "nenne", "zeige"}
_FEW = 4
"""Words from which on what stands before a colon has to ask to be a part of the question."""
_WORD = re.compile(r"[^\W\d_]+")
_OPENERS = (
    "who|whom|whose|who's|what|what's|which|when|when's|where|where's|how|why|is|was|are|were|does|"
    "do|did|has|have|had|can|could"
)
_LINKS = "in|on|at|to|from|for|by|with|of|about|under"
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
_MISSPELT = tuple(
    (re.compile(rf"\b(?:{wrong})\b", re.IGNORECASE), right)
    for wrong, right in (
        ("mutch|muhc|mcuh", "much"),
        ("manny|mnay|amny", "many"),
        ("waht|whta|hwat", "what"),
        ("whitch|wihch|whihc|whcih", "which"),
        ("wehn|hwen|whne", "when"),
        ("wehre|hwere|wheer", "where"),
        ("hwo|woh", "who"),
        (r"(?<=when )dose|(?<=what )dose|(?<=where )dose|(?<=who )dose|deos", "does"),
    )
)
"""Slips in words that ask, none shorter than the word itself."""
_OWNED = re.compile(
    rf"\b(?:their|his|its|her(?=\s+(?!(?:{_LINKS}|and|or|{_OPENERS})\b)\w))\b", re.IGNORECASE
)
_CORRECT = re.compile(
    r"\.(?=\s+(?:(?:is|was) (?:that|this|it) (?:so|true|correct|right)|"
    r"am i (?:right|correct|wrong)|right|correct|true)\s*\?\s*$)",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"^\W*(?:an?|our|my|the|i|we|some(?:one|body)|they|he|she)\b"
    r"(?:(?!\b(?:that|who|which|where)\b)[^,;:?\d])*?"
    r"(?:\b(?:is|am|are|was|were|has|have|had|wants?|needs?|asks?|asked)\b|['’](?:s|m|re|ve|d)\b)"
    r"[^,;:?\d]*[,;:]\s*(?:(?:so|and|but|now|then)\s+)?"
    rf"(?=(?:{_OPENERS}|if there|whether)\b)",
    re.IGNORECASE,
)
_LIVING = re.compile(r"\bdo for (?:a|her|his|their) living\b", re.IGNORECASE)
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
    topic: range = range(0)
    """Where what was said first stands now."""

    @classmethod
    def of(cls, text: str) -> Moved:
        """A text as it stands."""
        return cls(text, tuple(range(len(text))))

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where a part of it stood before."""
        return self.origins[start], self.origins[end - 1] + 1


def topic_in_place(text: str, rules: Rules = ALL) -> Moved:
    """A question whose topic is said first, with the topic where its pronoun was.

    >>> topic_in_place("The nurse from Tern Ness, who trained her?").text
    'who trained The nurse from Tern Ness?'
    >>> topic_in_place("Alien: who's its director?").text
    "who's Alien's director?"
    >>> topic_in_place("Who trained her, and when was it?").text
    'Who trained her, and when was it?'
    """
    told = _FRONTED.match(without_manners(text, rules))
    unmoved = Moved.of(text)
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
    return Moved("".join(letters), origins, range(len(before), len(before) + len(topic)))


def without_manners(text: str, rules: Rules = ALL) -> str:
    """A question as long as it was, with blanks for what is but polite.

    >>> without_manners("Could you kindly tell me who made Alien?").strip()
    'who made Alien?'
    >>> without_manners("Which doctor is in charge, if I may ask?").strip()
    'Which doctor is in charge              ?'
    """
    return rules.rewritten("manners", text, _plainly)


def _plainly(text: str) -> str:
    left = MANNERS.sub(lambda match: " " * len(match[0]), text)
    return left if any(letter.isalnum() for letter in left) else text


def _grades(text: str) -> bool:
    """Whether a text compares: a few words, or a question."""
    words = _WORD.findall(text.lower())
    asks = len(words) < _FEW or not _ASKING.isdisjoint(words)
    return asks and any(word in GRADABLE for word in words)


def respelt(text: str, rules: Rules = ALL) -> str:
    """A question as long as it was, with the words that ask as they are spelt.

    >>> respelt("How mutch is it?"), respelt("when dose it open"), respelt("which dose helps?")
    ('How much  is it?', 'when does it open', 'which dose helps?')
    """
    text = rules.rewritten("slips-of-asking", text, _put_right)
    return rules.rewritten("confirmation", text, lambda told: _CORRECT.sub(",", told))


def _put_right(text: str) -> str:
    for pattern, right in _MISSPELT:
        for match in pattern.finditer(text):
            text = text[: match.start()] + right.ljust(len(match[0])) + text[match.end() :]
    return text


def _within(text: str, rules: Rules) -> str:
    """A sentence that asks without what leads up to it, or is said after it, of those who ask."""

    def led(text: str) -> str:
        said = without_manners(text, rules)
        if lead := _LEAD.match(said):
            return " " * lead.end() + text[lead.end() :]
        return text

    return rules.rewritten("lead", text, led)


def without_asides(text: str, rules: Rules = ALL) -> str:
    """The sentences that ask, as long as the whole: what is beside them is blank.

    What one does for a living is said plainly, for "living" would be taken for where one lives.

    >>> without_asides("I need it soon: who made Alien? Thanks a lot")
    '                who made Alien?             '
    >>> without_asides("A man is asking, is it free?"), without_asides("who's up, we wonder")
    ('                 is it free?', "who's up           ")
    >>> without_asides("Who wrote St. Mira?"), without_asides("What does she do for a living?")
    ('Who wrote St. Mira?', 'What does she have as a job  ?')
    """
    cuts = [0, *(match.end() for match in _END.finditer(text)), len(text)]
    parts = [text[a:b] for a, b in itertools.pairwise(cuts)]
    asking = [part.rstrip().endswith("?") for part in parts]
    if not any(asking):
        asking = [bool(_ASKING & set(_WORD.findall(part.lower())[:3])) for part in parts]
    if not any(asking):
        text = _within(text, rules)
    else:
        # "Bigger pen: Ash or Elm?"
        asking = [
            asks or (part.rstrip().endswith(":") and _grades(part))
            for part, asks in zip(parts, asking)
        ]

        def alone(parts: list[str]) -> list[str]:
            return [part if asks else " " * len(part) for part, asks in zip(parts, asking)]

        told = zip(rules.rewritten("asides", parts, alone), asking)
        text = "".join(_within(part, rules) if asks else part for part, asks in told)
    text = without_manners(text, rules)
    return rules.rewritten("living", text, lambda told: _LIVING.sub(_job, told))


def _job(match: re.Match[str]) -> str:
    return "have as a job".ljust(len(match[0]))
