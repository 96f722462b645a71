"""What text-to-graph tools keep: GraphRAG's Parquet, LightRAG's GraphML, graphs per question.

Of GraphRAG's folder, entities are called by their titles; relationships are "related to" with their
description and weight said of the fact; a text unit is a passage that an entity is mentioned in.
The keywords of LightRAG's edges are relations; a hyperedge of HyperGraphRAG is a fact without a
name that involves entities. A file of questions, each with the graph around it as RoG's WebQSP and
CWQ have, is the union of these graphs; the questions are no facts. Source: https://microsoft.github.io/graphrag/index/outputs/.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jaxkg.errors import JaxkgError
from jaxkg.foreign_json import read_json
from jaxkg.kg.files.foreign.lines import numbered_lines, source_of
from jaxkg.kg.files.graphml import read_network
from jaxkg.kg.files.parquet import parquet_records
from jaxkg.kg.files.protocol import NO, Format, Head, Intake, Sniff, begins, holds, surest

_TABLES = ("entities", "relationships", "text_units")
_SAID = ("description", "weight")
"""What is said of a relationship."""
_HYPEREDGE = "<hyperedge>"


def _sniff(head: Head) -> Sniff:
    names = [name for name in head.entries or () if name.endswith(".parquet")]
    both = all(any(_is_of(name, table) for name in names) for table in _TABLES[:2])
    return Sniff(1.0, "it has entities and relationships in Parquet") if both else NO


def _is_of(name: str, table: str) -> bool:
    return re.fullmatch(rf"(create_(final|base)_)?{table}\.parquet", name) is not None


def read_graphrag(path: Path, intake: Intake) -> None:
    """Take the entities, relationships and text units of a folder.

    Raises:
        JaxkgError: a table is missing, damaged, or has other columns.
    """
    files: dict[str, Path] = {}
    for entry in sorted(path.glob("*.parquet")):
        table = next((table for table in _TABLES if _is_of(entry.name, table)), "")
        files.setdefault(table, entry)
        if not table:
            intake.leave_out(f"the table {entry.name[:60]}")
    units = dict[str, str]()
    for row in _rows(files.get("text_units")):
        id, text = _text(row.get("id")), _text(row.get("text") or row.get("chunk"))
        if id and text:
            units[id] = node = f"text unit {_text(row.get('human_readable_id')) or id[:12]}"
            intake.sort(node, "text unit")
            intake.fact(node, "text", text)
    for row in _rows(files.get("entities")):
        name = _text(row.get("title") or row.get("name"))
        if not name:
            intake.leave_out("entities without a title")
            continue
        intake.sort(name, _text(row.get("type")).lower() or "entity")
        if told := _text(row.get("description")):
            intake.fact(name, "description", told)
        for unit in row.get("text_unit_ids") or ():
            if unit in units:
                intake.fact(name, "mentioned in", units[unit])
    for row in _rows(files.get("relationships")):
        head, tail = _text(row.get("source")), _text(row.get("target"))
        if not head or not tail:
            intake.leave_out("relationships without two ends")
            continue
        said = {key: [text] for key in _SAID if (text := _text(row.get(key)))}
        if found := [units[one] for one in row.get("text_unit_ids") or () if one in units]:
            said["text unit"] = found
        intake.qualified(head, "related to", tail, said)


def _rows(file: Path | None) -> Iterator[dict[str, Any]]:
    return iter(()) if file is None else parquet_records(file, without="embedding")


def _text(value: Any) -> str:
    return "" if value is None else " ".join(str(value).split())


_LIGHT = "graph_chunk_entity_relation.graphml"
"""The graph in the folder that LightRAG works in."""


def read_light(path: Path, intake: Intake) -> None:
    """Take the entities of LightRAG's or HyperGraphRAG's GraphML, and how they are related.

    Raises:
        JaxkgError: see `jaxkg.kg.files.graphml.read_network`.
    """
    if path.is_dir():
        intake.tell(f"only {_LIGHT} of the folder is read")
        path = path / _LIGHT
    network, _ = read_network(path, intake.bad, intake.options.on_progress)
    hyperedges: dict[str, str] = {}
    for node in network["nodes"]:
        id, said = _plain(node["id"]), node["id"].strip()
        if said.startswith(_HYPEREDGE) or node.get("role") == "hyperedge":
            hyperedges[said] = id = f"_:fact_{len(hyperedges) + 1}"
            intake.name(id, _plain(said.removeprefix(_HYPEREDGE)))
        else:
            intake.sort(id, _plain(node.get("entity_type", "")).lower() or "entity")
        for part in str(node.get("description", "")).split("<SEP>"):
            if told := _plain(part):
                intake.fact(id, "description", told)
    for edge in network["edges"]:
        ends = [edge["source"].strip(), edge["target"].strip()]
        head, tail = (hyperedges.get(end) or _plain(end) for end in ends)
        if not head or not tail:
            intake.leave_out("edges without two ends")
            continue
        if any(end in hyperedges for end in ends):
            head, tail = (tail, head) if ends[1] in hyperedges else (head, tail)
            intake.fact(head, "involves", tail)
            continue
        words = [_plain(word) for word in re.split(r"[,;]|<SEP>", str(edge.get("keywords", "")))]
        first, *others = list(filter(None, dict.fromkeys(words))) or ["related to"]
        said = {key: [_plain(str(edge[key]))] for key in _SAID if str(edge.get(key, "")).strip()}
        intake.qualified(head, first, tail, said)
        for word in others:
            intake.fact(head, word, tail)


def _plain(text: str) -> str:
    """A text without the quotes around it."""
    return " ".join(text.strip().strip('"').split()).lstrip("^")


def read_questions(path: Path, intake: Intake) -> None:
    """Take the triples of the graph that each question has.

    Raises:
        JaxkgError: a line without a graph of triples, more often than is tolerated.
    """
    count = 0
    for number, line in numbered_lines(path, intake):
        if not line.strip():
            continue
        try:
            record = read_json(line)
        except JaxkgError as error:
            intake.bad.note(path, number, line, str(error), '{"question": ..., "graph": [...]}')
            continue
        for one in record if isinstance(record, list) else [record]:
            graph = one.get("graph") if isinstance(one, dict) else None
            if not isinstance(graph, list):
                intake.bad.note(path, number, line, "no graph", '"graph": [[head, relation, tail]]')
                continue
            count += 1
            source = source_of(path, number, intake)
            whole = [row for row in graph if _is_triple(row)]
            intake.leave_out("rows that are no triples", len(graph) - len(whole))
            if whole:
                columns = [[text.strip() for text in column] for column in zip(*whole)]
                heads, relations, tails = columns
                intake.encoder.add(
                    heads, relations, tails, [source] * len(whole) if source else None
                )
    intake.tell(f"the graphs of {count:,} questions read as one; the questions are no facts")


def _is_triple(row: Any) -> bool:
    return (
        isinstance(row, list)
        and len(row) == 3
        and all(isinstance(part, str) and part.strip() for part in row)
        and not row[1].startswith("^")
    )


FORMATS = (
    Format("graphrag", "the Parquet tables that GraphRAG writes", _sniff, read_graphrag, "parquet",
           takes_folders=True),
    Format("lightrag", "LightRAG's and HyperGraphRAG's GraphML",
           surest(holds(_LIGHT),
                  begins(r'(?s)\A(?=.{0,2000}<graphml).*attr\.name="entity_type"', 1.0,
                         "it is GraphML whose nodes have an 'entity_type'")), read_light,
           takes_folders=True),
    Format("questions", "questions with a graph of triples each",
           begins(r'(?s)\A(?=.{0,4000}"question"\s*:).{0,4000}"[qa]_entity"\s*:', 1.0,
                  "its lines have 'question' and 'q_entity'"), read_questions),
)  # fmt: skip
