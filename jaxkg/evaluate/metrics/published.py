"""Answer metrics as published elsewhere, oddities included, each under a name of its own.

What papers print as "Hits@1", "EM" or "F1" are the functions below; the strict metrics of
`jaxkg.evaluate.metrics.strict` are what those words promise. All work on one question. Where a
definition reads lines, give the lines of the reply (`reply_lines` makes them out of a file's
field); where it reads the reply, give the string.

Without gold answers the published scripts divide by zero or count the question as wrong; here
every function gives NaN and the report counts such questions apart.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from jaxkg.evaluate.metrics.matching import published_normalise

_DATE_WORDS = ("when", "what year")
_LENIENT_WORDS = (
    "when",
    "what year",
    "which year",
    "where",
    "sport",
    "what countr",
    "language",
    "nba finals",
    "world series",
)


def reply_lines(prediction: str | Sequence[str]) -> list[str]:
    """The lines RoG's script reads: a string is split at line ends, blank lines and all; a list is
    freed of repetitions and put in order of how often an item came.

    >>> reply_lines("Paris\\n\\nLyon"), reply_lines(["Lyon", "Paris", "Paris"]), reply_lines("")
    (['Paris', '', 'Lyon'], ['Paris', 'Lyon'], [''])
    """
    if isinstance(prediction, str):
        return prediction.split("\n")
    return [item for item, _ in Counter(prediction).most_common()]


class RogScores(NamedTuple):
    """What RoG's script gives for one question; precision and F1 may exceed 1."""

    hit: float
    precision: float
    recall: float
    f1: float


def rog_scores(gold: Sequence[str], lines: Sequence[str]) -> RogScores:
    """RoG's four numbers; GCR's hit is the same.

    A gold is found where, normalised, it is a substring of all lines joined by spaces and then
    normalised. Precision is golds found over lines, so one line that names three golds has
    precision 3; recall is golds found over golds, repetitions counted. A gold that normalises to
    nothing ("?", "A") is found in every reply, even in an empty one.
    """
    if not gold:
        return RogScores(math.nan, math.nan, math.nan, math.nan)
    hits = _found(gold, lines)
    if not lines:
        return RogScores(float(hits > 0), 0.0, 0.0, 0.0)
    precision, recall = hits / len(lines), hits / len(gold)
    return RogScores(float(hits > 0), precision, recall, _harmonic(precision, recall))


def gnnrag_hit1(gold: Sequence[str], lines: Sequence[str]) -> float:
    """1 where a normalised gold is a substring of the first line (GNN-RAG).

    GNN-RAG strips the reply before splitting it: give `reply_lines(reply.strip())`.
    """
    return math.nan if not gold else float(_found(gold, lines[:1]) > 0)


def gcr_f1(gold: Sequence[str], lines: Sequence[str]) -> float:
    """Recall as RoG's, precision the share of items that contain some gold (GCR).

    Blank lines and repetitions are left out first, in golds too, so precision is at most 1.
    """
    if not gold:
        return math.nan
    items = [item for item, _ in Counter(i for i in lines if i.strip()).most_common()]
    if not items:
        return 0.0
    golds = [_normalise(answer) for answer in dict.fromkeys(gold)]
    known = set(golds)
    right = 0
    for item in map(_normalise, items):
        right += item in known or any(answer in item for answer in golds)
    joined = _normalise(" ".join(items))
    hits = sum(answer in joined for answer in golds)
    return _harmonic(right / len(items), hits / len(golds))


def subgraphrag_f1(gold: Sequence[str], reply: str | Sequence[str], question: str = "") -> float:
    """One-to-one greedy matching of the reply's answer lines, longest first (SubgraphRAG).

    Golds, longest first, each take the longest line left that contains them. Of a string, the
    lines with `ans:` in them count, repetitions dropped, and none that says "none" anywhere ("ans:
    Nonesuch Records" neither); the `ans:` stays part of the line. A list is taken as it is, as the
    script does with the lines of RoG. The question's wording makes it lenient: with one of nine
    words ("when", "where", "language", ...) a line contained in the gold matches too, and golds
    such as 1999-05-01 are cut to the year for "when" and "what year".

    Returns:
        Harmonic mean of matched/lines and matched/golds, in [0, 1]; NaN without gold.

    >>> subgraphrag_f1(["Lyon", "Paris"], "Let me see.\\nans: Paris\\nans: Rome")
    0.5
    """
    if not gold:
        return math.nan
    if isinstance(reply, str):
        chosen = dict.fromkeys(p for p in reply.split("\n") if "ans:" in p and _says_something(p))
    else:
        chosen = reply
    lines = sorted(chosen, key=len, reverse=True)
    golds = sorted(dict.fromkeys(gold), key=len, reverse=True)
    wording = question.lower()
    if any(word in wording for word in _DATE_WORDS):
        golds = [_year(answer) for answer in golds]
    normalised = [_normalise(answer) for answer in golds]
    if any(word in wording for word in _LENIENT_WORDS):
        matched = _match_leniently(normalised, lines)
    else:
        matched = _match_contained(normalised, lines)
    return _harmonic(matched / len(lines) if lines else 0.0, matched / len(golds))


