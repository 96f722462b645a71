"""GraphML and GEXF, as NetworkX, igraph, Gephi, yEd and Neo4j's APOC write them.

The XML becomes the document of nodes and edges that node-link JSON is (`jaxkg.kg.files.exports`). A
node is called by its id and named by its `name` or `label`, else by the text that yEd draws on it.
A node within another is part of it. An edge is read in the direction in which it is written, also
where the graph is undirected. Numbers stay as they are written.
"""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from jaxkg.errors import JaxkgError
from jaxkg.foreign_json import read_json
from jaxkg.kg.files.json.read import read_jsonl
from jaxkg.kg.files.json.relations import ends_of, said_by
from jaxkg.kg.files.protocol import Format, Intake, begins, named, surest
from jaxkg.kg.files.tables.record_names import CALLED
from jaxkg.kg.files.textfile import BadLines, Progress
from jaxkg.kg.files.xml_elements import walk

_ABOUT = {
    "graphml": "nodes and edges, as NetworkX, yEd and APOC write",
    "gexf": "nodes and edges, as Gephi writes",
}
"""What is read here by what the first element of a file is called."""

_NEEDED = {"node": ("id",), "edge": ("source", "target")}
# GEXF's `type` of an edge is directed or undirected, and says nothing of what it is.
_SAID = ("label", "labels", "kind", "weight", "start", "end")
# What TinkerPop and Gephi call the sort of a node and what an edge is.
_MEANT = {"labelV": "type", "labelE": "label", "Edge Label": "label"}
_DRAWN = ("NodeLabel", "EdgeLabel")
_LOOKS = {"r", "g", "b", "x", "y"}
"""Where a node has all of these, they are how Gephi draws it."""


class _Element(NamedTuple):
    name: str
    said: dict[str, str]
    texts: list[str]


@dataclasses.dataclass
class _Record:
    """A node or an edge that is being read: what is said of it by name, and under which keys."""

    kind: str
    id: str
    said: dict[str, dict[str, None]] = dataclasses.field(default_factory=dict)
    keys: set[str] = dataclasses.field(default_factory=set)
    drawn: str = ""


def read_network(
    path: Path, bad: BadLines, on_progress: Progress | None = None
) -> tuple[dict[str, list[dict[str, Any]]], str]:
    """The nodes and edges of a GraphML or GEXF file, and what is left out, in words.

    Raises:
        JaxkgError: it is no XML, or of another kind; it defines entities, by which a small file can
            become a huge one; it has neither nodes nor edges; a node without an id or an edge
            without an end is one more than `bad` tolerates.
    """
    network = _Network(path, bad)
    walk(path, network.start, network.end, network.text, on_progress)
    left_out = [f"{', '.join(network.left_out)} left out"] if network.left_out else []
    left_out += [f"{network.hyperedges:,} hyperedges left out"] if network.hyperedges else []
    if not network.nodes and not network.edges:
        raise JaxkgError(f"{path}: {'; '.join(['no nodes and no edges in it', *left_out])}")
    return {"nodes": network.nodes, "edges": network.edges}, "; ".join(left_out)


