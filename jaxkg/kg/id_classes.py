"""Classes that ids say: `city/austin` is a city, `river:missouri` a river."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np

from jaxkg.kg.graph import KnowledgeGraph

_PREFIX = re.compile(r"([^\W\d_][^\W\d]{2,30})[/:#|](?=\S)")
_SCHEMES = frozenset(["http", "https", "urn", "mailto", "file", "ftp", "tel", "doi"])
_CLASSES = 64
_SHARE = 0.9
"""Share of the things with facts of their own whose ids must say a class."""
_SAMPLE = 1_000
"""Heads that are looked at before all of them are."""
RELATION = "type"


def id_classes(kg: KnowledgeGraph) -> dict[str, str]:
    """Return the class of each entity whose id begins with one.

    Ids say classes where nine of ten heads of facts have an id of a word, a mark and the rest, two
    to 64 words do so, each of at least two things, and no relation is called "type" yet.

    Returns:
        class by entity id; {} where ids do not say classes.

    >>> facts = [("city/austin", "in", "state/texas"), ("city/waco", "in", "state/texas"),
    ...          ("state/texas", "borders", "state/ohio"), ("state/ohio", "area", "5")]
    >>> id_classes(KnowledgeGraph.from_triples(facts))["city/waco"]
    'city'
    """
    if not kg.num_triples or any(name.lower() == RELATION for name in kg.relations):
        return {}
    heads = np.unique(np.asarray(kg.triples)[:, 0]).tolist()
    sample = heads[:: max(1, len(heads) // _SAMPLE)]
    if sum(_PREFIX.match(kg.entity_ids[row]) is not None for row in sample) < len(sample) / 2:
        return {}
    rows = {row: match[1] for row in heads if (match := _PREFIX.match(kg.entity_ids[row]))}
    counts = Counter(rows.values())
    if len(rows) < _SHARE * len(heads) or not 2 <= len(counts) <= _CLASSES:
        return {}
    if min(counts.values()) < 2 or _SCHEMES & {word.lower() for word in counts}:
        return {}
    tails = np.unique(np.asarray(kg.triples)[:, 2]).tolist()
    for row in tails:
        match = _PREFIX.match(kg.entity_ids[row])
        if match and match[1] in counts:
            rows[row] = match[1]
    return {kg.entity_ids[row]: word for row, word in rows.items()}


def with_id_classes(kg: KnowledgeGraph) -> tuple[KnowledgeGraph, tuple[str, ...]]:
    """Return a graph with a "type" fact for each class that its ids say, and these classes.

    >>> with_id_classes(KnowledgeGraph.from_triples([("a", "r", "b")]))[1]
    ()
    """
    classes = id_classes(kg)
    if not classes:
        return kg, ()
    facts = [(entity, RELATION, word) for entity, word in classes.items()]
    lines = None if kg.provenance is None else ["said by its id"] * len(facts)
    return kg.add(facts, provenance=lines), tuple(sorted(set(classes.values())))
