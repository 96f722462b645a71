"""What a graph looks like in numbers."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.kg.hypergraph.edit import components
from jaxkg.kg.queries.literals import literal
from jaxkg.kg.queries.values import Values


def graph_stats(graph: KnowledgeGraph) -> dict[str, Any]:
    """Counts of a graph, ready for JSON.

    Returns:
        `entities`, `relations`, `triples`, `duplicates` (merged repetitions), `aliases`; `degree`
        with `median`, `p90`, `max` over entities (triples an entity is head or tail of, a loop
        counted twice) and the `hub` (id) with its `hub_name`; `relation_counts`, most frequent
        first; `components` (weakly connected) and the entities in the `largest_component`;
        `homonyms` (entities that share a display name with another, literals apart), `unnamed`
        (entities shown by a Freebase machine id or a blank node); `values`, the relations that lead
        to numbers, dates or truth values (see `jaxkg.kg.queries.values`). Degree entries are None
        for an empty graph.
    """
    heads, codes, tails = graph.triples.T
    n = graph.num_entities
    degree = np.bincount(heads, minlength=n) + np.bincount(tails, minlength=n)
    hub = int(np.argmax(degree)) if n else None
    counts = np.bincount(codes, minlength=graph.num_relations)
    names = Counter(
        name for node, name in zip(graph.entity_ids, graph.entity_names) if literal(node) is None
    )
    _, sizes = np.unique(components(graph.triples[:, ::2], n), return_counts=True)
    return {
        "entities": n,
        "relations": graph.num_relations,
        "triples": graph.num_triples,
        "duplicates": graph.duplicates,
        "aliases": len(graph.aliases.names),
        "degree": {
            "median": None if hub is None else float(np.median(degree)),
            "p90": None if hub is None else float(np.percentile(degree, 90)),
            "max": None if hub is None else int(degree[hub]),
            "hub": None if hub is None else graph.entity_ids[hub],
            "hub_name": None if hub is None else graph.name(hub),
        },
        "relation_counts": {
            graph.relations[code]: int(counts[code]) for code in np.argsort(-counts, kind="stable")
        },
        "components": len(sizes),
        "largest_component": int(sizes.max(initial=0)),
        "homonyms": sum(bearers for bearers in names.values() if bearers > 1),
        "unnamed": sum(not graph.has_name(entity) for entity in range(n)),
        "values": Values(graph).relation_kinds,
    }
