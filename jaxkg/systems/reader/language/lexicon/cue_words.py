"""English and German words that tell the shape of a question, and those that tell nothing."""

from __future__ import annotations

import re

_STOP_WORDS = """
a an the of in on at to by for from with as is are was were be been being am do does did done has
have had having can could may might must shall should will would it its this that these those there
here he she they them his her their him i me my we us our you your who whom whose what which wich
when where why how and or not no nor if so than then too very s t re ve d ll m also any some all
both either each every other another such own same please tell give show name list find say know
want get got out up off over about into go goes come comes many much more most
der die das den dem des ein eine einen einem einer und oder nicht ist sind war waren wird werden
wurde wurden hat haben hatte von vom zu zum zur im am an auf aus bei mit für in wer wen wem was
welche welcher welches welchen welchem wie viele viel wann wo wohin woher worüber es gibt man sich
alle alles nenne nennen zeige sie er ihr ihre sein seine als auch sowohl du ich wir
pls plz please thanks thx hi hey hello ok okay just actually basically really like wondering curious
kinda gonna wanna lol kindly sorry wonder glad grateful curious exactly oh well still yet
don doesn didn isn aren wasn weren hasn haven hadn couldn never none nothing neither nobody anything
wher wat wot whos whats wheres whens thats theyre dont doesnt didnt isnt arent wasnt hasnt havent
nichts nie niemals niemand weder noch kein keine keinen keinem keiner
"""
STOP = frozenset(_STOP_WORDS.split())
"""Words that say nothing of what is asked about."""

_LIGHT_WORDS = """
thing things kind kinds sort type types called named one ones number amount times time stuff item
items people everyone everybody anyone person somebody someone anybody leute menschen art currently
now ever so far together exactly altogether total only
"""
LIGHT = frozenset(_LIGHT_WORDS.split())
"""Words that say little."""

_ADDING_WORDS = """
sum: total sum combined altogether overall insgesamt gesamt summe
mean: average durchschnitt durchschnittlich durchschnittliche durchschnittlichen
median: median
"""
ADDING = {
    word: kind
    for kind, words in (line.split(":") for line in _ADDING_WORDS.strip().splitlines())
    for word in words.split()
}
"""Words that ask for a sum or an average, where several values could be taken: for which."""

_KINDS = """
person: who whom whose whos wer wen wem
date: when whens wehn wann
place: where wheres wher wo wohin woher
thing: what whats wat wot which wich welche welcher welches welchen welchem
"""
ASKS = {
    word: line.split(":")[0]
    for line in _KINDS.strip().splitlines()
    for word in line.split(":")[1].split()
}
"""What an interrogative asks for."""

_AUXILIARY_WORDS = """
is are was were does do did has have had can could may might will would should am
ist sind war waren hat haben hatte kann können wird wurde wurden
"""
AUXILIARY = frozenset(_AUXILIARY_WORDS.split())
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

_AGE = "birth born geboren date founded opened built !age"
_PRICE = "price cost fee fare rent charge"
_SPAN = "length duration minutes !since !founded !joined !hired !employed !opened !started"
_SPEED = "!speed !knots !mph !kmh !kph !rpm !geschwindigkeit"
# Sign of the measure, the words, and what they measure; after `!` what grows the other way.
_GRADES = """
- old older oldest elder eldest alt älter älteste ältester ältestes älteren: AGE
+ young younger youngest jung jünger jüngste jüngster: AGE
+ newest newer latest recent recently neueste neuer: AGE
+ long longer longest lang länger längste: SPAN
- short shorter shortest kurz kürzer kürzeste: SPAN
+ high higher highest tall taller tallest hoch höher höchste: height elevation
- low lower lowest niedrig niedriger niedrigste: height value
+ heavy heavier heaviest schwer schwerer schwerste: weight mass
- light lighter lightest leicht leichter leichteste: weight mass
- cheap cheaper cheapest billig billiger billigste günstigste: PRICE
+ expensive pricey pricier priciest dear dearest dearer costlier costliest: PRICE
+ teuer teurer teuerste teuerster: PRICE
+ big bigger biggest large larger largest: size capacity area population number
+ great greater greatest: size capacity area population number
+ groß größer größte größter größtes: size capacity area population number
- small smaller smallest klein kleiner kleinste: size capacity area population number
- fast faster fastest quick quicker quickest: duration days minutes time SPEED
- schnell schneller schnellste: duration days minutes time SPEED
+ slow slower slowest langsam langsamer langsamste: duration days minutes time SPEED
+ thick thicker thickest dick dicker dickste: pages page count thickness
- thin thinner thinnest dünn dünnste: pages page count thickness
- early earlier earliest first früh früher früheste zuerst erste: date year
- soon sooner soonest: date year
+ ahead:
+ late later last spät später späteste zuletzt letzte: date year
+ strong stronger strongest: strength
+ steep steeper steepest: gradient slope incline
+ lofty loftier loftiest: height elevation altitude
+ wide wider widest: width aperture girth diameter
+ fat fatter fattest: girth weight width size value
+ deep deeper deepest: depth
+ hot hotter hottest warm warmer warmest: temperature
- cold colder coldest: temperature
+ good better best: rating score
- tiny tinier tiniest littlest: size capacity area population number weight
+ hefty heftier heftiest: weight mass
- bad worse worst: rating score
+ far farther farthest further furthest: distance
- near nearer nearest close closer closest: distance
+ rich richer richest: wealth
+ busy busier busiest: passengers visits
- frequent frequently: minutes interval
+ maximum max:
- minimum min:
- weak weaker weakest: strength
+ top:
+ most meisten meiste mehr more häufigsten:
- fewest least fewer less wenigsten weniger:
"""
_MEASURES = {"AGE": _AGE, "SPAN": _SPAN, "PRICE": _PRICE, "SPEED": _SPEED}
_MEASURED = re.compile("|".join(_MEASURES))
GRADABLE = {
    word: (line[0] == "+", line.split(":")[1].strip())
    for line in _MEASURED.sub(lambda told: _MEASURES[told[0]], _GRADES).strip().splitlines()
    for word in line[2:].split(":")[0].split()
}
"""Gradable words: whether the extreme is the largest, and what is measured."""

