"""`jaxkg ask` and `jaxkg explain`.

An answer with what was considered on the way to it, as a file, and told again.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text
from rich.tree import Tree

from jaxkg.answer import Answer
from jaxkg.cli import options
from jaxkg.cli.asking import (
    Session,
    checked_question,
    failed,
    lines_of_input,
    print_answer,
    session,
    unjudged,
)
from jaxkg.cli.blocks import ModelOptions, OfferOptions, StoreGraphOptions, SystemOptions, spread
from jaxkg.errors import JaxkgError
from jaxkg.experiments.progress import progress_bars
from jaxkg.foreign_json import read_json, whole
from jaxkg.records import TraceNode
from jaxkg.show.render import rich_text
from jaxkg.words import one_line

_FORMAT = "jaxkg-trace"
_MAKE = "make one with `jaxkg ask ... --trace FILE`"


def read_trace(path: Path) -> dict[str, Any]:
    """Read a trace file.

    Raises:
        JaxkgError: it is none.
    """
    try:
        trace = read_json(path.read_bytes())
    except FileNotFoundError as error:
        raise JaxkgError(f"no trace at {path}; {_MAKE}") from error
    except JaxkgError as error:
        raise JaxkgError(f"{path} is no trace: {error}") from error
    if not isinstance(trace, dict) or trace.get("format") != _FORMAT:
        raise JaxkgError(f"{path} is no trace; {_MAKE}")
    return trace


def saved(answer: Answer, stages: Sequence[TraceNode]) -> str:
    """A trace as the text of a file."""
    raw = {
        "format": _FORMAT,
        "stages": [dataclasses.asdict(stage) for stage in stages],
        "answer": answer.to_dict(),
    }
    return whole(json.dumps(raw, ensure_ascii=False, indent=1)) + "\n"


def replay(trace: Mapping[str, Any], *, most: int) -> Tree:
    """A trace as a tree: topics, reading, what every stage considered, the answer.

    Raises:
        JaxkgError: parts of it are missing.
    """
    try:
        answer = Answer.from_json(json.dumps(trace["answer"]))
        tree = Tree(Text(one_line(answer.question)))
        topics = tree.add("topic candidates")
        for link in answer.topics:
            mark = "chosen" if link.chosen else "passed over"
            topics.add(Text(f"{one_line(link.name)}  {link.score:.2f}  {link.method}, {mark}"))
        for stage in trace["stages"]:
            _add(tree, stage, most)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, JaxkgError):
            raise
        raise JaxkgError(f"the trace is damaged ({error!r}); {_MAKE}") from error
    tree.add(rich_text(answer))
    return tree


def _add(tree: Tree, node: Mapping[str, Any], most: int) -> None:
    text = Text(one_line(node["text"]))
    if node["score"] is not None:
        text.append(f"  {node['score']:.3f}")
    if node["kept"]:
        text.append("  kept", style="green")
    branch = tree.add(text)
    for below in node["below"][:most]:
        _add(branch, below, most)
    if len(node["below"]) > most:
        branch.add(f"… and {len(node['below']) - most} more")


@dataclasses.dataclass(frozen=True)
class _ShownOptions:
    """What is printed of an answer, and what is saved of it."""

    limit: Annotated[int, typer.Option(min=1, help="Number of answers and paths to print.")] = 10
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole answer as JSON.")] = False
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Print the answers as CSV; a table with its columns.")
    ] = False
    trace: Annotated[
        Path | None,
        typer.Option(
            help="File for the candidates and scores of each stage; `jaxkg explain` replays it."
        ),
    ] = None
    svg: Annotated[Path | None, typer.Option(help="File for a drawing of the answer.")] = None
    triples: Annotated[
        Path | None,
        typer.Option(
            help="File for the triples behind the answer: Graphviz if it ends in .dot, otherwise "
            "a table.",
        ),
    ] = None
    sparql: Annotated[
        bool, typer.Option(help="Print the executed query as SPARQL 1.1 instead of the answer.")
    ] = False

    @property
    def of_one(self) -> bool:
        """Whether it goes with a single question only."""
        saved_as = (self.trace, self.svg, self.triples)
        return self.as_csv or self.sparql or any(each is not None for each in saved_as)

    def tell(self, warm: Session, answer: Answer, stages: Sequence[TraceNode]) -> None:
        """Print the answer, then save what is wanted of it."""
        if self.sparql:
            print(_sparql(warm, answer))
        elif self.as_json:
            print(answer.to_json(indent=1))
        elif self.as_csv:
            from jaxkg.show import to_csv

            print(to_csv(answer), end="")
        elif not failed(answer):
            print_answer(answer, self.limit)
        sys.stdout.flush()
        from jaxkg.storage import write_text

        # What is saved comes after what is printed: a full disk takes no answer away.
        if self.trace is not None:
            write_text(self.trace, saved(answer, stages))
        if self.svg is not None:
            from jaxkg.show import svg as draw_svg

            write_text(self.svg, draw_svg(answer))
        if self.triples is not None:
            from jaxkg.show import to_dot, to_triples

            made = to_dot if self.triples.suffix == ".dot" else to_triples
            write_text(self.triples, made(answer))


@spread
def ask(
    question: Annotated[
        str,
        typer.Argument(
            help="The question. Brackets may mark the [topic]. With -, questions are read from "
            "standard input, one per line.",
        ),
    ],
    source: StoreGraphOptions,
    parts: SystemOptions,
    wanted: ModelOptions,
    offer: OfferOptions,
    shown: _ShownOptions,
    right: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Confirm a reading by its printed number (0: the reading above the answers). "
            "jaxkg saves it and uses it for later questions; `jaxkg cache` shows and clears it.",
        ),
    ] = None,
    seconds: options.Seconds = None,
    seed: options.PlannerSeed = 0,
) -> None:
    """Ask one question; print ranked answers with the triples that prove them.

    With --llm a language model writes a query if the reader withholds its answer, or chooses among
    the readings of another system that is not sure. If the model fails, the answer of the system
    alone is printed, with exit code 2. Exit code 1 means that the answer is withheld.

    Examples: jaxkg ask "who directed Alien?" | jaxkg ask "who made it?" --kg films.csv |
    jaxkg ask - --json < questions.txt
    """
    if question != "-":
        checked_question(question)
    if shown.as_csv and (shown.as_json or shown.sparql):
        raise JaxkgError("--csv does not go with --json or --sparql: an answer is printed once")
    if question == "-" and (shown.of_one or right is not None):
        raise JaxkgError(
            "--csv, --trace, --svg, --triples, --sparql and --right work with a single question "
            "only"
        )
    with (
        progress_bars() as show,
        session(
            parts,
            wanted,
            show,
            source,
            seed=seed,
            keep_on_failure=True,
            seconds=seconds,
            **vars(offer),
        ) as warm,
    ):
        if question == "-":
            withheld = _ask_all(warm, shown.limit, shown.as_json)
            sys.exit(1 if withheld else 0)
        first = None if right is None else warm.right(question, right)
        # Telling of the stages is a search of its own: only who saves it pays for it.
        answer, stages = (
            (first or warm.answer(question), ()) if shown.trace is None else warm.traced(question)
        )
    shown.tell(warm, answer, stages)
    if failed(answer):
        raise JaxkgError(f"the model failed: {answer.error}; {_what_to_do(answer)}")
    if unjudged(answer):
        without = "the answer above was found without it"
        raise JaxkgError(f"the model failed: {answer.error}; {_what_to_do(answer)}; {without}")
    if answer.abstained:
        sys.exit(1)


def _what_to_do(answer: Answer) -> str:
    """Where to look after a model's failure: at what it said, or at the endpoint."""
    if "unparsed" in (answer.error or ""):
        return "--show-prompts prints what it said"
    return "`jaxkg llm check` says more"


