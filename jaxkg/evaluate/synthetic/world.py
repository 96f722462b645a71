"""Graphs of any size with hubs, typed relations, distractors and missing facts, from a seed.

Pronounceable names by the million, as bytes in numpy: no loop over names.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.evaluate.synthetic.schema import KINDS, NARY, Kind, Relation, relations
from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.kg.hypergraph.graph import KnowledgeHypergraph
from jaxkg.kg.names import AliasTable, NameTable

_SYLLABLES = np.array([c + v for c in "bdfgklmnprstvz" for v in "aeiou"], "S2").view(np.uint8)
_SYLLABLES = _SYLLABLES.reshape(-1, 2)
_MOST = 6
"""Syllables of a name: 70^6 names are more than fit in memory."""
LONGEST = 32
"""Bytes that any name fits in."""


def make_names(kind: Kind, numbers: np.ndarray, count: int, *, seed: int) -> np.ndarray:
    """Different names for different numbers.

    Args:
        kind: pattern of the names.
        numbers: [n] integers in [0, count).
        count: how many names of the kind there are in all; decides how long they are.
        seed: other seeds give other names.

    Returns:
        [n] ASCII byte strings, all of one length.

    >>> from jaxkg.evaluate.synthetic.schema import KINDS
    >>> make_names(KINDS["company"], np.arange(2), 100, seed=0).tolist()
    [b'Lanebi Works', b'Lesura Works']
    """
    base = len(_SYLLABLES)
    size = next((k for k in range(2 + kind.words, _MOST + 1) if base**k >= 4 * count), None)
    if size is None:
        raise JaxkgError(f"{count:,} names of one kind, but only {base**6:,} exist")
    total = base**size
    # An affine map with a multiplier prime to the base shuffles the numbers and repeats none.
    factor = int(total * 0.6180339887) // base * base + 1 + 2 * base * (seed % 97)
    mixed = (numbers.astype(np.int64) * (factor % total) + (seed * 7919 + 12345)) % total
    digits = np.stack([mixed // base**place % base for place in range(size)], axis=1)
    letters = _SYLLABLES[digits].reshape(len(numbers), 2 * size)
    first = 2 * (size // kind.words)
    words = [letters[:, :first]] if kind.words == 1 else [letters[:, :first], letters[:, first:]]
    parts: list[np.ndarray] = [_same(kind.prefix, len(numbers))]
    for place, word in enumerate(words):
        word = word.copy()
        word[:, 0] -= 32  # a capital
        parts += [_same(" ", len(numbers))] * bool(place) + [word]
    table = np.ascontiguousarray(np.concatenate([*parts, _same(kind.suffix, len(numbers))], axis=1))
    return table.view(f"S{table.shape[1]}").reshape(-1)


def name_order(names: np.ndarray) -> np.ndarray:
    """[n] positions of byte strings of `LONGEST` in their order; numbers sort faster than strings.

    >>> name_order(np.array([b"Lane Biba", b"Lanebi", b"Boma"], f"S{LONGEST}")).tolist()
    [2, 0, 1]
    """
    words = np.ascontiguousarray(names).view(">u8").reshape(len(names), LONGEST // 8)
    return np.lexsort(words.astype(np.uint64).T[::-1])


def name_table(names: np.ndarray, *, ascending: bool = False) -> NameTable:
    """[n] ASCII byte strings as a table."""
    width = names.dtype.itemsize
    letters = np.ascontiguousarray(names).view(np.uint8).reshape(len(names), width)
    offsets = np.zeros(len(names) + 1, np.int64)
    np.cumsum(np.count_nonzero(letters, axis=1), out=offsets[1:])
    return NameTable(letters[letters != 0], offsets, ascending=ascending)


def _same(text: str, count: int) -> np.ndarray:
    letters = np.frombuffer(text.encode("ascii"), np.uint8)
    return np.broadcast_to(letters, (count, len(letters)))


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
    return graph.part(~goes)


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
