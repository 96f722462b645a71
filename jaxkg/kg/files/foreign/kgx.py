"""Nodes and edges in KGX, the exchange format of biomedical graphs, as TSV.

A node is called by its CURIE, named by its name, and of the sorts that `category` says; a predicate
is a relation without its prefix; what else an edge's columns say is said of the fact. Lines may be
shorter than the header. Source: https://github.com/biolink/kgx/blob/master/specification/kgx-format.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from jaxkg.errors import JaxkgError
from jaxkg.kg.files.foreign.lines import numbered_lines, source_of
from jaxkg.kg.files.protocol import NO, Format, Head, Intake, Sniff
from jaxkg.words import relation_words

_ENDS = ("subject", "predicate", "object")
_ALIASES = ("synonym", "synonyms", "exact_synonym", "related_synonym")
_TOLD_ELSEWHERE = {"relation", "edge_label", "id", "key"}
"""Columns of edges that say the predicate again, or number the edge."""


def _sniff(head: Head) -> Sniff:
    words = set(head.lines[0].split("\t")) if head.lines else set()
    if {*_ENDS} <= words and (len(words) > 3 or "biolink:" in head.text):
        return Sniff(0.95, "its header has subject, predicate and object")
    if {"id", "category"} <= words and "biolink:" in head.text:
        return Sniff(0.95, "its header has id and category, and its sorts are Biolink's")
    return NO


def read_kgx(path: Path, intake: Intake) -> None:
    """Take the nodes, or the edges, of a file.

    Raises:
        JaxkgError: it is of neither; a line has more cells than the header, or no id or ends, more
            often than is tolerated.
    """
    header: list[str] = []
    for number, line in numbered_lines(path, intake):
        if not line.strip():
            continue
        cells = [cell.strip() for cell in line.split("\t")]
        if not header:
            header = cells
            if not {*_ENDS} <= set(header) and "id" not in header:
                raise JaxkgError(f"{path}:{number}: no header of KGX: it has no 'id' and no ends")
            continue
        row = {word: cell for word, cell in zip(header, cells) if word and cell}
        needed = _ENDS if {*_ENDS} <= set(header) else ("id",)
        if len(cells) > len(header) or not all(word in row for word in needed):
            why = f"{len(cells)} cells for {len(header)} columns"
            why = why if len(cells) > len(header) else f"no {' or no '.join(needed)}"
            intake.bad.note(path, number, line, why, "\t".join(header))
        elif needed == _ENDS:
            said = {
                relation_words(word): list(_several(cell))
                for word, cell in row.items()
                if word not in _ENDS and word not in _TOLD_ELSEWHERE
            }
            relation = row["predicate"].partition(":")[2] or row["predicate"]
            source = source_of(path, number, intake)
            intake.qualified(row["subject"], relation, row["object"], said, source)
        else:
            _node(row, intake, source_of(path, number, intake))


def _node(row: dict[str, str], intake: Intake, source: str) -> None:
    id = row["id"]
    if "name" in row:
        intake.name(id, row["name"])
    for word, cell in row.items():
        for one in _several(cell) if word not in ("id", "name") else ():
            if word == "category":
                intake.sort(id, relation_words(one))
            elif word in _ALIASES:
                intake.names.alias(id, one)
            else:
                intake.fact(id, relation_words(word), one, source)


def _several(cell: str) -> Iterator[str]:
    return (one for part in cell.split("|") if (one := part.strip()))


FORMATS = (Format("kgx", "nodes or edges in KGX", _sniff, read_kgx),)
