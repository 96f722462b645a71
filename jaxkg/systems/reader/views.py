"""A reading of a question seen from many sides, as numbers for the ranker."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence

import numpy as np

from jaxkg.cached import cached_method
from jaxkg.deadline import check
from jaxkg.errors import JaxkgError
from jaxkg.systems.reader.language.topics import soft_class
from jaxkg.systems.reader.linking import NAMES as LINKING
from jaxkg.systems.reader.linking import RelationLinking, linking_views
from jaxkg.systems.reader.sets.candidate import Asked, Candidate
from jaxkg.systems.reader.sets.candidates import Candidates
from jaxkg.systems.reader.sets.direction import counted_direction, directions, possessed
from jaxkg.systems.reader.sets.labels import SAID
from jaxkg.systems.reader.sets.quick import aligned, class_aligned, elements
from jaxkg.systems.reader.turns import NAMES as TURNS
from jaxkg.systems.reader.turns import back, turn_views

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
ANCHORS = {
    "person": "person",
    "place": "place, city, country or building",
    "date": "date or year",
    "number": "number or amount",
    "thing": "thing",
}
"""Kinds of things in words, for telling what a label speaks of."""
_OLD = {"old", "alt"}
_DAYS = {"year", "date", "day", "month", "years", "dates", "days", "jahr", "datum", "tag", "monat"}
"""What is asked for where a time of day is no answer."""
_WEEKDAYS = {"day", "days", "weekday", "weekdays"}
"""Words of relations that tell days of the week, and of who asks for them."""
_TIME = (["time"], ["uhr"], ["uhrzeit"])
"""What is asked for where a time of day is."""
_A_NAME = 0.7
"""Score from which on words are a name."""


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
            **topic_views(asked, candidate, find),
            **type_views(candidate, ends),
            **shape_views(asked, candidate, find),
        }
        own[row, [_PLACE[name] for name in seen]] = list(seen.values())
    for name, column in word_views(asked, found, kinds, find).items():
        own[:, _PLACE[name]] = column
    turns, linked = turn_views(asked, found, find), linking_views(asked, found, find, linking)
    return np.concatenate([own, turns, linked], axis=1)


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


class TypeViews:
    """Of one question's readings; what many of them share is worked out once.

    Args:
        asked: the question.
        find: what found the readings.
    """

    def __init__(self, asked: Asked, find: Candidates) -> None:
        self.asked, self.find = asked, find
        self.vocabulary = find.vocabulary
        self.noun = asked.alignment.noun
        self.vectors = asked.alignment.vectors
        nouns = set(asked.cues.noun)
        self._day = not _DAYS.isdisjoint(self.noun)
        # "What time does it start" wants no day, where the graph tells times.
        self._clocks = self.vocabulary.clocks if self.noun in _TIME else frozenset()
        self._named = {mention.kind for mention in asked.classes}
        self._wanted = {m.kind for m in asked.classes if {m.first, m.last} & nouns}

    def __call__(self, candidate: Candidate, kinds: tuple[int, ...]) -> dict[str, float]:
        """Views of one reading, by their names.

        Args:
            candidate: the reading.
            kinds: classes of what it leads to.
        """
        names = tuple(name for kind in kinds for name in self.vocabulary.class_words(kind))
        ahead = 0 <= candidate.last < self.find.kg.num_relations
        label = self.find.wordings(candidate.last) if candidate.last >= 0 else ()
        named, wanted = self._named, self._wanted
        told = {*kinds, *candidate.classes, *candidate.between}
        found = {
            "class named": len(named & told) / len(named) if named else 0.0,
            "spread": float(bool(candidate.relations) and not candidate.topics),
            "asked class": float(bool(wanted & set(kinds))),
            "asked class missed": float(bool(wanted) and not wanted & set(kinds)),
            "noun lex class": self._by_letters(names),
            "noun lex last": self._by_letters(label) if ahead else 0.0,
        }
        if self.noun and self.vectors.encoder is not None:
            found["noun sem class"] = self._by_vectors(names) if names else 0.0
            found["noun sem last"] = self._by_vectors(label) if label and ahead else 0.0
        alike = [self.asked.sorts[kind] for kind in kinds if kind in self.asked.sorts]
        if alike:
            of_noun = np.max(alike, axis=0)
            found |= zip(("noun sem relations", "noun sem names", "noun sem behind"), of_noun)
        nouns = ("noun lex class", "noun lex last", "noun sem class", "noun sem last")
        found["noun fit"] = max(found.get(name, 0.0) for name in nouns)
        return found | self._wants(candidate, kinds, names or (label if ahead else ()), label)

    def _wants(
        self,
        candidate: Candidate,
        kinds: tuple[int, ...],
        told: tuple[str, ...],
        label: tuple[str, ...],
    ) -> dict[str, float]:
        """Whether it is a person, a place, a date or a number, as was asked."""
        kind = self.vocabulary.ends_kind(candidate.last) if candidate.last >= 0 else "thing"
        if candidate.result.isdigit():
            kind = "number"
        found: dict[str, float] = {}
        wants = "date" if self._clocks else self.asked.cues.wants
        if wants in ("person", "place"):
            gap = 0.0
            if told and self.vectors.encoder is not None:
                gap = self._nearer(told)
            found[f"wants {wants}"] = gap - 0.5 * (kind != "thing")
            general = {self.vocabulary.general(known) for known in kinds}
            found[f"asked {wants} met"] = wants in general
            other = general & {"person", "place"} - {wants}
            found[f"asked {wants} missed"] = bool(other) or kind != "thing"
        elif wants in ("date", "number"):
            clock = candidate.last in self.vocabulary.clocks
            met = clock if self._clocks else kind == wants and not (clock and self._day)
            if _WEEKDAYS & set(self.noun) and kind == "thing":
                # "Which days" may be those of a week.
                met = any(not _WEEKDAYS.isdisjoint(wording.split()) for wording in label)
            if wants == "number" and _OLD & set(self.noun):  # by an age, or by when it began
                met = kind == "date" or soft_class(["age"], label) > 0
            found[f"wants {wants}"] = 1.0 if met else -1.0
        elif kind != "thing" and not candidate.result:
            # "What is the salary of Ann" asks for one.
            said = aligned(self.asked, candidate.last, self.vocabulary).best_lex
            found["number for thing"] = float(said < SAID)
        return found

    @cached_method
    def _by_letters(self, told: tuple[str, ...]) -> float:
        """How alike what is asked for and some words are by their letters."""
        return soft_class(self.noun, told)

    @cached_method
    def _by_vectors(self, told: tuple[str, ...]) -> float:
        """Cosine of what is asked for and the nearest of some words."""
        return float((self.vectors(told) @ self.vectors([" ".join(self.noun)])[0]).max())

    @cached_method
    def _nearer(self, told: tuple[str, ...]) -> float:
        """How much nearer some words are to the person or the place that is asked for than to the
        other one."""
        both = self.vectors([ANCHORS["person"], ANCHORS["place"]])
        near = self.vectors(told) @ both.T
        gaps = near[:, 0] - near[:, 1]
        return float((gaps if self.asked.cues.wants == "person" else -gaps).max())


def topic_views(asked: Asked, candidate: Candidate, find: Candidates) -> dict[str, float]:
    """Views of the names that one reading starts from, by their names. A name that its relations
    say is not unused: the state "closed", when something was closed."""
    mentions = asked.mentions
    used = {mention for mention, _ in candidate.topics}
    options = [mentions[m].options[o] for m, o in candidate.topics]
    others = [m for i, m in enumerate(mentions) if i not in used and m.score >= _A_NAME]
    labels = [aligned(asked, code, find.vocabulary).lex for code in candidate.relations if others]
    unused = [m.score for m in others if all(lex[[*m.words]].min() < SAID for lex in labels)]
    return {
        "topic score": min((option.score for option in options), default=0.5),
        "topics": len(used),
        "unused names": sum(unused),
        "unused certain": sum(score >= 0.95 for score in unused),
        "loose name": sum(option.how in ("part", "fuzzy", "form") for option in options),
    }


def shape_views(asked: Asked, candidate: Candidate, find: Candidates) -> dict[str, float]:
    """Views of the operators of one reading and of its answer's size, by their names."""
    cues, vocabulary = asked.cues, find.vocabulary
    shape = candidate.shape
    found: dict[str, float] = {f"shape {shape}": 1.0}
    numeric = candidate.last >= 0 and vocabulary.ends_kind(candidate.last) == "number"
    counts = shape == "count"
    found["count cue met"] = counts and cues.count
    found["count cue missed"] = cues.count and not counts and not numeric
    found["number for count"] = cues.count and not counts and numeric
    found["count uncalled"] = counts and not cues.count
    whether = candidate.result in ("yes", "no")
    found["yesno met"] = whether and cues.yesno
    found["yesno missed"] = cues.yesno and not whether and shape != "compare"
    found["yesno uncalled"] = whether and not cues.yesno
    graded = cues.extreme or cues.comparative
    found["extreme met"] = shape == "extreme" and cues.extreme is not None
    found["extreme uncalled"] = shape == "extreme" and cues.extreme is None
    found["extreme missed"] = graded is not None and shape not in (
        "extreme",
        "compare",
        "filter",
    )
    bounded = candidate.shape == "filter" or any(
        b.words[0] in candidate.explained for b in cues.bounds
    )
    found["filter met"] = (bool(cues.bounds) or cues.beyond) and bounded
    found["filter missed"] = bool(cues.bounds) and not bounded
    found["either met"] = cues.either and shape in ("union", "compare")
    found["either missed"] = cues.either and shape not in ("union", "compare")
    aside = cues.except_at is not None or cues.negated is not None
    found["both met"] = cues.both and shape == "join"
    found["both missed"] = cues.both and shape != "join" and len(asked.mentions) > 1
    found["except met"] = aside and shape == "except"
    found["except missed"] = aside and shape != "except"
    found["compare met"] = shape == "compare" and cues.comparative is not None
    found["yes"] = candidate.result == "yes"
    if candidate.measure >= 0:
        told = aligned(asked, candidate.measure, vocabulary)
        found["measure fit"] = candidate.fit
        found["measure lex"] = told.best_lex
        found["measure sem"] = told.best_sem
        found["measure direction"] = counted_direction(asked, candidate, find)
    found["negated"] = aside
    found["wanting"] = candidate.wanting > 0
    found["share wanting"] = candidate.wanting
    if cues.graded and shape in ("extreme", "compare", "filter", "count"):
        some = [class_aligned(asked, kind, vocabulary) for kind in candidate.graded]
        some += [aligned(asked, candidate.measure, vocabulary)] if candidate.measure >= 0 else []
        covers = [one.cover[list(cues.graded)].max() for one in some]
        found["graded fit"] = max(covers, default=0.0)
        found["graded missed"] = 1.0 - found["graded fit"]
    if candidate.picked >= 0:
        found["steps on"] = len(candidate.relations) - candidate.picked
    size = len(candidate.ends) if not candidate.result else 1
    found["log size"] = float(np.log1p(size))
    found["single"] = size == 1
    sets = shape not in ("count", "compare") and not candidate.result
    found["plural met"] = sets and cues.plural is True and size > 1
    found["plural missed"] = sets and cues.plural is True and size == 1
    found["singular missed"] = sets and cues.plural is False and size > 1
    starts = {asked.mentions[m].options[o].entity for m, o in candidate.topics}
    home = 0 < size <= len(starts) and not candidate.result
    found["answers itself"] = home and starts >= set(candidate.ends.tolist())
    found["quick"] = candidate.quick
    return found


