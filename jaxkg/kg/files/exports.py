"""Nodes and edges, as graph databases and network tools export them.

Neo4j's headers for its import (`personId:ID(Person)`, `born:int`, `:LABEL`, `:START_ID`, `:TYPE`,
https://neo4j.com/docs/operations-manual/current/tools/neo4j-admin/neo4j-admin-import/), the
node-link document of NetworkX and D3, and the elements of Cytoscape.js. Edges that call their ends
by the numbers of another file's rows are joined by `jaxkg.kg.files.tables.keys.join_ends`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

Columns = Sequence[int | str]

Said = tuple[tuple[str, str, str], list[tuple[str, str]], str]
"""A fact, what is said of it, and where it stands."""


class Edges(NamedTuple):
    """Facts of a file, or part of one, that holds triples.

    Attributes:
        first, last: the first one's place in the encoder, and that after the last one.
        said: what further columns say of them.
    """

    first: int
    last: int
    said: Sequence[Said] = ()


_MARK = re.compile(r"(?P<name>[^:]*):(?P<mark>ID|LABEL|START_ID|END_ID|TYPE)(?:\([^)]*\))?")
_MARKED = {"ID": "id", "LABEL": "type", "START_ID": "head", "END_ID": "tail", "TYPE": "relation"}
_TYPED = re.compile(
    r"(?P<name>[^:]+):(?:int|long|float|double|boolean|byte|short|char|string|point|date|"
    r"localtime|time|localdatetime|datetime|duration)(?:\[\])?(?:\{[^}]*\})?"
)
LINKED = "linked to"
"""The relation of edges that say nothing of what they are."""
DIRECTIONS = {"Directed", "Undirected", "Mutual"}
"""What Gephi writes as an edge's type, which says nothing of what it is either."""
_KIND = re.compile(r"(?:.* )?(?:rel|relation|relationship|edge|link)(?: (?:type|kind|name))?")
_WAYS = ("start", "end"), ("source", "target"), ("from", "to"), ("head", "tail"), ("src", "dst")


def _edges_named(words: Sequence[str]) -> dict[int, str]:
    """Which columns are the ends and the relation of edges whose ends are ids and called so.

    >>> _edges_named(["node_id_start", "node_id_end", "rel_type", "link"])
    {0: 'head', 1: 'tail', 2: 'relation'}
    """
    split = (re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", word) for word in words)
    said = [[word.lower() for word in parts] for parts in split]
    kinds = [place for place, parts in enumerate(said) if _KIND.fullmatch(" ".join(parts))]
    for start, other in _WAYS if kinds else ():
        for place, parts in enumerate(said):
            there = [other if word == start else word for word in parts]
            if there != parts and there in said and [w for w in parts if w != start][-1:] == ["id"]:
                return {place: "head", said.index(there): "tail", kinds[0]: "relation"}
    return {}


def plain_header(cells: Sequence[str]) -> list[str]:
    """The words of a header without Neo4j's marks, or of edges between ids; another one as it is.

    >>> plain_header(["personId:ID(Person)", "name", "born:int", ":LABEL"])
    ['id', 'name', 'born', 'type']
    >>> plain_header([":START_ID", "role", ":END_ID", ":TYPE"]), plain_header(["at:ID", "at:int"])
    (['head', 'role', 'tail', 'relation'], ['id', 'at'])
    >>> plain_header(["name", "note:date"])
    ['name', 'note:date']
    """
    words = [cell.strip() for cell in cells]
    marks = [_MARK.fullmatch(word) for word in words]
    if not any(marks):
        named = _edges_named(words)
        return [named.get(place, cell) for place, cell in enumerate(cells)]
    typed = [_TYPED.fullmatch(word) for word in words]
    return [
        _MARKED[mark["mark"]] if mark else named["name"] if named else word
        for word, mark, named in zip(words, marks, typed)
    ]
