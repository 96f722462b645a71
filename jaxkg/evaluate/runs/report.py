"""From prediction lines to a report: every metric with its interval, and what became of whom.

The metrics are means over questions unless their name says otherwise (`micro_f1` pools counts,
`seconds_p50` and `seconds_p95` are quantiles). Who is in the mean:

- Every question asked. One that failed, whose reply could not be read, or that was abstained from
  counts as wrong in every answer metric (also in `tog_em`, where an empty reply to a question
  that *was* answered scores 1 as published; `counts["empty"]` says how many there were).
- Not a question without gold answers: it defines no answer metric and is in `counts["no_gold"]`.
  Likewise a question without gold paths or support, and their recalls; `n` says how many remain.
- Retrieval metrics judge what was retrieved even where the question was abstained from; a run
  that kept neither paths nor a plan has none.
- `grounded` is over the answers that were checked; an abstention claims nothing.
- What a search came to (`retrieval_rate`, `entities_retrieved`, `nodes`, `edges`) is over the
  questions that say it; a system that does not tell has null there, never 0.
- `miss_…` are shares of all questions, those whose first answer is wrong parted by where they were
  lost (`jaxkg.evaluate.runs.scores.miss`); of a system that does not tell what it retrieved, not
  retrieved and ranked below are null.
- `generation` (G-E, what a judge made of the answers) is over the questions with gold answers: 0
  without an answer; one whose answer was not judged is left out and in `counts["unjudged"]`.
- Costs are over the questions that say what they cost.
"""

from __future__ import annotations

import array
import dataclasses
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.evaluate.metrics.intervals import (
    QUANTILES,
    Estimate,
    column_estimates,
    format_interval,
    format_number,
    markdown_table,
)
from jaxkg.evaluate.metrics.matching import Match
from jaxkg.evaluate.metrics.strict import STRICT
from jaxkg.evaluate.runs.lines import answered_names, partial, status
from jaxkg.evaluate.runs.scores import COST, MISSED, PUBLISHED, SEARCH, score_line

FLAWS = ("fault", "dropped", "refused")
"""Keys of a line; how many questions have something there is counted where any has."""


@dataclasses.dataclass(frozen=True, eq=False)
class Report:
    """Metrics of one run, with what is needed to compare it with another.

    Attributes:
        metrics: estimate by name; those that no question defines are left out.
        counts: `asked` = `answered` + `abstained` + `unparsed` + `failed`; `empty`, answered
            without naming anything; `no_gold`; `not_asked`, where the run has yet to go on; where
            a language model took part, questions with a `fault`, `partial` ones (a budget
            held calls back), and those with names `dropped` or `refused`; where one judged the
            answers, those `judged` and `unjudged`.
        provenance: versions, device, seed, data hashes, command; as given.
        ids: of the questions, in file order.
        columns: [questions] float64 by metric, and `tp`, `fp`, `fn`; NaN where undefined.
    """

    metrics: Mapping[str, Estimate]
    counts: Mapping[str, int]
    provenance: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    ids: tuple[str, ...] = dataclasses.field(default=(), repr=False)
    columns: Mapping[str, np.ndarray] = dataclasses.field(default_factory=dict, repr=False)

    def told(self) -> dict[str, dict[str, float | int | None]]:
        """The metrics as plain values; what the search came to is null where it is not told."""
        metrics = {name: estimate.to_dict() for name, estimate in self.metrics.items()}
        unknown = Estimate(math.nan, math.nan, math.nan, 0).to_dict()
        return metrics | {name: unknown for name in (*SEARCH, *MISSED) if name not in metrics}

    def to_json(self) -> str:
        """`{"metrics", "counts", "provenance"}`; NaN is written as null."""
        counts, known = dict(self.counts), dict(self.provenance)
        told = {"metrics": self.told(), "counts": counts, "provenance": known}
        return json.dumps(told, ensure_ascii=False, indent=2, allow_nan=False)

    def to_markdown(self) -> str:
        """Tables for people: counts, metrics by kind, provenance."""
        counts = [[said, str(count)] for said, count in _said(self.counts)]
        parts = ["# Report", markdown_table(["", "questions"], counts)]
        for title, names in _groups(self.metrics).items():
            rows = [
                [f"`{name}`", format_number(e.value), format_interval(e), str(e.n)]
                for name in names
                for e in [self.metrics[name]]
            ]
            table = markdown_table(["metric", "value", "95 % interval", "n"], rows)
            parts += [f"## {title}", table]
        if self.counts.get("empty") and "tog_em" in self.metrics:
            parts.append(
                f"`tog_em` scores each of the {self.counts['empty']} empty replies 1, as published."
            )
        if self.provenance:
            known = json.dumps(dict(self.provenance), ensure_ascii=False, indent=2)
            parts += ["## Provenance", f"```json\n{known}\n```"]
        return "\n\n".join(parts) + "\n"


