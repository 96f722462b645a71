"""Ontologies in OBO 1.2 and 1.4, and as OBO graphs in JSON.

A term is called by its id and named by its name; `is_a` is "subclass of", every other relation what
its `[Typedef]` calls it. Genus and differentiae of a definition by intersection are facts, too.
Sources: the OBO flat file format (https://owlcollab.github.io/oboformat/doc/obo-syntax.html), OBO
graphs (https://github.com/geneontology/obographs).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from jaxkg.errors import JaxkgError
from jaxkg.foreign_json import read_json
from jaxkg.kg.files.foreign.lines import numbered_lines, source_of
from jaxkg.kg.files.protocol import Format, Intake, begins, surest
from jaxkg.kg.files.textfile import open_bytes

BELOW = "subclass of"
"""What leads from a class to the wider one."""
_SORTS = {"Term": "term", "Instance": "instance", "CLASS": "term", "INDIVIDUAL": "instance"}
_LEADS = {
    "is_a": BELOW, "instance_of": "is a", "disjoint_from": "disjoint from",
    "replaced_by": "replaced by", "consider": "consider instead", "equivalent_to": "equivalent to",
    "subset": "subset", "namespace": "namespace", "xref": "cross-reference",
    "creation_date": "created on", "created_by": "created by",
}  # fmt: skip
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_COMMENT = re.compile(r"(?<!\\)(?:^|\s)!.*$|(?<!\\)\{[^{}]*\}\s*(?:!.*)?$")
_MARKED = re.compile(r"[!{\\]")
_ESCAPED = re.compile(r"\\(.)")
_CURIE = re.compile(r".*[/#]([A-Za-z]\w*)_(\w+)")


def read_obo(path: Path, intake: Intake) -> None:
    """Take the stanzas of an OBO file.

    Raises:
        JaxkgError: a line without a tag, more than are tolerated.
    """
    _below(intake)
    stanza, began, frame = "", 0, dict[str, list[str]]()
    for number, line in numbered_lines(path, intake):
        line = line.strip()
        if line.startswith("[") and line.endswith("]"):
            _take(stanza, frame, intake, source_of(path, began, intake))
            stanza, began, frame = line[1:-1], number, {}
        elif line and not line.startswith("!"):
            tag, colon, value = line.partition(":")
            if colon:
                frame.setdefault(tag.strip(), []).append(value.strip())
            else:
                intake.bad.note(path, number, line, "no tag", "tag: value")
    _take(stanza, frame, intake, source_of(path, began, intake))


def _take(stanza: str, frame: Mapping[str, list[str]], intake: Intake, source: str) -> None:
    """Take one stanza; the header, which has no name, says nothing of things."""
    id = _first(frame.get("id", [""])[0])
    if not id or not stanza:
        return intake.leave_out("stanzas without an id") if stanza else None
    if stanza == "Typedef":
        for tag, word in (("is_transitive", "hierarchy"), ("is_symmetric", "symmetric")):
            if "true" in map(_bare, frame.get(tag, ())):
                intake.mean(id, **{word: True})
        return _relation(intake, id, [_bare(name) for name in frame.get("name", [])])
    if stanza not in _SORTS:
        return intake.leave_out(f"stanzas of [{stanza[:40]}]")
    intake.sort(id, _SORTS[stanza])
    for tag, values in frame.items():
        for value in values if tag != "id" else ():
            _say(id, tag, value, intake, source)


def _below(intake: Intake) -> None:
    _relation(intake, BELOW, [BELOW, "kind of"])
    intake.mean(BELOW, hierarchy=True)


def _say(id: str, tag: str, value: str, intake: Intake, source: str) -> None:
    relation, end = "", ""
    if tag == "name" and (name := _bare(value)):
        intake.name(id, name)
    elif tag.endswith("synonym") or tag == "alt_id":
        relation, end = "" if tag == "alt_id" else "synonym", _text(value)
        if end:
            intake.names.alias(id, end)
    elif tag in ("def", "comment"):
        relation, end = "definition" if tag == "def" else tag, _text(value)
    elif tag in _LEADS:
        relation, end = _LEADS[tag], _first(value)
    elif tag in ("relationship", "intersection_of"):
        relation, _, end = _bare(value).partition(" ")
        relation, end = (relation, _first(end)) if end else (BELOW, relation)
    elif tag == "property_value":
        relation, _, end = _bare(value).partition(" ")
        end = _text(end) if end.startswith('"') else _first(end)
    elif tag == "is_obsolete":
        relation, end = "status", "obsolete" if _bare(value) == "true" else ""
    else:
        intake.leave_out(f"{tag[:40]} lines")
    if relation and end:
        intake.fact(id, relation, end, source)


def _bare(value: str) -> str:
    """A value without its comment and what is said of it in braces.

    >>> _bare(r'PATO:1 {source="x"} ! color'), _bare(r"up\\, down \\! left ! note")
    ('PATO:1', 'up, down ! left')
    """
    if not _MARKED.search(value):
        return value.strip()
    while (cut := _COMMENT.sub("", value).rstrip()) != value.rstrip():
        value = cut
    return _unescaped(value).strip()


def _first(value: str) -> str:
    return next(iter(_bare(value).split()), "")


def _text(value: str) -> str:
    """What is quoted in a value; else the value."""
    found = _QUOTED.match(value)
    return _bare(value) if found is None else " ".join(_unescaped(found[1]).split())


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda found: " " if found[1] in "nWt" else found[1], text)


def _relation(intake: Intake, id: str, names: Iterable[str]) -> None:
    told = [name for name in dict.fromkeys(names) if name]
    if told:
        intake.names.relations[id] = told


def read_graphs(path: Path, intake: Intake) -> None:
    """Take the graphs of an OBO graphs document.

    Raises:
        JaxkgError: it is no such document.
    """
    with open_bytes(path, intake.options.on_progress) as file:
        document = read_json(file.read(), str(path), strict=False)
    _below(intake)
    graphs = document.get("graphs") if isinstance(document, dict) else None
    for graph in _objects(graphs):
        for node in _objects(graph.get("nodes")):
            _node(node, intake)
        for edge in _objects(graph.get("edges")):
            head, relation, tail = (_val(edge.get(part)) for part in ("sub", "pred", "obj"))
            relation = _LEADS.get(relation, "is a" if relation == "type" else relation)
            if head and relation and tail:
                intake.fact(head, relation, tail)
            else:
                intake.leave_out("edges without two ends and a relation")
        for what in ("logicalDefinitionAxioms", "equivalentNodesSets", "domainRangeAxioms"):
            intake.leave_out(what, len(_objects(graph.get(what))))
    if not graphs:
        raise JaxkgError(f"{path}: no OBO graphs: it has no list 'graphs'")


def _node(node: Mapping[str, Any], intake: Intake) -> None:
    id, meta = node.get("id"), next(iter(_objects([node.get("meta")])), {})
    if not isinstance(id, str) or not id.strip():
        return intake.leave_out("nodes without an id")
    synonyms = [*filter(None, map(_val, _objects(meta.get("synonyms"))))]
    names = [*filter(None, [_val(node.get("lbl"))]), *synonyms]
    if node.get("type") == "PROPERTY":
        return _relation(intake, id, names)
    curie = _CURIE.fullmatch(id)
    for name in (*names, *([f"{curie[1]}:{curie[2]}"] if curie else [])):
        intake.name(id, name)
    intake.sort(id, _SORTS.get(str(node.get("type")), "term"))
    facts: list[tuple[Any, Any]] = [("synonym", name) for name in synonyms]
    facts += [("definition", meta.get("definition"))]
    for word, key in (("comment", "comments"), ("cross-reference", "xrefs"), ("subset", "subsets")):
        values = meta.get(key)
        facts += [(word, value) for value in values] if isinstance(values, list) else []
    facts += [(one.get("pred"), one) for one in _objects(meta.get("basicPropertyValues"))]
    facts += [("status", "obsolete")] if meta.get("deprecated") is True else []
    for relation, value in facts:
        if isinstance(relation, str) and relation and (text := _val(value)):
            intake.fact(id, relation, " ".join(text.split()))


def _val(value: Any) -> str:
    """A text, or that under "val" of an object; "" of what is none."""
    value = value.get("val") if isinstance(value, dict) else value
    return value.strip() if isinstance(value, str) else ""


def _objects(several: Any) -> list[dict[str, Any]]:
    return [one for one in several if isinstance(one, dict)] if isinstance(several, list) else []


FORMATS = (
    Format("obo", "an ontology in OBO",
           surest(begins(r"^\[(Term|Typedef)\]\s*$", 0.95, "it has stanzas such as [Term]"),
                  begins(r"\Aformat-version:", 0, "it starts with format-version",
                         ends=".obo", both=0.9)), read_obo),
    Format("obographs", "ontologies as OBO graphs in JSON",
           begins(r'(?s)\A(?=.*"graphs")(?=.*"lbl")\s*\{\s*"(graphs|@context|meta)"', 1.0,
                  "its graphs have nodes with 'lbl'"), read_graphs),
)  # fmt: skip