class _Network:
    """Takes elements as they start and end, and keeps those that are open alone."""

    def __init__(self, path: Path, bad: BadLines):
        self.nodes: list[dict[str, Any]] = []
        self.edges: list[dict[str, Any]] = []
        self.hyperedges, self.left_out = 0, dict[str, None]()
        self._path, self._bad = path, bad
        self._within: list[_Element] = []
        self._open: list[_Record] = []
        self.root = self._prefix = ""
        # By what they are of and their id: the name and type of keys, and their defaults.
        self._keys: dict[tuple[str, str], tuple[str, str]] = {}
        self._defaults: dict[tuple[str, str], str] = {}

    def text(self, text: str) -> None:
        self._within[-1].texts.append(text)

    def start(self, name: str, said: dict[str, str], line: int) -> None:
        if not self._within:
            self.root, self._prefix = name, name[: name.find(":") + 1]
            if name.removeprefix(self._prefix) not in _ABOUT:
                raise JaxkgError(f"{self._path}: neither GraphML nor GEXF: it starts with <{name}>")
        name, id = name.removeprefix(self._prefix), said.get("id", "")
        if name in _NEEDED:
            self._begin(name, said, line)
        elif name == "key":
            type = "list" if "attr.list" in said else said.get("attr.type", "")
            self._keys[said.get("for", "all"), id] = said.get("attr.name") or id, type
        elif name == "attribute":
            of = self._within[-1].said.get("class", "node")
            self._keys[of, id] = said.get("title") or id, said.get("type", "")
        elif name == "attvalue" and self._open:
            self._say(said.get("for", id), said.get("value", ""))
        self.hyperedges += name == "hyperedge"
        self._within.append(_Element(name, said, []))

    def end(self, _: str) -> None:
        name, said, texts = self._within.pop()
        text, around = "".join(texts).strip(), self._within[-1].name if self._within else ""
        if name in _NEEDED:
            self._close()
        elif name == "data" and around in _NEEDED:
            self._say(said.get("key", ""), text)
        elif name == "default" and around in ("key", "attribute"):
            self._defaults[next(reversed(self._keys))] = text
        elif name.rpartition(":")[2] in _DRAWN and self._open:
            self._open[-1].drawn = self._open[-1].drawn or " ".join(text.split())

    def _begin(self, kind: str, said: dict[str, str], line: int) -> None:
        needed = _NEEDED[kind]
        ends = {end: said[end].strip() for end in needed if said.get(end, "").strip()}
        around = next((one.id for one in reversed(self._open) if one.id), "")
        self._open.append(_Record(kind, ends.get("id", "")))
        if len(ends) < len(needed):
            shown = " ".join((f"<{kind}", *(f"{name}={text!r}" for name, text in said.items())))
            which = " and ".join(needed)
            self._bad.note(self._path, line, f"{shown}>", f"no {which}", f"{kind} with {which}")
        elif around and kind == "node":
            self.edges.append({"source": ends["id"], "target": around, "label": "part of"})
        for name, text in (*ends.items(), *((name, said.get(name, "")) for name in _SAID)):
            self._add(name, text)

    def _say(self, id: str, text: str) -> None:
        """Take what is said of the open node or edge under a key."""
        record = self._open[-1]
        record.keys.add(id)
        name, type = self._keys.get((record.kind, id)) or self._keys.get(("all", id)) or (id, "")
        for one in _several(text) if type.startswith("list") else [text]:
            self._add(name.strip(), one.lower() if type == "boolean" else one)

    def _add(self, name: str, text: str) -> None:
        name, texts = _MEANT.get(name, name), [text.strip()]
        if name in ("labels", "TYPE") and texts[0].startswith(":"):
            name, texts = "type", texts[0].split(":")  # as APOC writes the sorts of a node
        name = name.lower() if name.lower() in CALLED else name
        for one in filter(None, texts if name else ()):
            self._open[-1].said.setdefault(name, {})[one] = None

    def _close(self) -> None:
        """Make a record of the open node or edge."""
        kind, needed = self._open[-1].kind, _NEEDED[self._open[-1].kind]
        for (of, id), text in self._defaults.items():
            if of in (kind, "all") and id not in self._open[-1].keys:
                self._say(id, text)
        one, record = self._open.pop(), dict[str, Any]()
        for name, (first, *others) in one.said.items():
            alone = name in (*CALLED, *needed)  # what it is called is one text
            record[name] = first if alone or not others else [first, *others]
            record |= {f"own {name}": others[0]} if alone and others else {}
        if not record.keys() >= set(needed):
            return  # it is told
        if kind == "edge":
            ends = ends_of(tuple(record))
            if one.drawn and not (ends and said_by(record, ends)):
                record["label"] = one.drawn
            self.edges.append(record)
            return
        if record.keys() >= _LOOKS:
            record = {name: told for name, told in record.items() if name not in {*_LOOKS, "size"}}
            self.left_out["place and colour of nodes"] = None
        if record.get("label", "") in ("", record["id"], record.get("name")):
            record.pop("label", None)
        if record.keys().isdisjoint(CALLED[1:]) and (own := one.drawn or record.pop("own id", "")):
            record["label"] = own
        self.nodes.append(record)


def _several(text: str) -> list[str]:
    """What a list holds: `["a", "b"]` as APOC writes it; `[a, b]` or `a|b` as Gephi does."""
    try:
        listed = read_json(text)
    except JaxkgError:
        listed = None
    if not isinstance(listed, list):
        listed = re.split(r"[|;,]", text.strip().removeprefix("[").removesuffix("]"))
    return [one if isinstance(one, str) else json.dumps(one) for one in listed]


def read(path: Path, intake: Intake) -> None:
    """Read nodes and edges, and tell how; see `jaxkg.kg.read_graph`."""
    document, left_out = read_network(path, intake.bad, intake.options.on_progress)
    read_jsonl(path, intake, document)
    intake.tell(left_out)


FORMATS = tuple(
    Format(name, about,
           surest(begins(rf"<(?:\w+:)?{name}[\s>]", 0.95, f"its first element is {name!r}"),
                  named(f".{name}")), read)
    for name, about in _ABOUT.items()
)  # fmt: skip
