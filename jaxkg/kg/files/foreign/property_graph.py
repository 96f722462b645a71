"""Nodes with labels and properties, and relations with properties, as graph databases have them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from jaxkg.kg.files.protocol import Intake
from jaxkg.words import relation_words

_IMPORT = "UNIQUE IMPORT LABEL", "UNIQUE IMPORT ID"
"""What APOC marks nodes with while it imports them."""
_CALLED = ("name", "title", "label", "fullname", "displayname")


@dataclasses.dataclass(eq=False)
class Node:
    """A node.

    Attributes:
        number: of those of its file.
        labels: what it is.
        properties: values, or lists of them, by name.
        source: where it stands; "" where that is not kept.
    """

    number: int
    labels: list[str]
    properties: dict[str, Any]
    source: str = ""

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
    source: str = ""


def take_graph(nodes: Iterable[Node], edges: Iterable[Edge], intake: Intake) -> None:
    """Take nodes, named by their name or title, and relations with what is said of them."""
    ids: dict[Node, str] = {}
    for node in nodes:
        labels = [label for label in node.labels if label != _IMPORT[0]]
        said = {key: value for key, value in node.properties.items() if key != _IMPORT[1]}
        if not labels and not said:
            intake.leave_out("nodes of which nothing is said, and their relations")
            continue
        sort = relation_words(labels[0]) if labels else "node"
        ids[node] = id = f"{sort} {node.number}"
        called = _name_of(said, sort)
        if name := next(_texts(said.get(called, ""), intake), ""):
            intake.name(id, name)
        for label in labels:
            intake.sort(id, relation_words(label))
        for key, value in said.items():
            for text in _texts(value, intake) if key != called and key.strip() else ():
                intake.fact(id, key, text, node.source)
    for edge in edges:
        if edge.head in ids and edge.tail in ids:
            said = {key: list(_texts(value, intake)) for key, value in edge.properties.items()}
            head, tail = ids[edge.head], ids[edge.tail]
            said = {key: texts for key, texts in said.items() if texts and key.strip()}
            intake.qualified(head, edge.kind, tail, said, edge.source)


def _name_of(said: Mapping[str, Any], sort: str) -> str:
    """The property that names a node; "" where none does."""
    words = {relation_words(key).replace(" ", "").lower(): key for key in reversed(list(said))}
    of_sort = f"{sort.replace(' ', '').lower()}name"
    return next((words[word] for word in (*_CALLED, of_sort) if word in words), "")


def _texts(value: Any, intake: Intake) -> Iterator[str]:
    """A value, or what a list holds, as text."""
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, dict | list):
            intake.leave_out("properties within properties")
        elif one is not None and str(one).strip():
            yield " ".join(str(one).split())
