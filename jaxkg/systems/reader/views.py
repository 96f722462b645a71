"""A reading of a question seen from many sides, as numbers for the ranker; see `sides`."""

from __future__ import annotations

import dataclasses

import numpy as np

from jaxkg.deadline import check
from jaxkg.errors import JaxkgError
from jaxkg.systems.reader.linking.relations import NAMES as LINKING
from jaxkg.systems.reader.linking.relations import RelationLinking, linking_views
from jaxkg.systems.reader.sets.candidate import Asked, Candidate
from jaxkg.systems.reader.sets.candidates import Candidates
from jaxkg.systems.reader.sides.shape import shape_views, topic_views
from jaxkg.systems.reader.sides.steps import step_views
from jaxkg.systems.reader.sides.types import TypeViews
from jaxkg.systems.reader.sides.words import word_views
from jaxkg.systems.reader.turns import NAMES as TURNS
from jaxkg.systems.reader.turns import turn_views

_SHAPES = (
    "path", "class", "join", "count", "yesno", "extreme", "filter", "union", "except", "compare",
)  # fmt: skip

NAMES = (
    "explained", "unexplained", "share", "worst word", "share by letters", "share by vectors",
    "one step", "two steps", "three steps", "more steps",
    "mean sem", "least sem", "mean lex", "least lex", "mean whole", "least whole", "mean fit",
    "least fit", "same word twice", "order", "direction", "returns", "through", "type asked",
    "topic score", "topics", "unused names", "unused certain", "loose name",
    "class named", "spread", "asked class", "asked class missed", "noun fit",
    "noun sem class", "noun lex class", "noun sem last", "noun lex last",
    "wants person", "wants place", "wants date", "wants number", "number for thing",
    "log size", "single", "plural met", "plural missed", "singular missed", "quick",
    "asked person met", "asked person missed", "asked place met", "asked place missed",
    *(f"shape {shape}" for shape in _SHAPES),
    "count cue met", "count cue missed", "count uncalled", "number for count", "yesno met",
    "yesno missed", "yesno uncalled", "extreme met", "extreme missed", "extreme uncalled",
    "filter met", "filter missed", "either met", "either missed", "both met", "both missed",
    "except met", "except missed",
    "compare met", "yes", "measure fit", "measure lex", "measure sem", "zero",
    "answers itself", "graded fit", "graded missed", "steps on", "inner direction",
    "negated", "wanting", "share wanting",
    "named aside", "named aside in all", "named aside by letters",
    "possessed", "measure direction", "noun sem relations", "noun sem names", "noun sem behind",
    "twice met", "twice missed", "all asked",
    *TURNS,
    *LINKING,
)  # fmt: skip
"""The views, in order."""
_OWN = NAMES[: -len(TURNS) - len(LINKING)]
_PLACE = {name: place for place, name in enumerate(_OWN)}

_VECTORS = ("sem", "vectors", "whole", "wants")
_GROUPS = {
    "vectors": [n for n in NAMES if any(part in n for part in _VECTORS)],
    "overlap": [n for n in NAMES if "lex" in n or "letters" in n or "aside" in n],
    "types": [n for n in NAMES if n.startswith(("class", "asked", "noun", "wants", "number for"))],
    "length": [n for n in NAMES if n.endswith(("step", "steps"))],
    "turns": list(TURNS),
    "linking": list(LINKING),
}


@dataclasses.dataclass(frozen=True)
class Seen:
    """A question's C readings as the ranker looks at them.

    Attributes:
        asked: the question.
        found: the readings.
        views: [C, F] float32.
        scores: [C] float32.
        sentence: [P] what the pair scorer tells of the likeliest reading; None where none does.
    """

    asked: Asked
    found: list[Candidate]
    views: np.ndarray
    scores: np.ndarray
    sentence: np.ndarray | None = None


def kept_views(without: str) -> np.ndarray:
    """[F] bool: the views that an ablation leaves.

    Raises:
        JaxkgError: it names a part that there is none of.

    >>> int(kept_views("").sum()) == len(NAMES), int(kept_views("length").sum()) < len(NAMES)
    (True, True)
    """
    names = set(filter(None, map(str.strip, without.split(","))))
    if unknown := names - _GROUPS.keys():
        known = ", ".join(_GROUPS)
        raise JaxkgError(f"the reader has no part {min(unknown)!r} to leave out; it has {known}")
    gone = {name for group in names for name in _GROUPS[group]}
    return np.array([name not in gone for name in NAMES])


def views(
    asked: Asked,
    found: list[Candidate],
    find: Candidates,
    linking: RelationLinking | None = None,
) -> np.ndarray:
    """Views of all readings of a question.

    Args:
        asked: the question.
        found: C readings.
        find: what found them.
        linking: of the graph's relations.

    Returns:
        [C, F] float32, in the order of `NAMES`.
    """
    if not found:
        return np.zeros((0, len(NAMES)), np.float32)
    kinds = [one.graded if asked.adds(one) else find.end_classes(one) for one in found]
    type_views = TypeViews(asked, find)
    own = np.zeros((len(found), len(_OWN)), np.float32)
    for row, (candidate, ends) in enumerate(zip(found, kinds)):
        check()
        seen = {
            **step_views(asked, candidate, find),
            **topic_views(asked, candidate),
            **type_views(candidate, ends),
            **shape_views(asked, candidate, find),
        }
        own[row, [_PLACE[name] for name in seen]] = list(seen.values())
    for name, column in word_views(asked, found, kinds, find).items():
        own[:, _PLACE[name]] = column
    turns, linked = turn_views(asked, found, find), linking_views(asked, found, find, linking)
    return np.concatenate([own, turns, linked], axis=1)
