"""What people say to be polite, which asks for nothing."""

from __future__ import annotations

import re

_SOFTLY = r"(?:please |kindly |perhaps |possibly |maybe |just |quickly |also )*"
_TELL = r"(?:tell|show|give|let|remind|inform|telling|showing|giving|listing|naming)(?: me| us)?"
_ABOUT = r"(?: (?:to|for|about)(?: \w+){1,3}?)?"
_ASKS = r"(?= (?:who|what|which|how|where|when)\b)"
_MINE = r"^\W*(?:so |and |well,? )?(?:i am|i'm|i was|i've been|i have been) (?:just )?"
_WISH = r"wonder|(?:like|love|need|want|wish) to (?:know|find out|learn|hear)"
_THINK = "wonder|gather|believe|think|suppose|guess|presume|assume|take it|am told"
_MANNERS = re.compile(
    "|".join(
        (
            # "Sorry to bother you, but", "Excuse me:"
            rf"^\W*(?:so )?(?:sorry|apologies|excuse me|pardon(?: me)?)\b{_ABOUT}"
            rf"(?:,? but\b|[,:]|{_ASKS})",
            # "Would you be so kind as to tell me", "May I ask", "do you happen to know"
            rf"\b(?:could|can|would|will|may|might) (?:you|i|we|someone|anyone) {_SOFTLY}"
            r"(?:be (?:so kind|kind enough|able) (?:as )?to |happen to |mind )?"
            rf"{_SOFTLY}(?:{_TELL}(?: know)?|know|ask|enquire|inquire)\b(?=\W+\w)",
            r"\bwould you be (?:so kind|kind enough) (?:as )?to\b",
            r"\bdo you (?:happen to |by any chance )?know\b",
            # "I was wondering if", "I would like to know"
            rf"{_MINE}(?:wondering|curious|trying to find out)\b(?: about| if| whether)?",
            rf"^\W*(?:i'd|i would|i) {_SOFTLY}(?:{_WISH})\b",
            rf"(?<=\w), (?:i|we) (?:{_THINK})\b,?",
            # "if I may ask", "if you please"
            r",? if (?:i|you|we) (?:may|might|could|would|can|please|don't mind|do not mind)\b"
            r"(?: \w+){0,2}?(?=\W*$|,)",
            # "Am I right in believing that", of which the "am I" is left to ask yes or no.
            r"(?<=am i )(?:right|correct)(?: (?:in|to) \w+)?(?: that)?\b",
        )
    ),
    re.IGNORECASE,
)


def without_manners(text: str) -> str:
    """A question as long as it was, with blanks for what is but polite.

    >>> without_manners("Could you kindly tell me who made Alien?").strip()
    'who made Alien?'
    >>> without_manners("Which doctor is in charge, if I may ask?").strip()
    'Which doctor is in charge              ?'
    """
    left = _MANNERS.sub(lambda match: " " * len(match[0]), text)
    return left if any(letter.isalnum() for letter in left) else text
