"""`jaxkg eval`.

`jaxkg score`.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jaxkg.cli import options
from jaxkg.cli.blocks import (
    ModelOptions,
    OfferOptions,
    QuestionOptions,
    RunOptions,
    StoreGraphOptions,
    SystemOptions,
    spread,
)
from jaxkg.cli.models import answering_and_judging
from jaxkg.errors import JaxkgError
from jaxkg.experiments.datasets import Dataset, material
from jaxkg.experiments.loading import keep_compiled_programs, parts_of
from jaxkg.experiments.progress import errors, note, progress_bars
from jaxkg.experiments.registry import build, default_system
from jaxkg.experiments.running import judge_run, run_questions
from jaxkg.systems.parts import Parts
from jaxkg.words import one_line

if TYPE_CHECKING:
    from jaxkg.evaluate import Report


@dataclasses.dataclass(frozen=True)
class _AskedOptions(QuestionOptions):
    """The questions, of a file or of a benchmark."""

    dataset: options.DatasetName = None
    own_graphs: Annotated[
        bool,
        typer.Option(
            "--own-graphs",
            help="Ask each question over the graph that its line of --questions brings (RoG's "
            "WebQSP and CWQ files; JSON lines or Parquet).",
        ),
    ] = False


@spread
def evaluate(
    run: RunOptions,
    source: StoreGraphOptions,
    made_of: SystemOptions,
    wanted: ModelOptions,
    asked: _AskedOptions,
    offer: OfferOptions,
    judge: options.Judge = None,
    written: Annotated[
        str | None,
        typer.Option(
            "--written",
            help="Also write the predictions in the form of other projects, separated by commas: "
            "rog, gnn-rag, subgraphrag.",
        ),
    ] = None,
    retry: Annotated[
        bool,
        typer.Option(
            "--retry", help="Repeat questions that failed or whose reply could not be parsed."
        ),
    ] = False,
) -> None:
    """Answer a question set, check every citation, report strict and published metrics.

    The report also has the share of questions whose answer was retrieved at all, the nodes and
    edges visited, and where misses were lost: not linked, not retrieved, ranked below or withheld.

    With --llm a language model writes a query for each question that the reader withholds, or
    chooses among the readings of another system that is not sure. Each reply is saved as it
    arrives: a run that was stopped resumes and repeats no call.

    With --judge a language model grades each answer on seven dimensions; an abstention scores 0.
    """
    import jax

    from jaxkg.evaluate import provenance, read_predictions, report_run
    from jaxkg.evaluate.runs.layouts import WRITTEN, written_line
    from jaxkg.kg.questions.own_graphs import read_own_graphs
    from jaxkg.storage import write_lines

    forms = [form.strip() for form in (written or "").split(",") if form.strip()]
    if unknown := set(forms) - set(WRITTEN):
        raise JaxkgError(f"--written takes {', '.join(WRITTEN)}, not {', '.join(sorted(unknown))}")
    kg = None
    if asked.own_graphs:
        if (
            not asked.questions
            or len(asked.questions) > 1
            or asked.dataset
            or source.kg
            or source.names
            or asked.link
        ):
            raise JaxkgError(
                "--own-graphs requires one file of --questions, which brings graphs and topics: "
                "leave out --kg, --names, --dataset and --link"
            )
        kg, alone = read_own_graphs(asked.questions[0], limit=asked.limit)
        given = Dataset(None, tuple(asked.questions), tuple(alone), directed=False)
        for message in kg.skipped:
            note(f"left out: {message}")
    else:
        given = material(asked.dataset, source.kg, source.names, asked.questions, part="test")
    judged = None
    with (
        answering_and_judging(wanted, judge, retry=retry) as (model, judging),
        progress_bars() as show,
    ):
        keep_compiled_programs()
        if paid := model or judging:
            show.about = paid.waiting
        fields = made_of.given() | {
            "backend": None if model is None else model.backend,
            "ask_model": wanted.ask_model,
            "seed": run.seed,
            "passages": given.passages,
            **vars(offer),
        }
        if kg is not None:
            parts = Parts(kg, show, **fields)
        else:
            reading = dataclasses.replace(source.reading, names=given.names, provenance=False)
            parts = parts_of(given.graph, reading, source.stores, show, **fields)
        name = made_of.system or default_system(parts)
        built = build(name, parts)
        run_questions(
            run.output,
            given.questions[: asked.limit],
            built,
            parts,
            name=name,
            link=asked.link,
            fresh=run.fresh,
            retry=("failed", "unparsed") if retry else (),
            show=show,
        )
        if judging is not None:
            judged = judge_run(run.output, judging.backend, repair=offer.repair, show=show)

    def tell(report: Report) -> None:
        print(report.to_json() if run.as_json else report.to_markdown(), flush=True)
        both = [model, judging] if judging is not model else [model]
        said = [some.meter.text() for some in both if some is not None]
        said.append(getattr(built.system, "spent", str)())
        if judged is not None and (why := list(judged.unjudged.values())):
            first = one_line(why[0])
            said.append(f"{len(why)} answers were not judged and are left out; the first: {first}")
        if judged is not None and (cut := list(judged.notes.values())):
            said.append(f"{len(cut)} answers were judged by a part of the prompt; first: {cut[0]}")
        for text in filter(None, said):
            errors.print(text)

    for form in forms:
        lines = (json.dumps(written_line(line, form)) for line in read_predictions(run.output))
        write_lines(run.output / f"predictions-{form}.jsonl", lines)
    report = report_run(
        run.output,
        told=tell,
        provenance=provenance(
            device=str(jax.devices()[0]),
            seed=run.seed,
            data=given.hashed,
            command=["jaxkg", *sys.argv[1:]],
        )
        | ({} if judging is None else {"judge": judging.backend.model}),
        generation=None if judged is None else judged.scores,
        directed=given.directed,
        seed=run.seed,
    )
    if (lost := report.counts["unparsed"] + report.counts["failed"]) == report.counts["asked"] > 0:
        raise JaxkgError(f"all {lost} questions failed or have replies that cannot be read")
    if judged is not None and judged.unjudged and not judged.judgements:
        raise JaxkgError(f"none of the {len(judged.unjudged)} answers was judged")


def score(
    predictions: Annotated[
        list[Path],
        typer.Argument(
            help="Files of RoG, GNN-RAG, GCR, ToG, PoG, SubgraphRAG or HyperGraphRAG, or a run "
            "folder of jaxkg.",
        ),
    ],
    gold: Annotated[
        list[Path] | None,
        typer.Option(
            help="Files of the questions with answers (default: the answers in the file of "
            "predictions).",
        ),
    ] = None,
    aliases: Annotated[
        Path | None,
        typer.Option(help='JSON file of further names of answers: {"answer": ["alias", ...]}.'),
    ] = None,
    layout: Annotated[
        str | None, typer.Option(help="Layout of the files (default: recognised by their fields).")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    resamples: Annotated[int, typer.Option(min=1, help="Number of bootstrap samples.")] = 1000,
    seed: Annotated[int, typer.Option(help="Random seed of the samples.")] = 0,
) -> None:
    """Rescore predictions of any project under every published definition, side by side.

    Each metric is given twice: over the records of the file, as published scripts count, and over
    all questions, where a missing or unreadable reply counts as wrong.
    """
    from jaxkg.evaluate import evaluate, read_predictions, score_predictions
    from jaxkg.kg import read_questions

    asked = [question for path in gold or () for question in read_questions(path)] or None
    names = None if aliases is None else _aliases(aliases)
    found: dict[str, Any] = {}
    told = []
    for path in predictions:
        if path.is_dir():
            report = evaluate(read_predictions(path), resamples=resamples, seed=seed)
            found[str(path)] = json.loads(report.to_json())
            told.append(report.to_markdown())
            continue
        scores = score_predictions(
            path, asked, aliases=names, layout=layout, resamples=resamples, seed=seed
        )
        found[str(path)] = {
            "layout": scores.layout,
            "audit": dict(scores.audit),
            "as_published": {n: e.to_dict() for n, e in scores.as_published.items()},
            "all_asked": {n: e.to_dict() for n, e in scores.all_asked.items()},
        }
        told.append(scores.to_markdown())
    print(json.dumps(found, ensure_ascii=False, indent=1) if as_json else "\n".join(told))


def _aliases(path: Path) -> dict[str, list[str]]:
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise JaxkgError(f"{path}: not JSON ({error})") from error
    if not isinstance(raw, dict) or not all(
        isinstance(more, list) and all(isinstance(name, str) for name in more)
        for more in raw.values()
    ):
        raise JaxkgError(f'{path}: expected {{"answer": ["alias", ...], ...}}')
    return raw
