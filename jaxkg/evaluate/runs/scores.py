"""Every metric of one question, out of its prediction line.

Published text metrics see the display names of the ranked answers as the lines of the reply, each
behind `ans: ` for `subgraphrag_f1`, and joined by ", " where the definition reads one string.
Paths are ranked by their score; relation paths by the plan where there is one, else by the paths
that walk them.

Why a question was missed: where on the way from its topic to the first answer it was lost.

`miss` reads that of any system's prediction line.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from jaxkg.evaluate.metrics import published, retrieval, strict
from jaxkg.evaluate.metrics.matching import Match, match_answers
from jaxkg.evaluate.runs.lines import status

Miss: TypeAlias = Literal["not_linked", "not_retrieved", "ranked_below", "withheld", "failed"]
MISSES: tuple[Miss, ...] = ("not_linked", "not_retrieved", "ranked_below", "withheld", "failed")


def miss(line: Mapping[str, Any]) -> Miss:
    """Where a question was lost whose first answer is wrong, or that has none.

    Args:
        line: as `prediction_line` makes it.

    Returns:
        "failed" where a call failed or its reply could not be read; "not_linked" where no topic was
        recognised and nothing was found without one; "withheld" where the answer was retrieved, or
        something to answer with was found too doubtful to look, and the question was abstained
        from; "ranked_below" where it was retrieved and other answers were put first;
        "not_retrieved" elsewhere.
    """
    outcome, plan = status(line), line.get("plan") or ()
    retrieved = line.get("gold_retrieved")
    if outcome not in ("answered", "abstained"):
        return "failed"
    if line.get("linked") is False and not plan and not retrieved:
        return "not_linked"
    if outcome == "answered":
        return "ranked_below" if retrieved else "not_retrieved"
    doubtful = bool(plan) and not any(path.get("used") for path in plan)
    return "withheld" if retrieved or doubtful else "not_retrieved"


PUBLISHED = (
    "rog_hit",
    "rog_f1",
    "gnnrag_hit1",
    "gcr_f1",
    "subgraphrag_f1",
    "tog_em",
    "pog_em_alias",
    "mrqa_em",
    "mrqa_f1",
)
SEARCH = ("retrieval_rate", "entities_retrieved", "nodes", "edges")
"""What a search came to. A system that does not tell has null there."""
MISSED = tuple(f"miss_{kind}" for kind in MISSES)
"""Shares of all questions: one of them is 1 for a question whose first answer is wrong."""
COST = ("calls", "prompt_tokens", "completion_tokens", "price", "seconds")


def score_line(
    line: Mapping[str, Any],
    *,
    match: Match = "auto",
    ks: Sequence[int] = (1, 3, 5, 10),
    directed: bool = True,
) -> dict[str, float]:
    """Every metric of one prediction line; NaN where the question does not define it.

    Args:
        line: as `read_predictions` gives it.
        match: how predictions are compared with gold answers (`jaxkg.evaluate.metrics.matching`).
        ks: cut-offs of the retrieval metrics.
        directed: False where gold paths leave the direction of relations open (WebQSP, CWQ).
    """
    gold, gold_ids = line["gold"] or [], line.get("gold_ids")
    answered = status(line) == "answered"
    answers = line["answers"] if answered else []
    aliases = line.get("gold_aliases") or ()
    named = [(a.get("id"), a["entity"], a["score"]) for a in answers]
    keys = match_answers(gold, gold_ids, named, match=match, aliases=aliases)
    scores = strict.strict_scores(keys.gold, keys.ranked)
    if answered:
        names = [answer["entity"] for answer in answers]
        scores |= published_scores(gold, names, question=line["question"], aliases=aliases)
    else:
        scores |= dict.fromkeys(PUBLISHED, 0.0 if gold else math.nan)
        if not aliases:
            scores["pog_em_alias"] = math.nan
    scores |= _retrieval_scores(line, gold, gold_ids, match, ks, directed)
    scores |= _search_scores(line, scores["hits_at_1"], scores["hit_any"])
    grounded = line.get("grounded")
    scores["grounded"] = math.nan if grounded is None else float(grounded)
    usage = line.get("usage") or {}
    for name in COST:
        scores[name] = _number(usage.get(name))
    return scores


def published_scores(
    gold: Sequence[str], names: Sequence[str], *, question: str = "", aliases: Sequence[str] = ()
) -> dict[str, float]:
    """The published metrics of ranked answer names that were given as names, not as a reply."""
    rog = published.rog_scores(gold, names)
    reply = ", ".join(names)
    return {
        "rog_hit": rog.hit,
        "rog_f1": rog.f1,
        "gnnrag_hit1": published.gnnrag_hit1(gold, names),
        "gcr_f1": published.gcr_f1(gold, names),
        "subgraphrag_f1": published.subgraphrag_f1(
            gold, "\n".join(f"ans: {name}" for name in names), question
        ),
        "tog_em": published.tog_em(gold, reply),
        "pog_em_alias": published.pog_em_alias(gold, reply, aliases) if aliases else math.nan,
        "mrqa_em": published.mrqa_em([*gold, *aliases], reply),
        "mrqa_f1": published.mrqa_f1([*gold, *aliases], reply),
    }


def _search_scores(line: Mapping[str, Any], first: float, any_: float) -> dict[str, float]:
    """What the search came to, and where a question was lost whose first answer is wrong.

    Args:
        line: of the question.
        first, any_: `hits_at_1` and `hit_any`; NaN without gold answers.
    """
    usage, is_retrieved = line.get("usage") or {}, line.get("gold_retrieved")
    if is_retrieved is not None:
        is_retrieved |= any_ > 0  # by its name, where it is known by no id
    scores = dict.fromkeys(MISSED, math.nan if math.isnan(first) else 0.0)
    if first <= 0:
        scores[f"miss_{miss({**line, 'gold_retrieved': is_retrieved})}"] = 1.0
    if is_retrieved is None:  # cannot be told apart: neither 0 nor 1 would be true
        scores["miss_not_retrieved"] = scores["miss_ranked_below"] = math.nan
    return scores | {
        "retrieval_rate": math.nan if math.isnan(first) else _number(is_retrieved),
        "entities_retrieved": _number(line.get("entities_retrieved")),
        "nodes": _number(usage.get("nodes")),
        "edges": _number(usage.get("edges")),
    }


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


def _retrieval_scores(
    line: Mapping[str, Any],
    gold: Sequence[str],
    gold_ids: Sequence[str | None] | None,
    match: Match,
    ks: Sequence[int],
    directed: bool,
) -> dict[str, float]:
    paths = sorted(line.get("paths") or [], key=lambda path: -path["score"])
    ends = [(*path["end"], path["score"]) for path in paths if path.get("end")]
    keys = match_answers(gold, gold_ids, ends, match=match)
    reached = [key for key, _ in keys.ranked]
    planned = [plan["relations"] for plan in line.get("plan") or []]
    relation_paths = planned or [path["relation_path"] for path in paths]
    gold_paths = line.get("gold_paths") or ()
    support = {_hashable(item) for item in line.get("gold_support") or ()}
    items = []
    if support:
        retrieved = line.get("retrieved")
        if retrieved is None:
            retrieved = [triple for path in paths for triple in path["triples"]]
        items = [_hashable(item) for item in retrieved]
    by_path = functools.partial(retrieval.path_recall_at_k, directed=directed)
    recalls: dict[str, tuple[Callable[..., float], Any, Any]] = {
        "path": (by_path, gold_paths, relation_paths),
        "answer": (retrieval.answer_recall_at_k, keys.gold, reached),
        "support": (retrieval.support_recall_at_k, support, items),
    }
    return {
        f"{kind}_recall_at_{k}": recall(wanted, found, k)
        for kind, (recall, wanted, found) in recalls.items()
        for k in ks
    }


def _hashable(item: str | Sequence[str]) -> str | tuple[str, ...]:
    return item if isinstance(item, str) else tuple(item)
