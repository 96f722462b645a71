"""Graphs in Graphviz's DOT.

A node is called by its id and named by its label; what an edge is, its label says. A node of a
cluster with a label is part of it. How things are drawn is left out. Source:
https://graphviz.org/doc/info/lang.html.
"""

from __future__ import annotations

import html
import itertools
import re
from pathlib import Path
from typing import NoReturn

from jaxkg.errors import JaxkgError
from jaxkg.kg.files.exports import LINKED
from jaxkg.kg.files.foreign.lines import END, Tokens, numbered_lines, scan, source_of
from jaxkg.kg.files.protocol import Format, Intake, begins, named, surest

_TOKEN = re.compile(
    r"(?P<blank>\s+|//[^\n]*|\#[^\n]*|/\*.*?\*/)|(?P<quoted>\"(?:[^\"\\]|\\.)*\")"
    r"|(?P<html><[^<>]*(?:<[^<>]*(?:<[^<>]*(?:<[^<>]*>[^<>]*)*>[^<>]*)*>[^<>]*)*>)"
    r"|(?P<name>[^\W\d]\w*|-?(?:\.\d+|\d+(?:\.\d*)?))|(?P<mark>->|--|[^\s\w\"<])",
    re.DOTALL,
)
_BEGINS = r"(?is)\A(?:\s|//[^\n]*\n|/\*.*?\*/|#[^\n]*\n)*(strict\s+)?(di)?graph\b[^{;=\[>-]*\{"
_SAYING = ("label", "xlabel", "relation", "type", "kind")
"""Attributes that say what an edge is, the first that is there."""
_MEANT = {*_SAYING, "tooltip", "comment", "name", "weight"}
"""Attributes that say something of a thing; the others say how it is drawn."""
_DEEPEST, _MOST = 200, 1_000_000
"""Levels of subgraphs, and edges that one line may draw between groups."""


def read_dot(path: Path, intake: Intake) -> None:
    """Take the nodes and edges of a file's graphs.

    Raises:
        JaxkgError: it is no DOT, or breaks off.
    """
    _Graph(path, "\n".join(line for _, line in numbered_lines(path, intake)), intake).read()


def _meaning(match: re.Match[str]) -> tuple[str, str]:
    kind, token = str(match.lastgroup), match[0]
    if kind == "html":
        return "quoted", html.unescape(re.sub(r"<[^<>]*>", " ", token[1:-1]))
    if kind == "quoted":
        token = re.sub(r"\\([nlr\n])", " ", token[1:-1]).replace('\\"', '"')
    return kind, token


