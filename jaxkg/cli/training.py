"""`jaxkg train planner` and `jaxkg train pathmind`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from jaxkg.cli import options
from jaxkg.experiments.datasets import material
from jaxkg.experiments.loading import keep_compiled_programs, load_graph
from jaxkg.experiments.parts import encoder_kept
from jaxkg.experiments.progress import progress_bars

training = typer.Typer(help="Train models.", no_args_is_help=True, rich_markup_mode=None)


@training.callback()
def _group() -> None:
    """Train models."""


@training.command("planner")
def planner(
    output: Annotated[Path, typer.Option("-o", "--output", help="New folder for the planner.")],
    questions: Annotated[
        list[Path] | None,
        typer.Option(help="Questions with answers; may be given several times."),
    ] = None,
    dataset: options.DatasetName = None,
    kg: options.Graph = None,
    names: options.Names = None,
    hops: Annotated[int, typer.Option(min=1, max=4, help="Longest relation path.")] = 3,
    epochs: Annotated[int, typer.Option(min=1, help="Epochs at most.")] = 8,
    held_out: Annotated[
        float, typer.Option(min=0, max=0.9, help="Share that only chooses the epoch.")
    ] = 0.1,
    seed: Annotated[int, typer.Option(help="Of split, weights and order.")] = 0,
) -> None:
    """Learn which relation paths questions mean, from questions and answers alone."""
    from jaxkg.learn.planner.fit import fit_planner
    from jaxkg.learn.planner.train import PlannerConfig
    from jaxkg.tensors import tensor_graph

    keep_compiled_programs()
    found = material(dataset, kg, names, questions, part="train")
    graph = load_graph(found.graph, names=found.names)
    with progress_bars() as show:
        made, report = fit_planner(
            graph,
            tensor_graph(graph),
            found.questions,
            held_out=held_out,
            config=PlannerConfig(hops=hops, epochs=epochs),
            seed=seed,
            on_progress=show,
        )
    made.save(output)
    print(f"{output}: a planner for {len(graph.relations)} relations, up to {hops} hops")
    print(f"trained on {report.questions:,} questions, revisit rule {made.about['revisit']!r}")
    for what, count in (
        ("without a topic in the graph", report.without_topic),
        ("without an answer in the graph", report.without_answer),
        ("without a relation path to an answer", report.without_path),
        ("too large to search whole", report.incomplete),
    ):
        if count:
            print(f"  {count:,} {what}")
    print(f"mean F1 of the best mined path {report.mined_f1:.4f}")
    print(f"expected F1 on the held-out questions {report.held_out_f1:.4f}")


@training.command("pathmind")
def pathmind(
    output: Annotated[Path, typer.Option("-o", "--output", help="New folder for the model.")],
    questions: Annotated[
        list[Path] | None,
        typer.Option(help="Questions with answers; may be given several times."),
    ] = None,
    dataset: options.DatasetName = None,
    kg: options.Graph = None,
    names: options.Names = None,
    hops: Annotated[int, typer.Option(min=1, max=4, help="Longest walk.")] = 3,
    encoder: Annotated[
        str | None,
        typer.Option(help="Of questions and relations, minilm; words and letters count without."),
    ] = None,
    paths: Annotated[
        bool, typer.Option("--paths", help="Learn from the questions' relation paths too.")
    ] = False,
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the questions.")] = 2,
    checkpoints: Annotated[
        Path | None, typer.Option(help="Folder to write to and to continue from.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of draw, weights and order.")] = 0,
) -> None:
    """Learn which entities around a topic answer, for `--system pathmind --set model=FOLDER`."""
    from jaxkg.learn.priority.fit import fit_priority
    from jaxkg.learn.priority.train import PriorityConfig
    from jaxkg.tensors import tensor_graph

    keep_compiled_programs()
    found = material(dataset, kg, names, questions, part="train")
    graph = load_graph(found.graph, names=found.names)
    with progress_bars() as show:
        model, report = fit_priority(
            graph,
            tensor_graph(graph),
            found.questions,
            config=PriorityConfig(epochs=epochs),
            hops=hops,
            encoder=None if encoder is None else encoder_kept(encoder),
            use_paths=paths,
            checkpoints=checkpoints,
            seed=seed,
            on_progress=show,
        )
    model.save(output)
    print(f"{output}: path priorities for {len(graph.relations)} relations, up to {hops} hops")
    print(f"trained on {report.trained_on:,} of {report.questions:,} questions")
    for what, count in (
        ("without a topic in the graph", report.without_topic),
        ("without an answer in the graph", report.without_answer),
        ("with too large a subgraph", report.too_large),
    ):
        if count:
            print(f"  {count:,} {what}")
