"""English and German words that tell the shape of a question, and those that tell nothing."""

from __future__ import annotations

import re
from typing import cast

from jaxkg.query import Comparison
from jaxkg.systems.reader.words import heads, lines, words

STOP = words("cues.stop")
"""Words that say nothing of what is asked about."""

LIGHT = words("cues.light")
"""Words that say little."""

ADDING = heads("cues.adding")
"""Words that ask for a sum or an average, where several values could be taken: for which."""

ASKS = heads("cues.asks")
"""What an interrogative asks for."""

AUXILIARY = words("cues.auxiliary")
"""Verbs that a question of yes or no begins with."""
IMPERATIVE = {"list", "name", "give", "show", "tell", "find", "count", "nenne", "zeige"}
SO = re.compile(
    r"(?<! the)(?<! to)(?<! is)\s(?:right|innit|yeah)\s*\?*\s*$|"
    r"(?:[,;]|\s[-–])\s*(?:(?:is|was|are|were|do|does|did|has|have|had|can|could|will|would)n['’]?t\s"
    r"+(?:i|you|he|she|it|we|they|there|that)|(?:is|was|are|were|does|did|has|have)\s+"
    r"(?:he|she|it|they|there)|or (?:did|have|do|am|is|was) (?:i|we|it) \w[^,?]*|right|correct|"
    r"true|yes|no|is (?:that|this|it) (?:so|true|correct|right)|am i (?:right|correct|wrong)|"
    r"nicht wahr|oder nicht|stimmt['’]?s|oder|richtig|gell|ja)\s*\?\s*$",
    re.IGNORECASE,
)
"""What makes a question of yes or no of what is said: "she taught Ann, didn't she?"."""

GRADABLE = {
    word: (line[0] == "+", line.split(":")[1].strip())
    for line in lines("grades.grades")
    for word in line[2:].split(":")[0].split()
}
"""Gradable words: whether the extreme is the largest, and what is measured."""

BASE_FORMS = words("grades.base")
"""Gradable words that compare nothing by themselves."""

COMPARATIVE = re.compile(
    r"(?:er|ier)$|^(?:more|less|fewer|mehr|weniger|better|worse|further|ahead|first|zuerst|früher|last)$"
)

_NUMBER = r"(\d{1,4}-\d{1,2}(?:-\d{1,2})?|--\d\d(?:-\d\d)?|\d\d:\d\d|\d+(?:[.,]\d+)?)"
_GAP = (
    r"\s+(?:the |der |dem |den |(?:start|beginning|end) of |year |jahr |about |approximately |"
    r"€|\$|£)*"
)
_SMALLER = (
    "less|fewer|worse|cheaper|smaller|lighter|shorter|lower|thinner|faster|"
    "weniger|kürzer|kleiner|leichter|billiger|günstiger"
)
_MORE_WORDS = "later|after|more|above|over|newer|younger|up|später|mehr|jünger"
_LESS_WORDS = "earlier|before|less|fewer|below|under|older|früher|weniger|älter"
VALUE_CUES: tuple[tuple[str, str], ...] = (
    (
        rf"\b(?:in |from |ab )?{_NUMBER}\s+(?:\w+\s+)?(?:or|and|oder|und)\s+(?:{_MORE_WORDS})\b",
        ">=",
    ),
    (rf"\b(?:in )?{_NUMBER}\s+(?:\w+\s+)?(?:or|and|oder|und)\s+(?:{_LESS_WORDS})\b", "<="),
    (rf"\b(?:between|from|zwischen){_GAP}{_NUMBER}\s+(?:and|to|und|bis){_GAP}{_NUMBER}", "range"),
    (
        rf"\b(?:no more than|not more than|at most|up to|höchstens|bis zu){_GAP}{_NUMBER}",
        "<=",
    ),
    (
        r"\b(?:no less than|no fewer than|not less than|at least|upwards? of|mindestens)"
        rf"{_GAP}{_NUMBER}",
        ">=",
    ),
    (rf"\b(?:exactly|precisely|only|genau|nur){_GAP}{_NUMBER}", "="),
    # "Who has been with us since 1999" came in that year.
    (r"\bbeen\s+(?:\w+\s+){0,4}since\s+(\d{4}(?:-\d\d){0,2})(?![\w-])", "in"),
    (rf"\b(?:since|seit|ab){_GAP}{_NUMBER}", ">="),
    (rf"\b(?:from|von){_GAP}{_NUMBER}\s+(?:onwards?|on|an)(?=\W*(?:$|and\b|or\b|und\b))", ">="),
    (rf"\b(?:until|till|by){_GAP}{_NUMBER}", "<="),
    (rf"\b(?:before|earlier than|prior to|vor|older than){_GAP}{_NUMBER}", "<"),
    (rf"\b(?:after|later than|nach|younger than|newer than){_GAP}{_NUMBER}", ">"),
    (rf"\b(?:{_SMALLER})\s+(?:than|als){_GAP}{_NUMBER}", "<"),
    (rf"\b(?:under|below|unter){_GAP}{_NUMBER}", "<"),
    (rf"\b(?:more|\w+er|expensive|teurer|mehr)\s+(?:than|als){_GAP}{_NUMBER}", ">"),
    (rf"\b(?:broke|beat|topped|cleared|cracked|surpass(?:es|ed)?){_GAP}{_NUMBER}", ">"),
    (rf"\b(?:over|above|exceed(?:s|ed|ing)?|in excess of|north of|tops|über){_GAP}{_NUMBER}", ">"),
    (
        r"\b(?:in|during|im jahr|im jahre|from|of|on|im|am)\s+"
        r"(\d{4}(?:-\d\d){0,2}|--\d\d(?:-\d\d)?)(?![\w-])",
        "in",
    ),
    (r"(?<![\w-])(\d{1,3})-(?=[a-z]{3})(?!year-old|off\b|way\b|time|part\b|fold)", "="),
    (r"(\d\d:\d\d)\s*(?:to|until|till|bis|-|–)\s*(\d\d:\d\d)", "range"),
    (r"(?:(?:\bat|\bum|@)\s*)?(\d\d:\d\d)(?![\w:])", "="),
)
"""Wordings of a value to compare with, the earlier ones first."""

