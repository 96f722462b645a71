"""Rescore the prediction files of other projects under every definition side by side.

`jaxkg.evaluate.runs.layouts` says which files can be read. The published scripts divide by the
lines they could read: a question that crashed leaves no line and so leaves the denominator. The
second column of the scores puts it back, as wrong.
"""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.evaluate.metrics import published, strict
from jaxkg.evaluate.metrics.intervals import (
    Estimate,
    column_estimates,
    format_interval,
    format_number,
    markdown_table,
)
from jaxkg.evaluate.metrics.matching import match_answers
from jaxkg.evaluate.metrics.strict import STRICT
from jaxkg.evaluate.runs.layouts import ForeignPrediction, load_foreign
from jaxkg.evaluate.runs.scores import PUBLISHED
from jaxkg.records import Question


@dataclasses.dataclass(frozen=True)
class ForeignScores:
    """The scores of a file.

    Attributes:
        path, layout: of the file.
        as_published: estimates over the records of the file that can be read, repetitions and all.
        all_asked: estimates over every question asked, a missing or unreadable one being wrong, a
            repeated one counting once (its first record).
        audit: `asked`, `records`, `unreadable`, `repeated`, `missing`, `not_asked`, `empty`,
            `no_gold` and `other_gold` (records whose own gold answers differ from those given).
    """

    path: str
    layout: str
    as_published: Mapping[str, Estimate]
    all_asked: Mapping[str, Estimate]
    audit: Mapping[str, int]

    def to_markdown(self) -> str:
        """Audit and scores as tables."""
        said = {
            "asked": "questions asked",
            "records": "records that can be read",
            "unreadable": "lines that cannot be read",
            "repeated": "records of a question that has one already",
            "missing": "questions asked without a record",
            "not_asked": "records of questions not asked",
            "empty": "records with an empty reply (each scores 1 in `tog_em`)",
            "no_gold": "questions asked without gold answers (in no score)",
            "other_gold": "records whose own gold answers differ from those given",
        }
        audit = [[said[name], str(count)] for name, count in self.audit.items()]
        header = ["metric", "as published", "95 %", "n", "every question asked", "95 %", "n"]
        rows = []
        for name, estimate in self.as_published.items():
            row = [f"`{name}`"]
            for e in (estimate, self.all_asked[name]):
                row += [format_number(e.value), format_interval(e), str(e.n)]
            rows.append(row)
        return "\n\n".join(
            [
                f"# {self.path} (layout `{self.layout}`)",
                markdown_table(["denominators", "count"], audit),
                markdown_table(header, rows),
                "",
            ]
        )


