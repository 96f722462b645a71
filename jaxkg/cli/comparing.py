"""`jaxkg compare`: several systems on the same questions, one table, one plot."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jaxkg.cli import options
from jaxkg.cli.datasets import material
from jaxkg.cli.loading import keep_compiled_programs, load_graph
from jaxkg.cli.models import Model, ModelOptions, language_model
from jaxkg.cli.parts import Parts, wishes_from
from jaxkg.cli.progress import errors, progress_bars
from jaxkg.cli.running import run_questions
from jaxkg.cli.systems import SYSTEMS, build_system
from jaxkg.records import JaxkgError

if TYPE_CHECKING:
    from jaxkg.evaluate import Report

_WITH_LLM = "+llm"
_METRICS = (
    *("hits_at_1", "f1", "micro_f1", "exact_set", "rog_hit", "grounded"),
    *("calls", "prompt_tokens", "completion_tokens", "price", "seconds_p50", "seconds_p95"),
)


def compare(
    systems: Annotated[
        str,
        typer.Option(
            help=f"Names with commas between, of {', '.join(SYSTEMS)}; NAME+llm has the model "
            "judge or help. The first is the baseline."
        ),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Folder, a run folder per system within.")
    ],
    questions: Annotated[
        list[Path] | None, typer.Option(help="Question files with answers.")
    ] = None,
    dataset: options.DatasetName = None,
    kg: options.Graph = None,
    names: options.Names = None,
    planner: options.PlannerFolder = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="A setting, SYSTEM.NAME=VALUE; may be given several times."),
    ] = None,
    link: options.Link = False,
    limit: Annotated[int | None, typer.Option(min=1, help="First questions only.")] = None,
    fresh: Annotated[bool, typer.Option(help="Start anew in existing folders.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the comparison as JSON.")] = False,
    llm: options.LLM = None,
    base_url: options.BaseURL = None,
    top_k: options.TopK = 50,
    repair: options.Repair = False,
    budget_calls: options.BudgetCalls = None,
    budget_tokens: options.BudgetTokens = None,
    budget_price: options.BudgetPrice = None,
    replies: options.Replies = None,
    no_cache: options.NoCache = False,
    replay: options.Replay = False,
    concurrency: options.Concurrency = 16,
    timeout: options.Timeout = 120.0,
    seed: Annotated[int, typer.Option(help="Of intervals and of a planner made here.")] = 0,
) -> None:
    """Run systems side by side: quality with paired differences, calls, tokens, seconds, memory.

    Writes compare.md, compare.json and, with matplotlib, compare.png (accuracy against latency).
    Every system has a run folder of its own, resumed where it stopped.
    """
    import jax

    from jaxkg.evaluate import provenance, report_run

    chosen = _chosen(systems, llm)
    wishes = _wishes(settings or (), chosen)
    given = material(dataset, kg, names, questions, part="test")
    asked = given.questions[:limit]
    wanted = ModelOptions(
        llm=llm,
        base_url=base_url,
        budget_calls=budget_calls,
        budget_tokens=budget_tokens,
        budget_price=budget_price,
        replies=replies,
        no_cache=no_cache,
        replay=replay,
        concurrency=concurrency,
        timeout=timeout,
    )
    about = provenance(seed=seed, data=given.hashed, command=["jaxkg", *sys.argv[1:]])
    reports: dict[str, Report] = {}
    memory: dict[str, float] = {}
    with language_model(wanted) as model, progress_bars() as show:
        keep_compiled_programs()
        about["device"] = str(jax.devices()[0])
        graph = load_graph(given.graph, names=given.names)
        parts = Parts(graph, show, planner_folder=planner, top_k=top_k, repair=repair, seed=seed)
        for name in chosen:
            base, with_llm = name.removesuffix(_WITH_LLM), _asks(name)
            backend = model.backend if model is not None and with_llm else None
            parts = parts.beside(backend, wishes[name])
            built = build_system(base, parts)
            folder = output / name
            run_questions(
                folder,
                asked,
                built,
                parts,
                name=name,
                link=link,
                fresh=fresh,
                show=lambda stage, done, total, name=name: show(f"{name}: {stage}", done, total),
            )
            reports[name] = report_run(folder, provenance=about, seed=seed)
            memory[name] = _peak_mib()
    found = _as_json(reports, memory, about, seed)
    _write(output, reports, memory, found, seed)
    print(json.dumps(found, indent=1) if as_json else (output / "compare.md").read_text("utf-8"))
    _tell_calls(model)


def _chosen(systems: str, llm: str | None) -> list[str]:
    chosen = [name.strip() for name in systems.split(",") if name.strip()]
    if len(chosen) < 2 or len(set(chosen)) < len(chosen):
        raise JaxkgError(f"--systems {systems!r}: name at least two different ones, as in a,b")
    for name in chosen:
        if name.removesuffix(_WITH_LLM) not in SYSTEMS:
            raise JaxkgError(f"no system is called {name!r}; there are {', '.join(SYSTEMS)}")
        if _asks(name) and llm is None:
            raise JaxkgError(f"{name} needs a language model: --llm MODEL")
    return chosen


def _asks(name: str) -> bool:
    return name.endswith(_WITH_LLM) or SYSTEMS[name].model == "needed"


def _wishes(settings: Sequence[str], chosen: Sequence[str]) -> dict[str, dict[str, str]]:
    wishes: dict[str, dict[str, str]] = {name: {} for name in chosen}
    for setting in settings:
        system, dot, rest = setting.partition(".")
        if not dot or system not in wishes:
            raise JaxkgError(
                f"--set {setting}: write it SYSTEM.NAME=VALUE, SYSTEM one of {', '.join(chosen)}"
            )
        wishes[system] |= wishes_from([rest])
    return wishes


def _as_json(
    reports: Mapping[str, Report], memory: Mapping[str, float], about: Any, seed: int
) -> dict[str, Any]:
    from jaxkg.evaluate import paired_differences

    (base, baseline), *others = reports.items()
    systems = {
        name: {
            "metrics": {n: e.to_dict() for n, e in report.metrics.items()},
            "counts": dict(report.counts),
            "peak_memory_mib": memory[name],
        }
        for name, report in reports.items()
    }
    differences = {
        name: {
            metric: estimate.to_dict()
            for metric, estimate in paired_differences(report, baseline, seed=seed).items()
        }
        for name, report in others
    }
    return {
        "baseline": base,
        "systems": systems,
        "differences": differences,
        "provenance": dict(about),
    }


def _write(
    output: Path,
    reports: Mapping[str, Report],
    memory: Mapping[str, float],
    found: dict[str, Any],
    seed: int,
) -> None:
    from jaxkg.evaluate import compare as table
    from jaxkg.evaluate.plots import save_latency_plot
    from jaxkg.evaluate.runs import write_text
    from jaxkg.evaluate.tables import markdown_table

    shown = [name for name in _METRICS if any(name in r.metrics for r in reports.values())]
    kinds = ("asked", "answered", "abstained", "unparsed", "failed")
    rows = [
        [name, *(str(report.counts[kind]) for kind in kinds), f"{memory[name]:,.0f}"]
        for name, report in reports.items()
    ]
    known = json.dumps(found["provenance"], ensure_ascii=False, indent=2)
    parts = [
        "# Comparison",
        table(reports, metrics=shown, seed=seed).rstrip(),
        markdown_table(["system", *kinds, "peak MiB so far"], rows),
        "Seconds are of a question within its batch, compiling included where it happened.",
        f"## Provenance\n\n```json\n{known}\n```",
    ]
    write_text(output / "compare.md", "\n\n".join(parts) + "\n")
    write_text(output / "compare.json", json.dumps(found, ensure_ascii=False, indent=1) + "\n")
    try:
        save_latency_plot(reports, output / "compare.png")
    except JaxkgError as error:
        errors.print(f"no plot: {error}", markup=False, highlight=False)


def _peak_mib() -> float:
    """Most memory this process has ever held, the systems before this one included."""
    import resource  # not on every system

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


def _tell_calls(model: Model | None) -> None:
    if model is not None:
        errors.print(model.meter.text(), markup=False, highlight=False, soft_wrap=True)