def evaluate(
    lines: Iterable[Mapping[str, Any]],
    *,
    match: Match = "auto",
    ks: Sequence[int] = (1, 3, 5, 10),
    directed: bool = True,
    expected: int | None = None,
    generation: Mapping[str, float] | None = None,
    provenance: Mapping[str, Any] | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> Report:
    """Score the lines of a run.

    Args:
        lines: as `read_predictions` gives them; read once.
        match: how predictions are compared with gold answers (`jaxkg.evaluate.metrics.matching`).
        ks: cut-offs of the retrieval metrics.
        directed: False where gold paths leave the direction of relations open (WebQSP, CWQ).
        expected: number of questions of the run, to count those not asked yet.
        generation: G-E by question id, in [0, 1], NaN where an answer was not judged
            (`jaxkg.adjudicate.calls.judging`); None without a judge.
        provenance: to be kept with the report.
        resamples: bootstrap draws for the 95 % intervals.
        seed: of the draws.

    Raises:
        JaxkgError: no lines, or an id that comes twice.
    """
    columns: dict[str, array.array[float]] = {}
    ids: dict[str, None] = {}
    counts: dict[str, int] = dict.fromkeys(
        ("asked", "answered", "abstained", "unparsed", "failed", "empty", "no_gold"), 0
    )
    if generation is not None:
        counts |= {"judged": 0, "unjudged": 0}
    retrieves = False
    for line in lines:
        if line["id"] in ids:
            raise JaxkgError(f"question {line['id']!r} has two lines; each may count once")
        ids[line["id"]] = None
        outcome = status(line)
        counts["asked"] += 1
        counts[outcome] += 1
        counts["no_gold"] += not line["gold"]
        for kind in FLAWS:
            if line.get(kind):
                counts[kind] = counts.get(kind, 0) + 1
        if partial(line):
            counts["partial"] = counts.get("partial", 0) + 1
        names = answered_names(line)
        counts["empty"] += outcome == "answered" and not names
        retrieves |= bool(line.get("paths") or line.get("plan") or line.get("retrieved"))
        scores = score_line(line, match=match, ks=ks, directed=directed)
        if generation is not None:
            known = generation.get(line["id"], math.nan) if line["gold"] else math.nan
            scores["generation"] = known
            if line["gold"] and names:
                counts["unjudged" if math.isnan(known) else "judged"] += 1
        for name, score in scores.items():
            columns.setdefault(name, array.array("d")).append(score)
    if not ids:
        raise JaxkgError("no prediction lines to evaluate")
    if expected is not None and expected != counts["asked"]:
        counts["not_asked"] = expected - counts["asked"]
    arrays = {
        name: values
        for name, column in columns.items()
        if not np.isnan(values := np.array(column)).all()
        and (retrieves or "_recall_at_" not in name)
    }
    estimates = column_estimates(arrays, resamples=resamples, seed=seed)
    metrics = {name: estimates[name] for names in _groups(estimates).values() for name in names}
    return Report(metrics, counts, provenance or {}, tuple(ids), arrays)


def _groups(metrics: Iterable[str]) -> dict[str, list[str]]:
    """Metric names by kind, in the order of the tables."""
    left = list(metrics)
    kinds = {
        "Strict": STRICT,
        "As published elsewhere": PUBLISHED,
        "Judged by a language model": ("generation",),
        "Retrieval": (*(name for name in left if "_recall_at_" in name), *SEARCH),
        "Misses": MISSED,
        "Grounding": ("grounded",),
        "Cost of a question": (*QUANTILES, *COST),
    }
    groups = {title: [n for n in names if n in left] for title, names in kinds.items()}
    return {title: names for title, names in groups.items() if names}


def _said(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    words = {
        "empty": "answered, but with an empty reply",
        "no_gold": "without gold answers (in no answer metric)",
        "judged": "answer judged by a language model",
        "unjudged": "answer not judged (left out of `generation`)",
        "not_asked": "not asked yet: this run is incomplete",
        "fault": "a call to the model failed on the way",
        "partial": "a budget held calls back",
        "dropped": "the model named what was never offered (dropped)",
        "refused": "the model named what no cited path bears (refused)",
    }
    basic = ("asked", "answered", "abstained", "unparsed", "failed")
    return [(words.get(k, k), v) for k, v in counts.items() if v or k in basic]
