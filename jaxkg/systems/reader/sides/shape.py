"""The operators and the topics of a reading, beside what the question says of either."""

from __future__ import annotations

import numpy as np

from jaxkg.systems.reader.sets.candidate import Asked, Candidate
from jaxkg.systems.reader.sets.candidates import Candidates
from jaxkg.systems.reader.sets.direction import counted_direction
from jaxkg.systems.reader.sets.paths.quick import aligned, class_aligned


def topic_views(asked: Asked, candidate: Candidate) -> dict[str, float]:
    """Views of the names that one reading starts from, by their names."""
    mentions = asked.mentions
    used = {mention for mention, _ in candidate.topics}
    options = [mentions[m].options[o] for m, o in candidate.topics]
    unused = [m.score for i, m in enumerate(mentions) if i not in used and m.score >= 0.7]
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
