"""`jaxkg kg`: graphs are built, indexed, looked at and made up."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jaxkg.cli import options
from jaxkg.cli.blocks import EndpointOptions, ReadingOptions, spread
from jaxkg.errors import JaxkgError
from jaxkg.experiments.loading import MAPPED_FROM, FileOptions, columns_from, load_graph, load_store
from jaxkg.experiments.progress import note, progress_bars
from jaxkg.words import one_line

if TYPE_CHECKING:
    from jaxkg.kg.stores.edit import Edited

graphs = typer.Typer(help="Build and inspect graphs.", no_args_is_help=True, rich_markup_mode=None)


@dataclasses.dataclass(frozen=True)
class _BuildOptions(ReadingOptions):
    """How the file of a graph is read that is kept."""

    skip_bad: Annotated[int, typer.Option(min=0, help="Number of malformed lines to tolerate.")] = 0
    language: options.Language = "en"
    strict: options.Strict = False
    provenance: Annotated[
        bool, typer.Option(help="Keep the file and line of every triple of a text file.")
    ] = True


@graphs.command("build")
@spread
def build(
    source: Annotated[
        Path,
        typer.Argument(
            help="File in one of `jaxkg formats`, or a folder of files that are one graph."
        ),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="New folder for the graph.")],
    file: _BuildOptions,
    big: Annotated[
        bool,
        typer.Option(
            "--big",
            help="Sort on disk, for graphs larger than memory (requires the extra `big`). A build "
            "that was stopped resumes with the same command.",
        ),
    ] = False,
    memory: Annotated[str, typer.Option(help="Memory limit for sorting with --big.")] = "2GB",
    indexed: Annotated[
        bool | None,
        typer.Option(
            "--index/--no-index",
            help="Index the graph for --kg mapped:FOLDER "
            f"(default: from {MAPPED_FROM:,} facts on).",
        ),
    ] = None,
) -> None:
    """Read a graph and save it in a form that opens at once.

    Example: jaxkg kg build edges.csv -o films --columns head=from,relation=kind,tail=to
    """
    from jaxkg.kg import save_graph

    if big:
        from jaxkg.kg.stores.big.build import build_big

        with progress_bars() as show:
            kg = build_big(
                source,
                output,
                format=file.format,
                columns=None if file.columns is None else columns_from(file.columns),
                names=file.names,
                encoding=file.encoding,
                skip_bad=file.skip_bad,
                memory=memory,
                on_progress=lambda done, total: show("read", done, total),
                on_stage=note,
            )
        print(f"{output}: {kg!r}, indexed")
        return
    with progress_bars() as show:
        kg = load_graph(source, file.reading(), show=show)
    save_graph(kg, output)
    if indexed or (indexed is None and kg.num_triples >= MAPPED_FROM):
        from jaxkg.kg.stores.arrays import save_index

        save_index(output, kg)
    merged = f", {kg.duplicates:,} repeated triples merged" if kg.duplicates else ""
    print(f"{output}: {kg!r}{merged}")


@graphs.command("index")
def index(folder: Annotated[Path, typer.Argument(help="Folder of a saved graph.")]) -> None:
    """Index a saved graph for --kg mapped:FOLDER, which reads only the parts that it needs."""
    from jaxkg.kg.stores import edit

    kg = edit.compact(folder, indexed=True)
    print(f"{folder}: {kg!r}, indexed")


@graphs.command("labels")
@spread
def labels(
    source: Annotated[str, typer.Argument(help="The endpoint, written sparql:URL.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="New folder for the names.")],
    asked: EndpointOptions,
) -> None:
    """Save all names at an endpoint; with --labels FOLDER misspelt names are found as well.

    Example: jaxkg kg labels sparql:http://localhost:7878/query -o names
    """
    from jaxkg.kg.stores.sparql import SparqlStore, save_labels

    store = load_store(source, asked.stores)
    if not isinstance(store, SparqlStore):
        raise JaxkgError(f"{source}: no endpoint; write it sparql:http://host:port/query")
    print(f"{output}: names of {save_labels(store, output):,} entities")


@graphs.command("add")
@spread
def add(
    folder: Annotated[Path, typer.Argument(help="Folder of a saved graph.")],
    source: Annotated[Path, typer.Argument(help="Graph file with the facts to add.")],
    file: ReadingOptions,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Add facts to a saved graph without rebuilding it; the next answer uses them.

    Example: jaxkg kg add films new.tsv
    """
    from jaxkg.kg.stores import edit

    done = edit.add(folder, load_graph(source, file.reading(provenance=True)))
    _say(folder, "added", done, "new to it", as_json)


