"""English and German words that tell the shape of a question, and those that tell nothing."""

from __future__ import annotations

import re

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

EXCEPT = re.compile(
    r"\b(?:except(?: for)?|apart from|other than|not counting|besides|excluding|without|"
    r"leaving (?:out|aside)|omitting|save for|"
    r"(?:but|and|yet) (?:skip(?:s|ped)?|miss(?:es|ed)?|not|no|never|"
    r"isn.t|aren.t|don.t|doesn.t|didn.t)|aside from|rather than|"
    r"außer|ausser|abgesehen von|bis auf|ohne|(?:aber|und|jedoch) (?:nicht|keine?[nmr]?))\b",
    re.IGNORECASE,
)
SAME = words("cues.same")
"""Words of who has something that somebody else has, too."""
SHARING = re.compile(
    r"\b(?:shares?|shared|teil(?:t|en)) (?:an?|the|his|her|eine?n?|de[nr]) \w+ (?:with|mit)\b"
)
"""The same in other words, unless a relation says so."""
REASONS = words("cues.reasons")
"""Words of relations that say why."""
AGES = words("cues.ages")
"""Words of relations that tell how old something is."""
EVERY = words("cues.every")
"""Words of a question for all there are."""
IDLE = words("cues.idle")
"""Words of a question for all of a class that narrow nothing: "which films are on record"."""
MATES = words("cues.mates")
"""Who shares something with somebody, in one word."""
TOGETHER = re.compile(
    r"\b(?:(?:works?|working|worked|lives?|living|lived|plays?|playing|played|serves?|served) "
    r"(?:together |alongside )?with|co-workers?)\b"
)
"""The same in other words."""
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

_SOFTLY = r"(?:please |kindly |perhaps |possibly |maybe |just |quickly |also )*"
_TELL = r"(?:tell|show|give|let|remind|inform|telling|showing|giving|listing|naming)(?: me| us)?"
_ABOUT = r"(?: (?:to|for|about)(?: \w+){1,3}?)?"
_QUESTION = r"(?= (?:who|what|which|how|where|when)\b)"
_MINE = r"^\W*(?:so |and |well,? )?(?:i am|i'm|i was|i've been|i have been) (?:just )?"
_WISH = (
    r"wonder|(?:be )?(?:like|love|need|want|wish|glad|curious|grateful) "
    r"to (?:know|find out|learn|hear)"
)
_THINK = "wonder|gather|believe|think|suppose|guess|presume|assume|take it|am told"
MANNERS = re.compile(
    "|".join(
        (
            # "Sorry to bother you, but", "Excuse me:"
            rf"^\W*(?:so )?(?:sorry|apologies|excuse me|pardon(?: me)?)\b{_ABOUT}"
            rf"(?:,? but\b|[,:]|{_QUESTION})",
            # "Quick one, which", "First day here - can you"
            r"^\W*(?:(?:a |one |just a )?(?:quick|silly|stupid|last|another|one more) (?:one|thing|"
            r"question|q)|(?:it's )?(?:my )?first (?:day|week)(?: here| on the job)?|new here|"
            r"me again|one more(?: thing)?|urgent|asap|fyi|btw)\s*(?:[,:;]|\s[-–—]\s)",
            # "Would you be so kind as to tell me", "May I ask", "do you happen to know"
            rf"\b(?:could|can|would|will|may|might) (?:you|i|we|someone|anyone) {_SOFTLY}"
            r"(?:be (?:so kind|kind enough|able) (?:as )?to |happen to |mind )?"
            rf"{_SOFTLY}(?:{_TELL}(?: know)?|know|ask|enquire|inquire)\b(?=\W+\w)",
            r"\b(?:would you |please )?be (?:so (?:kind|good)|kind enough) (?:as )?to\b",
            r",? (?:all told|for the record|by the way|or so i (?:have )?heard?)\b,?",
            r"\bdo you (?:happen to |by any chance )?know\b",
            # "I was wondering if", "I would like to know"
            rf"{_MINE}(?:wondering|curious|trying to find out)\b(?: about| if| whether)?",
            rf"(?:^\W*|(?<=\w), )i(?:'d| would| should)? {_SOFTLY}(?:{_WISH})\b,?",
            rf"(?<=\w), (?:i|we) (?:{_THINK})\b,?",
            # "Read me out every one, would you?"
            r"^\W*(?:please )?read (?:(?:me|us|out|off) )+|,? would you\b(?=[,.?!])",
            # "I believe that", "Could I please have"
            rf"^\W*(?:i|we) (?:{_THINK})(?: that)?\b(?! (?:of|in|so|if)\b)",
            rf"^\W*(?:and |so )?(?:could|can|may|might) (?:i|we|you) {_SOFTLY}"
            r"(?:have(?= (?:the|all|every|your|a list) )|(?:write down|pick out|look up|dig out)\b)"
            r"(?:(?: out| up)?(?: for)? (?:me|us)\b)?",
            # "if I may ask", "if you please"
            r",? if (?:i|you|we) (?:may|might|could|would|can|please|don't mind|do not mind)\b"
            r"(?: \w+){0,2}?(?=\W*$|,)",
            # "which will renew if we do nothing"
            r"\b(?:even )?if (?:i|we|you|they) (?:do|did|say|said|change|changed) nothing\b",
            # "list the courses on record", "in our database, please"
            r"\bon (?:record|file|(?:the|our|your) books)(?=\W*(?:$|please\b))"
            r"|\bin (?:the|our|your|this) (?:books|records|files|database|graph)"
            r"(?=\W*(?:$|please\b))",
            # "Am I right in believing that", of which the "am I" is left to ask yes or no.
            r"(?<=am i )(?:right|correct)(?: (?:in|to) \w+)?(?: that)?\b",
        )
    ),
    re.IGNORECASE,
)
"""What people say to be polite, which asks for nothing."""