MONTHS = tuple(line.split() for line in lines("cues.months"))
"""Months in order, in two languages."""
CLIPPED_MONTHS = tuple(line.split() for line in lines("cues.clipped_months"))
"""The same as they are clipped beside a year."""

EXCEPT = re.compile(
    r"\b(?:except(?: for)?|apart from|other than|not counting|besides|excluding|without|"
    r"leaving (?:out|aside)|omitting|save for|"
    r"(?:but|and|yet) (?:skip(?:s|ped)?|miss(?:es|ed)?|not|no|never|"
    r"isn.t|aren.t|don.t|doesn.t|didn.t)|aside from|rather than|"
    r"außer|ausser|abgesehen von|bis auf|ohne|(?:aber|und|jedoch) (?:nicht|keine?[nmr]?))\b",
    re.IGNORECASE,
)
NOW = words("cues.now")
"""Words of the day on which a question is asked."""
EACH = words("cues.each")
"""Words before what each row of a table is of."""
BY = words("cues.by")
"""Words before that, too, where numbers are added up or counted."""
POSSESSIVE = words("cues.possessive")
"""Words before what is told of each of several things."""
EVERY = words("cues.every")
"""Words beside `EACH` before what nothing is missing of."""
COMPARING = cast(dict[str, Comparison], heads("cues.comparing"))
"""Words before what a value is compared with, and how."""
ALONE = words("cues.alone")
"""Words before what is all that something has."""
KINDS = words("cues.kinds")
NEXT = words("cues.next")
"""Words for all that is below in a hierarchy of kinds, and for what is right below alone."""
AGES = words("cues.ages")
"""Words of relations that tell how old something is."""
NOT = re.compile(
    r"\b(?:out of (?:order|stock|service|use|action|print)|"
    r"still (?:needs?|lacks?|awaits?|awaiting|waiting)|"
    r"not|never|none|nothing|neither|nor|nobody|\w+n['’]t|lack(?:s|ing)?|nichts?|"
    r"nie(?:mals|mand)?|weder|kein(?:e[nmr]?)?|no(?!\.|\s+(?:of|more|less|fewer|later|earlier|one)\b))\b",
    re.IGNORECASE,
)

OF_MINE = re.compile(
    r"(?:^\W*|[.!?]\s+)(?:i|we)(?:(?:['’](?:ve|m|re)|\s+(?:have|am|are|do|can|could|did))?\s+"
    r"(?:never|not)|\s+\w+n['’]t)\b",
    re.IGNORECASE,
)
"""What somebody begins with of themselves: "I've never been there, ..."; it denies nothing."""
