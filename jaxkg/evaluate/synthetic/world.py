"""Graphs of any size with hubs, typed relations, distractors and missing facts, from a seed."""

from __future__ import annotations

import dataclasses

import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.evaluate.synthetic.names import LONGEST, make_names, name_order, name_table
from jaxkg.evaluate.synthetic.schema import KINDS, Relation, relations
from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.kg.names import AliasTable

_ROUNDS = 30
"""Draws of facts until there are enough different ones."""


@dataclasses.dataclass(frozen=True)
class WorldConfig:
    """What a synthetic graph is like.

    Attributes:
        edges: facts of the full graph.
        degree: facts for every entity; a fact has two ends, so this is half the mean degree.
        skew: Zipf exponent of how often an entity is the tail of a fact, and, at half this
            exponent, the head; 0 knows no hubs.
        distractors: relations that no question asks about; they hold their share of the facts.
        missing: share of the facts that the graph does not have although the answers rest on them.
    """

    edges: int = 10_000
    degree: float = 4.0
    skew: float = 0.9
    distractors: int = 8
    missing: float = 0.0

    def __post_init__(self) -> None:
        if self.edges < 100 or not 0.5 <= self.degree <= 50:
            raise JaxkgError(
                f"edges is at least 100 and degree in [0.5, 50], not {self.edges}, {self.degree}"
            )
        if not 0 <= self.skew <= 2 or self.distractors < 0 or not 0 <= self.missing < 1:
            raise JaxkgError("skew is in [0, 2], distractors not negative, missing in [0, 1)")


@dataclasses.dataclass(frozen=True)
class World:
    """A synthetic graph and what is true beyond it.

    Attributes:
        graph: what can be asked.
        full: all facts; `graph` itself where none is missing.
        relations: of the schema, by the order of `full.relations`.
        kind: [N] int8, kind of each entity of `full`, a row of `KINDS`.
    """

    graph: KnowledgeGraph
    full: KnowledgeGraph
    relations: tuple[Relation, ...]
    kind: np.ndarray


def make_world(config: WorldConfig = WorldConfig(), *, seed: int = 0) -> World:
    """Make a graph.

    Entity ids are their names, numbered as everywhere by code point order.

    Args:
        config: sizes and shape.
        seed: of everything random.

    Raises:
        JaxkgError: so many different facts do not exist among so few entities.

    >>> make_world(WorldConfig(edges=2000), seed=0).graph
    KnowledgeGraph(487 entities, 32 relations, 2,000 triples)
    """
    rng = np.random.default_rng(seed)
    schema = tuple(sorted(relations(config.distractors), key=lambda relation: relation.name))
    entities = config.edges / config.degree
    sizes = np.array([max(3, round(kind.share * entities)) for kind in KINDS.values()])
    first = np.cumsum(sizes) - sizes
    heads, codes, tails = _facts(config, schema, sizes, first, rng)
    present, codes = np.unique(codes, return_inverse=True)
    schema = tuple(schema[code] for code in present)

    used = np.unique(np.concatenate([heads, tails]))
    kind = (np.searchsorted(first, used, side="right") - 1).astype(np.int8)
    names = np.zeros(len(used), f"S{LONGEST}")
    for row, sort in enumerate(KINDS.values()):
        here = kind == row
        names[here] = make_names(sort, used[here] - first[row], int(sizes[row]), seed=seed)
    order = name_order(names)
    rank = np.empty(len(used), np.int64)
    rank[order] = np.arange(len(used))
    number = np.zeros(int(sizes.sum()), np.int64)
    number[used] = rank
    key = np.sort((number[heads] * len(schema) + codes) * len(used) + number[tails])
    left, tail = np.divmod(key, len(used))
    head, code = np.divmod(left, len(schema))
    ids = name_table(names[order], ascending=True)
    full = KnowledgeGraph(
        entity_ids=ids,
        entity_names=ids,
        relations=tuple(relation.name for relation in schema),
        triples=np.stack([head, code, tail], axis=1).astype(np.int32),
        aliases=AliasTable.from_mapping({}),
    )
    graph = remove_facts(full, config.missing, seed=seed) if config.missing else full
    return World(graph, full, schema, kind[order])