class _Graph(Tokens):
    """Follows the tokens of a file."""

    def __init__(self, path: Path, text: str, intake: Intake) -> None:
        super().__init__(scan(text, _TOKEN, _meaning))
        self._path, self._text, self._intake = path, text, intake

    def read(self) -> None:
        if self._tokens and self._tokens[-1].kind == "open":
            self._at = len(self._tokens) - 1
            self._fail("what closes it")
        while self._peek() != END:
            self._accept("STRICT")
            if not self._accept("DIGRAPH"):
                self._expect("GRAPH")
                self._intake.tell("edges without a direction read as they are written")
            if not self._peek().says("{"):
                self._id()
            self._expect("{")
            self._statements({}, 0)

    def _fail(self, expected: str) -> NoReturn:
        kind, text, at, _ = self._peek()
        why = f"{repr(text[:40]) if text else 'its end'} where {expected} should be"
        if kind == "open":
            why = "a quote or comment that is not closed"
            why = "a label in <> that is not closed" if text == "<" else why
        at = len(self._text) if kind == "end" else at
        line = self._text.count("\n", 0, at) + 1
        raise JaxkgError(f"{self._path}:{line}: not DOT: {why}")

    def _id(self) -> str:
        is_quoted, text = self._peek().kind == "quoted", self._word()
        while is_quoted and self._accept("+"):
            text += self._id()
        return " ".join(text.split())

    def _attributes(self) -> dict[str, str]:
        """The attributes in brackets that say something."""
        said: dict[str, str] = {}
        while self._accept("["):
            while not self._accept("]"):
                key = self._id().lower()
                said[key] = self._id() if self._accept("=") else "true"
                self._accept(",", ";")
        drawn = len(said.keys() - _MEANT)
        self._intake.leave_out("attributes that say how things are drawn", drawn)
        return {key: value for key, value in said.items() if key in _MEANT and value}

    def _statements(self, of_edges: dict[str, str], depth: int) -> list[str]:
        """Read up to a brace that closes; the nodes that were named.

        Args:
            of_edges: attributes of edges that say nothing else.
        """
        if depth > _DEEPEST:
            self._fail(f"no more than {_DEEPEST} levels of subgraphs")
        nodes, label = list[str](), ""
        while not self._accept("}"):
            if self._accept(";", ","):
                continue
            token, after = self._peek(), self._peek(1)
            word = token.text.lower()
            if token.says("NODE", "GRAPH", "EDGE") and after.says("["):
                self._at += 1
                said = self._attributes()
                label = said.get("label", label) if word == "graph" else label
                of_edges = {**of_edges, **said} if word == "edge" else of_edges
            elif after.says("=") and token.kind != "mark":
                self._id()
                self._at += 1
                value = self._id()
                label = value if word == "label" else label
            else:
                nodes += self._chain(of_edges, depth)
        for node in dict.fromkeys(nodes) if depth and label else ():
            self._intake.fact(node, "part of", label)
        return nodes

    def _chain(self, of_edges: dict[str, str], depth: int) -> list[str]:
        """Take a node, or edges from group to group of nodes."""
        start = self._peek().at if self._intake.options.by_line else 0
        source = source_of(self._path, self._text.count("\n", 0, start) + 1, self._intake)
        groups = [self._group(of_edges, depth)]
        while self._accept("->", "--"):
            groups.append(self._group(of_edges, depth))
        said = self._attributes()
        nodes = [node for group in groups for node in group]
        if len(groups) == 1:
            self._describe(nodes, said, source)
            return nodes
        said = {**of_edges, **said}
        key = next((key for key in _SAYING if said.get(key)), "")
        word = said.pop(key, LINKED).lstrip("^ ") or LINKED
        for heads, tails in itertools.pairwise(groups):
            if len(heads) * len(tails) > _MOST:
                self._fail(f"no more than {_MOST:,} edges between two groups")
            for head, tail in itertools.product(heads, tails):
                qualifiers = {key: [value] for key, value in said.items()}
                self._intake.qualified(head, word, tail, qualifiers, source)
        return nodes

    def _describe(self, nodes: list[str], said: dict[str, str], source: str) -> None:
        for node, (key, value) in itertools.product(nodes, said.items()):
            # Records have ports and bars in their labels.
            value = " ".join(re.sub(r"<\w+>|[{}|]", " ", value).split())
            if value and key == "label" and value != "\\N":
                self._intake.name(node, value)
            elif value and key != "label":
                self._intake.fact(node, key, value, source)

    def _group(self, of_edges: dict[str, str], depth: int) -> list[str]:
        """A node, or all of a subgraph."""
        if self._accept("SUBGRAPH") and not self._peek().says("{"):
            self._id()
            if not self._peek().says("{"):
                return []
        if self._accept("{"):
            return self._statements(of_edges, depth + 1)
        node = self._id()
        while self._accept(":"):  # a port, a compass point
            self._id()
        return [node] if node else self._fail("a name that is not blank")


FORMATS = (
    Format("dot", "a graph in Graphviz's DOT",
           surest(begins(_BEGINS, 0.95, "it starts with 'graph {' or 'digraph {'"),
                  named(".dot", ".gv")), read_dot),
)  # fmt: skip
