"""Public question sets as questions with nodes and edges, the form that `worlds` builds on.

GrailQA v1.0 dev (Gu et al. 2021, CC BY-SA 4.0), LC-QuAD 1.0 train (Trivedi et al. 2017, CC BY 4.0),
SimpleQuestions train (Bordes et al. 2015, CC BY 3.0).
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any
from urllib.parse import unquote

Sample = dict[str, Any]

_TRIPLE = re.compile(r"(\?\w+|<[^>]+>)\s+<([^>]+)>\s+(\?\w+|<[^>]+>)")
_TYPE = "22-rdf-syntax-ns#type"


def _read(path: Path) -> list[Sample]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def grailqa(path: Path) -> list[Sample]:
    """GrailQA as it is."""
    return [
        {**one, "group": one["edges"][0][1].split(".")[0]}
        for one in _read(path)
        if one["edges"] and all(node["friendly_name"].strip() for node in one["nodes"])
    ]


def simple_questions(path: Path, *, count: int, seed: int) -> list[Sample]:
    """A sample of SimpleQuestions: one edge from the topic."""
    some = random.Random(seed).sample(_read(path), count)
    found = []
    for one in some:
        id = one["relation"]
        parts = id.split(".")
        if (
            len(parts) < 3
            or not one["topic"].strip()
            or id.startswith(("common.", "type.", "base."))
        ):
            continue
        label = parts[-1].replace("_", " ")
        nodes = [
            _entity(0, one["topic"]),
            {
                "nid": 1,
                "node_type": "any",
                "id": "",
                "friendly_name": "",
                "question_node": 1,
                "function": "none",
            },
        ]
        found.append(
            {
                "question": one["question"],
                "nodes": nodes,
                "edges": [[0, id, label, 1]],
                "group": parts[0],
            }
        )
    return found


def _entity(nid: int, name: str) -> Sample:
    return {
        "nid": nid, "node_type": "entity", "id": name, "friendly_name": name,
        "question_node": 0, "function": "none",
    }  # fmt: skip


def _opened(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).replace("_", " ").lower().strip()


def lcquad(path: Path) -> list[Sample]:
    """LC-QuAD 1.0: paths, conjunctions, counts and yes or no questions about DBpedia."""
    read = [(one, _TRIPLE.findall(one["sparql"])) for one in _read(path)]
    domains: dict[str, Counter[str]] = defaultdict(Counter)
    ranges: dict[str, Counter[str]] = defaultdict(Counter)
    for _, triples in read:
        kinds = {s: o.rsplit("/", 1)[-1][:-1] for s, p, o in triples if p.endswith(_TYPE)}
        for s, p, o in triples:
            relation = p.rsplit("/", 1)[-1]
            if s in kinds:
                domains[relation][kinds[s]] += 1
            if o in kinds:
                ranges[relation][kinds[o]] += 1
    found = []
    for one, triples in read:
        made = _lcquad_one(one, triples, domains, ranges)
        if made is not None:
            found.append(made)
    return found


def _lcquad_one(
    one: Sample,
    triples: list[tuple[str, str, str]],
    domains: dict[str, Counter[str]],
    ranges: dict[str, Counter[str]],
) -> Sample | None:
    kinds = {s: o.rsplit("/", 1)[-1][:-1] for s, p, o in triples if p.endswith(_TYPE)}
    plain = [(s, p.rsplit("/", 1)[-1], o) for s, p, o in triples if not p.endswith(_TYPE)]
    ask = one["sparql"].lstrip().upper().startswith("ASK")
    count = "COUNT" in one["sparql"].upper()
    terms = list(dict.fromkeys(term for s, _, o in plain for term in (s, o)))
    if not plain or (not ask and "?uri" not in terms) or len(set(terms)) < 2:
        return None
    nodes = []
    for nid, term in enumerate(terms):
        if term.startswith("<"):
            name = unquote(term[1:-1].rsplit("/", 1)[-1]).replace("_", " ")
            nodes.append(_entity(nid, re.sub(r"\s*\([^)]*\)$", "", name)))
            continue
        kind = kinds.get(term)
        if kind is None:
            guesses = [domains[p] for s, p, _ in plain if s == term and domains[p]]
            guesses += [ranges[p] for _, p, o in plain if o == term and ranges[p]]
            id = f"dbo.{guesses[0].most_common(1)[0][0]}" if guesses else "dbo.Thing"
        else:
            id = f"dbo.{kind}"
        nodes.append(
            {
                "nid": nid,
                "node_type": "any" if kind is None else "class",
                "id": id,
                "friendly_name": _opened(id[4:]),
                "question_node": int(term == "?uri"),
                "function": "count" if count and term == "?uri" else "none",
            }
        )
    edges = []
    for s, p, o in plain:
        domain = domains[p].most_common(1)[0][0] if domains[p] else "Thing"
        edges.append([terms.index(s), f"dbo.{domain}.{p}", _opened(p), terms.index(o)])
    group = min(domain.split(".")[1] for _, domain, _, _ in edges)
    return {"question": one["question"], "nodes": nodes, "edges": edges, "group": group, "ask": ask}