def zipf_ranks(
    count: int, sizes: np.ndarray | int, exponent: float, rng: np.random.Generator
) -> np.ndarray:
    """Ranks in [0, size) whose frequency falls as rank^-exponent, by inverting a power law.

    Args:
        count: how many.
        sizes: [count] or one size.
        exponent: 0 is uniform.
        rng: random numbers.

    Returns:
        [count] int64.
    """
    uniform = rng.random(count)
    sizes = np.asarray(sizes)
    if abs(exponent - 1) < 1e-9:
        ranks = (sizes + 1.0) ** uniform
    else:
        power = 1 - exponent
        ranks = (((sizes + 1.0) ** power - 1) * uniform + 1) ** (1 / power)
    return np.minimum(ranks.astype(np.int64) - 1, sizes - 1)


def _facts(
    config: WorldConfig,
    schema: tuple[Relation, ...],
    sizes: np.ndarray,
    first: np.ndarray,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Heads, relation codes and tails of exactly `edges` different facts, every relation's."""
    place = {name: row for row, name in enumerate(KINDS)}
    ends = np.array([(place[r.head], place[r.tail]) for r in schema])
    # A relation has facts in proportion to the entities that can be its head.
    weight = np.sqrt(sizes[ends[:, 0]])
    share = np.cumsum(weight / weight.sum())
    total = int(sizes.sum())
    key = np.zeros(0, np.int64)
    for _ in range(_ROUNDS):
        more = int(1.1 * (config.edges - len(key))) + 16
        code = np.minimum(np.searchsorted(share, rng.random(more)), len(schema) - 1)
        from_kind, to_kind = ends[code].T
        head = first[from_kind] + zipf_ranks(more, sizes[from_kind], config.skew / 2, rng)
        tail = first[to_kind] + zipf_ranks(more, sizes[to_kind], config.skew, rng)
        apart = head != tail
        drawn = ((head * len(schema) + code) * total + tail)[apart]
        key = np.unique(np.concatenate([key, drawn]))
        if len(key) >= config.edges:
            break
    else:
        raise JaxkgError(
            f"only {len(key):,} of {config.edges:,} different facts were found among {total:,} "
            "entities: a smaller degree gives more entities"
        )
    key = key[np.sort(rng.choice(len(key), config.edges, replace=False, shuffle=False))]
    left, tail = np.divmod(key, total)
    head, code = np.divmod(left, len(schema))
    return head, code, tail


def remove_facts(graph: KnowledgeGraph, share: float, *, seed: int = 0) -> KnowledgeGraph:
    """The graph without a random share of its facts.

    One fact of every relation always stays, so that relation codes mean what they meant to a model
    trained before. Entities without any fact left leave the graph.

    Args:
        graph: any.
        share: of the facts, in [0, 1).
        seed: decides the order in which facts go.

    Raises:
        JaxkgError: the share is out of range.
    """
    if not 0 <= share < 1:
        raise JaxkgError(f"the share of facts to remove is in [0, 1), not {share}")
    order = np.random.default_rng([seed, 3]).permutation(graph.num_triples)
    goes = np.zeros(graph.num_triples, bool)
    goes[order[: round(share * graph.num_triples)]] = True
    _, last = np.unique(graph.triples[order[::-1], 1], return_index=True)
    goes[order[::-1][last]] = False
    return _with_triples(graph, np.flatnonzero(~goes))


def _with_triples(graph: KnowledgeGraph, rows: np.ndarray) -> KnowledgeGraph:
    """The graph of some rows of `triples`; every relation must be among them."""
    head, code, tail = graph.triples[rows].T
    used = np.unique(np.concatenate([head, tail]))
    rank = np.zeros(graph.num_entities, np.int32)
    rank[used] = np.arange(len(used))
    ids = graph.entity_ids.take(used)
    alias_rows = np.flatnonzero(np.isin(graph.aliases.owners, used))
    return dataclasses.replace(
        graph,
        entity_ids=ids,
        entity_names=(
            ids if graph.entity_names is graph.entity_ids else graph.entity_names.take(used)
        ),
        triples=np.stack([rank[head], code, rank[tail]], axis=1),
        aliases=AliasTable(
            rank[graph.aliases.owners[alias_rows]], graph.aliases.names.take(alias_rows)
        ),
        provenance=graph.provenance and graph.provenance.take(rows),
    )
