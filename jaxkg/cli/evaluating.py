"""`jaxkg eval`."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from jaxkg.cli.ask import Mode
from jaxkg.cli.loading import keep_compiled_programs, load_graph, load_planned
from jaxkg.cli.progress import progress_bars
from jaxkg.records import Answer

_CHUNK = 2048
"""Questions between two writes: what a crash can cost at most."""


def evaluate(
    questions: Annotated[list[Path], typer.Option(help="Question files with answers.")],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Run folder; resumed if it exists.")
    ],
    system: Annotated[Literal["planner"], typer.Option(help="What answers.")] = "planner",
    kg: Annotated[
        Path | None, typer.Option(help="Graph file or folder; the demo graph without.")
    ] = None,
    names: Annotated[Path | None, typer.Option(help="Display names, id<TAB>name a line.")] = None,
    planner: Annotated[Path | None, typer.Option(help="Folder of a trained planner.")] = None,
    mode: Annotated[
        Mode, typer.Option(help="Answer with the best plan or all good ones.")
    ] = "best",
    threshold: Annotated[float, typer.Option(min=0, max=1, help="Least confidence.")] = 0.15,
    link: Annotated[
        bool, typer.Option("--link", help="Hide given topics; link them from the bare text.")
    ] = False,
    limit: Annotated[int | None, typer.Option(min=1, help="First questions only.")] = None,
    fresh: Annotated[bool, typer.Option(help="Start anew in an existing folder.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    seed: Annotated[int, typer.Option(help="Of intervals and of a planner made here.")] = 0,
) -> None:
    """Answer a question set, check every citation, report strict and published metrics."""
    import jax

    from jaxkg.cite import grounded
    from jaxkg.evaluate import open_run, prediction_line, provenance, report_run
    from jaxkg.kg import read_questions
    from jaxkg.systems.planned import PlannedSettings

    keep_compiled_programs()
    graph = load_graph(kg, names=names)
    asked = [question for path in questions for question in read_questions(path)][:limit]
    settings = PlannedSettings(mode=mode, threshold=threshold)
    known = set(graph.entity_ids.tolist())

    def name_of(id: str) -> str | None:
        return graph.name(graph.entity(id)) if id in known else None

    def check(answer: Answer) -> bool:
        return grounded(graph, answer)

    with progress_bars() as show:
        qa = load_planned(graph, planner, settings, seed=seed, on_progress=show)
        mark = json.dumps([repr(settings), link, dict(qa.planner.about)], sort_keys=True)
        fingerprint = {
            "system": system,
            "graph": graph.fingerprint,
            "settings": hashlib.sha256(mark.encode()).hexdigest(),
        }
        with open_run(output, asked, fingerprint=fingerprint, fresh=fresh) as run:
            pending = run.pending
            total, done = len(asked), len(asked) - len(pending)
            show("answer", done, total)
            for first in range(0, len(pending), _CHUNK):
                chunk = pending[first : first + _CHUNK]
                for question, answer in zip(chunk, qa.answer(chunk, use_given=not link)):
                    run.write(prediction_line(question, answer, check=check, name_of=name_of))
                show("answer", done + first + len(chunk), total)
    report = report_run(
        output,
        provenance=provenance(
            device=str(jax.devices()[0]),
            seed=seed,
            data=[*questions, *([kg] if kg and kg.is_file() else [])],
            command=["jaxkg", *sys.argv[1:]],
        ),
        seed=seed,
    )
    print(report.to_json() if as_json else report.to_markdown())
