"""`jaxkg chat`."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

from jaxkg.cli import options
from jaxkg.cli.asking import Session, lines_of_input, print_answer, session
from jaxkg.cli.blocks import ModelOptions, StoreGraphOptions, SystemOptions, spread
from jaxkg.errors import JaxkgError
from jaxkg.experiments.progress import errors, progress_bars

if TYPE_CHECKING:
    from jaxkg.answer import Answer

_HELP = """\
:why        everything behind the last answer: paths, plan, topics, cost
:right N    confirm reading N of the last question (0: the reading shown); it is saved
:relations  relations of the graph, most frequent first
:history    the questions so far
:quit       leave (so does the end of the input)
Anything else is a question."""
_RELATIONS = 30


@spread
def chat(
    source: StoreGraphOptions,
    parts: SystemOptions,
    wanted: ModelOptions,
    seconds: options.Seconds = None,
    seed: options.PlannerSeed = 0,
) -> None:
    """Ask one question after another; graph and system stay loaded. `:help` lists commands.

    Example: jaxkg chat --kg films.tsv
    """
    with (
        progress_bars() as show,
        session(
            parts, wanted, show, source, seed=seed, keep_on_failure=True, seconds=seconds
        ) as warm,
    ):
        show("ready", 1, 1)
        _prompt()
        asked: list[str] = []
        last: Answer | None = None
        for line in lines_of_input():
            if line in (":quit", ":q"):
                break
            right = re.fullmatch(r":right\s+(\d+)", line) if asked else None
            if line.startswith(":") and right is None:
                _command(line, warm, last, asked)
                _prompt()
                continue
            try:
                if right is None:
                    asked.append(line)
                    last = warm.answer(line)
                else:
                    last = warm.right(asked[-1], int(right[1]))
                print(_short(last))
            except JaxkgError as error:
                errors.print(f"jaxkg: {error}")
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
        print(_HELP if line == ":help" else f"unknown command {line}\n{_HELP}")


def _short(answer: Answer) -> str:
    """The verdict, and for every answer the first sentence that proves it."""
    from jaxkg.words import one_line

    others = [
        f"  {number}. {one_line(other.reading)}: {', '.join(map(one_line, other.preview))}"
        for number, other in enumerate(answer.readings, start=1)
    ]
    if not answer.entities:
        why = one_line(answer.abstained or answer.error or "no reason given")
        mean = ["Did you mean (:right N)", *others] if others else []
        return "\n".join([f"No answer: {why}", *mean])
    sentences = {path.id: path.sentence for path in answer.paths}
    lines = []
    for entity in answer.entities[:10]:
        because = next((sentences[path] for path in entity.paths if path in sentences), "")
        shown = "  ".join(map(one_line, (entity.name, *entity.cells)))
        lines.append(f"{shown}  ({one_line(because)})")
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
