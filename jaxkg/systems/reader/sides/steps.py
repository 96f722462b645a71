"""The relations that a reading walks: how many, how well each is told, and in which order."""

from __future__ import annotations

import itertools

import numpy as np

from jaxkg.systems.reader.sets.candidate import Asked, Candidate
from jaxkg.systems.reader.sets.candidates import Candidates
from jaxkg.systems.reader.sets.direction import directions, possessed
from jaxkg.systems.reader.sets.paths.quick import aligned
from jaxkg.systems.reader.turns import back


def step_views(asked: Asked, candidate: Candidate, find: Candidates) -> dict[str, float]:
    """Views of one reading, by their names."""
    vocabulary, codes = find.vocabulary, candidate.relations
    count, total = len(codes), find.kg.num_relations
    seen = count - candidate.through
    found: dict[str, float] = {
        "through": candidate.through,
        "one step": seen == 1,
        "two steps": seen == 2,
        "three steps": seen == 3,
        "more steps": seen > 3,
    }
    if not count:
        return found
    steps = [aligned(asked, code, vocabulary) for code in codes]
    sides = {
        "sem": [step.best_sem for step in steps],
        "lex": [step.best_lex for step in steps],
        "whole": [step.whole for step in steps],
        "fit": [step.fit for step in steps],
    }
    for name, some in sides.items():
        found[f"mean {name}"], found[f"least {name}"] = sum(some) / count, min(some)
    distinct = {code % total for code in codes}
    places = {step.at for step in steps}
    found["same word twice"] = count - len(places) if len(distinct) == count else 0
    found["order"] = _order(asked, candidate, find)
    found["direction"], found["inner direction"] = directions(asked, candidate, find)
    found["possessed"] = possessed(asked, candidate, find)
    found["twice met"], found["twice missed"] = _twice(asked, candidate, find)
    found["returns"] = sum(back(asked, a, b, find) for a, b in itertools.pairwise(codes))
    found["type asked"] = any(vocabulary.role(code) == "type" for code in codes)
    return found


def _twice(asked: Asked, candidate: Candidate, find: Candidates) -> tuple[float, float]:
    """Of words said twice, whether their relation is walked as often: "her boss's boss"."""
    met = missed = 0.0
    total = find.kg.num_relations
    codes = [code % total for code in candidate.relations]
    for walked, code in zip(candidate.relations, codes):
        for count in asked.alignment.often(find.wordings(walked)):
            often = codes.count(code) >= count
            met, missed = max(met, often), max(missed, not often)
    return met, missed


def _order(asked: Asked, candidate: Candidate, find: Candidates) -> float:
    """The step next to the topic is told next to it, for the most part."""
    score, pairs = 0.0, 0
    for mention, codes in candidate.legs:
        at = asked.mentions[mention].first
        away = [abs(aligned(asked, code, find.vocabulary).at - at) for code in codes]
        for near, far in itertools.pairwise(away):
            score += float(np.sign(far - near))
            pairs += 1
    return score / pairs if pairs else 0.0
