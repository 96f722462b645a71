"""An answer with what was considered on the way to it, as a file, and told again."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.text import Text
from rich.tree import Tree

from jaxkg.answer import Answer
from jaxkg.errors import JaxkgError
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
