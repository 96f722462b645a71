"""`jaxkg eval`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from jaxkg.cli import options
from jaxkg.cli.models import ModelOptions, language_model
from jaxkg.errors import JaxkgError
from jaxkg.experiments.datasets import material
from jaxkg.experiments.loading import FileOptions, keep_compiled_programs
from jaxkg.experiments.parts import wishes_from
from jaxkg.experiments.progress import errors, progress_bars
from jaxkg.experiments.registry import HELP, build_system
from jaxkg.experiments.running import run_questions
from jaxkg.experiments.stores import StoreOptions, parts_of


def evaluate(
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Run folder; resumed if it exists.")
    ],
    questions: Annotated[
        list[Path] | None, typer.Option(help="Question files with answers; the demo's without.")
    ] = None,
    dataset: options.DatasetName = None,
    system: Annotated[str, typer.Option(help=HELP)] = "planner",
    kg: options.GraphOrStore = None,
    graph: options.EndpointGraph = None,
    language: options.Language = "en",
    label_property: options.LabelProperty = None,
    endpoint: options.Endpoint = None,
    reach: options.Around = None,
    names: options.Names = None,
    format: options.Format = None,
    encoding: options.Encoding = "utf-8",
    columns: options.Columns = None,
    hypergraph: options.Hypergraph = None,
    planner: options.PlannerFolder = None,
    mode: options.PlanMode = None,
    threshold: options.Threshold = None,
    settings: options.Settings = None,
    link: options.Link = False,
    limit: Annotated[int | None, typer.Option(min=1, help="First questions only.")] = None,
    fresh: Annotated[bool, typer.Option(help="Start anew in an existing folder.")] = False,
    retry: Annotated[
        bool, typer.Option("--retry", help="Ask again what failed or could not be read.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    llm: options.LLM = None,
    base_url: options.BaseURL = None,
    show_prompts: options.ShowPrompts = False,
    top_k: options.TopK = 50,
    repair: options.Repair = False,
    budget_calls: options.BudgetCalls = None,
    budget_tokens: options.BudgetTokens = None,
    budget_price: options.BudgetPrice = None,
    question_calls: options.QuestionCalls = None,
    replies: options.Replies = None,
    no_cache: options.NoCache = False,
    replay: options.Replay = False,
    concurrency: options.Concurrency = 16,
    timeout: options.Timeout = 120.0,
    seed: Annotated[int, typer.Option(help="Of intervals and of a planner made here.")] = 0,
) -> None:
    """Answer a question set, check every citation, report strict and published metrics.

    With --llm a language model judges the paths found, one call a question, in batches. Every reply
    is kept as it arrives: a run that was stopped or killed goes on and repeats no call.
    """
    import jax

    from jaxkg.evaluate import provenance, report_run

    wanted = ModelOptions(
        llm=llm,
        base_url=base_url,
        show_prompts=show_prompts,
        budget_calls=budget_calls,
        budget_tokens=budget_tokens,
        budget_price=budget_price,
        question_calls=question_calls,
        replies=replies,
        no_cache=no_cache,
        replay=replay,
        retry=retry and llm is not None,
        concurrency=concurrency,
        timeout=timeout,
    )
    given = material(dataset, kg, names, questions, part="test")
    with language_model(wanted) as model, progress_bars() as show:
        keep_compiled_programs()
        parts = parts_of(
            given.graph,
            FileOptions(given.names, format, encoding, columns),
            StoreOptions(graph, language, label_property, endpoint, reach),
            show,
            backend=None if model is None else model.backend,
            hypergraph=hypergraph,
            planner_folder=planner,
            wishes=wishes_from(settings or (), mode=mode, threshold=threshold),
            top_k=top_k,
            repair=repair,
            seed=seed,
        )
        built = build_system(system, parts)
        run_questions(
            output,
            given.questions[:limit],
            built,
            parts,
            name=system,
            link=link,
            fresh=fresh,
            retry=("failed", "unparsed") if retry else (),
            show=show,
        )
    report = report_run(
        output,
        provenance=provenance(
            device=str(jax.devices()[0]),
            seed=seed,
            data=given.hashed,
            command=["jaxkg", *sys.argv[1:]],
        ),
        directed=given.directed,
        seed=seed,
    )
    print(report.to_json() if as_json else report.to_markdown())
    if model is not None:
        errors.print(model.meter.text(), markup=False, highlight=False, soft_wrap=True)
    if (lost := report.counts["unparsed"] + report.counts["failed"]) == report.counts["asked"] > 0:
        raise JaxkgError(f"all {lost} questions failed or have replies that cannot be read")
