"""`jaxkg ask` and `jaxkg explain`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from jaxkg.cli import options
from jaxkg.cli.models import ModelOptions, language_model
from jaxkg.errors import JaxkgError
from jaxkg.experiments.loading import keep_compiled_programs, load_graph
from jaxkg.experiments.parts import Parts, wishes_from
from jaxkg.experiments.progress import progress_bars
from jaxkg.experiments.registry import HELP, build_system, default_system, faults


def ask(
    question: Annotated[str, typer.Argument(help="Brackets around the [topic] are accepted.")],
    system: Annotated[
        str | None,
        typer.Option(
            help=f"{HELP}. By default the planner where the graph has one, else the reader."
        ),
    ] = None,
    kg: options.Graph = None,
    names: options.Names = None,
    hypergraph: options.Hypergraph = None,
    planner: options.PlannerFolder = None,
    mode: options.PlanMode = None,
    threshold: options.Threshold = None,
    settings: options.Settings = None,
    limit: Annotated[int, typer.Option(min=1, help="Answers and paths to print.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="The whole answer as JSON.")] = False,
    trace: Annotated[
        Path | None, typer.Option(help="Save every stage's candidates and scores here.")
    ] = None,
    svg: Annotated[Path | None, typer.Option(help="Save a drawing of the answer here.")] = None,
    llm: options.LLM = None,
    base_url: options.BaseURL = None,
    show_prompts: options.ShowPrompts = False,
    top_k: options.TopK = 50,
    repair: options.Repair = False,
    budget_calls: options.BudgetCalls = None,
    budget_tokens: options.BudgetTokens = None,
    budget_price: options.BudgetPrice = None,
    replies: options.Replies = None,
    no_cache: options.NoCache = False,
    replay: options.Replay = False,
    timeout: options.Timeout = 120.0,
    seed: Annotated[int, typer.Option(help="Of a planner made on first use.")] = 0,
) -> None:
    """Ask one question; print ranked answers with the triples that prove them.

    With --llm a language model reads the paths found and decides, in one call, which of them answer
    the question. Exit code 1 where the answer is withheld for want of evidence.
    """
    from jaxkg.systems.answering import as_question

    if not question.strip():
        raise JaxkgError('the question is empty; try: jaxkg ask "who directed Alien?"')
    if trace is not None and system is None:
        system = "planner"
    if trace is not None and system != "planner":
        raise JaxkgError(f"--trace is of --system planner, not of {system!r}")
    wanted = ModelOptions(
        llm=llm,
        base_url=base_url,
        show_prompts=show_prompts,
        budget_calls=budget_calls,
        budget_tokens=budget_tokens,
        budget_price=budget_price,
        replies=replies,
        no_cache=no_cache,
        replay=replay,
        timeout=timeout,
    )
    asked = as_question(question)
    with language_model(wanted) as model, progress_bars() as show:
        keep_compiled_programs()
        parts = Parts(
            load_graph(kg, names=names),
            show,
            backend=None if model is None else model.backend,
            hypergraph=hypergraph,
            planner_folder=planner,
            wishes=wishes_from(settings or (), mode=mode, threshold=threshold),
            top_k=top_k,
            repair=repair,
            seed=seed,
        )
        built = build_system(system or default_system(parts), parts)
        [answer] = built.answer([asked])
    if wrong := faults(built, parts, answer):
        raise JaxkgError(f"the answer's citations do not hold, please report this: {wrong[0]}")
    if trace is not None:
        from jaxkg.storage import write_text
        from jaxkg.systems.trace import trace_question

        planned: Any = getattr(built, "inner", built)  # a model that judges is outermost
        stages = {**trace_question(planned, asked), "answer": answer.to_dict()}
        write_text(trace, json.dumps(stages, ensure_ascii=False, indent=1) + "\n")
    if svg is not None:
        from jaxkg.show import svg as draw_svg
        from jaxkg.storage import write_text

        write_text(svg, draw_svg(answer))
    failed = answer.error is not None and not answer.entities
    if as_json:
        print(answer.to_json(indent=1))
    elif not failed:
        from rich.console import Console

        from jaxkg.show.render import rich_text

        Console(soft_wrap=True, highlight=False).print(rich_text(answer, limit=limit))
    if failed:
        raise JaxkgError(f"the model gave no answer: {answer.error}")
    if answer.abstained:
        sys.exit(1)


def explain(
    trace: Annotated[Path, typer.Argument(help="A file saved by `jaxkg ask --trace`.")],
    most: Annotated[int, typer.Option(min=1, help="Continuations to print per path.")] = 8,
) -> None:
    """Replay a saved trace: what each stage considered, what it kept and why."""
    from rich.console import Console

    from jaxkg.cli.replay import read_trace, replay

    Console(soft_wrap=True, highlight=False).print(replay(read_trace(trace), most=most))
