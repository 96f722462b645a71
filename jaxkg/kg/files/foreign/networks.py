"""Plain texts of network tools: GML, Pajek, the trivial graph format, edge lists parted by blanks.

A node is called by its id and named by its label. An edge says what its label or Pajek's name of
its relation says, and is read in the direction in which it is written. What a number calls is
`node 17`, for a weight may be 17, too. Places and colours are left out. Sources: Himsolt, GML: a
portable graph file format (1997); the manual of Pajek.
"""

from __future__ import annotations

import functools
import html
import re
from pathlib import Path
from typing import Any

from jaxkg.errors import JaxkgError
from jaxkg.foreign_json import DEEPEST
from jaxkg.kg.files.exports import LINKED
from jaxkg.kg.files.foreign.lines import numbered_lines, source_of
from jaxkg.kg.files.json.read import read_jsonl
from jaxkg.kg.files.protocol import NO, Format, Head, Intake, Sniff, begins, named
from jaxkg.kg.files.tables.keys import row_id

_TOKEN = re.compile(r'"[^"]*"|[\[\]]|[^\s\[\]"]+')
_WORD = re.compile(r'"[^"]*"|\S+')
_DRAWN = ("graphics", "LabelGraphics", "hierarchic", "directed", "Creator", "Version")
_EDGE = re.compile(r"(\S+)[ \t]+(\S+)(?:[ \t]+(-?[\d.]+(?:[eE]-?\d+)?|\{.*\}))?")

_node = functools.partial(row_id, "node")
"""The id of a node, which a number may call."""


def read_gml(path: Path, intake: Intake) -> None:
    """Take the nodes and edges of a GML file.

    Raises:
        JaxkgError: it breaks off, or is nested deeper than 64 levels.
    """
    whole: dict[str, list[Any]] = {}
    around, key, line = [whole], "", 0
    for line, text in numbered_lines(path, intake):
        for token in () if text.lstrip().startswith("#") else _TOKEN.findall(text):
            if token == "]" and len(around) > 1 and not key:
                around.pop()
            elif token == "[" and key and len(around) < DEEPEST:
                around[-1].setdefault(key, []).append(inner := {})
                around, key = [*around, inner], ""
            elif token in "[]":
                raise JaxkgError(f"{path}:{line}: not GML: a bracket {token!r} out of place")
            elif not key:
                key = token
            else:
                around[-1].setdefault(key, []).append(html.unescape(token.strip('"')))
                key = ""
    if key or len(around) > 1:
        raise JaxkgError(f"{path}:{line}: not GML: it breaks off")
    graphs = [graph for graph in whole.get("graph", []) if isinstance(graph, dict)]
    parts = {
        f"{kind}s": [_plain(item, intake) for graph in graphs for item in graph.get(kind, [])]
        for kind in ("node", "edge")
    }
    read_jsonl(path, intake, {kind: records for kind, records in parts.items() if records})


def _plain(record: Any, intake: Intake) -> Any:
    if not isinstance(record, dict):
        return record
    drawn = [key for key in record if key in _DRAWN]
    intake.leave_out("attributes that say how things are drawn", len(drawn))
    said = {
        key: [_plain(item, intake) for item in v] for key, v in record.items() if key not in drawn
    }
    return {key: v[0] if len(v) == 1 else v for key, v in said.items()}


def read_pajek(path: Path, intake: Intake) -> None:
    """Take the vertices, arcs and edges of a Pajek file.

    Raises:
        JaxkgError: it holds a matrix; a line has no two ends more often than is tolerated.
    """
    part, relation = "", LINKED
    for number, line in numbered_lines(path, intake):
        words = [word.strip('"') for word in _WORD.findall(line)]
        source = source_of(path, number, intake)
        if not words or line.startswith("%"):
            continue
        if line.startswith("*"):
            part, relation = words[0].lower(), words[2] if len(words) > 2 else LINKED
            if part == "*matrix":
                raise JaxkgError(f"{path}:{number}: a matrix of Pajek; save it as arcs")
        elif part == "*vertices":
            intake.name(_node(words[0]), (*words[1:2], words[0])[0] or words[0])
        elif part not in ("*arcs", "*edges", "*arcslist", "*edgeslist"):
            intake.leave_out(f"lines of {part or 'no part'}")
        elif len(words) < 2:
            intake.bad.note(path, number, line, "no two ends", "1 2 1.0")
        elif part.endswith("list"):
            for end in words[1:]:
                intake.fact(_node(words[0]), relation, _node(end), source)
        else:
            said = dict(zip(words[3::2], words[4::2])).get("l", relation)
            weight = {"weight": words[2:3]} if words[2:3] != ["1"] else {}
            intake.qualified(_node(words[0]), said or relation, _node(words[1]), weight, source)


