"""Nodes with labels and properties, and relations with properties, as graph databases have them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from jaxkg.kg.files.json.read import read_jsonl
from jaxkg.kg.files.protocol import Intake
from jaxkg.kg.files.tables.record_names import folded
from jaxkg.words import relation_words

_IMPORT = "UNIQUE IMPORT LABEL", "UNIQUE IMPORT ID"
"""What APOC marks nodes with while it imports them."""


@dataclasses.dataclass(eq=False)
class Node:
    """A node.

    Attributes:
        number: of those of its file.
        labels: what it is.
        properties: values, or lists of them, by name.
    """

    number: int
    labels: list[str]
    properties: dict[str, Any]

    def labels_hold(self, labels: Sequence[str]) -> bool:
        """Whether it has all of these labels."""
        return all(label in self.labels for label in labels)


@dataclasses.dataclass(eq=False)
class Edge:
    """A relation between two nodes."""

    head: Node
    tail: Node
    kind: str
    properties: dict[str, Any]


def take_graph(path: Path, nodes: Iterable[Node], edges: Iterable[Edge], intake: Intake) -> None:
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
