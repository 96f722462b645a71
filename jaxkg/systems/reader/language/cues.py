"""What the wording of a question says about its shape: counts, extremes, comparisons, values.

English and German; a question in another language has no cues and is read as a plain one.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Set

from jaxkg.kg.link.folding import Words, split_words
from jaxkg.systems.reader.language.bounds import Bound, read_bounds, words_in
from jaxkg.systems.reader.language.grades import Grade, adding, read_grades
from jaxkg.systems.reader.language.lexicon.cue_words import (
    ASKS,
    AUXILIARY,
    EXCEPT,
    IMPERATIVE,
    LIGHT,
    NOT,
    OF_MINE,
    SO,
    STOP,
)
from jaxkg.words import singular

_CLAUSE = re.compile(r"[:;,.?!]|\s[-–—]\s")
_IN_ORDER = {"first", "last", "zuerst"}
_COUNT_WORDS = "how many|how often|number of|no of|wie viele|wie oft"
_COUNTS = {tuple(words.split()) for words in _COUNT_WORDS.split("|")}
_IN_ALL = frozenset(["total", "overall"])
_OFFERS = {"have", "know", "stock", "sell", "offer", "carry", "serve", "help", "got"}
_YET = re.compile(r"\b(?:yet|already|or not)\s*\?\s*$", re.IGNORECASE)
_IT_IS = re.compile(r"\W*it(?:['’]s| is| was)\b")
_NOTS = frozenset(["t", "not", "never", "cannot", "nobody", "nicht", "nie"])
_WHETHER = {"is", "was", "are", "were", "does", "do", "did", "has", "ist", "sind", "hat"}
_OF_YOU = {("have", "you"), ("have", "we"), ("do", "you"), ("do", "we")}
_OF_YOU |= {("can", "you"), ("could", "you")}
_OF_ANY = {"there", "anyone", "anybody", "you", "we", "es"}
_ENGLISH = frozenset(["who", "what", "which", "whose", "where", "when", "how"])
_DATES = {"year", "date", "day", "jahr", "datum", "years", "dates", "days", "jahre", "daten"}
_PREPOSITIONS = "on onto in into at to by for from with of under auf zu von mit bei"
BEFORE_WHICH = frozenset(_PREPOSITIONS.split())
_NO_NOUN_WORDS = "need needed pick write look looking check checking believe guess love everything"
_NO_NOUNS = frozenset(_NO_NOUN_WORDS.split())
"""First words of who asks without asking: "need the phone number of"."""
_NEEDS = ("need", "needs", "want", "wants")
_EVERY = ("every", "each", "all")
_PEOPLE = {"everyone", "everybody", "anyone", "anybody", "people", "jeden", "leute"}


@dataclasses.dataclass(frozen=True)
class Cues:
    """What the wording says.

    Attributes:
        words: the question, folded.
        wants: kind of answer: "person", "date", "place", "number", "thing" or "".
        noun: words right after which, what or how many: what is asked for.
        count: asked how many.
        yesno: asked whether.
        plainly: asked whether and nothing else: answered by yes or no alone.
        comparative: "older", "more".
        extreme: "oldest", "most", "three largest".
        inner: a second superlative: "the largest city of the *smallest* state".
        adds: "sum", "mean" or "median" where it seems to ask for that of values; "" otherwise.
        bounds: values to compare with.
        both: of two things at once: "both", "as well as".
        either: has "or".
        except_at: word from which on things are left out.
        negated: word of a "not".
        graded: words of what a superlative or comparative is said of: "longest book".
        content: [words] what each word weighs, 0 for function words.
        used: words that are cues themselves.
        plural: whether several are asked for; None where the wording does not tell.
    """

    words: Words
    wants: str = ""
    noun: tuple[int, ...] = ()
    count: bool = False
    yesno: bool = False
    plainly: bool = False
    comparative: Grade | None = None
    extreme: Grade | None = None
    inner: Grade | None = None
    adds: str = ""
    bounds: tuple[Bound, ...] = ()
    both: bool = False
    either: bool = False
    except_at: int | None = None
    negated: int | None = None
    graded: tuple[int, ...] = ()
    content: tuple[float, ...] = ()
    used: frozenset[int] = frozenset()
    plural: bool | None = None

    def denied(self, at: float) -> bool:
        """Whether a word at a place, -1 for none, is denied: by a "not" or "without" that stands
        before it, or after all that says something."""
        where = self.negated
        if where is None and self.except_at is not None:
            without = self.words.folded[self.except_at] in ("without", "ohne")
            # "Can't go without a ticket" is with one.
            where = self.except_at if without and _NOTS.isdisjoint(self.words.folded) else None
        if where is None:
            return False
        return at < 0 or where < at or not any(self.content[where + 1 :])

    def goes_on(self, place: int) -> bool:
        """Whether a question says something after a word: "not take?", but no "or not?"."""
        return not self.yesno and any(self.content[place + 1 :])

    @property
    def beyond(self) -> bool:
        """Whether it may ask for those with more of something than one: "taller than Ann"."""
        return self.comparative is not None and not (self.either or self.yesno)

    @property
    def adds_up(self) -> bool:
        """Whether it seems to ask for a sum or an average of values: no "how many in total"."""
        return bool(self.adds) and not (self.count and self.adds == "sum")


def read_cues(text: str, named: Set[int] = frozenset()) -> Cues:
    """Read the cues of a question.

    Args:
        text: the question.
        named: places of words that are parts of names, and grade or deny nothing: the "First
            Responders", "Enough is not enough".

    >>> cues = read_cues("Which stops opened before 1925?")
    >>> cues.wants, [(b.comparison, b.low) for b in cues.bounds]
    ('thing', [('<', '1925')])
    >>> read_cues("How many lines are there?").count, read_cues("Is it red?").yesno
    (True, True)
    """
    words = split_words(text)
    folded = words.folded
    so = SO.search(text)
    lower = text.lower() if so is None else text[: so.start()].lower().ljust(len(text))
    used: set[int] = set()
    count = _count(words, text, used)
    wants, noun = asked_for(folded)
    if count:
        wants = "number"
    bounds = tuple(read_bounds(lower, words, used))
    # "It is Ann who taught Bo, isn't it?"
    asks = any(word in ASKS or word == "how" for word in folded) and not _IT_IS.match(lower)
    said = so is not None and not asks
    yesno = bool(folded) and (said or _yesno(folded, text))
    in_bounds = {place for bound in bounds for place in bound.words}
    taken = in_bounds | named
    comparative, extreme, measured = read_grades(folded, taken, used)
    added = (adding(folded, place) for place in range(len(folded)) if place not in taken)
    adds = next(filter(None, added), "")
    if extreme is not None and extreme.adds and (count or yesno):
        extreme = None  # "are there any left altogether"
    two = {"than", "als", "or", "oder", "before", "after", "vor", "nach"} & set(folded)
    in_order = comparative is not None and any(folded[p] in _IN_ORDER for p in comparative.words)
    if extreme is None and comparative is not None and not two and (in_order or not bounds):
        # "The larger budget", "the first to be born", "who came last in 2021": of all.
        comparative, extreme = None, comparative
    if measured is not None:
        wants, noun = "number", (measured,)
        used.add(measured)
    if how_much := re.search(
        r"\b(?:how much|how often|how long|how far|wie oft|wie hoch)\b", lower
    ):
        wants = "number"
        used.update(words_in(words, *how_much.span()))
    except_match = _outside(EXCEPT, lower, words, named)
    negated = _outside(NOT, OF_MINE.sub(lambda mine: " " * len(mine[0]), lower), words, named)
    except_at = _word_at(words, except_match.start()) if except_match else None
    if except_match:
        used.update(words_in(words, *except_match.span()))
    negated_at = _word_at(words, negated.start()) if negated and not except_match else None
    content = []
    for word in folded:
        light = word in STOP or (len(word) == 1 and not word.isdigit())
        content.append(0.0 if light else 0.25 if word in LIGHT else 1.0)
    return Cues(
        words=words,
        wants=wants,
        noun=noun,
        count=count,
        yesno=yesno,
        plainly=yesno and _plainly(folded),
        comparative=comparative,
        extreme=extreme,
        adds=adds,
        bounds=bounds,
        both=bool({"both", "sowohl", "beide", "beiden"} & set(folded)) or "as well as" in lower,
        either=not {"or", "oder", "plus"}.isdisjoint(folded),
        except_at=except_at,
        negated=negated_at,
        graded=_graded(folded, extreme or comparative),
        content=tuple(content),
        used=frozenset(used),
        plural=is_plural(folded, noun),
    )


def _outside(
    pattern: re.Pattern[str], text: str, words: Words, named: Set[int]
) -> re.Match[str] | None:
    """The first match of a pattern that does not begin within a name."""
    matches = pattern.finditer(text)
    return next((m for m in matches if _word_at(words, m.start()) not in named), None)


def asking_as(cues: Cues, part: Cues) -> Cues:
    """Cues of a whole text that ask for what a part of it, as long as the whole, asks for.

    >>> part = read_cues(" " * 20 + "Which band is it?")
    >>> asking_as(read_cues("It is on the radio. Which band is it?"), part).noun
    (6,)
    """
    place = {start: at for at, (start, _) in enumerate(cues.words.spans)}
    starts = (part.words.spans[at][0] for at in part.noun)

    def there(at: int | None) -> int | None:
        return None if at is None else place.get(part.words.spans[at][0])

    return dataclasses.replace(
        cues,
        wants=part.wants,
        noun=tuple(place[start] for start in starts if start in place),
        count=part.count,
        yesno=part.yesno,
        plainly=part.plainly,
        plural=part.plural,
        negated=there(part.negated),
        except_at=there(part.except_at),
    )


def _graded(folded: list[str], grade: Grade | None) -> tuple[int, ...]:
    """Words of the noun that a grade stands before, else of the one that it is said of."""
    if grade is None or not grade.words:
        return ()
    after, before = [], []
    for place in range(max(grade.words) + 1, len(folded)):
        if folded[place] in STOP or len(after) == 2:
            break
        after.append(place)
    for place in range(min(grade.words) - 1, -1, -1):
        if folded[place] not in STOP:
            before.append(place)
        elif before:
            break
    return tuple(after or before[:1])


def _count(words: Words, text: str, used: set[int]) -> bool:
    folded = words.folded
    for at, pair in enumerate(itertools.pairwise(folded)):
        # "The number of lines", but "the inventory number of"; "the board: number of lines".
        own = pair == ("number", "of") and at > 0 and folded[at - 1] not in STOP | _IN_ALL
        if own and not _CLAUSE.search(text[words.spans[at - 1][1] : words.spans[at][0]]):
            continue
        after = folded[at + 2] if at + 2 < len(folded) else ""
        if pair == ("no", "of") and singular(after) == after:
            continue
        if pair in _COUNTS:
            used.update((at, at + 1))
            return True
    return False


def _yesno(folded: list[str], text: str) -> bool:
    if folded[0] in ("if", "whether") and ASKS.keys().isdisjoint(folded):
        return True
    if folded[0] in AUXILIARY:
        asks = tuple(folded[:2]) in _OF_YOU
        listing = asks and bool({*IMPERATIVE, *_OFFERS} & set(folded[2:4]))
        return not listing and not any(w in ("which", "welche") for w in folded[1:])
    if _YET.search(text) and ASKS.keys().isdisjoint(folded) and folded[0] not in IMPERATIVE:
        return "how" not in folded
    wh = {*ASKS, "how", "wie", "why", "worüber", "warum", *BEFORE_WHICH, "aus", "an", "on"}
    # German puts the verb first: "Besucht Finn die Vogelkunde?"
    verb_first = folded[0].endswith("t") and text.strip().endswith("?") and text[:1].isupper()
    return (
        verb_first
        and folded[0] not in {*wh, *IMPERATIVE, "which"}
        and not any(w in ASKS for w in folded[:4])
        and _ENGLISH.isdisjoint(folded)
    )


def _plainly(folded: list[str]) -> bool:
    """Whether a question of yes or no asks for nothing else: "is there one, and which?" does."""
    asks = {*ASKS, "how", "wie", "or", "oder"} & set(folded)
    after = folded[1] if len(folded) > 1 else ""
    # "Was studiert Jonas?"; but "was T-4101 closed?".
    german = folded[0] == "was" and ((after.endswith("t") and len(after) > 2) or after == "für")
    return folded[0] in _WHETHER and not asks and not german and after not in _OF_ANY


def _word_at(words: Words, char: int) -> int:
    return next((i for i, (_, end) in enumerate(words.spans) if end > char), len(words.spans) - 1)


def asked_for(folded: list[str]) -> tuple[str, tuple[int, ...]]:
    """Kind of answer, and the words of the noun that stands after which, what or how many."""
    for place, word in enumerate(folded[:12]):
        if word not in ASKS and word not in ("how", "wie"):
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
        return "date" if noun and folded[noun[0]] in _DATES else kind, tuple(noun)
    aside = STOP | LIGHT | _NO_NOUNS
    every = max((folded.index(word) for word in _EVERY if word in folded[:12]), default=0)
    every = max([every, *(at + 1 for at, word in enumerate(folded[:8]) if word in _NEEDS)])
    first = next((i for i, w in enumerate(folded) if i >= every and w not in aside), None)
    if _PEOPLE & set(folded[:4]):
        return "person", ()
    if first is None:
        return "", ()
    return "date" if folded[first] in _DATES else "", (first,)


def is_plural(folded: list[str], noun: tuple[int, ...]) -> bool | None:
    """Whether the noun asked for, or the verb that follows, is in the plural."""
    for word in folded[:3]:
        if word in ("are", "were", "sind", "waren", "all", "alle"):
            return True
        if word in ("is", "was", "ist", "war", "has", "hat") and folded[0] not in AUXILIARY:
            return False
    if noun:
        last = folded[noun[-1]]
        return singular(last) != last
    return None
