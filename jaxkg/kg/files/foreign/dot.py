"""Graphs in Graphviz's DOT.

A node is called by its id and named by its label; what an edge is, its label says. A node of a
cluster with a label is part of it. How things are drawn is left out. Source:
https://graphviz.org/doc/info/lang.html.
"""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, NoReturn

from jaxkg.errors import JaxkgError
from jaxkg.kg.files.exports import LINKED
from jaxkg.kg.files.foreign.lines import numbered_lines, source_of
from jaxkg.kg.files.protocol import Format, Intake, begins, named, surest

_TOKEN = re.compile(
    r"(?P<blank>\s+|//[^\n]*|\#[^\n]*|/\*.*?\*/)|(?P<quoted>\"(?:[^\"\\]|\\.)*\")"
    r"|(?P<name>[^\W\d]\w*|-?(?:\.\d+|\d+(?:\.\d*)?))|(?P<mark>->|--|[^\s\w\"])",
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
    text = "\n".join(line for _, line in numbered_lines(path, intake))
    _Graph(path, text, intake).read()


class _Token(NamedTuple):
    kind: str
    text: str
    at: int


class _Graph:
    """Follows the tokens of a file."""

    def __init__(self, path: Path, text: str, intake: Intake) -> None:
        self._path, self._text, self._intake, self._at = path, text, intake, 0
        self._tokens = [*self._scan(), _Token("end", "", len(text)), _Token("end", "", len(text))]

    def read(self) -> None:
        while self._peek():
            self._accept("strict")
            if not self._accept("digraph"):
                self._expect("graph")
                self._intake.tell("edges without a direction read as they are written")
            if self._peek() != "{":
                self._id()
            self._expect("{")
            self._statements({}, 0)

    def _scan(self) -> Iterator[_Token]:
        at, text = 0, self._text
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None or (match[0] == "/" and text.startswith("/*", at)):
                self._broken(at, "a quote or comment that is not closed")
            start, at, kind, token = at, match.end(), str(match.lastgroup), match[0]
            if token == "<":  # a label in HTML
                depth = 1
                while depth and at < len(text):
                    depth += (text[at] == "<") - (text[at] == ">")
                    at += 1
                if depth:
                    self._broken(start, "a label in <> that is not closed")
                kind, token = "quoted", re.sub(r"<[^<>]*>", " ", text[start + 1 : at - 1])
                token = html.unescape(token)
            elif kind == "quoted":
                token = re.sub(r"\\([nlr\n])", " ", token[1:-1]).replace('\\"', '"')
            if kind != "blank":
                yield _Token(kind, token, start)

    def _broken(self, at: int, why: str) -> NoReturn:
        line = self._text.count("\n", 0, at) + 1
        raise JaxkgError(f"{self._path}:{line}: not DOT: {why}")

    def _fail(self, expected: str) -> NoReturn:
        kind, text, at = self._tokens[self._at]
        found = "its end" if kind == "end" else repr(text[:40])
        self._broken(at, f"{found} where {expected} should be")

    def _peek(self) -> str:
        """The next word in small letters, or mark; a quote for what is quoted, "" at the end."""
        kind, text, _ = self._tokens[self._at]
        return '"' if kind == "quoted" else text.lower()

    def _accept(self, *words: str) -> bool:
        found = self._peek() in words
        self._at += found
        return found

    def _expect(self, word: str) -> None:
        if not self._accept(word):
            self._fail(repr(word))

    def _id(self) -> str:
        kind, text, _ = self._tokens[self._at]
        if kind not in ("name", "quoted"):
            self._fail("a name")
        self._at += 1
        while kind == "quoted" and self._accept("+"):
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
        drawn = [key for key in said if key not in _MEANT]
        if drawn:
            self._intake.leave_out("attributes that say how things are drawn", len(drawn))
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
            word, after = self._peek(), self._tokens[self._at + 1].text
            if word in ("node", "graph", "edge") and after == "[":
                self._at += 1
                said = self._attributes()
                label = said.get("label", label) if word == "graph" else label
                of_edges = {**of_edges, **said} if word == "edge" else of_edges
            elif after == "=" and self._tokens[self._at].kind != "mark":
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
        start = self._tokens[self._at].at if self._intake.options.by_line else 0
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
        if self._accept("subgraph") and self._peek() != "{":
            self._id()
            if self._peek() != "{":
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
