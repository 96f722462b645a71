"""Whether a reading walks its relations the way the question tells them: who does what to whom."""

from __future__ import annotations

import functools
import re

from jaxkg.query import Extreme, Where
from jaxkg.systems.reader.language.lexicon.stems import is_past, stem
from jaxkg.systems.reader.language.topics import Mention
from jaxkg.systems.reader.rules import veto
from jaxkg.systems.reader.sets.candidate import Asked, Candidate
from jaxkg.systems.reader.sets.candidates import Candidates
from jaxkg.systems.reader.sets.labels import folded_words
from jaxkg.systems.reader.sets.paths.quick import aligned
from jaxkg.words import singular

_PARTICLE_WORDS = "for to with of under on in at from für zu mit bei in an auf aus über"
_PARTICLES = frozenset(_PARTICLE_WORDS.split())
_BY = ("by", "von")
_BE = frozenset(["is", "are", "was", "were", "be", "been", "being", "wurde", "wurden", "wird"])
_REPORTS = r"(?:report|answer)(?:s|ed|ing)?(?: \w+ly| straight)? to"
_BELOW = re.compile(rf"(?:^|(?<!the )(?<!a )(?<!s )\b){_REPORTS}$")
_ABOVE = re.compile(rf"{_REPORTS}\b")
"""What stands before, or after, who somebody's boss is, or who has one."""
_HAVE = {"has", "have", "had", "having", "got", "with", "lists", "list", "names", "name"}
_ARTICLES = ("the", "a", "an", "my", "our", "der", "des", "die", "das")


@functools.lru_cache(100_000)
def is_verb(label: str) -> bool:
    """Whether a label tells what its head does, or what is done to it, as far as forms tell.

    >>> is_verb("reports to"), is_verb("bought"), is_verb("account manager")
    (True, True, False)
    """
    words = label.split()
    return words[-1] in (*_BY, *_PARTICLES) or words[0].endswith("s") or is_past(words[0])


@functools.lru_cache(100_000)
def _stems(label: str) -> frozenset[str]:
    return frozenset(map(stem, folded_words(label)))


def directions(asked: Asked, candidate: Candidate, find: Candidates) -> tuple[float, float]:
    """How many steps are walked as they are told, less those walked the other way; verbs only.

    Of the steps next to the topics, and of those further out.
    """
    scores = [0.0, 0.0]
    for mention, codes in candidate.legs:
        at = float(asked.mentions[mention].first)
        for place, code in enumerate(codes):
            told = aligned(asked, code, find.vocabulary).at
            if told >= 0:
                scores[place > 0] += _directed(asked, find, code, at, told)
                at = told
    return scores[0], scores[1]


def counted_direction(asked: Asked, candidate: Candidate, find: Candidates) -> float:
    """The same of what is counted: "which customer bought more than one product"."""
    query = candidate.query
    if not (isinstance(query, Where | Extreme) and query.by == "count") or len(query.path) != 1:
        return 0.0
    code = find.kg.relation_code(query.path[0])
    told = aligned(asked, code, find.vocabulary).at
    return _directed(asked, find, code, float(min(asked.cues.noun, default=0)), told)


def possessed(asked: Asked, candidate: Candidate, find: Candidates) -> float:
    """1 where what a topic has is walked to from it, -1 where from what it is to others.

    "Anna's manager" is whom her "manager" leads to, not whose manager she is; nouns only.
    """
    score = 0.0
    for mention, codes in candidate.legs:
        one = asked.mentions[mention]
        if codes and _owns(asked, one.first, one.last):
            label = find.wordings(codes[0])[0]
            if not is_verb(label):
                score += 1.0 if codes[0] < find.kg.num_relations else -1.0
    return score


def _owns(asked: Asked, first: int, last: int) -> bool:
    """Whether something is of what is named: "Anna's boss", "the boss of Anna"."""
    words = asked.cues.words.folded
    before = _past_articles(words, first) - 1
    after = words[last + 1 : last + 2] == ["s"]
    return after or (before > 0 and words[before] in ("of", "von"))


def _past_articles(words: list[str], at: int) -> int:
    """The place of a word, or of the articles before it."""
    while at and words[at - 1] in _ARTICLES:
        at -= 1
    return at


@veto
def turned_about(asked: Asked, candidate: Candidate, find: Candidates) -> bool:
    """Whether a reading walks from Anna to her boss where who "has Anna as a boss" or "reports to
    Anna" is asked for, or from her to those below where "Anna reports to" is."""
    words = asked.cues.words.folded
    for mention, codes in candidate.legs:
        one = asked.mentions[mention]
        had = not _HAVE.isdisjoint(words[max(0, one.first - 2) : one.first])
        had &= words[one.last + 1 : one.last + 2] == ["as"]
        below = _BELOW.search(" ".join(words[max(0, one.first - 4) : one.first]))
        if codes and (had or below):
            return codes[0] < find.kg.num_relations
        if codes and _is_doer(asked, one, codes[0], find):
            return True
        if codes and _is_owned(asked, one.last, codes[0], find):
            return codes[0] >= find.kg.num_relations
        if len(codes) == 1 and _ABOVE.match(" ".join(words[one.last + 1 : one.last + 4])):
            return codes[0] >= find.kg.num_relations
    return False


def _is_doer(asked: Asked, one: Mention, code: int, find: Candidates) -> bool:
    """Whether a walk goes to what has somebody as its "rider" where what he "rides" is asked for,
    by that verb, and known."""
    if code < find.kg.num_relations:
        return False
    doers = {stem(label) for label in find.wordings(code) if label.endswith(("er", "or"))}
    words = {word for word in asked.cues.words.folded if stem(word) in doers}
    if not words or any(word.rstrip("s").endswith(("er", "or")) for word in words):
        return False
    total = find.kg.num_relations
    own = (c for o in one.options for c in find.vocabulary.around.relations(o.entity) if c < total)
    return any(is_verb(label) and stem(label) in doers for c in own for label in find.wordings(c))


def _is_owned(asked: Asked, last: int, code: int, find: Candidates) -> bool:
    """Whether what a relation leads to, by its own name, is what stands after "Anna's"."""
    words = asked.cues.words.folded
    owned = tuple(map(singular, words[last + 2 :])) if words[last + 1 : last + 2] == ["s"] else ()
    labels = (folded_words(label) for label in find.wordings(code) if not is_verb(label))
    return any(owned[: len(label)] == label for label in labels if label)


def _is_done(before: list[str]) -> bool:
    """Whether a past form after these words tells what is done to something: "has it been sold"."""
    return not _BE.isdisjoint(before)


def _directed(asked: Asked, find: Candidates, code: int, at: float, told: float) -> float:
    """1 where a verb is walked as it is told of what stands at a place, -1 the other way."""
    label = find.wordings(code)[0]
    if told < 0 or told == at or not is_verb(label):
        return 0.0
    folded = asked.cues.words.folded
    own = _stems(label)
    if not any(stem(w) in own or is_past(w) for w in folded[int(told) : int(told) + 2]):
        return 0.0  # "Anna's boss" says "reports to" by a noun
    agent = any(word in _BY for word in folded[int(told) : int(told) + 3])
    if label.split()[-1] not in _PARTICLES:  # what "is located in" a place is told by its form
        agent |= is_past(folded[int(told)]) and _is_done(folded[max(0, int(told) - 4) : int(told)])
    acts, passive = (at < told) != agent, label.split()[-1] in _BY
    return 1.0 if (acts == passive) == (code >= find.kg.num_relations) else -1.0