@graphs.command("remove")
def remove(
    folder: Annotated[Path, typer.Argument(help="Folder of a saved graph.")],
    source: Annotated[Path, typer.Argument(help="Graph file with the facts to remove.")],
    format: options.Format = None,
    encoding: options.Encoding = "utf-8",
    columns: options.Columns = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Remove facts from a saved graph. If the graph lacks one of them, it is left as it was."""
    from jaxkg.kg.stores import edit

    done = edit.remove(folder, load_graph(source, FileOptions(None, format, encoding, columns)))
    _say(folder, "removed", done, "gone from it", as_json)


@graphs.command("compact")
def compact(folder: Annotated[Path, typer.Argument(help="Folder of a saved graph.")]) -> None:
    """Rewrite a saved graph with its additions and removals."""
    from jaxkg.kg.stores import edit

    print(f"{folder}: {edit.compact(folder)!r}")


def _say(folder: Path, what: str, done: Edited, new: str, as_json: bool) -> None:
    if as_json:
        print(json.dumps({what: done.facts, "merged": done.merged, "relations": done.relations}))
        return
    merged = f", {done.merged:,} were there before" if done.merged else ""
    schema = (
        f"; relations {new}: {', '.join(map(one_line, done.relations))}: models trained on the "
        "graph before do not fit it"
        if done.relations
        else ""
    )
    print(f"{folder}: {done.facts:,} facts {what}{merged}{schema}")


@graphs.command("stats")
@spread
def stats(
    asked: EndpointOptions,
    file: ReadingOptions,
    path: Annotated[
        str | None,
        typer.Argument(
            help="Graph file or folder, mapped:FOLDER or sparql:URL (default: demo graph)."
        ),
    ] = None,
    kg: options.GraphOrStore = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify", help="Read each file of a saved graph and compare it with its digest."
        ),
    ] = False,
) -> None:
    """Print sizes, degrees, hubs, relations and names of a graph."""
    from jaxkg.kg.stats import graph_stats

    if path is not None and kg is not None:
        raise JaxkgError("the graph is named twice, as an argument and by --kg; name it once")
    path = path or kg
    if verify:
        from jaxkg.kg.stores import edit

        if path is None or not Path(path.removeprefix("mapped:")).is_dir():
            raise JaxkgError("--verify requires a saved graph: jaxkg kg stats FOLDER --verify")
        edit.verify(path.removeprefix("mapped:"))
    store = load_store(path, asked.stores)
    if store is not None:
        found = store.stats()
    else:
        found = graph_stats(load_graph(path, file.reading(language=asked.language)))
    print(json.dumps(found, ensure_ascii=False, indent=1) if as_json else _lines(found))


def formats() -> None:
    """List the formats of graph files, and what each requires.

    The format of a file is recognised by its name and its content; --format overrides it.
    """
    from jaxkg.kg.files.formats import registry

    known = registry()
    width = max(map(len, known))
    for name, format in known.items():
        needs = f" (requires the extra {format.extra!r})" if format.extra else ""
        print(f"{name:<{width}}  {format.about}{needs}")


@graphs.command("describe")
@spread
def describe(
    path: Annotated[Path, typer.Argument(help="Graph file or folder.")], file: ReadingOptions
) -> None:
    """Write how a file was understood: things, relations, how they read, and what was left out.

    Edit the result and save it beside the data, or name it by --mapping.

    Example: jaxkg kg describe films.csv > films.graph.toml
    """
    from jaxkg.kg.mapping import describe as described

    left_out = Counter[str]()
    kg = load_graph(path, file.reading(), left_out=left_out)
    print(described(kg, path.name, left_out))


@graphs.command("select")
@spread
def select(
    path: Annotated[Path, typer.Argument(help="Graph file or folder.")],
    file: ReadingOptions,
    sql: Annotated[
        str | None, typer.Argument(help="A SELECT over one of the tables (default: print these).")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="Number of answers to print.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Answer an SQL SELECT over the graph as tables, with the triples that prove each answer.

    There are no joins: a table has columns for what its relations lead to, one or two steps away.
    Exit code 1 means that nothing was found.

    Examples: jaxkg kg select films.csv | jaxkg kg select films.csv "SELECT COUNT(*) FROM film"
    """
    from jaxkg import Selects
    from jaxkg.cli.asking import print_answer

    selects = Selects(load_graph(path, file.reading()))
    if sql is None:
        tables = [table.definition() for table in selects.tables()]
        print(json.dumps(tables, ensure_ascii=False) if as_json else "\n".join(tables))
        return
    answer = selects.answer(sql)
    if as_json:
        print(answer.to_json())
    else:
        print_answer(answer, limit)
    if answer.abstained:
        raise typer.Exit(1)


@graphs.command("check")
@spread
def check(
    path: Annotated[Path, typer.Argument(help="Graph file or folder.")],
    file: ReadingOptions,
    only: Annotated[
        str | None, typer.Option(help="Checks to run, separated by commas (default: all).")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Look for dangling references, shared names, cycles, and values that do not fit.

    Exit code 1 means that a check failed.

    Example: jaxkg kg check films.csv --only dangling,cycles
    """
    from jaxkg.kg.check import KINDS, check_graph

    kinds = list(KINDS) if only is None else [kind.strip() for kind in only.split(",")]
    if odd := next((kind for kind in kinds if kind not in KINDS), None):
        raise JaxkgError(f"--only {odd}: there are {', '.join(KINDS)}")
    kg = load_graph(path, file.reading())
    found = check_graph(kg, kinds=kinds)
    if as_json:
        print(json.dumps([finding._asdict() for finding in found], ensure_ascii=False, indent=1))
    else:
        print("\n".join(map(str, found)) or f"{path}: nothing odd in {kg.num_triples:,} facts")
    if found:
        raise typer.Exit(1)


@dataclasses.dataclass(frozen=True)
class _WorldOptions:
    """A made-up graph."""

    edges: Annotated[int, typer.Option(min=100, help="Number of facts.")] = 10_000
    degree: Annotated[float, typer.Option(help="Facts per entity.")] = 4.0
    skew: Annotated[float, typer.Option(help="Zipf exponent of the degrees; 0 makes no hubs.")] = (
        0.9
    )
    distractors: Annotated[
        int, typer.Option(min=0, help="Number of relations that no question needs.")
    ] = 8
    missing: Annotated[
        float, typer.Option(help="Share of the facts behind answers to leave out of the graph.")
    ] = 0.0


@graphs.command("synthesize")
@spread
def synthesize(
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the files.")],
    world: _WorldOptions,
    train: Annotated[int, typer.Option(min=0, help="Number of training questions.")] = 2000,
    test: Annotated[int, typer.Option(min=0, help="Number of test questions.")] = 500,
    hops: Annotated[str, typer.Option(help="Numbers of hops, each from 1 to 4.")] = "1,2,3",
    nary: Annotated[
        int, typer.Option(min=0, help="Number of facts with 3 to 6 entities each, as in JF17K.")
    ] = 0,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
) -> None:
    """Generate a graph and questions: facts.tsv, train.jsonl, test.jsonl, nary.txt with --nary."""
    from jaxkg.evaluate import synthetic
    from jaxkg.kg import write_questions

    try:
        numbers = tuple(int(hop) for hop in hops.split(","))
    except ValueError:
        raise JaxkgError(f"--hops {hops!r}: write it as numbers with commas, as in 1,2,3") from None
    config = synthetic.WorldConfig(**vars(world))
    asked = synthetic.QuestionConfig(train=train, test=test, hops=numbers)
    made = synthetic.make_world(config, seed=seed)
    parts = synthetic.make_questions(made, asked, seed=seed)
    output.mkdir(parents=True, exist_ok=True)
    synthetic.write_triples(made.graph, output / "facts.tsv")
    for name, questions in zip(("train", "test"), parts):
        write_questions(questions, output / f"{name}.jsonl")
    if nary:
        hypergraph = synthetic.make_hypergraph(made, nary, skew=world.skew, seed=seed)
        synthetic.write_nary(hypergraph, output / "nary.txt")
    print(f"{output}: {made.graph!r}, {train:,} training and {test:,} test questions")


def _lines(found: dict[str, Any], *, indent: str = "", most: int = 12) -> str:
    lines = []
    for key, value in found.items():
        name = indent + one_line(str(key).replace("_", " "))
        if isinstance(value, dict):
            shown = dict(list(value.items())[:most])
            lines += [name, _lines(shown, indent=indent + "  ")]
            if len(value) > most:
                lines.append(f"{indent}  … and {len(value) - most} more (--json shows all)")
        else:
            if isinstance(value, int):
                shown = f"{value:,}"
            else:
                shown = f"{value:.4g}" if isinstance(value, float) else one_line(str(value))
            lines.append(f"{name:<24} {shown}")
    return "\n".join(lines)
