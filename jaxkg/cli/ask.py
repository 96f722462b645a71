"""`jaxkg ask` and `jaxkg explain`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from jaxkg.cli.loading import keep_compiled_programs, load_graph, load_planned
from jaxkg.cli.progress import progress_bars
from jaxkg.records import JaxkgError

Mode = Literal["best", "union"]


def ask(
    question: Annotated[str, typer.Argument(help="Brackets around the [topic] are accepted.")],
    kg: Annotated[
        Path | None, typer.Option(help="Graph file or folder; the built-in demo graph without.")
    ] = None,
    names: Annotated[Path | None, typer.Option(help="Display names, id<TAB>name a line.")] = None,
    planner: Annotated[
        Path | None,
        typer.Option(help="Folder of a trained planner; without, one is made and kept."),
    ] = None,
    mode: Annotated[
        Mode, typer.Option(help="Answer with the best plan or all good ones.")
    ] = "best",
    threshold: Annotated[
        float, typer.Option(min=0, max=1, help="Least confidence to answer at all.")
    ] = 0.15,
    limit: Annotated[int, typer.Option(min=1, help="Answers and paths to print.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="The whole answer as JSON.")] = False,
    trace: Annotated[
        Path | None, typer.Option(help="Save every stage's candidates and scores here.")
    ] = None,
    svg: Annotated[Path | None, typer.Option(help="Save a drawing of the answer here.")] = None,
    seed: Annotated[int, typer.Option(help="Of a planner made on first use.")] = 0,
) -> None:
    """Ask one question; print ranked answers with the triples that prove them.

    Exit code 1 where the answer is withheld for want of evidence.
    """
    from jaxkg.cite import check
    from jaxkg.systems.planned import PlannedSettings, as_question

    if not question.strip():
        raise JaxkgError('the question is empty; try: jaxkg ask "who directed Alien?"')
    keep_compiled_programs()
    graph = load_graph(kg, names=names)
    settings = PlannedSettings(mode=mode, threshold=threshold)
    with progress_bars() as show:
        qa = load_planned(graph, planner, settings, seed=seed, on_progress=show)
        answer = qa.ask(as_question(question))
    faults = check(graph, answer)
    if faults:
        raise JaxkgError(f"the answer's citations do not hold, please report this: {faults[0]}")
    if trace is not None:
        from jaxkg.evaluate.runs import write_text
        from jaxkg.systems.trace import trace_question

        stages = trace_question(qa, as_question(question))
        write_text(trace, json.dumps(stages, ensure_ascii=False, indent=1) + "\n")
    if svg is not None:
        from jaxkg.draw import svg as draw_svg
        from jaxkg.evaluate.runs import write_text

        write_text(svg, draw_svg(answer))
    if as_json:
        print(answer.to_json(indent=1))
    else:
        from rich.console import Console

        from jaxkg.render import rich_text

        Console(soft_wrap=True, highlight=False).print(rich_text(answer, limit=limit))
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
