"""Edges that describe both of their ends in columns: `x_id, x_name, x_type, relation, y_id, ...`.

An end is called by its index or id, named by its name and of the sort that its type says; what
other columns say of it are facts of it, and what they say of neither is said of the edge.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from jaxkg.kg.files.delimited import HEADER, Row
from jaxkg.kg.files.exports import LINKED
from jaxkg.kg.files.protocol import Intake
from jaxkg.words import relation_words

_PAIRS = (
    ("head", "tail"), ("subject", "object"), ("source", "target"), ("x", "y"), ("from", "to"),
    ("start", "end"), ("1", "2"), ("a", "b"),
)  # fmt: skip
"""What tells the columns of the two ends apart."""
_IDS = ("index", "id", "identifier", "code", "")
_NAMES = ("name", "label", "title", "symbol")
_ALIKE = (("x", "y"), ("1", "2"), ("a", "b"))
"""Of these a row that says no relation relates two things alike, and is no journey."""
_SORTS = ("type", "category", "kind", "class")


class EndColumns(NamedTuple):
    """Where a header has the relation, -1 where nowhere, by what each says the columns of head and
    tail, and what these are, "" where nothing says it."""

    relation: int
    head: Mapping[str, int]
    tail: Mapping[str, int]
    sort: str = ""


def end_columns(header: Sequence[str], rows: Sequence[Sequence[str]] = ()) -> EndColumns | None:
    """The columns of two ends, each called and described alike; None where there are none. Of
    several ids and names, some `rows` below tell those of the ends.

    >>> end_columns(["relation", "x_id", "x_name", "y_id", "y_name"])
    EndColumns(relation=0, head={'id': 1, 'name': 2}, tail={'id': 3, 'name': 4}, sort='')
    >>> end_columns(["source", "type", "target"])
    """
    words = [relation_words(name).lower().split() for name in header]
    folded = [name.strip().casefold() for name in header]
    rows = [row for row in rows if len(row) == len(header)]
    if {"source", "triple"} <= set(folded):  # triples that `to_triples` wrote, with where they were
        return None
    for pair in _PAIRS:
        head, tail = (
            {
                " ".join(w for w in said if w != end): n
                for n, said in enumerate(words)
                if end in said
            }
            for end in pair
        )
        if head.keys() != tail.keys() or len(head) < 2:
            continue
        said = [word for word in HEADER[1] if word != "type" or pair in _PAIRS[:3]]
        places = (folded.index(word) for word in said if word in folded)
        relation = next((n for n in places if n not in {*head.values(), *tail.values()}), None)
        if relation is None and pair in _ALIKE:
            shared = set[str].intersection(*({*word.split()} for word in head))
            new = {word: " ".join(w for w in word.split() if w not in shared) for word in head}
            size = {w: len({row[n] for row in rows for n in (head[w], tail[w])}) for w in head}
            # Of several ids and names those of the ends differ from end to end.
            ids = [word for word in head if not {*word.split()}.isdisjoint(_IDS)]
            names = [word for word in head if not {*word.split()}.isdisjoint(_NAMES)]
            id = max(ids, key=lambda word: size[word], default="")
            name = next((word for word in names if size[word] >= 0.9 * size.get(id, 0)), "")
            if id and name and size[id] > 1:
                new |= {id: "id", name: "name"}
                head, tail = ({new[word]: n for word, n in end.items()} for end in (head, tail))
                return EndColumns(-1, head, tail, " ".join(shared))
        known = not head.keys().isdisjoint((*_NAMES, *_SORTS))
        if relation is not None and known and not head.keys().isdisjoint(_IDS):
            return EndColumns(relation, head, tail)
    return None


def take_ends(
    path: Path, batches: Iterable[list[Row]], columns: EndColumns, intake: Intake
) -> None:
    """Take edges and what they say of their ends, the header in the first row that is not blank."""
    id = next(word for word in _IDS if word in columns.head)
    used = {columns.relation, *columns.head.values(), *columns.tail.values()}
    header: list[str] = []
    known, linked = set[str](), LINKED
    intake.has_cells = True
    for number, row in (
        pair for batch in batches for pair in batch if any(map(str.strip, pair[1]))
    ):
        cells = [cell.strip() for cell in row]
        if not header:
            header = cells
            words = relation_words(cells[0]).lower().split()
            if columns.relation < 0 and 0 not in used and words[-1] in _IDS:
                linked = " ".join(words[:-1]) or LINKED
            if columns.relation < 0:
                intake.mean(linked, symmetric=True)
            continue
        ends = [cells[end[id]] if len(cells) == len(header) else "" for end in columns[1:3]]
        relation = cells[columns.relation] if columns.relation >= 0 and all(ends) else linked
        if not all(ends) or not relation:
            why = f"{len(cells)} cells for {len(header)} columns, or an end is blank"
            intake.bad.note(path, number, ",".join(row), why, ",".join(header))
            continue
        source = f"{path.name}:{number}" if intake.options.by_line else ""
        ends = [f"node {end}" if end.isdecimal() else end for end in ends]
        for end, places in zip(ends, columns[1:3]):
            if end in known:
                continue
            known.add(end)
            if columns.sort:
                intake.sort(end, columns.sort)
            for word, cell in ((word, cells[place]) for word, place in places.items()):
                if word in _NAMES and cell:
                    intake.name(end, cell)
                elif word in _SORTS and cell:
                    intake.sort(end, cell)
                elif word != id and cell:
                    intake.fact(end, word, cell, source)
        said = {name: [cells[i]] for i, name in enumerate(header) if i not in used and cells[i]}
        again = relation_words(header[columns.relation]).lower() if columns.relation >= 0 else "\0"
        said = {name: v for name, v in said.items() if again not in relation_words(name).lower()}
        intake.qualified(ends[0], relation, ends[1], said, source)
