"""Statements about statements (RDF 1.2, RDF-star): a statement as a node of the graph."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import IO, Any

from jaxkg.errors import JaxkgError

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
REIFIES, SUBJECT, OBJECT = f"{RDF}reifies", f"{RDF}subject", f"{RDF}object"

_DEEPEST = 100
_SAID = 4
_GIVEN = re.compile(r"[a-f][0-9a-f]{15,31}")


class Quoted:
    """Nodes that stand for statements, and what a file calls its nodes without a name.

    A node is what reifies the statement, or, of a statement that is an object itself, the
    statement as N-Triples write it.

    Args:
        prefix: of the ids of blank nodes.

    Attributes:
        made_up: whether the file may have blank nodes without a label, for which the parser makes
            up another one each time.
    """

    def __init__(self, prefix: str = "") -> None:
        self.made_up, self._prefix = True, prefix
        self._parts: dict[str, tuple[str, str, str]] = {}
        self._numbers: dict[str, int] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def predicate(self, node: str) -> str:
        """The predicate of a statement."""
        return self._parts[node][1]

    def blank(self, name: str) -> str:
        """The id of a blank node: as labelled, else by its number, where the parser made one up.

        A file read again is the same graph. No label in a file holds the mark.
        """
        if self.made_up and _GIVEN.fullmatch(name):
            name = f"#{self._numbers.setdefault(name, len(self._numbers) + 1)}"
        return f"_:{self._prefix}{name}"

    def take(self, node: str, parts: tuple[str, str, str]) -> bool:
        """Take a statement (ids of subject, predicate, object); False where it was taken before."""
        known = self._parts.get(node) == parts
        self._parts.setdefault(node, parts)
        return not known

    def names(
        self, shown: Callable[[str], str], called: Callable[[str], str], own: Collection[str]
    ) -> Iterator[tuple[str, str]]:
        """Every node and the statement in words.

        Args:
            shown: the name of an entity that is no statement.
            called: the words of a predicate.
            own: nodes that have a name of their own, by which others speak of them.
        """

        def said(node: str, *around: str) -> str:
            subject, predicate, value = self._parts[node]
            ends = (end(part, node, *around) for part in (subject, value))
            return f" {called(predicate)} ".join(ends)

        def end(node: str, *around: str) -> str:
            told = node in self._parts and node not in own
            # Statements may be about one another in circles.
            if told and node not in around and len(around) < _SAID:
                return f"({said(node, *around)})"
            return shown(node)

        for node in self._parts:
            yield node, said(node)


class ShallowFile:
    """A file whose statements are nested no deeper than the parser's stack lasts."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self._path, self._file = path, file
        self._rest, self._open = b"", 0

    def read(self, size: int = -1) -> bytes:
        """The next bytes.

        Raises:
            JaxkgError: a statement in them is nested too deeply.
        """
        data = self._file.read(size)
        window = self._rest + data
        self._rest = window[-2:]
        if b"<<(" in window or self._open:
            for place, piece in enumerate(window.split(b")>>")):
                self._open = (0 if place else self._open) + piece.count(b"<<(")
                if self._open > _DEEPEST:
                    raise JaxkgError(
                        f"{self._path}: statements nested deeper than {_DEEPEST} levels"
                    )
        return data


def written(term: Any, quoted: Quoted) -> str:
    """A term as N-Triples write it, its blank nodes by their ids."""
    import pyoxigraph

    if isinstance(term, pyoxigraph.BlankNode):
        return quoted.blank(term.value)
    if isinstance(term, pyoxigraph.Triple):
        parts = (written(part, quoted) for part in (term.subject, term.predicate, term.object))
        return f"<<( {' '.join(parts)} )>>"
    return str(term)
