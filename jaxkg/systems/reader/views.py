"""A reading of a question seen from many sides, as numbers for the ranker."""

from __future__ import annotations

import itertools

import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.systems.reader.language.topics import soft_class
from jaxkg.systems.reader.linking.relations import NAMES as LINKING
from jaxkg.systems.reader.linking.relations import RelationLinking, linking_views
from jaxkg.systems.reader.sets.alignment import Aligned
from jaxkg.systems.reader.sets.candidate import Asked, Candidate
from jaxkg.systems.reader.sets.candidates import Candidates
from jaxkg.systems.reader.sets.direction import counted_direction, directions, possessed
from jaxkg.systems.reader.turns import NAMES as TURNS
from jaxkg.systems.reader.turns import turn_views

ANCHORS = {
    "person": "person",
    "place": "place, city, country or building",
    "date": "date or year",
    "number": "number or amount",
    "thing": "thing",
}
"""Kinds of things in words, for telling what a label speaks of."""
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
    "twice met", "twice missed",
    *TURNS,
    *LINKING,
)  # fmt: skip
"""The views, in order."""
_OWN = NAMES[: -len(TURNS) - len(LINKING)]

_OLD = {"old", "alt"}
_SAID = 0.5
"""Cover from which on a word speaks of a relation."""
_VECTORS = ("sem", "vectors", "whole", "wants")
_GROUPS = {
    "vectors": [n for n in NAMES if any(part in n for part in _VECTORS)],
    "overlap": [n for n in NAMES if "lex" in n or "letters" in n or "aside" in n],
    "types": [n for n in NAMES if n.startswith(("class", "asked", "noun", "wants", "number for"))],
    "length": [n for n in NAMES if n.endswith(("step", "steps"))],
    "turns": list(TURNS),
    "linking": list(LINKING),
    "second look": [],
}


def kept_views(without: str) -> np.ndarray:
    """[F] bool: the views that an ablation leaves.

    Raises:
        JaxkgError: it names a part that there is none of.

    >>> int(kept_views("").sum()) == len(NAMES), int(kept_views("length").sum()) < len(NAMES)
    (True, True)
    """
    for part in filter(None, map(str.strip, without.split(","))):
        if part not in _GROUPS:
            raise JaxkgError(f"the reader has no part {part!r} to leave out; {', '.join(_GROUPS)}")
    gone = {name for group in filter(None, without.split(",")) for name in _GROUPS[group.strip()]}
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
    anchors = dict(zip(ANCHORS, asked.alignment.vectors(list(ANCHORS.values()))))
    rows = [_View(asked, candidate, find, anchors).row() for candidate in found]
    own = np.array(rows, np.float32)
    turns, linked = turn_views(asked, found, find), linking_views(asked, found, find, linking)
    return np.concatenate([own, turns, linked], axis=1)


