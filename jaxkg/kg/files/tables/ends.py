"""Edges that describe both of their ends in columns: `x_id, x_name, x_type, relation, y_id, ...`.

An end is called by its index or id, named by its name and of the sort that its type says; what
other columns say of it are facts of it, and what they say of neither is said of the edge.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from jaxkg.kg.files.delimited import HEADER, Row
from jaxkg.kg.files.protocol import Intake
from jaxkg.words import relation_words

_PAIRS = (
    ("head", "tail"), ("subject", "object"), ("source", "target"), ("x", "y"), ("from", "to"),
    ("start", "end"), ("1", "2"), ("a", "b"),
)  # fmt: skip
"""What tells the columns of the two ends apart."""
_IDS = ("index", "id", "identifier", "code", "")
_NAMES = ("name", "label", "title")
_SORTS = ("type", "category", "kind", "class")


class EndColumns(NamedTuple):
    """Where a header has the relation, and by what each says the columns of head and tail."""

    relation: int
    head: Mapping[str, int]
    tail: Mapping[str, int]


def end_columns(header: Sequence[str]) -> EndColumns | None:
    """The columns of two ends, each called and described alike; None where there are none.

    >>> end_columns(["relation", "x_id", "x_name", "y_id", "y_name"])
    EndColumns(relation=0, head={'id': 1, 'name': 2}, tail={'id': 3, 'name': 4})
    >>> end_columns(["source", "type", "target"])
    """
    words = [relation_words(name).lower().split() for name in header]
    folded = [name.strip().casefold() for name in header]
    if {"source", "triple"} <= set(folded):  # triples that `to_triples` wrote, with where they were
        return None
    for pair in _PAIRS:
        head, tail = (
            {
                " ".join(w for w in said if w != end): at
                for at, said in enumerate(words)
                if end in said
            }
            for end in pair
        )
        of_ends = {*head.values(), *tail.values()}
        said = [word for word in HEADER[1] if word != "type" or pair in _PAIRS[:3]]
        places = (folded.index(word) for word in said if word in folded)
        relation = next((place for place in places if place not in of_ends), None)
        if relation is None or head.keys() != tail.keys() or len(head) < 2:
            continue
        if not head.keys().isdisjoint(_IDS) and not head.keys().isdisjoint((*_NAMES, *_SORTS)):
            return EndColumns(relation, head, tail)
    return None


def take_ends(
    path: Path, batches: Iterable[list[Row]], columns: EndColumns, intake: Intake
) -> None:
    """Take edges and what they say of their ends, the header in the first row that is not blank."""
    id = next(word for word in _IDS if word in columns.head)
    used = {columns.relation, *columns.head.values(), *columns.tail.values()}
    header: list[str] = []
    known = set[str]()
    for number, row in (
        pair for batch in batches for pair in batch if any(map(str.strip, pair[1]))
    ):
        cells = [cell.strip() for cell in row]
        if not header:
            header = cells
            continue
        ends = [cells[end[id]] if len(cells) == len(header) else "" for end in columns[1:]]
        if not all(ends) or not cells[columns.relation]:
            why = f"{len(cells)} cells for {len(header)} columns, or an end is blank"
            intake.bad.note(path, number, ",".join(row), why, ",".join(header))
            continue
        source = f"{path.name}:{number}" if intake.options.by_line else ""
        ends = [f"node {end}" if end.isdecimal() else end for end in ends]
        for end, places in zip(ends, columns[1:]):
            if end in known:
                continue
            known.add(end)
            for word, cell in ((word, cells[place]) for word, place in places.items()):
                if word in _NAMES and cell:
                    intake.name(end, cell)
                elif word in _SORTS and cell:
                    intake.sort(end, cell)
                elif word != id and cell:
                    intake.fact(end, word, cell, source)
        said = {name: [cells[i]] for i, name in enumerate(header) if i not in used and cells[i]}
        again = relation_words(header[columns.relation]).lower()
        said = {name: v for name, v in said.items() if again not in relation_words(name).lower()}
        intake.qualified(ends[0], cells[columns.relation], ends[1], said, source)
