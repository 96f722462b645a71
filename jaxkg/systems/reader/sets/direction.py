"""Whether a reading walks its relations the way the question tells them: who does what to whom."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from jaxkg.query import Extreme, Where
from jaxkg.systems.reader.language.lexicon.stems import is_past, stem
from jaxkg.systems.reader.sets.candidate import Asked, Candidate
from jaxkg.systems.reader.sets.candidates import Candidates
from jaxkg.systems.reader.sets.labels import folded_words
from jaxkg.systems.reader.sets.quick import aligned

_PARTICLE_WORDS = "for to with of under on in at from für zu mit bei in an auf aus über"
_PARTICLES = frozenset(_PARTICLE_WORDS.split())
_BY = ("by", "von")
_BE = frozenset(["is", "are", "was", "were", "be", "been", "being", "wurde", "wurden", "wird"])
_HAVE = ("has", *_BE)
_ARTICLES = ("the", "a", "an", "my", "our", "der", "des", "die", "das")


@functools.lru_cache(100_000)
def is_verb(label: str) -> bool:
    """Whether a label tells what its head does, or what is done to it, as far as forms tell.

    >>> is_verb("reports to"), is_verb("bought"), is_verb("account manager"), is_verb("has part")
    (True, True, False, False)
    """
    words = label.split()
    first = words[0]
    tells = first.endswith("s") and first not in _HAVE
    return words[-1] in (*_BY, *_PARTICLES) or tells or is_past(first)


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


def is_reversed(
    asked: Asked, best: Candidate, others: Sequence[Candidate], find: Candidates
) -> bool:
    """Whether a reading walks against the verbs of its question, and the inverse finds other
    ends."""
    return sum(directions(asked, best, find)) < 0 and _has_inverse(best, others, find)


def is_undirected(
    asked: Asked, best: Candidate, others: Sequence[Candidate], find: Candidates
) -> bool:
    """Whether no verb tells which way a reading walks, and one of others walks it the other way to
    other ends: what both fish eat, and what eats both."""
    known = not best.legs or sum(directions(asked, best, find)) > 0
    return not known and _has_inverse(best, others, find)


def _has_inverse(best: Candidate, others: Sequence[Candidate], find: Candidates) -> bool:
    legs = inverse_legs(best, find)
    return any(
        other.legs == legs
        and other.shape == best.shape
        and not other.wanting
        and (other.result != best.result or not np.array_equal(other.ends, best.ends))
        for other in others
    )


def inverse_legs(candidate: Candidate, find: Candidates) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """The branches of a reading with each relation walked the other way."""
    back = find.vocabulary.inverse
    return tuple((mention, tuple(map(back, codes))) for mention, codes in candidate.legs)


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


def is_dispossessed(asked: Asked, candidate: Candidate, find: Candidates) -> bool:
    """Whether a reading walks against a noun that is said to be of a topic, see `possessed`."""
    words = asked.cues.words.folded
    for mention, codes in candidate.legs:
        topic = asked.mentions[mention]
        if codes and codes[0] >= find.kg.num_relations and _owns(asked, topic.first, topic.last):
            before = _past_articles(words, topic.first) - 2
            owned = (*words[topic.last + 2 : topic.last + 3], *words[max(before, 0) : before + 1])
            label = find.wordings(codes[0])[0]
            if not is_verb(label) and not _stems(label).isdisjoint(map(stem, owned)):
                return True
    return False


def is_crossed(asked: Asked, candidate: Candidate, find: Candidates) -> bool:
    """Whether a topic stands after the particle that tells another relation from the one walked:
    the "from port" of "to Tarn", where there is a "to port"."""
    words = asked.cues.words.folded
    for mention, codes in candidate.legs:
        before = _past_articles(words, asked.mentions[mention].first) - 1
        particle = words[before] if before >= 0 else ""
        for label in find.wordings(codes[0]) if codes and particle in _PARTICLES else ():
            parts = label.split()
            twins = (
                " ".join([*parts[:place], particle, *parts[place + 1 :]])
                for place, part in enumerate(parts)
                if part in _PARTICLES and particle not in parts
            )
            if not find.vocabulary.wordings_known.isdisjoint(twins):
                return True
    return False


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
        done = not _BE.isdisjoint(folded[max(0, int(told) - 4) : int(told)])  # "has it been sold"
        agent |= is_past(folded[int(told)]) and done
    acts, passive = (at < told) != agent, label.split()[-1] in _BY
    return 1.0 if (acts == passive) == (code >= find.kg.num_relations) else -1.0