class _View:
    def __init__(
        self, asked: Asked, candidate: Candidate, find: Candidates, anchors: dict[str, np.ndarray]
    ) -> None:
        self.asked, self.candidate, self.find = asked, candidate, find
        self.cues, self.alignment = asked.cues, asked.alignment
        self.vocabulary = find.vocabulary
        self.anchors = anchors
        self.steps = [self.alignment.of(find.wordings(code)) for code in candidate.relations]
        self.kinds = find.end_classes(candidate)
        self.used = {mention for mention, _ in candidate.topics}

    def row(self) -> list[float]:
        values = {
            **self._words(),
            **self._steps(),
            **self._topics(),
            **self._types(),
            **self._shape(),
        }
        return [float(values.get(name, 0.0)) for name in _OWN]

    def _elements(self) -> list[Aligned]:
        words = [*self.candidate.classes, *self.kinds, *self.candidate.between]
        found = [*self.steps, *(self.alignment.of(self.vocabulary.class_words(k)) for k in words)]
        if self.candidate.measure >= 0:
            found.append(self.alignment.of(self.find.wordings(self.candidate.measure)))
        return found

    def _words(self) -> dict[str, float]:
        content = self.alignment.content.copy()
        for place, mention in enumerate(self.asked.mentions):
            # A name that goes unused is a word unexplained.
            if place not in self.used and mention.score >= 0.7:
                content[mention.first] = max(content[mention.first], mention.score)
        lex = np.zeros(len(content), np.float32)
        sem = np.zeros(len(content), np.float32)
        for aligned in self._elements():
            lex = np.maximum(lex, aligned.lex)
            sem = np.maximum(sem, aligned.sem)
        for place in self.candidate.explained:
            lex[place] = 1.0
        for place, mention in enumerate(self.asked.mentions):
            if place in self.used:
                lex[list(mention.words)] = 1.0
        soft = np.clip((sem - 0.2) / 0.5, 0, 1)
        cover = np.maximum(lex, soft)
        total = float(content.sum()) or 1.0
        # What the graph has a relation for, and the reading does without.
        aside = content * np.maximum(self.asked.named - cover, 0)
        return {
            "named aside": float(aside.max(initial=0.0)),
            "named aside in all": float(aside.sum()),
            "named aside by letters": float(
                (content * np.maximum(self.asked.named - lex, 0)).max(initial=0.0)
            ),
            "explained": float((content * cover).sum()),
            "unexplained": float((content * (1 - cover)).sum()),
            "share": float((content * cover).sum()) / total,
            "worst word": float((content * (1 - cover)).max(initial=0.0)),
            "share by letters": float((content * lex).sum()) / total,
            "share by vectors": float((content * soft).sum()) / total,
            "zero": float(content.sum() == 0),
        }

    def _steps(self) -> dict[str, float]:
        count = len(self.steps)
        seen = count - self.candidate.through
        found: dict[str, float] = {
            "through": self.candidate.through,
            "one step": seen == 1,
            "two steps": seen == 2,
            "three steps": seen == 3,
            "more steps": seen > 3,
        }
        if not count:
            return found
        sem = np.array([s.best_sem for s in self.steps])
        lex = np.array([s.best_lex for s in self.steps])
        whole = np.array([s.whole for s in self.steps])
        fit = np.maximum(lex, np.clip((sem - 0.2) / 0.5, 0, 1))
        for name, some in (("sem", sem), ("lex", lex), ("whole", whole), ("fit", fit)):
            found[f"mean {name}"], found[f"least {name}"] = float(some.mean()), float(some.min())
        places = [s.at for s in self.steps]
        distinct = {code % self.vocabulary.kg.num_relations for code in self.candidate.relations}
        found["same word twice"] = count - len(set(places)) if len(distinct) == count else 0
        found["order"] = self._order()
        found["direction"], found["inner direction"] = directions(
            self.asked, self.candidate, self.find
        )
        found["possessed"] = possessed(self.asked, self.candidate, self.find)
        found["twice met"], found["twice missed"] = self._twice()
        codes = self.candidate.relations
        total = self.vocabulary.kg.num_relations
        found["returns"] = sum(abs(a - b) == total for a, b in itertools.pairwise(codes))
        found["type asked"] = any(self.vocabulary.role(code) == "type" for code in codes)
        return found

    def _twice(self) -> tuple[float, float]:
        """Of words said twice, whether their relation is walked as often: "her boss's boss"."""
        met = missed = 0.0
        codes = [code % self.vocabulary.kg.num_relations for code in self.candidate.relations]
        for places in self.alignment.repeated:
            for code, step in zip(codes, self.steps):
                if step.cover[list(places)].min() >= _SAID:
                    often = codes.count(code) >= len(places)
                    met, missed = max(met, often), max(missed, not often)
        return met, missed

    def _order(self) -> float:
        """The step next to the topic is told next to it, for the most part."""
        score, pairs = 0.0, 0
        for mention, codes in self.candidate.legs:
            at = self.asked.mentions[mention].first
            away = [abs(self.alignment.of(self.find.wordings(code)).at - at) for code in codes]
            for near, far in itertools.pairwise(away):
                score += float(np.sign(far - near))
                pairs += 1
        return score / pairs if pairs else 0.0

    def _topics(self) -> dict[str, float]:
        mentions = self.asked.mentions
        options = [mentions[m].options[o] for m, o in self.candidate.topics]
        unused = [m.score for i, m in enumerate(mentions) if i not in self.used and m.score >= 0.7]
        return {
            "topic score": min((option.score for option in options), default=0.5),
            "topics": len(self.used),
            "unused names": sum(unused),
            "unused certain": sum(score >= 0.95 for score in unused),
            "loose name": sum(option.how in ("part", "fuzzy", "form") for option in options),
        }

    def _types(self) -> dict[str, float]:
        candidate, cues = self.candidate, self.cues
        words = self.alignment.noun
        names = tuple(name for kind in self.kinds for name in self.vocabulary.class_words(kind))
        named = {mention.kind for mention in self.asked.classes}
        label = self.find.wordings(candidate.last) if candidate.last >= 0 else ()
        ahead = candidate.last >= 0 and candidate.last < self.vocabulary.kg.num_relations
        told = {*self.kinds, *candidate.classes, *candidate.between}
        wanted = {m.kind for m in self.asked.classes if {m.first, m.last} & set(cues.noun)}
        found = {
            "class named": len(named & told) / len(named) if named else 0.0,
            "spread": float(bool(candidate.relations) and not candidate.topics),
            "asked class": float(bool(wanted & set(self.kinds))),
            "asked class missed": float(bool(wanted) and not wanted & set(self.kinds)),
            "noun lex class": soft_class(words, names),
            "noun lex last": soft_class(words, label) if ahead else 0.0,
        }
        vectors = self.alignment.vectors
        if words and vectors.encoder is not None:
            noun = vectors([" ".join(words)])[0]
            if names:
                found["noun sem class"] = float((vectors(names) @ noun).max())
            if label and ahead:
                found["noun sem last"] = float((vectors(label) @ noun).max())
        alike = [self.asked.sorts[kind] for kind in self.kinds if kind in self.asked.sorts]
        if alike:
            of_noun = np.max(alike, axis=0)
            found |= zip(("noun sem relations", "noun sem names", "noun sem behind"), of_noun)
        found["noun fit"] = max(
            found["noun lex class"],
            found["noun lex last"],
            found.get("noun sem class", 0.0),
            found.get("noun sem last", 0.0),
        )
        kind = self.vocabulary.ends_kind(candidate.last) if candidate.last >= 0 else "thing"
        if candidate.result.isdigit():
            kind = "number"
        wants = cues.wants
        if wants in ("person", "place"):
            told = names or (label if ahead else ())
            if told and vectors.encoder is not None:
                near = (
                    vectors(list(told))
                    @ np.stack([self.anchors["person"], self.anchors["place"]]).T
                )
                gap = float(
                    (near[:, 0] - near[:, 1]).max()
                    if wants == "person"
                    else (near[:, 1] - near[:, 0]).max()
                )
                found[f"wants {wants}"] = gap - 0.5 * (kind != "thing")
            else:
                found[f"wants {wants}"] = -0.5 * (kind != "thing")
            general = {self.vocabulary.general(known) for known in self.kinds}
            found[f"asked {wants} met"] = wants in general
            other = general & {"person", "place"} - {wants}
            found[f"asked {wants} missed"] = bool(other) or kind != "thing"
        elif wants in ("date", "number"):
            met = kind == wants
            if wants == "number" and _OLD & set(words):  # by an age, or by when it began
                met = kind == "date" or soft_class(["age"], label) > 0
            found[f"wants {wants}"] = 1.0 if met else -1.0
        elif kind != "thing" and not candidate.result:
            found["number for thing"] = 1.0
        return found

    def _shape(self) -> dict[str, float]:
        candidate, cues = self.candidate, self.cues
        shape = candidate.shape
        found: dict[str, float] = {f"shape {shape}": 1.0}
        numeric = candidate.last >= 0 and self.vocabulary.ends_kind(candidate.last) == "number"
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
        found["filter met"] = bool(cues.bounds) and bounded
        found["filter missed"] = bool(cues.bounds) and not bounded
        found["either met"] = cues.either and shape in ("union", "compare")
        found["either missed"] = cues.either and shape not in ("union", "compare")
        aside = cues.except_at is not None or cues.negated is not None
        found["both met"] = cues.both and shape == "join"
        found["both missed"] = cues.both and shape != "join" and len(self.asked.mentions) > 1
        found["except met"] = aside and shape == "except"
        found["except missed"] = aside and shape != "except"
        found["compare met"] = shape == "compare" and cues.comparative is not None
        found["yes"] = candidate.result == "yes"
        if candidate.measure >= 0:
            aligned = self.alignment.of(self.find.wordings(candidate.measure))
            found["measure fit"] = candidate.fit
            found["measure lex"] = aligned.best_lex
            found["measure sem"] = aligned.best_sem
            found["measure direction"] = counted_direction(self.asked, candidate, self.find)
        found["negated"] = aside
        found["wanting"] = candidate.wanting > 0
        found["share wanting"] = candidate.wanting
        if cues.graded and shape in ("extreme", "compare", "filter", "count"):
            words = [self.vocabulary.class_words(kind) for kind in candidate.graded]
            words += [self.find.wordings(candidate.measure)] if candidate.measure >= 0 else []
            covers = [self.alignment.of(some).cover[list(cues.graded)].max() for some in words]
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
        starts = {self.asked.mentions[m].options[o].entity for m, o in candidate.topics}
        home = 0 < size <= len(starts) and not candidate.result
        found["answers itself"] = home and starts >= set(candidate.ends.tolist())
        found["quick"] = candidate.quick
        return found
