"""What `jaxkg compare` found, as tables, JSON and a plot."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jaxkg.errors import JaxkgError
from jaxkg.experiments.programs import peak_memory
from jaxkg.experiments.progress import errors

if TYPE_CHECKING:
    from jaxkg.evaluate import Report

_METRICS = (
    *("hits_at_1", "f1", "micro_f1", "exact_set", "rog_hit", "grounded"),
    *("retrieval_rate", "entities_retrieved", "nodes", "edges"),
    *("miss_not_linked", "miss_not_retrieved", "miss_ranked_below", "miss_withheld"),
    "miss_failed",
    *("calls", "prompt_tokens", "completion_tokens", "price", "seconds_p50", "seconds_p95"),
)
_COSTS = ("calls", "prompt_tokens", "completion_tokens", "price", "miss_failed")
"""Left out of a set's own table where no system has any."""
_KINDS = ("asked", "answered", "abstained", "unparsed", "failed")
_MEMORY = "memory.json"


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What became of a system on a question set.

    Attributes:
        report: of its run; None where it could not be built.
        lacks: why it could not.
        peak_mib: most memory the process held while it ran, all sessions of the run.
    """

    report: Report | None = None
    lacks: str = ""
    peak_mib: float = 0.0

    @classmethod
    def of_run(cls, folder: Path, memory: Memory, *, directed: bool, **options: Any) -> Outcome:
        """Report a run that has ended; `options` are those of `report_run`."""
        from jaxkg.evaluate import report_run

        return cls(report_run(folder, directed=directed, **options), peak_mib=memory.peak())

    @property
    def seconds(self) -> float:
        """Of all questions together."""
        from numpy import nansum

        columns = {} if self.report is None else self.report.columns
        return float(nansum(columns["seconds"])) if "seconds" in columns else 0.0


class Memory:
    """Peak memory of this process from now on, kept in a run folder over several sessions.

    Where the system cannot forget an earlier peak, the peak is that of the whole process.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lines = self._size()
        with contextlib.suppress(OSError):  # not Linux, or not allowed
            Path("/proc/self/clear_refs").write_text("5")

    def peak(self) -> float:
        """Most MiB while questions were answered; the kept number where none was."""
        from jaxkg.storage import write_text

        path = self._folder / _MEMORY
        known = json.loads(path.read_text("utf-8"))["peak_mib"] if path.exists() else 0.0
        if path.exists() and self._size() == self._lines:
            return known
        # Less than before: the file was put aside to start anew.
        peak = peak_memory() / 2**20
        found = max(known, peak) if self._size() > self._lines else peak
        write_text(path, json.dumps({"peak_mib": found}) + "\n")
        return found

    def _size(self) -> int:
        from jaxkg.evaluate.runs.runs import PREDICTIONS

        path = self._folder / PREDICTIONS
        return path.stat().st_size if path.exists() else 0


def as_json(
    outcomes: Mapping[str, Mapping[str, Outcome]],
    about: Mapping[str, Any],
    seed: int,
    kinds: Mapping[str, Mapping[str, str]] | None = None,
) -> dict[str, Any]:
    """`{"datasets": {name: what was found}, "provenance"}`.

    Of a set: `baseline`, `systems`, `differences`, `left_out`, and `kinds`, metrics by kind of
    question and system.

    Args:
        outcomes: by set and system.
        about: the provenance.
        seed: of intervals.
        kinds: by set, the kind of each question that has one.
    """
    kinds = kinds or {}
    return {
        "datasets": {
            name: _one(found, seed, kinds.get(name, {})) for name, found in outcomes.items()
        },
        "provenance": dict(about),
    }


def _by_kind(
    reports: Mapping[str, Report], kinds: Mapping[str, str], seed: int
) -> dict[str, dict[str, dict[str, Any]]]:
    """hits@1 and F1 of each kind of question; nothing where all are of one kind."""
    import numpy as np

    from jaxkg.evaluate.metrics.intervals import column_estimates

    found: dict[str, dict[str, dict[str, Any]]] = {}
    for name, report in reports.items():
        told = np.array([kinds.get(id, "") for id in report.ids])
        for kind in sorted(set(kinds.values())):
            mine = {
                metric: report.columns[metric][told == kind]
                for metric in ("hits_at_1", "f1")
                if metric in report.columns and (told == kind).any()
            }
            estimates = column_estimates(mine, seed=seed)
            found.setdefault(kind, {})[name] = {m: e.to_dict() for m, e in estimates.items()}
    found = {kind: some for kind, some in found.items() if any(some.values())}
    return found if len(found) > 1 else {}


def _one(outcomes: Mapping[str, Outcome], seed: int, kinds: Mapping[str, str]) -> dict[str, Any]:
    from jaxkg.evaluate import paired_differences

    reports = _reports(outcomes)
    base = next(iter(reports), None)
    return {
        "baseline": base,
        "systems": {
            name: {
                "metrics": report.told(),
                "counts": dict(report.counts),
                "seconds": outcomes[name].seconds,
                "peak_memory_mib": outcomes[name].peak_mib,
            }
            for name, report in reports.items()
        },
        "differences": {
            name: {
                metric: estimate.to_dict()
                for metric, estimate in paired_differences(report, reports[base], seed=seed).items()
            }
            for name, report in reports.items()
            if base is not None and name != base
        },
        "left_out": {name: each.lacks for name, each in outcomes.items() if each.report is None},
        "kinds": _by_kind(reports, kinds, seed),
    }


