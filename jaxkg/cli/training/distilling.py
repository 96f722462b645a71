"""`jaxkg distill`."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Annotated

import typer

from jaxkg.cli import options
from jaxkg.cli.blocks import spread
from jaxkg.cli.training.planner import FitOptions, config_from, epochs_run, left_out, trained_into
from jaxkg.experiments.loading import load_graph


@spread
def distill(
    traces: Annotated[
        list[Path],
        typer.Argument(
            help="Run folders of `jaxkg eval --system llm-planned`, or their traces.jsonl."
        ),
    ],
    fit: FitOptions,
    names: options.Names = None,
    hops: Annotated[
        int, typer.Option(min=1, max=4, help="Length of the longest plan, in hops.")
    ] = 3,
    epochs: Annotated[int, typer.Option(min=1, help="Maximum number of epochs.")] = 8,
    held_out: Annotated[
        float,
        typer.Option(
            min=0,
            max=0.9,
            help="Share of the questions that is held out, to choose the epoch and to compare.",
        ),
    ] = 0.1,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Teach a language model's plans to the local planner, which then plans without a call."""
    from jaxkg.learn.planner.distill import compare_with_teacher
    from jaxkg.learn.planner.distill import distill as learn
    from jaxkg.learn.planner.traces import read_traces
    from jaxkg.learn.planner.train import PlannerConfig
    from jaxkg.tensors import tensor_graph

    taught = read_traces(traces)
    config = config_from(PlannerConfig, fit.settings, hops=hops, epochs=epochs)
    with trained_into(fit.output, "planner.json", fit.fresh) as (state, show):
        graph = load_graph(fit.kg, names=names)
        planner, aside, report = learn(
            graph,
            taught,
            held_out=held_out,
            config=config,
            folder=state,
            seed=fit.seed,
            on_progress=show,
        )
        found = compare_with_teacher(graph, tensor_graph(graph), planner, aside)
    about = {**planner.about, "agreement": dataclasses.asdict(found)}
    dataclasses.replace(planner, about=about).save(fit.output)
    if as_json:
        whole = {"distilled": dataclasses.asdict(report), "agreement": dataclasses.asdict(found)}
        print(json.dumps({"planner": str(fit.output), **whole}, indent=1))
        return
    print(f"{fit.output}: a planner for {len(graph.relations)} relations, up to {config.hops} hops")
    print(f"learnt from {report.traces:,} traces of {', '.join(planner.about['teachers'])}")
    left_out(
        ("without a plan that holds", report.without_plan),
        ("with a plan too long", report.too_long),
    )
    print(epochs_run(report.epochs, report.held_out_probability, config))
    kind = "held-out" if held_out else "training"
    print(f"on {found.questions:,} {kind} questions: plans as its teacher {found.same_plan:.4f}")
    if found.student_f1 is not None:
        f1 = f"{found.student_f1:.4f}, of its teacher's {found.teacher_f1:.4f}"
        print(f"mean F1 of its answers {f1} ({found.with_gold:,} questions with gold answers)")