def tog_em(gold: Sequence[str], reply: str) -> float:
    """1 where reply and some gold are equal, or either contains the other (ToG's "Exact Match").

    Both are stripped, freed of spaces and lowered, no more. An empty reply is contained in every
    gold and scores 1: count the empty replies apart.

    >>> tog_em(["New York City"], "york"), tog_em(["Paris"], ""), tog_em(["Paris"], "I don't know")
    (1.0, 1.0, 0.0)
    """
    if not gold:
        return math.nan
    said = _squeeze(reply)
    return float(any(said in right or right in said for right in map(_squeeze, gold)))


def pog_em_alias(gold: Sequence[str], reply: str, aliases: Sequence[str]) -> float:
    """`tog_em` with the golds extended by their aliases (PoG)."""
    return tog_em([*gold, *aliases], reply) if gold else math.nan


def mrqa_em(gold: Sequence[str], reply: str) -> float:
    """1 where the normalised reply equals some normalised gold (MRQA, HyperGraphRAG, HippoRAG)."""
    if not gold:
        return math.nan
    said = _normalise(reply)
    return float(any(said == _normalise(answer) for answer in gold))


def mrqa_f1(gold: Sequence[str], reply: str) -> float:
    """Best token F1 of the reply over the golds, tokens with their multiplicities.

    0 where nothing is shared, so two strings that both normalise to nothing have `mrqa_em` 1 and
    `mrqa_f1` 0.

    >>> mrqa_f1(["Lake Huron", "the United States"], "United States of America")
    0.6666666666666666
    """
    if not gold:
        return math.nan
    said = Counter(_normalise(reply).split())
    best = 0.0
    for answer in gold:
        right = _token_counts(answer)
        shared = sum([min(count, said[token]) for token, count in right.items() if token in said])
        if shared:
            best = max(best, _harmonic(shared / said.total(), shared / right.total()))
    return best


_short_normalise = functools.lru_cache(maxsize=1 << 17)(published_normalise)


def _normalise(text: str) -> str:
    # Names come again in every metric and every question, long replies do not.
    return _short_normalise(text) if len(text) <= 80 else published_normalise(text)


@functools.lru_cache(maxsize=1 << 17)
def _token_counts(answer: str) -> Counter[str]:
    return Counter(_normalise(answer).split())


def _found(gold: Sequence[str], lines: Sequence[str]) -> int:
    joined = _normalise(" ".join(lines))
    return sum([_normalise(answer) in joined for answer in gold])


def _harmonic(precision: float, recall: float) -> float:
    total = precision + recall
    return 2 * precision * recall / total if total != 0 else 0.0


def _squeeze(text: str) -> str:
    return text.strip().replace(" ", "").lower()


def _says_something(line: str) -> bool:
    lowered = line.lower()
    return (
        "none" not in lowered
        and "ans: not available" not in lowered
        and "ans: no information available" not in lowered
    )


def _year(answer: str) -> str:
    head, dash, _ = answer.partition("-")
    return head if dash and head.isdigit() else answer


def _match_contained(golds: Sequence[str], lines: Sequence[str]) -> int:
    """Greedy matching by containment.

    One string holds all lines left: a normalised text has no line end in it, so a search over the
    whole finds the first line that contains a gold, however many lines there are.
    """
    left = "".join(_normalise(line) + "\n" for line in lines)
    matched = 0
    for answer in golds:
        position = left.find(answer) if left else -1
        if position < 0:
            continue
        start = left.rfind("\n", 0, position) + 1
        left = left[:start] + left[left.index("\n", position) + 1 :]
        matched += 1
    return matched


def _match_leniently(golds: Sequence[str], lines: Sequence[str]) -> int:
    """Greedy matching where a line, or what follows its `ans:`, may also be part of the gold."""
    left = [(_normalise(line), _normalise(line.rpartition("ans:")[2])) for line in lines]
    matched = 0
    for answer in golds:
        for index, (line, said) in enumerate(left):
            if answer in line or said in answer or line in answer:
                del left[index]
                matched += 1
                break
    return matched
