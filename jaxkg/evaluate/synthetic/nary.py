"""Facts of three to six entities over a synthetic graph."""

from __future__ import annotations

import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.evaluate.synthetic.schema import KINDS, NARY
from jaxkg.evaluate.synthetic.world import World, zipf_ranks
from jaxkg.kg.hypergraph.graph import KnowledgeHypergraph
from jaxkg.kg.names import NameTable


def make_hypergraph(
    world: World, edges: int, *, skew: float = 0.9, seed: int = 0
) -> KnowledgeHypergraph:
    """Join the entities of a synthetic graph by n-ary facts.

    Args:
        world: from `make_world`.
        edges: hyperedges, about equally many of each fact of the schema.
        skew: Zipf exponent of how often an entity takes part.
        seed: of everything random.

    Raises:
        JaxkgError: so many different facts were not found.
    """
    rng = np.random.default_rng([seed, 2])
    rows = [np.flatnonzero(world.kind == kind) for kind in range(len(KINDS))]
    # Names are in code point order, which says nothing of hubs; a shuffle of one's own does.
    rows = [rng.permutation(row) for row in rows]
    place = {name: number for number, name in enumerate(KINDS)}
    arity, members, names = [], [], []
    for number, (name, roles) in enumerate(NARY.items()):
        wanted = (number + 1) * edges // len(NARY) - number * edges // len(NARY)
        drawn = int(1.2 * wanted) + 8
        columns = [
            rows[place[kind]][zipf_ranks(drawn, len(rows[place[kind]]), skew, rng)]
            for kind in roles
        ]
        facts = np.unique(np.stack(columns, axis=1), axis=0)
        if len(facts) < wanted:
            raise JaxkgError(
                f"only {len(facts):,} of {wanted:,} different facts of {name} were found: ask for "
                "fewer, or make a larger graph"
            )
        facts = facts[rng.permutation(len(facts))[:wanted]]
        arity.append(np.full(wanted, len(roles)))
        members.append(facts.astype(np.int32).ravel())
        names += [name] * wanted
    offsets = np.zeros(len(names) + 1, np.int64)
    np.cumsum(np.concatenate(arity), out=offsets[1:])
    full, empty = world.full, NameTable.from_names([])
    return KnowledgeHypergraph(
        entity_ids=full.entity_ids,
        entity_names=full.entity_names,
        descriptions=NameTable(np.zeros(0, np.uint8), np.zeros(full.num_entities + 1, np.int64)),
        edge_names=NameTable.from_names(names),
        kinds=("relation",),
        edge_kind=np.zeros(len(names), np.int8),
        edge_chunk=np.full(len(names), -1, np.int32),
        offsets=offsets,
        members=np.concatenate(members),
        chunk_ids=empty,
        chunk_titles=empty,
        chunk_texts=empty,
    )
