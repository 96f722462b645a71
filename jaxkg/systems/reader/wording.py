"""Why none of the readings of a question is given as the answer."""

from __future__ import annotations

import itertools

from jaxkg.limits import shortened
from jaxkg.readings import say
from jaxkg.systems.reader.reading import Readings
from jaxkg.systems.reader.sets.candidate import Asked, Candidate

_LABELS = 2_000
"""Relations that are looked at to tell the nearest."""
_NOTHING = "nothing of the graph is recognised in the question"
_ADDS_UP = "it looks like a sum or an average, but it is unclear of which numbers"


def reason(asked: Asked, readings: Readings, wanting: Candidate | None, some: bool) -> str:
    """Why a question goes without an answer: what was understood, and what is near it.

    Args:
        asked: the question.
        readings: what read it.
        wanting: the best reading, where it leads nowhere.
        some: whether there are readings to choose from.
    """
    vocabulary = readings.vocabulary
    names = [shortened(readings.kg.name(m.options[0].entity)) for m in asked.mentions]
    kinds = [vocabulary.class_names(m.kind)[0] for m in asked.classes]
    told = dict.fromkeys([*names, *kinds])
    known = f"recognised: {', '.join(map(repr, told))}" if told else _NOTHING
    if unknown := _unknown(asked):
        known += f"; nothing is called {', '.join(map(repr, unknown))}"
    if wanting is not None:
        return f"{_lacked(asked, readings, wanting)}; {known}; {_near(asked, readings)}"
    if not some:
        unmet = " and leads to nothing that was asked for" if told else ""
        return f"{known}{unmet}; {_near(asked, readings)}"
    if asked.part:
        return f"only a part of the question is looked at ({'; '.join(asked.notes)}); {known}"
    if asked.cues.adds_up:
        return f"{_ADDS_UP}; {known}; {_near(asked, readings)}"
    return f"not sure enough how to read it; {known}; {_near(asked, readings)}"


def _unknown(asked: Asked) -> list[str]:
    """Names of which the graph has none, words that follow one another together."""
    words = asked.cues.words.written
    runs = itertools.groupby(enumerate(sorted(asked.unknown)), key=lambda pair: pair[1] - pair[0])
    return [shortened(" ".join(words[place] for _, place in run)) for _, run in runs]


def _lacked(asked: Asked, readings: Readings, candidate: Candidate) -> str:
    """What the graph does not say."""
    if candidate.shape in ("except", "join"):
        return f"there seems to be none: {say(readings.kg, candidate.query)}"
    ((mention, option),) = candidate.topics
    name = shortened(readings.kg.name(asked.mentions[mention].options[option].entity))
    label = readings.find.wordings(candidate.last)[0]
    has = f"{name!r} has no" if candidate.last < readings.kg.num_relations else f"of {name!r} no"
    return f"the graph does not seem to say it: {has} {label!r}"


def _near(asked: Asked, readings: Readings) -> str:
    """The relations, and the names, that the question's words are nearest to."""
    labels = [r.wordings for r in readings.vocabulary.relations[:_LABELS] if not r.role]
    close = dict(zip(labels, asked.alignment.closeness(labels).tolist()))
    best = sorted(close, key=lambda label: -close[label])[:3]
    told = f"nearest relations: {', '.join(repr(label[0]) for label in best)}"
    names = () if asked.mentions else readings.finder.nearest(asked.cues)
    return told + (f"; nearest names: {', '.join(map(repr, names))}" if names else "")
