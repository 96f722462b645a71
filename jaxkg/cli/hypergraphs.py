"""`jaxkg hypergraph build` and `jaxkg hypergraph stats`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

import typer

hypergraphs = typer.Typer(
    help="Build and inspect hypergraphs.", no_args_is_help=True, rich_markup_mode=None
)

Format = Literal["nary", "openie", "jsonl", "graph"]


@hypergraphs.callback()
def _group() -> None:
    """Build and inspect hypergraphs."""


@hypergraphs.command("build")
def build(
    source: Annotated[Path, typer.Argument(help="The file; for `graph` whatever --kg takes.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="New folder for the hypergraph.")],
    format: Annotated[
        Format,
        typer.Option(
            help="nary: relation<TAB>e1<TAB>e2...; openie: passages with extracted triples; "
            "jsonl: hyperedges and chunks; graph: the triples of a graph."
        ),
    ],
) -> None:
    """Read a hypergraph and save it in a form that opens at once, for `--system proh`."""
    from jaxkg.kg import hypergraph_read as read
    from jaxkg.kg.hypergraph_store import save_hypergraph

    if format == "graph":
        from jaxkg.cli.loading import load_graph

        made = read.hypergraph_of(load_graph(source))
    elif format == "nary":
        made = read.read_nary(source)
    elif format == "openie":
        made = read.read_openie(source)
    else:
        made = read.read_hyperedges(source)
    save_hypergraph(made, output)
    print(f"{output}: {made!r}")


@hypergraphs.command("stats")
def stats(
    path: Annotated[Path, typer.Argument(help="Folder of a hypergraph.")],
) -> None:
    """Sizes of a hypergraph, as JSON."""
    from jaxkg.kg.hypergraph_store import open_hypergraph

    print(json.dumps(open_hypergraph(path).stats(), ensure_ascii=False, indent=1))
