"""A saved trace, told."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.text import Text
from rich.tree import Tree

from jaxkg.answer import Answer
from jaxkg.errors import JaxkgError
from jaxkg.foreign_json import read_json
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


def replay(trace: Mapping[str, Any], *, most: int) -> Tree:
    """The stages of a trace as a tree.

    Raises:
        JaxkgError: parts of it are missing.
    """
    try:
        return _tree(trace, most)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, JaxkgError):
            raise
        raise JaxkgError(f"the trace is damaged ({error!r}); {_MAKE}") from error


def _tree(trace: Mapping[str, Any], most: int) -> Tree:
    tree = Tree(Text(one_line(trace["question"])))
    topics = tree.add("topic candidates")
    for link in trace["topics"]:
        mark = "chosen" if link["chosen"] else "passed over"
        topics.add(Text(f"{one_line(link['name'])}  {link['score']:.2f}  {link['method']}, {mark}"))
    tree.add(Text(f"the planner read {trace['known_share']:.0%} known words"))
    for hop in trace["hops"]:
        branch = tree.add(f"hop {hop['hop']}")
        for path in hop["paths"]:
            told = one_line(" → ".join(path["path"])) or "(start)"
            state = ", finished" if path["finished"] else ""
            node = branch.add(Text(f"{told}  p = {math.exp(path['log_probability']):.3f}{state}"))
            if path["stop"]:
                node.add(_way("stop here", path["stop"]))
            ways = path["continuations"]
            for way in ways[:most]:
                node.add(_way(way["relation"], way))
            if len(ways) > most:
                node.add(f"… and {len(ways) - most} more")
    tree.add(rich_text(Answer.from_json(json.dumps(trace["answer"]))))
    return tree


def _way(name: str, way: Mapping[str, Any]) -> Text:
    text = Text(f"{one_line(name)}  p = {math.exp(way['log_probability']):.3f}")
    if way["kept"]:
        text.append("  kept", style="green")
    return text
