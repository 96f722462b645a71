"""`jaxkg compare`: several systems on the same questions, one table, one plot."""

from __future__ import annotations

import dataclasses
import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from jaxkg.cli import options
from jaxkg.cli.blocks import ModelOptions, OfferOptions, QuestionOptions, RunOptions, spread
from jaxkg.cli.models import language_models
from jaxkg.errors import JaxkgError
from jaxkg.experiments.comparing import (
    OWN,
    Comparison,
    chosen_systems,
    planner_of,
    run_systems,
    trained_parts,
    wishes_of,
)
from jaxkg.experiments.datasets import NAMES, benchmarks, dataset, kinds, material
from jaxkg.experiments.loading import keep_compiled_programs
from jaxkg.experiments.progress import errors, progress_bars
from jaxkg.experiments.registry import SYSTEMS
from jaxkg.experiments.side_by_side import as_json, write_comparison
from jaxkg.systems.parts import Devices


@dataclasses.dataclass(frozen=True)
class _ComparisonOptions(RunOptions):
    """Where a comparison is kept."""

    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", help="Folder for the comparison; each system gets a run folder in it."
        ),
    ]


@dataclasses.dataclass(frozen=True)
class _TrainedOptions:
    """What the systems are made of."""

    planners: Annotated[
        list[str] | None,
        typer.Option(
            "--planner", help="Folder of a trained planner, or DATASET=FOLDER; may be repeated."
        ),
    ] = None
    parts_in: Annotated[
        Path | None,
        typer.Option(
            "--parts",
            help="Folder of trained models in DATASET/KIND, as `jaxkg train KIND` writes them "
            "(KIND alone for your own questions). DATASET may be a family such as metaqa. "
            "--planner and --set take precedence.",
        ),
    ] = None
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="Setting, SYSTEM.NAME=VALUE or DATASET:SYSTEM.NAME=VALUE; may be repeated.",
        ),
    ] = None
    devices: options.Devices = "1"


@spread
def compare(
    systems: Annotated[
        str,
        typer.Option(
            help=f"Systems, separated by commas: {', '.join(SYSTEMS)}. NAME+llm is NAME "
            "with help of a language model. Differences are to the first system. With --llm A,B a "
            "system that asks a model has a column per model; NAME@URL is a model at another "
            "endpoint."
        ),
    ],
    run: _ComparisonOptions,
    wanted: ModelOptions,
    asked: QuestionOptions,
    trained: _TrainedOptions,
    offer: OfferOptions,
    datasets: Annotated[
        str | None,
        typer.Option(
            "--dataset",
            help=f"Benchmarks, separated by commas: {', '.join(NAMES)}. metaqa or pq "
            "stands for all benchmarks whose name begins so.",
        ),
    ] = None,
    kg: options.Graph = None,
    names: options.Names = None,
) -> None:
    """Run systems side by side: quality with paired differences, calls, tokens, seconds, memory.

    The comparison also shows what each system retrieved and visited, and where questions were lost;
    a dash means that a system does not report it.

    Writes compare.md, compare.json and, with matplotlib, compare.png (accuracy against latency).
    Each system has a run folder of its own, which resumes. A system without its trained model is
    listed with what it lacks; the others run. Benchmarks require a trained planner
    (`jaxkg train planner --dataset NAME`).
    """
    import jax

    from jaxkg.evaluate import provenance

    models = tuple(name.strip() for name in (wanted.llm or "").split(",") if name.strip())
    chosen, shared = chosen_systems(systems, models), Devices.read(trained.devices)
    sets = (OWN,) if datasets is None else tuple(benchmarks(datasets))
    wishes = {name: wishes_of(trained.settings or (), chosen, name, sets) for name in sets}
    folders = {name: trained_parts(trained.parts_in, name) for name in sets}
    planners = {
        name: planner_of(trained.planners or (), name, sets) or folders[name].get("planner")
        for name in sets
    }
    if datasets is None:
        given = {OWN: material(None, kg, names, asked.questions, part="test")}
    elif kg is not None or names is not None or asked.questions:
        raise JaxkgError("--dataset brings its graph and questions; give it or your own")
    else:
        given = {name: dataset(name) for name in sets}
    files = list(dict.fromkeys(file for each in given.values() for file in each.hashed))
    about = provenance(seed=run.seed, data=files, command=["jaxkg", *sys.argv[1:]])
    about["unknown_data"] = [str(file) for each in given.values() for file in each.unknown]
    plan = Comparison(
        given, tuple(chosen), wishes, folders, planners, models=models,
        benchmarks=datasets is not None, devices=shared, ask_model=wanted.ask_model,
        link=asked.link, limit=asked.limit, fresh=run.fresh, seed=run.seed, **vars(offer),
    )  # fmt: skip
    with ExitStack() as stack:
        connected = language_models(stack, wanted, models)
        show = stack.enter_context(progress_bars())
        keep_compiled_programs()
        if connected:
            show.about = lambda: "; ".join(model.waiting() for model in connected.values())
        about["device"] = str(jax.devices()[0])
        backends = {name: model.backend for name, model in connected.items()}
        outcomes = run_systems(plan, run.output, backends, about, show)
    if not any(
        outcome.report for systems_of in outcomes.values() for outcome in systems_of.values()
    ):
        raise JaxkgError("no system could be built, see above")
    record = as_json(outcomes, about, run.seed, {name: kinds(each) for name, each in given.items()})

    def tell(text: str) -> None:
        print(json.dumps(record, indent=1) if run.as_json else text, flush=True)
        for model in connected.values():
            errors.print(model.meter.text())

    write_comparison(run.output, outcomes, record, run.seed, tell)