def read_tgf(path: Path, intake: Intake) -> None:
    """Take lines of nodes, `id label`, and behind a `#` of edges, `id id label`.

    Raises:
        JaxkgError: an edge has no two ends more often than is tolerated.
    """
    edges = False
    for number, line in numbered_lines(path, intake):
        if line.strip() == "#":
            edges = True
        elif line.strip() and not edges:
            node, _, label = line.strip().partition(" ")
            intake.name(_node(node), label.strip() or node)
        elif words := line.split(None, 2):
            if len(words) < 2:
                intake.bad.note(path, number, line, "no two ends", "1 2 label")
            else:
                relation = words[2].strip() if len(words) > 2 else LINKED
                source = source_of(path, number, intake)
                intake.fact(_node(words[0]), relation, _node(words[1]), source)


def read_edges(path: Path, intake: Intake) -> None:
    """Take lines of two ends, and a weight, parted by blanks; those from `#` or `%` on are none.

    Raises:
        JaxkgError: a line is none more often than is tolerated.
    """
    sized, first, weight = False, True, "weight"
    for number, line in numbered_lines(path, intake):
        if not line.strip() or line.startswith(("#", "%")):
            sized |= line.startswith("%%MatrixMarket")
        elif sized:
            sized = False  # rows, columns and entries of a matrix
            first = False
        elif first and (header := _header(line)):
            first, weight = False, header[2]
        elif not (match := _EDGE.fullmatch(line.strip())):
            intake.bad.note(path, number, line, "no two ends", "1 2, or 1 2 0.5")
        else:
            said = re.findall(r"['\"](\w+)['\"]: ([^,{}]+)", match[3] or "")
            properties = {key: [value.strip("'\" ")] for key, value in said}
            properties |= {weight: [match[3]]} if match[3] and match[3][0] != "{" else {}
            first = False
            source = source_of(path, number, intake)
            intake.qualified(_node(match[1]), LINKED, _node(match[2]), properties, source)


def _header(line: str) -> list[str]:
    """The three words of a header of edges with a weight; none of another line."""
    words = line.split()
    return words if len(words) == 3 and words[2][0].isalpha() else []


def read_sif(path: Path, intake: Intake) -> None:
    """Take lines of Cytoscape, `head relation tail tail ...`, parted by tabs where there are some.

    Raises:
        JaxkgError: a line has two words more often than is tolerated.
    """
    for number, line in numbered_lines(path, intake):
        words = [word.strip() for word in (line.split("\t") if "\t" in line else line.split())]
        if len(words) == 2:
            intake.bad.note(path, number, line, "no tail", "A activates B")
        for tail in filter(None, words[2:]):
            intake.fact(words[0], words[1], tail, source_of(path, number, intake))


def _are_edges(head: Head) -> Sniff:
    lines = [line for line in head.lines if line[0] not in "#%"][:50]
    lines = lines if head.is_whole else lines[:-1]
    weighed = len(lines) > 2 and bool(_header(lines[0]))
    lines = lines[int(weighed) :]
    sizes = {len(line.split(None, 2)) for line in lines}
    fit = bool(lines) and len(sizes) == 1 and all(map(_EDGE.fullmatch, lines))
    if fit and head.end in (".edgelist", ".edges", ".mtx", ".ncol"):
        return Sniff(0.9, f"its name ends in {head.end!r}, and its lines are two ends")
    numbers = fit and all(word.isdecimal() for line in lines for word in line.split()[:2])
    if weighed and fit and sizes == {3} and head.end in ("", ".txt", ".links"):
        return Sniff(0.55, "its lines are two ends and a number below a header of three words")
    are_numbers = numbers and head.end in ("", ".txt", ".net", ".dat", ".graph") and len(lines) > 1
    return Sniff(0.55, "its lines are two numbers") if are_numbers else NO


_ABOVE = r"(?:\s|#[^\n]*\n|(?:Creator|Version|comment|directed)\s[^\n]*\n)*"
FORMATS = (
    Format("gml", "nodes and edges in GML, as igraph and Gephi write",
           begins(rf"\A{_ABOVE}graph\s*\[", 0.65, "it starts with 'graph ['",
                  ends=".gml", both=0.9), read_gml),
    Format("pajek", "vertices and arcs, as Pajek writes",
           begins(r"(?i)\A(?:\s|%[^\n]*\n)*\*(?:vertices|network)", 0.65,
                  "it starts with '*Vertices'", ends=".net .paj", both=0.9), read_pajek),
    Format("tgf", "the trivial graph format",
           begins(r"\A(?:[^\s#]\S*(?: .*)?\n)+#[ \t]*\n(?:\S+ \S+.*\n?)+", 0.65,
                  "it has lines of nodes, '#', lines of edges", ends=".tgf", both=0.9), read_tgf),
    Format("sif", "Cytoscape's simple interactions", named(".sif", score=0.9), read_sif),
    Format("edges", "lines of two ends parted by blanks, and perhaps a weight",
           _are_edges, read_edges),
)  # fmt: skip
