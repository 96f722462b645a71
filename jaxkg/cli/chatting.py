"""`jaxkg chat`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from jaxkg.cli import options
from jaxkg.cli.asking import Session, lines_of_input, print_answer, session
from jaxkg.cli.models import ModelOptions
from jaxkg.errors import JaxkgError
from jaxkg.experiments.loading import FileOptions
from jaxkg.experiments.parts import wishes_from
from jaxkg.experiments.progress import errors, progress_bars
from jaxkg.experiments.stores import StoreOptions

if TYPE_CHECKING:
    from jaxkg.answer import Answer

_HELP = """\
:why        everything behind the last answer: paths, plan, topics, cost
:relations  what can be asked about, most frequent first
:history    the questions so far
:quit       leave (so does the end of the input)
Anything else is a question."""
_RELATIONS = 30


def chat(
    system: options.System = None,
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
    llm: options.LLM = None,
    base_url: options.BaseURL = None,
    seed: Annotated[int, typer.Option(help="Of a planner made on first use.")] = 0,
) -> None:
    """Ask one question after another; graph and system stay loaded, `:help` says what else.

    Example: jaxkg chat --kg films.tsv
    """
    reading = FileOptions(names, format, encoding, columns, provenance=True)
    with (
        progress_bars() as show,
        session(
            system,
            ModelOptions(llm=llm, base_url=base_url),
            show,
            kg=kg,
            stores=StoreOptions(graph, language, label_property, endpoint, reach),
            reading=reading,
            hypergraph=hypergraph,
            planner_folder=planner,
            wishes=wishes_from(settings or (), mode=mode, threshold=threshold),
            seed=seed,
        ) as warm,
    ):
        show("ready", 1, 1)
        _prompt()
        asked: list[str] = []
        last: Answer | None = None
        for line in lines_of_input():
            if line in (":quit", ":q"):
                break
            if line.startswith(":"):
                _command(line, warm, last, asked)
            else:
                asked.append(line)
                try:
                    last = warm.answer(line)
                    print(_short(last))
                except JaxkgError as error:
                    errors.print(f"jaxkg: {error}", markup=False, highlight=False)
            _prompt()


def _prompt() -> None:
    if sys.stdin.isatty():
        print("? ", end="", flush=True)


def _command(line: str, warm: Session, last: Answer | None, asked: list[str]) -> None:
    if line == ":why":
        if last is None:
            print("nothing was asked yet")
        else:
            print_answer(last, limit=10)
    elif line == ":relations":
        print(_relations(warm))
    elif line == ":history":
        print("\n".join(asked) or "nothing was asked yet")
    else:
        print(_HELP if line == ":help" else f"there is no {line}\n{_HELP}")


def _short(answer: Answer) -> str:
    """The verdict, and for every answer the first sentence that proves it."""
    from jaxkg.words import one_line

    if not answer.entities:
        return f"No answer: {one_line(answer.abstained or answer.error or 'no reason given')}"
    sentences = {path.id: path.sentence for path in answer.paths}
    lines = []
    for entity in answer.entities[:10]:
        because = next((sentences[path] for path in entity.paths if path in sentences), "")
        lines.append(f"{one_line(entity.name)}  ({one_line(because)})")
    if len(answer.entities) > 10:
        lines.append(f"… and {len(answer.entities) - 10:,} more")
    return "\n".join(lines)


def _relations(warm: Session) -> str:
    import numpy as np

    from jaxkg.words import one_line

    kg = warm.parts.kg
    counts = np.bincount(kg.triples[:, 1], minlength=kg.num_relations)
    order = np.argsort(-counts, kind="stable").tolist()
    lines = [
        f"{counts[row]:>9,}  {one_line(kg.relation_labels[row])}" for row in order[:_RELATIONS]
    ]
    if len(order) > _RELATIONS:
        lines.append(f"… and {len(order) - _RELATIONS:,} more (`jaxkg kg stats` lists all)")
    return "\n".join(lines)