_BASE_WORDS = """
old alt young jung recent recently long lang short kurz high tall hoch low niedrig heavy schwer
light leicht cheap billig expensive pricey dear teuer big large groß small klein fast quick schnell
slow langsam thick dick thin dünn early früh late spät strong weak great wide fat steep lofty deep
hot warm cold tiny hefty good bad far near close rich busy frequent frequently soon
"""
BASE_FORMS = frozenset(_BASE_WORDS.split())
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

_MONTH_NAMES = """
january february march april mai june july august september october november december
januar februar märz april may juni juli august september oktober november dezember
"""
MONTHS = tuple(line.split() for line in _MONTH_NAMES.strip().splitlines())
"""Months in order, in two languages."""

EXCEPT = re.compile(
    r"\b(?:except(?: for)?|apart from|other than|not counting|besides|excluding|without|"
    r"leaving (?:out|aside)|omitting|save for|"
    r"(?:but|and|yet) (?:skip(?:s|ped)?|miss(?:es|ed)?|not|no|never|"
    r"isn.t|aren.t|don.t|doesn.t|didn.t)|aside from|rather than|"
    r"außer|ausser|abgesehen von|bis auf|ohne|(?:aber|und|jedoch) (?:nicht|keine?[nmr]?))\b",
    re.IGNORECASE,
)
_SAME_WORDS = """
same gleiche gleichen gleicher gleiches selben dieselbe dieselben derselbe derselben dasselbe
demselben denselben
"""
SAME = frozenset(_SAME_WORDS.split())
"""Words of who has something that somebody else has, too."""
SHARING = re.compile(
    r"\b(?:shares?|shared|teil(?:t|en)) (?:an?|the|his|her|eine?n?|de[nr]) \w+ (?:with|mit)\b"
)
"""The same in other words, unless a relation says so."""
_REASON_WORDS = "reason reasons cause causes why because purpose motive motives grund ursache"
REASONS = frozenset(_REASON_WORDS.split())
"""Words of relations that say why."""
_AGE_WORDS = """
age aged born birth birthday birthdate dob founded founding foundation established opened opening
built erected constructed completed construction made created creation introduced installed
installation inst fitted launched launch started began year vintage inception alter geboren geburt
geburtstag geburtsdatum gegründet gründung eröffnet erbaut gebaut baujahr errichtet
"""
AGES = frozenset(_AGE_WORDS.split())
"""Words of relations that tell how old something is."""
EVERY = frozenset(["all", "every", "list", "name", "show", "alle", "liste", "nenne", "zeige"])
"""Words of a question for all there are."""
_IDLE_WORDS = """
there exist exists available offer known listed recorded registered mentioned stored included
contained file books records record list database data graph total whole complete full
vorhanden bekannt verfügbar erfasst verzeichnet
"""
IDLE = frozenset(_IDLE_WORDS.split())
"""Words of a question for all of a class that narrow nothing: "which films are on record"."""
_MATES = (
    "colleague colleagues coworker coworkers workmate workmates teammate teammates classmate "
    "classmates flatmate flatmates roommate roommates housemate housemates kollege kollegen "
    "kollegin kolleginnen mitbewohner"
)
MATES = frozenset(_MATES.split())
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
