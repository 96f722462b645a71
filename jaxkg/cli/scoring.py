"""`jaxkg score`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from jaxkg.errors import JaxkgError


def score(
    predictions: Annotated[
        list[Path],
        typer.Argument(
            help=(
                "Files of RoG, GNN-RAG, GCR, ToG, PoG, SubgraphRAG or HyperGraphRAG, or a run "
                "folder of jaxkg."
            )
        ),
    ],
    gold: Annotated[
        list[Path] | None,
        typer.Option(
            help=(
                "Files of the questions with answers (default: the answers in the file of "
                "predictions)."
            )
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