def write_comparison(
    output: Path,
    outcomes: Mapping[str, Mapping[str, Outcome]],
    found: Mapping[str, Any],
    seed: int,
    told: Callable[[str], object],
) -> None:
    """Write compare.md, compare.json and, with matplotlib, compare.png.

    `told` is given its tables before anything is written, which a full disk may prevent.
    """
    from jaxkg.evaluate import compare as metric_table
    from jaxkg.evaluate.metrics.intervals import markdown_table
    from jaxkg.evaluate.plots import save_latency_plots
    from jaxkg.storage import write_text

    parts = ["# Comparison"]
    if len(outcomes) > 1:
        parts += ["hits@1 (seconds for all questions)", _at_a_glance(outcomes, found)]
    parts.append(_overview(found))
    parts.append(
        "Differences are paired, to the first system that ran. Calls and tokens are means per "
        "question. Seconds are for all questions and include compilation. Memory is the peak of "
        "the process while the system ran."
    )
    for name, some in outcomes.items():
        if len(reports := _reports(some)) < 2:
            continue
        measured = {
            metric: [r.metrics[metric].value for r in reports.values() if metric in r.metrics]
            for metric in _METRICS
        }
        known = [m for m, values in measured.items() if (any(values) if m in _COSTS else values)]
        rows = [
            [system, *(str(report.counts[kind]) for kind in _KINDS)]
            for system, report in reports.items()
        ]
        parts += [
            f"## {name}",
            metric_table(reports, metrics=known, seed=seed).rstrip(),
            markdown_table(["system", *_KINDS], rows),
        ]
        if by_kind := found["datasets"][name]["kinds"]:
            parts += ["hits@1 (F1) by kind of question", _kinds_table(by_kind)]
    text = "\n\n".join(parts) + "\n"
    told(f"{text}\nThese tables, with versions, device and command: {output / 'compare.md'}")
    made_of = json.dumps(found["provenance"], ensure_ascii=False, indent=2)
    text += f"\n## Provenance\n\n```json\n{made_of}\n```\n"
    output.mkdir(parents=True, exist_ok=True)
    write_text(output / "compare.md", text)
    write_text(output / "compare.json", json.dumps(found, ensure_ascii=False, indent=1) + "\n")
    try:
        save_latency_plots(
            {name: _reports(some) for name, some in outcomes.items()},
            output / "compare.png",
            metric="hits_at_1",
        )
    except JaxkgError as error:
        errors.print(f"no picture: {error}")


def _at_a_glance(outcomes: Mapping[str, Mapping[str, Outcome]], found: Mapping[str, Any]) -> str:
    """One row a question set, one column a system."""
    from jaxkg.evaluate.metrics.intervals import markdown_table

    systems = list(dict.fromkeys(system for some in outcomes.values() for system in some))
    rows = []
    for name, each in found["datasets"].items():
        asked = max((one["counts"]["asked"] for one in each["systems"].values()), default=0)
        row = [name, str(asked)]
        for system in systems:
            one = each["systems"].get(system)
            value = one and one["metrics"]["hits_at_1"]["value"]
            row.append("–" if value is None else f"{value:.3f} ({one['seconds']:,.0f})")
        rows.append(row)
    return markdown_table(["questions", "asked", *systems], rows)


def _kinds_table(by_kind: Mapping[str, Mapping[str, Any]]) -> str:
    """One row a kind of question, one column a system."""
    from jaxkg.evaluate.metrics.intervals import markdown_table

    systems = list(next(iter(by_kind.values())))
    rows = [
        [
            kind,
            str(max(one["hits_at_1"]["n"] for one in some.values() if one)),
            *(
                f"{one['hits_at_1']['value']:.3f} ({one['f1']['value']:.3f})" if one else "–"
                for one in some.values()
            ),
        ]
        for kind, some in by_kind.items()
    ]
    return markdown_table(["kind", "questions", *systems], rows)


def _overview(found: Mapping[str, Any]) -> str:
    """One row a system and question set."""
    from jaxkg.evaluate.metrics.intervals import markdown_table

    header = [
        *("questions", "system", "asked", "answered"),
        *("hits@1", "difference", "F1", "difference", "grounded"),
        *("calls", "tokens", "seconds", "peak MiB"),
    ]
    rows = []
    for dataset, each in found["datasets"].items():
        for name, one in each["systems"].items():
            metrics, counts = one["metrics"], one["counts"]
            tokens = [metrics[n] for n in ("prompt_tokens", "completion_tokens") if n in metrics]
            row = [dataset, name, str(counts["asked"]), str(counts["answered"])]
            for metric in ("hits_at_1", "f1"):
                for told in (metrics, each["differences"].get(name, {})):
                    row.append(_cell(told.get(metric)))
            row += [
                _number(metrics.get("grounded")),
                _number(metrics.get("calls")),
                f"{sum(token['value'] or 0 for token in tokens):,.0f}",
                f"{one['seconds']:,.1f}",
                f"{one['peak_memory_mib']:,.0f}",
            ]
            rows.append(row)
        for name, why in each["left_out"].items():
            said = f"left out: {why}".replace("|", "\\|").replace("\n", " ")
            rows.append([dataset, name, said, *["–"] * (len(header) - 3)])
    return markdown_table(header, rows)


def _cell(estimate: Mapping[str, float | None] | None) -> str:
    if estimate is None or estimate["value"] is None:
        return "–"
    low, high = (
        "–" if estimate[end] is None else f"{estimate[end]:.3f}" for end in ("low", "high")
    )
    return f"{estimate['value']:.3f} [{low}, {high}]"


def _number(estimate: Mapping[str, float | None] | None) -> str:
    if estimate is None or estimate["value"] is None:
        return "–"
    return f"{estimate['value']:.3g}"


def _reports(outcomes: Mapping[str, Outcome]) -> dict[str, Report]:
    return {name: each.report for name, each in outcomes.items() if each.report is not None}
