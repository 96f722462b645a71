"""`jaxkg hypergraph build` and `jaxkg hypergraph stats`."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from jaxkg.cli import options
from jaxkg.cli.blocks import ModelOptions
from jaxkg.cli.models import language_model
from jaxkg.errors import JaxkgError
from jaxkg.experiments.progress import errors, progress_bars

if TYPE_CHECKING:
    from jaxkg.adjudicate import Backend
    from jaxkg.kg.hypergraph.graph import KnowledgeHypergraph

hypergraphs = typer.Typer(
    help="Build and inspect hypergraphs.", no_args_is_help=True, rich_markup_mode=None
)

Format = Literal["corpus", "questions", "nary", "openie", "jsonl", "graph"]


@hypergraphs.callback()
def _group() -> None:
    """Build and inspect hypergraphs."""


@hypergraphs.command("build")
def build(
    source: Annotated[
        Path, typer.Argument(help="File or folder; for --format graph anything that --kg accepts.")
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="New folder for the hypergraph.")],
    format: Annotated[
        Format,
        typer.Option(
            help="corpus: text files, or JSON lines of title and text; questions: the passages in "
            "a question file, as in MuSiQue and HotpotQA; nary: relation<TAB>e1<TAB>e2...; "
            "openie: passages with extracted triples; jsonl: hyperedges and chunks; graph: the "
            "triples of a graph.",
        ),
    ] = "corpus",
    synonyms: Annotated[
        str | None,
        typer.Option(
            help="Join similar names by minilm or hashing vectors; with --llm a model confirms "
            "each group (default: names are not joined).",
        ),
    ] = None,
    alike: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Lowest cosine of similar names (default: 0.85)."),
    ] = None,
    llm: options.LLM = None,
    base_url: options.BaseURL = None,
    budget_calls: options.BudgetCalls = None,
) -> None:
    """Build a hypergraph for `--system proh`, and save it in a form that opens at once.

    With --llm a language model states the facts of each passage and confirms similar names; replies
    are saved, so a stopped run resumes. Without a model, rules find names: titles and capitalised
    phrases, but no pronouns and no names in small letters.
    """
    from jaxkg.kg.hypergraph import read
    from jaxkg.kg.hypergraph.graph import save_hypergraph

    if format not in ("corpus", "questions") and synonyms is None:
        named, llm = llm, None
        if named not in (None, "none", os.environ.get("JAXKG_LLM_MODEL")):
            raise JaxkgError(
                f"--llm reads a corpus and confirms synonyms; {format} holds facts already: drop "
                "--llm or name --synonyms"
            )
    if alike is not None and synonyms is None:
        raise JaxkgError("--alike says how near synonyms are: name --synonyms minilm or hashing")
    with language_model(
        ModelOptions(llm=llm, base_url=base_url, budget_calls=budget_calls)
    ) as model:
        backend = None if model is None else model.backend
        if format == "graph":
            from jaxkg.experiments.loading import load_graph

            made = read.hypergraph_of(load_graph(source))
        elif format == "nary":
            made = read.read_nary(source)
        elif format == "openie":
            made = read.read_openie(source)
        elif format == "jsonl":
            made = read.read_hyperedges(source)
        elif format == "questions":
            from jaxkg.kg.questions.passages import distinct_passages
            from jaxkg.kg.questions.read import read_questions

            if not (documents := distinct_passages(read_questions(source))):
                raise JaxkgError(f"{source}: no question brings passages")
            from jaxkg.systems.proh.passages import WHOLE

            made = _of_documents(documents, backend, longest=WHOLE)
        else:
            from jaxkg.systems.proh.build import read_corpus

            made = _of_documents(read_corpus(source, on_left_out=_tell), backend)
        if synonyms is not None:
            from jaxkg.systems.proh.synonyms import ALIKE, with_synonyms
            from jaxkg.text.best import encoder_named

            made = with_synonyms(
                made,
                encoder_named(synonyms),
                threshold=ALIKE if alike is None else alike,
                confirm=backend,
                on_left_out=_tell,
            )
    save_hypergraph(made, output)
    print(f"{output}: {made!r}")


def _tell(what: str) -> None:
    errors.print(what)


def _of_documents(
    documents: Sequence[tuple[str, str]], backend: Backend | None, **options: int
) -> KnowledgeHypergraph:
    from jaxkg.systems.proh.build import build_hypergraph

    with progress_bars() as show:
        built = build_hypergraph(
            documents,
            backend=backend,
            on_progress=lambda done, total: show("read", done, total),
            **options,
        )
    for what, count in built.counts.items():
        print(f"  {what}: {count:,}")
    for chunk in built.unread:
        _tell(f"not read: {chunk}")
    return built.graph


@hypergraphs.command("stats")
def stats(path: Annotated[Path, typer.Argument(help="Folder of a hypergraph.")]) -> None:
    """Print sizes of a hypergraph as JSON."""
    from jaxkg.kg.hypergraph.graph import open_hypergraph

    print(json.dumps(open_hypergraph(path).stats(), ensure_ascii=False, indent=1))
