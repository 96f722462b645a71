"""What was understood of a graph, as a text that can be edited and read again.

`jaxkg kg describe FILE > FILE.graph.toml` writes it; it is taken where it lies beside the data, or
is named by `--mapping`. Of every relation it says how it reads from head to tail (`says`) and from
tail to head (`says_back`), what its ends are, whether it leads to what is above (`hierarchy`) or
has no direction (`symmetric`). `ignored` leaves a relation out, `reversed` swaps its ends.
"""

from __future__ import annotations

import dataclasses
import json
import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.kg.encode import TripleEncoder
from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.kg.hierarchies import hierarchies
from jaxkg.kg.names import nearest
from jaxkg.kg.qualifiers import OBJECT, PREDICATE, SUBJECT
from jaxkg.kg.queries.values import Values
from jaxkg.words import one_line

MAPPING = "graph.toml"
"""What a mapping is called, or its name ends in."""
SORTS = frozenset(("is a", "type", "instance of", "rdf type", "isa"))
"""Labels of relations that lead to what a thing is."""
MEANINGS = ("says_back", "hierarchy", "symmetric")
"""What is kept of a relation's meaning in `KnowledgeGraph.meanings`."""
_SWITCHES = ("hierarchy", "symmetric", "ignored", "reversed")
_TEXTS = ("says", "says_back")
_KINDS: dict[str, type] = {
    **dict.fromkeys(_SWITCHES, bool),
    **dict.fromkeys(_TEXTS, str),
    "also": list,
    **dict.fromkeys(("from", "to", "facts", "example"), object),
}
_SHOWN, _SAMPLE = 8, 1000
_LARGEST = 1 << 24
_HEADER = """\
# How {name} was understood. Edit this, and save it beside the data as {name}{end} or name it by
# --mapping. A relation reads "X says Y" and "Y says_back X"; `also` lists other words for it.
# `hierarchy`: it leads to what is above. `symmetric`: it has no direction. `ignored`: its facts are
# left out. `reversed`: their ends are swapped. `from`, `to`, `facts` and `example` are only shown.
"""


@dataclasses.dataclass(frozen=True)
class GraphMapping:
    """What a mapping says.

    Attributes:
        relations: of each relation, by its name in the graph.
        names: names to show, by id.
        path: where it was read.
    """

    relations: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    names: Mapping[str, str] = dataclasses.field(default_factory=dict)
    path: str = ""


def describe(kg: KnowledgeGraph, name: str, left_out: Mapping[str, int] | None = None) -> str:
    """What was understood of a graph, in TOML that `read_mapping` reads.

    Args:
        name: of the file or folder it was read from.
        left_out: what was not taken, by reason.
    """
    triples = np.asarray(kg.triples)
    sorts, kinds = sorts_of(kg), Values(kg).relation_kinds
    examples = {sort: node for node, sort in reversed(sorts.items())}
    above = hierarchies(kg)
    lines = [_HEADER.format(name=name, end=f".{MAPPING}")]
    for sort, count in Counter(sorts.values()).most_common():
        example = kg.name(examples[sort])
        lines += _section("things", sort, {"count": count, "example": example})
    for code, relation in enumerate(kg.relations):
        facts, label = triples[triples[:, 1] == code], kg.relation_labels[code]
        if relation in (SUBJECT, PREDICATE, OBJECT):
            continue
        head, _, tail = facts[0].tolist()
        said = {
            "says": label,
            "says_back": "",
            "also": list(kg.relation_aliases.get(code, ())),
            "hierarchy": relation in above,
            "symmetric": _is_symmetric(facts),
            "ignored": False,
            "reversed": False,
            **kg.meanings.get(relation, {}),
            "from": _most(sorts, facts[:, 0]),
            "to": kinds.get(relation) or _most(sorts, facts[:, 2]),
            "facts": len(facts),
            "example": f"{kg.name(head)} {label} {kg.name(tail)}",
        }
        lines += _section("relations", relation, said)
    lines += ["[names]", '# "id" = "the name to show"', ""]
    lines += ["[left_out]", *(f"{_text(why)} = {n}" for why, n in (left_out or {}).items())]
    return "\n".join(lines)


def understood(kg: KnowledgeGraph) -> list[str]:
    """What a graph is about, in two lines: its things, and its relations with their ends.

    None where nothing says what its things are.

    >>> facts = [("Ada", "is a", "person"), ("Gull", "is a", "boat"), ("Ada", "owns", "Gull")]
    >>> understood(KnowledgeGraph.from_triples(facts))
    ['things: boat (1), person (1)', 'relations: person owns boat (1)']
    """
    triples, sorts = np.asarray(kg.triples), sorts_of(kg)
    counts = Counter(sorts.values()).most_common()
    if not counts:
        return []
    things = [f"{one_line(sort)} ({count:,})" for sort, count in counts]
    codes = np.bincount(triples[:, 1], minlength=kg.num_relations)
    relations = []
    for code in np.argsort(-codes, kind="stable").tolist():
        label = kg.relation_labels[code]
        if kg.relations[code] in (SUBJECT, PREDICATE, OBJECT) or label.casefold() in SORTS:
            continue
        some = triples[np.flatnonzero(triples[:, 1] == code)[:_SAMPLE]]
        ends = [_most(sorts, some[:, 0]), label, _most(sorts, some[:, 2])]
        relations.append(f"{one_line(' '.join(filter(None, ends)))} ({codes[code]:,})")
        if len(relations) > _SHOWN:
            break
    return [
        f"{what}: {', '.join(some[:_SHOWN])}{', ...' if len(some) > _SHOWN else ''}"
        for what, some in (("things", things), ("relations", relations))
    ]