def word_views(
    asked: Asked,
    found: Sequence[Candidate],
    kinds: Sequence[tuple[int, ...]],
    find: Candidates,
) -> dict[str, np.ndarray]:
    """Shares of the question's words of content that readings explain.

    Args:
        asked: the question.
        found: C readings, one at least.
        kinds: of each the classes of what it leads to.
        find: what found them.

    Returns:
        By the name of the view, [C] each.
    """
    content, names = _content(asked, found)
    # A row of zeros before those of each reading, so that none is without one.
    nothing = np.zeros(content.shape[1], np.float32)
    letters, vectors, starts = [], [], []
    for candidate, ends in zip(found, kinds, strict=True):
        steps, named, loose = elements(asked, candidate, ends, find.vocabulary)
        some = (*steps, *named, *loose)
        starts.append(len(letters))
        letters += [nothing, *(one.lex for one in some)]
        vectors += [nothing, *(one.sem for one in some)]
    lex, sem = (np.maximum.reduceat(np.stack(rows), starts) for rows in (letters, vectors))
    for row, candidate in enumerate(found):
        if candidate.explained:
            lex[row, list(candidate.explained)] = 1.0
    lex[names] = 1.0
    soft = np.clip((sem - 0.2) / 0.5, 0, 1)
    cover = np.maximum(lex, soft)
    # What the graph has a relation for, and the reading does without.
    aside = content * np.maximum(asked.named - cover, 0)
    total = content.sum(axis=1).astype(np.float64)
    whole = np.where(total == 0, 1.0, total)
    explained = (content * cover).sum(axis=1).astype(np.float64)
    return {
        "named aside": aside.max(axis=1, initial=0.0),
        "named aside in all": aside.sum(axis=1),
        "named aside by letters": (content * np.maximum(asked.named - lex, 0)).max(
            axis=1, initial=0.0
        ),
        "explained": explained,
        "unexplained": (content * (1 - cover)).sum(axis=1),
        "share": explained / whole,
        "worst word": (content * (1 - cover)).max(axis=1, initial=0.0),
        "share by letters": (content * lex).sum(axis=1).astype(np.float64) / whole,
        "share by vectors": (content * soft).sum(axis=1).astype(np.float64) / whole,
        "zero": total == 0,
    }


def _content(asked: Asked, found: Sequence[Candidate]) -> tuple[np.ndarray, np.ndarray]:
    """[C, W] how much words count for each reading, and whether they are a name that it uses."""
    rows: dict[tuple[tuple[int, int], ...], int] = {}
    order = [rows.setdefault(candidate.topics, len(rows)) for candidate in found]
    content = np.tile(asked.alignment.content, (len(rows), 1))
    names = np.zeros(content.shape, bool)
    for topics, row in rows.items():
        used = {mention for mention, _ in topics}
        for place, mention in enumerate(asked.mentions):
            if place in used:
                names[row, list(mention.words)] = True
            elif mention.score >= _A_NAME:  # a name that goes unused is a word unexplained
                content[row, mention.first] = max(content[row, mention.first], mention.score)
    return content[order], names[order]