def _sparql(warm: Session, answer: Answer) -> str:
    """What was executed for an answer, for another engine."""
    from jaxkg.kg.queries.sparql import to_sparql
    from jaxkg.kg.queries.values import Values
    from jaxkg.query import query_from_dict

    if answer.query is None:
        raise JaxkgError(
            f"--sparql: {answer.system or 'this system'} executed no query graph; --system reader "
            "executes one wherever it answers"
        )
    return to_sparql(Values(warm.parts.kg), query_from_dict(answer.query))


def _ask_all(warm: Session, limit: int, as_json: bool) -> bool:
    """Answer every line of standard input; whether an answer was withheld."""
    withheld = asked = 0
    for line in lines_of_input():
        answer = warm.answer(line)
        if as_json:
            print(answer.to_json(), flush=True)
        else:
            print_answer(answer, limit)
            print(flush=True)
        asked += 1
        withheld += not answer.entities or unjudged(answer)
    if not asked:
        raise JaxkgError("no question on standard input; write one a line")
    return bool(withheld)


def explain(
    trace: Annotated[Path, typer.Argument(help="A file saved by `jaxkg ask --trace`.")],
    most: Annotated[
        int, typer.Option(min=1, help="Number of continuations to print per path.")
    ] = 8,
) -> None:
    """Replay a saved trace: what each stage considered, what it kept and why."""
    from rich.console import Console

    # A tree is cropped at the width of the console, which a reader of a file has not.
    told = replay(read_trace(trace), most=most)
    wide = None if sys.stdout.isatty() else 10_000
    Console(soft_wrap=True, highlight=False, width=wide, emoji=False).print(
        told, no_wrap=True, crop=False
    )