def sorts_of(kg: KnowledgeGraph) -> dict[int, str]:
    """What things are, by entity index: the first that a relation such as "is a" says."""
    codes = [code for code, label in enumerate(kg.relation_labels) if label.casefold() in SORTS]
    told = kg.triples[np.isin(kg.triples[:, 1], codes)].tolist()
    return {head: kg.name(tail) for head, _, tail in reversed(told)}


def _most(sorts: Mapping[int, str], nodes: np.ndarray) -> str:
    """What most of some nodes are; "" where most are nothing that is known."""
    best = Counter(sorts.get(node, "") for node in nodes.tolist()).most_common(1)
    return best[0][0] if best else ""


def _is_symmetric(facts: np.ndarray) -> bool:
    """Whether every fact of a relation stands the other way round, too."""
    forth = {(head, tail) for head, _, tail in facts.tolist() if head != tail}
    return bool(forth) and all((tail, head) in forth for head, tail in forth)


def _section(table: str, name: str, said: Mapping[str, Any]) -> list[str]:
    values = (f"{key} = {_text(value)}" for key, value in said.items())
    return [f"[{table}.{_text(name)}]", *values, ""]


def _text(value: Any) -> str:
    """A value in TOML, whose strings, numbers and lists are JSON's but for one control."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def mapping_beside(path: Path) -> Path | None:
    """The mapping that lies beside a file or in a folder; None where there is none.

    It is called as the data are, `films.csv.graph.toml` or `films.graph.toml`; in a folder
    `graph.toml`.
    """
    named = (path.with_name(f"{name}.{MAPPING}") for name in (path.name, path.name.split(".")[0]))
    places = [*named, *([path / MAPPING] if path.is_dir() else [])]
    return next((place for place in places if place.is_file()), None)


def read_mapping(path: Path) -> GraphMapping:
    """Read a mapping.

    Raises:
        JaxkgError: no such file, or it is no mapping; says which key is unknown or of another kind.
    """
    try:
        data = path.read_bytes()
        told = tomllib.loads(data.decode("utf-8")) if len(data) < _LARGEST else {}
    except OSError as error:
        raise JaxkgError(f"{path}: cannot be read ({error.strerror or error})") from error
    except (ValueError, RecursionError) as error:  # of TOML, or of UTF-8
        raise JaxkgError(f"{path}: not TOML ({error})") from error
    if odd := told.keys() - {"things", "relations", "names", "left_out"}:
        raise JaxkgError(f"{path}: what is {min(odd)!r}? It has relations and names")
    relations, names = told.get("relations", {}), told.get("names", {})
    if not isinstance(names, dict) or not all(
        isinstance(n, str) and n.strip() for n in names.values()
    ):
        raise JaxkgError(f"{path}: [names] has a name that is blank or not a text")
    for relation, said in relations.items() if isinstance(relations, dict) else [("", None)]:
        if not isinstance(said, dict):
            raise JaxkgError(f"{path}: [relations] has tables: [relations.{_text(relation)}]")
        for key, value in said.items():
            texts = value if key == "also" and isinstance(value, list) else []
            if not isinstance(value, _KINDS.get(key, ())) or any(type(t) is not str for t in texts):
                known = ", ".join((*_TEXTS, "also", *_SWITCHES))
                raise JaxkgError(
                    f"{path}: relation {relation!r}: {key} = {value!r} is not understood; there "
                    f"are {known}; texts in quotes, true or false, also = [...]"
                )
    return GraphMapping(relations, names, str(path))


def apply_mapping(kg: KnowledgeGraph, mapping: GraphMapping) -> KnowledgeGraph:
    """A graph as a mapping has it.

    Raises:
        JaxkgError: it speaks of a relation or an id that the graph has not; it leaves no fact.
    """
    for kind, names, there in (
        ("relation", mapping.relations, kg.relations),
        ("id", mapping.names, kg.entity_ids),
    ):
        if gone := next((name for name in names if name not in there), None):
            close = nearest(gone, kg.relations) if kind == "relation" else ""
            raise JaxkgError(f"{mapping.path}: the graph has no {kind} {gone!r}{close}")
    said = [mapping.relations.get(relation, {}) for relation in kg.relations]
    rows = np.array(kg.triples)
    back = np.array([bool(one.get("reversed")) for one in said], bool)[rows[:, 1]]
    rows[back] = rows[back][:, ::-1]
    kept = ~np.array([bool(one.get("ignored")) for one in said], bool)[rows[:, 1]]
    if not kept.any():
        raise JaxkgError(f"{mapping.path}: it leaves no fact of the graph")
    ids, sources, encoder = kg.entity_ids.tolist(), None, TripleEncoder()
    if kg.provenance is not None:
        sources = kg.provenance.take(np.flatnonzero(kept)).tolist()
    heads, codes, tails = rows[kept].T.tolist()
    relations = [kg.relations[code] for code in codes]
    encoder.add([ids[head] for head in heads], relations, [ids[tail] for tail in tails], sources)
    called, meanings = kg.relation_names, dict(kg.meanings)
    for code, (name, one) in enumerate(zip(kg.relations, said)):
        own = kg.relation_labels[code], *kg.relation_aliases.get(code, ())
        also = one.get("also", own[1:])
        if one:
            called[name] = list(dict.fromkeys((one.get("says") or own[0], *also)))
        meant = {key: one[key] for key in MEANINGS if one.get(key) not in (None, "")}
        meanings[name] = {**meanings.get(name, {}), **meant}
    return KnowledgeGraph.from_encoded(
        encoder.finish(),
        names={**dict(zip(ids, kg.entity_names)), **mapping.names},
        aliases={ids[row]: names for row, names in kg.aliases.items()},
        skipped=kg.skipped,
        relation_names={name: called[name] for name in set(relations) & called.keys()},
        meanings=meanings,
    )
