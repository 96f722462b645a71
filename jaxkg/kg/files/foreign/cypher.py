"""Cypher scripts that make a graph: CREATE and MERGE, with MATCH, SET and UNWIND around them.

Nothing is executed but what makes nodes and relations of values that the script itself spells out:
APOC's exports, `:play movies`, hand-written seeds. Nodes that MERGE names by their properties are
one node, also within a pattern. What is not understood is counted by its clause. Source: the
openCypher grammar (https://opencypher.org/resources/).
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

from jaxkg.kg.files.foreign.lines import END, Token, Tokens, numbered_lines, scan, statements
from jaxkg.kg.files.json.read import read_jsonl
from jaxkg.kg.files.protocol import Format, Intake, begins, named, surest
from jaxkg.kg.files.tables.record_names import folded
from jaxkg.words import relation_words

_TOKEN = re.compile(
    r"(?P<blank>\s+|//[^\n]*|/\*.*?\*/)|(?P<text>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
    r"|(?P<name>`(?:[^`]|``)*`|[^\W\d]\w*)|(?P<number>\d+\.\d+(?:[eE][+-]?\d+)?|\d+(?:[eE]\d+)?)"
    r"|(?P<mark>\+=|[^\s'\"`])",
    re.DOTALL,
)
_ESCAPED = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_CLAUSES = {
    "CREATE", "MERGE", "MATCH", "OPTIONAL", "SET", "ON", "UNWIND", "WITH", "RETURN", "WHERE",
    "DELETE", "DETACH", "REMOVE", "LOAD", "CALL", "FOREACH", "USE", "DROP", "USING", "UNION",
    "ORDER", "LIMIT", "SKIP", "FOR", "REQUIRE",
}  # fmt: skip
_SCHEMA = {"CONSTRAINT", "INDEX", "UNIQUE", "FULLTEXT", "RANGE", "TEXT", "VECTOR", "LOOKUP"}
_MOST = 100_000
"""Combinations of matched nodes up to which a clause is followed."""
_DEEPEST = 64
_IMPORT = "UNIQUE IMPORT LABEL", "UNIQUE IMPORT ID"
"""What APOC marks nodes with while it imports them."""


@dataclasses.dataclass(eq=False)
class Node:
    """A node by its number in the file, with what it is and values, or lists of them, by name."""

    number: int
    labels: list[str]
    properties: dict[str, Any]


@dataclasses.dataclass(eq=False)
class Edge:
    """A relation between two nodes."""

    head: Node
    tail: Node
    kind: str
    properties: dict[str, Any]


class _Odd(Exception):
    """What is not understood."""


def _meaning(match: re.Match[str]) -> tuple[str, str]:
    kind, token = str(match.lastgroup), match[0]
    if kind == "text":
        return kind, _ESCAPED.sub(_unescaped, token[1:-1])
    return ("quoted", token[1:-1].replace("``", "`")) if token[0] == "`" else (kind, token)


def _unescaped(found: re.Match[str]) -> str:
    code = found[1]
    if len(code) == 5:
        return chr(int(code[1:], 16)) if not 0xD800 <= int(code[1:], 16) < 0xE000 else "\ufffd"
    return {"n": "\n", "t": "\t", "r": "\r", "b": "", "f": ""}.get(code, code)


def read_cypher(path: Path, intake: Intake) -> None:
    """Take the nodes and relations that a script makes.

    Raises:
        JaxkgError: a text or a comment that is not closed.
    """
    script = _Script()
    lines, remarks = numbered_lines(path, intake), (":", "//")  # those of the shell, too
    found = statements(path, lines, remarks, lambda text: scan(text, _TOKEN, _meaning), intake)
    for _, tokens in found:
        try:
            script.run(tokens)
        except _Odd as odd:
            intake.leave_out(str(odd))
    _take(path, script.nodes, script.edges.values(), intake)


def _take(path: Path, nodes: Iterable[Node], edges: Iterable[Edge], intake: Intake) -> None:
    """Take nodes and relations as `jaxkg.kg.files.json` does those of a document."""
    ids: dict[Node, str] = {}
    records: list[dict[str, Any]] = []
    for node in nodes:
        sorts = [relation_words(label) for label in node.labels if label != _IMPORT[0]]
        said = {key: value for key, value in node.properties.items() if key != _IMPORT[1]}
        if not sorts and not said:
            intake.leave_out("nodes of which nothing is said, and their relations")
            continue
        sort = sorts[0] if sorts else "node"
        ids[node] = f"{sort} {node.number}"
        own = folded(f"{sort}name")
        said = {"name" if folded(key) == own else key: value for key, value in said.items()}
        records.append({"id": ids[node], "is a": sorts, "properties": said})
    joined = [
        {"source": ids[edge.head], "target": ids[edge.tail], "relationshipType": edge.kind}
        | edge.properties
        for edge in edges
        if edge.head in ids and edge.tail in ids
    ]
    read_jsonl(path, intake, {"nodes": records, "edges": joined})


Row = dict[str, Any]


class _Script(Tokens):
    """What a script has made so far, and the statement that is being read.

    Attributes:
        nodes: in the order in which they were made.
        edges: by what merges them, or by number.
    """

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.edges: dict[Any, Edge] = {}
        self._index: dict[tuple[str, str, str], list[Node]] = {}
        super().__init__()
        self._depth = 0

    def run(self, tokens: list[Token]) -> None:
        """Follow a statement.

        Raises:
            _Odd: a clause is not understood; what was before it is done.
        """
        self._tokens, self._at, self._depth = tokens, 0, 0
        rows: list[Row] = [{}]
        while self._at < len(tokens):
            clause = self._word().upper()
            if clause in ("RETURN", "DROP") or (
                clause == "CREATE" and self._peek_word() in _SCHEMA
            ):
                return  # it makes nothing
            if clause == "OPTIONAL":
                continue
            if clause == "ON":
                self._word()  # ON CREATE and ON MATCH say the same here
                continue
            if clause in ("CREATE", "MERGE"):
                for row in self._each(rows):
                    for _ in self._parts():
                        self._path(row, clause)
            elif clause == "MATCH":
                rows = self._match(rows)
            elif clause == "SET":
                self._set(rows)
            elif clause == "UNWIND":
                rows = self._unwind(rows)
            elif clause == "WITH":
                rows = self._with(rows)
            else:
                raise _Odd(f"statements from {clause[:20] or 'an odd mark'} on")

    # What a statement is made of.

    def _peek_word(self) -> str:
        return self._peek().text.upper() if self._peek().kind == "name" else ""

    def _fail(self, expected: str) -> NoReturn:
        raise _Odd(f"statements with {self._peek().text[:10]!r} where {expected} should be")

    def _value(self, row: Row) -> Any:
        """A value that the script spells out, or that a row holds."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise _Odd(f"values nested deeper than {_DEEPEST}")
        value = self._plain_value(row)
        self._depth -= 1
        return value

    def _plain_value(self, row: Row) -> Any:
        token = self._next()
        if token.kind in ("text", "number"):
            return token.text
        if token.says("-", "+") and self._peek().kind == "number":
            return ("-" if token.text == "-" else "") + self._next().text
        if token.says("["):
            return [self._value(row) for _ in self._until("]")]
        if token.says("{"):
            self._at -= 1
            return self._map(row)
        if token.kind not in ("name", "quoted"):
            raise _Odd(f"statements with a value that starts with {token.text[:10]!r}")
        word = token.text.lower()
        if token.kind == "name" and word in ("true", "false", "null"):
            return None if word == "null" else word
        if self._accept("("):
            inner = [self._value(row) for _ in self._until(")")]
            if len(inner) == 1 and isinstance(inner[0], str):
                return inner[0]  # date('2020-01-01') and the like
            raise _Odd(f"values of the function {token.text[:20]}")
        if token.text not in row:
            raise _Odd("values that the script does not spell out")
        value = row[token.text]
        while self._accept("."):
            key = self._word()
            value = value.properties if isinstance(value, Node | Edge) else value
            value = value.get(key) if isinstance(value, Mapping) else None
        return value

    def _until(self, closes: str) -> Iterator[None]:
        """Once for each of what commas part before a mark that closes it."""
        while not self._accept(closes):
            yield
            if not self._accept(",") and self._peek().text != closes:
                raise _Odd("values that are worked out")

    def _map(self, row: Row) -> dict[str, Any]:
        found: dict[str, Any] = {}
        self._expect("{")
        for _ in self._until("}"):
            key = self._word()
            self._expect(":")
            found[key] = self._value(row)
        return found

    # What clauses do.

    def _each(self, rows: list[Row]) -> Iterator[Row]:
        """The rows, each of which sees the same tokens; ends after them."""
        start = self._at
        if not rows:
            # What it says is read all the same, for what comes next.
            raise _Odd("statements about nodes that the script does not make")
        for row in rows:
            self._at = start
            yield row

    def _parts(self) -> Iterator[None]:
        """Once for each of what commas part."""
        yield
        while self._accept(","):
            yield

    def _path(self, row: Row, clause: str) -> None:
        if self._peek(1).says("=") and self._is_word():
            self._at += 2  # the path has a name
        node = self._node(row, clause)
        while self._peek().text in ("-", "<"):
            back = self._accept("<")
            self._expect("-")
            name, types, said = "", list[str](), dict[str, Any]()
            if self._accept("["):
                name = self._word() if self._is_word() else ""
                types = self._labels()
                said = self._map(row) if self._peek().text == "{" else {}
                self._expect("]")
            self._expect("-")
            forth = self._accept(">")
            other = self._node(row, clause)
            if len(types) != 1:
                raise _Odd("relations without one type")
            if back and forth:
                raise _Odd("relations in both directions")
            ends = (other, node) if back else (node, other)
            key: Any = len(self.edges)
            if clause == "MERGE":
                key = id(ends[0]), types[0], id(ends[1]), repr(sorted(said.items()))
            edge = self.edges.setdefault(key, Edge(*ends, types[0], said))
            if name:
                row[name] = edge
            node = other

    def _labels(self) -> list[str]:
        found = []
        while self._accept(":") or (found and self._accept("&")):
            found.append(self._word())
        return found

    def _node(self, row: Row, clause: str) -> Node:
        name, labels, said = self._node_pattern(row)
        if isinstance(row.get(name), Node) and not labels and not said:
            return row[name]
        found = self._found(labels, said, 1) if clause == "MERGE" and (labels or said) else []
        node = found[0] if found else Node(len(self.nodes), [], {})
        if not found:
            self.nodes.append(node)
            self._change(node, labels, said)
        if name:
            row[name] = node
        return node

    def _node_pattern(self, row: Row) -> tuple[str, list[str], dict[str, Any]]:
        self._expect("(")
        name = self._word() if self._is_word() else ""
        labels = self._labels()
        said: dict[str, Any] = {}
        if self._peek().text == "{":
            said = self._map(row)
        elif self._is_word():
            given = self._value(row)
            said = dict(given) if isinstance(given, Mapping) else {}
        self._expect(")")
        return name, labels, said

    def _change(self, node: Node, labels: Iterable[str], said: Mapping[str, Any]) -> None:
        """Say more of a node, and find it by that from now on."""
        node.labels.extend(label for label in labels if label not in node.labels)
        node.properties.update(said)
        for key, value in node.properties.items():
            for label in ("", *node.labels):
                entry = self._index.setdefault((label, key, repr(value)), [])
                if not entry or entry[-1] is not node:
                    entry.append(node)

    def _found(self, labels: list[str], said: Mapping[str, Any], most: int = _MOST) -> list[Node]:
        """The nodes that have labels and properties."""
        some = self.nodes
        for key, value in itertools.islice(said.items(), 1):
            some = self._index.get((labels[0] if labels else "", key, repr(value)), [])
        fits = (
            node
            for node in dict.fromkeys(some)
            if {*labels} <= {*node.labels}
            and all(node.properties.get(key) == value for key, value in said.items())
        )
        return list(itertools.islice(fits, most))

    def _match(self, rows: list[Row]) -> list[Row]:
        found: list[Row] = []
        start = end = self._at
        for row in self._each(rows):
            patterns: list[tuple[str, list[str], dict[str, Any]]] = []
            for _ in self._parts():
                patterns.append(self._node_pattern(row))
                if self._peek().text in ("-", "<"):
                    raise _Odd("statements that match relations")
            where = self._where(row) if self._peek_word() == "WHERE" else []
            end = self._at
            choices = []
            for name, labels, said in patterns:
                if isinstance(row.get(name), Node) and not labels and not said:
                    continue
                told = {**said, **{key: value for of, key, value in where if of == name}}
                choices.append([(name, node) for node in self._found(labels, told)])
            combined = itertools.product(*choices)
            found += [row | dict(nodes) for nodes in itertools.islice(combined, _MOST + 1)]
            if len(found) > _MOST:
                self._at = start
                raise _Odd(f"statements that match more than {_MOST:,} combinations of nodes")
        self._at = end
        return found

    def _where(self, row: Row) -> list[tuple[str, str, Any]]:
        told: list[tuple[str, str, Any]] = []
        while self._peek_word() in ("WHERE", "AND"):
            self._at += 1
            of = self._word()
            self._expect(".")
            key = self._word()
            self._expect("=")
            told.append((of, key, self._value(row)))
        if self._peek() != END and self._peek_word() not in _CLAUSES:
            raise _Odd("conditions other than equality")
        return told

    def _set(self, rows: list[Row]) -> None:
        for row in self._each(rows):
            for _ in self._parts():
                thing = row.get(self._word())
                if self._peek().text == ":":
                    labels, said = self._labels(), {}
                elif self._accept("."):
                    labels, key = [], self._word()
                    self._expect("=")
                    said = {key: self._value(row)}
                else:
                    labels = []
                    if not self._accept("+="):
                        self._expect("=")
                    given = self._value(row)
                    said = dict(given) if isinstance(given, Mapping) else {}
                if isinstance(thing, Node):
                    self._change(thing, labels, said)
                elif isinstance(thing, Edge):
                    thing.properties.update(said)

    def _unwind(self, rows: list[Row]) -> list[Row]:
        found: list[Row] = []
        for row in self._each(rows):
            values = self._value(row)
            if self._word().upper() != "AS":
                raise _Odd("statements from UNWIND on")
            name = self._word()
            found += [{**row, name: v} for v in (values if isinstance(values, list) else [values])]
        return found or [{}]

    def _with(self, rows: list[Row]) -> list[Row]:
        if self._accept("*"):
            return rows
        pairs: dict[str, str] = {}
        for _ in self._parts():
            name = self._word()
            as_other = self._peek_word() == "AS"
            self._at += as_other
            pairs[self._word() if as_other else name] = name
        return [{new: row[old] for new, old in pairs.items() if old in row} for row in rows]


_ENDS = ".cypher", ".cql", ".cyp"
FORMATS = (
    Format("cypher", "a Cypher script of CREATE and MERGE",
           surest(named(*_ENDS),
                  begins(r"(?i)^\s*(CREATE|MERGE)\s*\(|^\s*UNWIND\s*\[", 0.8,
                         "it has a line with CREATE (", ends=" ".join(_ENDS), both=0.9)),
           read_cypher),
)  # fmt: skip