def score_predictions(
    path: str | os.PathLike[str],
    gold: Iterable[Question] | Mapping[str, Sequence[str]] | None = None,
    *,
    aliases: Mapping[str, Sequence[str]] | None = None,
    layout: str | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> ForeignScores:
    """Score another project's predictions under every definition, denominators audited.

    Args:
        gold: the questions that were asked, or gold answers by question id or text. None takes
            the file's own gold answers, and nobody can then say what is missing.
        aliases: further names by gold answer, for `pog_em_alias`.
        layout: one of `LAYOUTS`; None detects it by the fields.
        resamples: bootstrap draws for the 95 % intervals.
        seed: of the draws.

    Raises:
        JaxkgError: the file cannot be read, neither it nor `gold` has any gold answers, or none of
            its records is of a question asked.
    """
    layout, predictions, broken = load_foreign(path, layout=layout)
    answers, names = _gold_table(gold)
    if gold is None and all(prediction.gold is None for prediction in predictions):
        raise JaxkgError(f"{os.fspath(path)}: layout {layout!r} carries no gold answers; give them")
    scored: list[tuple[str, dict[str, float]]] = []
    first: dict[str, dict[str, float]] = {}
    strangers = other = 0
    for prediction in predictions:
        if gold is None:
            key, right = prediction.key, prediction.gold or ()
            answers.setdefault(key, right)
        else:
            key = names.get(_folded(prediction.key)) or names.get(_folded(prediction.question))
            right = answers[key] if key is not None else ()
        scores = score_prediction(prediction, right, aliases)
        scored.append((prediction.key, scores))
        if key is None:
            strangers += 1
        else:
            first.setdefault(key, scores)
            other += prediction.gold is not None and set(prediction.gold) != set(right)
    if not first:
        raise JaxkgError(
            f"{os.fspath(path)}: none of the {len(predictions)} records is of a question asked; "
            f"the file says {predictions[0].key!r}, the gold answers {next(iter(answers))!r}"
        )
    # PoG's script keeps the last record of a question; the others count every record.
    rows = [*dict(scored).values()] if layout == "pog" else [scores for _, scores in scored]
    asked = [first.get(key) or _missing(rows[0], right) for key, right in answers.items()]
    audit = {
        "asked": len(answers),
        "records": len(predictions),
        "unreadable": len(broken),
        "repeated": len(predictions) - strangers - len(first),
        "missing": len(answers) - len(first),
        "not_asked": strangers,
        "empty": sum(not any(r.strip() for r in p.replies) for p in predictions),
        "no_gold": sum(not right for right in answers.values()),
        "other_gold": other,
    }
    return ForeignScores(
        os.fspath(path),
        layout,
        _estimates(rows, resamples, seed),
        _estimates(asked, resamples, seed),
        audit,
    )


def score_prediction(
    prediction: ForeignPrediction,
    gold: Sequence[str],
    aliases: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, float]:
    """Every definition on one record; NaN without gold answers.

    Strict metrics compare names by `strict_normalise` and take the order of the names for the
    ranking.
    """
    ranked = [(None, name, -float(rank)) for rank, name in enumerate(prediction.names)]
    keys = match_answers(gold, None, ranked, match="name")
    scores = strict.strict_scores(keys.gold, keys.ranked)
    rog = published.rog_scores(gold, prediction.lines)
    lines, question = prediction.lines, prediction.question
    scores |= {
        "rog_hit": rog.hit,
        "rog_f1": rog.f1,
        "gnnrag_hit1": published.gnnrag_hit1(gold, "\n".join(lines).strip().split("\n")),
        "gcr_f1": published.gcr_f1(gold, lines),
        "subgraphrag_f1": published.subgraphrag_f1(gold, prediction.answer_lines, question),
        "tog_em": max(published.tog_em(gold, reply) for reply in prediction.replies),
    }
    if aliases is not None:
        more = [alias for answer in gold for alias in aliases.get(answer, ())]
        scores["pog_em_alias"] = max(
            published.pog_em_alias(gold, reply, more) for reply in prediction.replies
        )
    scores["mrqa_em"] = max(published.mrqa_em(gold, reply) for reply in prediction.replies)
    scores["mrqa_f1"] = max(published.mrqa_f1(gold, reply) for reply in prediction.replies)
    return scores


def _gold_table(
    gold: Iterable[Question] | Mapping[str, Sequence[str]] | None,
) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """Gold answers by key, and the key by everything a record may call the question."""
    if gold is None:
        return {}, {}
    answers: dict[str, tuple[str, ...]]
    if isinstance(gold, Mapping):
        answers = {str(key): tuple(right) for key, right in gold.items()}
        names = {_folded(key): key for key in answers}
    else:
        questions = list(gold)
        answers = {question.id: question.answers or () for question in questions}
        names = {_folded(question.text): question.id for question in reversed(questions)}
        names |= {_folded(question.id): question.id for question in questions}
    if not answers:
        raise JaxkgError("no questions among the gold answers given")
    return answers, names


def _missing(names: Iterable[str], gold: Sequence[str]) -> dict[str, float]:
    """Wrong by every definition, also by those to which an empty reply is right."""
    keys = match_answers(gold, None, [], match="name")
    wrong = dict.fromkeys(names, 0.0 if gold else math.nan)
    return wrong | strict.strict_scores(keys.gold, [])


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def _estimates(
    rows: Sequence[Mapping[str, float]], resamples: int, seed: int
) -> dict[str, Estimate]:
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    estimates = column_estimates(columns, resamples=resamples, seed=seed)
    return {name: estimates[name] for name in (*STRICT, *PUBLISHED) if name in estimates}
