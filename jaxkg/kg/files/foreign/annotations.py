"""Gene association files (GAF): what gene products do, where, and by what evidence.

Each line is a fact, `SODN located in GO:0005739`, of which its evidence, reference and date are
said. Source: https://geneontology.org/docs/go-annotation-file-gaf-format-2.2/.
"""

from __future__ import annotations

from pathlib import Path

from jaxkg.kg.files.foreign.lines import numbered_lines, source_of
from jaxkg.kg.files.protocol import Format, Intake, begins
from jaxkg.kg.files.textfile import toml_beside

_KNOWN = toml_beside(__file__)
_COLUMNS = _KNOWN["gaf"]["columns"]
_LEAST = 15
"""Columns that a line has."""
_OWN = ("full name", "type", "taxon", "database", "accession")
_SAID = ("evidence", "reference", "with or from", "aspect", "date", "assigned by", "extension")
_RELATIONS = {"F": "enables", "P": "involved_in", "C": "located_in"}
"""What files before version 2.2, which need no qualifier, mean by the aspect."""


def read_gaf(path: Path, intake: Intake) -> None:
    """Take the annotations of a file; a product is called by its symbol.

    Raises:
        JaxkgError: a line has fewer than 15 columns more often than is tolerated.
    """
    products = set[str]()
    for number, line in numbered_lines(path, intake):
        if not line.strip() or line.startswith("!"):
            continue
        cells = line.split("\t")
        if len(cells) < _LEAST:
            why = f"{len(cells)} columns, where an annotation has {_LEAST} or more"
            intake.bad.note(path, number, line, why, "\t".join(_COLUMNS))
            continue
        row = {column: cell.strip() for column, cell in zip(_COLUMNS, cells) if cell.strip()}
        product = f"{row.get('database', '')}:{row.get('accession', '')}"
        source = source_of(path, number, intake)
        if product not in products:
            products.add(product)
            others = [row.get("accession", ""), row.get("full name", "")]
            others += row.get("synonym", "").split("|")
            intake.name(product, row.get("symbol"), filter(None, others))
            intake.sort(product, "gene product")
            for column in _OWN:
                if column in row:
                    intake.fact(product, column, row[column], source)
        qualifier = row.get("qualifier", _RELATIONS.get(row.get("aspect", ""), "annotated to"))
        parts = qualifier.lower().split("|")  # NOT|located_in
        relation = " ".join(part.replace("_", " ") for part in parts)
        said = {column: _meant(column, row[column]) for column in _SAID if column in row}
        intake.qualified(product, relation, row.get("term", ""), said, source)


def _meant(column: str, cell: str) -> list[str]:
    """What a cell says, its codes read; several parts where it lists them.

    >>> _meant("evidence", "IDA"), _meant("aspect", "C"), _meant("reference", "PMID:1|GO_REF:2")
    (['inferred from direct assay (IDA)'], ['cellular component'], ['PMID:1', 'GO_REF:2'])
    """
    if column == "date" and len(cell) == 8 and cell.isdecimal():
        return [f"{cell[:4]}-{cell[4:6]}-{cell[6:]}"]
    known = _KNOWN["evidence"] if column == "evidence" else _KNOWN["gaf"].get(column, {})
    return [known.get(part, part) for part in cell.split("|") if part]


FORMATS = (
    Format("gaf", "annotations of the Gene Ontology (GAF)",
           begins(r"!gaf-version", 0.9, "it begins with its version", ends=".gaf", both=0.95),
           read_gaf),
)  # fmt: skip
