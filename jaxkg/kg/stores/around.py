"""What lies around some entities of a store, as a small graph of its own.

Facts are counted before they are fetched, few-facts relations first, and what is left out is told:
an entity with ten million facts of one relation costs one count.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from jaxkg.deadline import check
from jaxkg.errors import JaxkgError
from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.kg.names import AliasTable, NameTable
from jaxkg.kg.stores.store import Facts, Runs, Store
from jaxkg.settings import Checked, Count, CountOrZero


@dataclasses.dataclass(frozen=True)
class Reach(Checked):
    """How far to look around the topics of a question.

    Attributes:
        hops: facts between a topic and what is seen.
        fan: facts of one entity by one relation; more of them are not fetched, but for a topic's
            own.
        facts: around one question. Relations of few facts come first.
        together: around all questions that are looked at together.
        whole: a graph of so many facts at most is fetched whole; 0 for none.
    """

    hops: Count = 3
    fan: Count = 2_000
    facts: Count = 50_000
    together: Count = 400_000
    whole: CountOrZero = 200_000


@dataclasses.dataclass(frozen=True, eq=False)
class Surroundings:
    """Facts around some entities.

    Attributes:
        topics: the entities; None for the whole graph.
        facts: each once, by head, relation and tail.
        cuts: what was counted and not fetched.
        full: whether facts were left out because there were too many in all.
        troubles: what the store was asked for and did not give.
        counted: [K] ascending, entities whose facts were counted; what is behind others of those
            reached is not known.
    """

    topics: tuple[int, ...] | None
    facts: Facts
    cuts: Runs
    full: bool
    troubles: tuple[str, ...] = ()
    counted: np.ndarray = dataclasses.field(default_factory=lambda: np.empty(0, np.int64))


def everything(store: Store) -> Surroundings:
    """The whole graph."""
    facts = _once([store.everything()])
    return Surroundings(None, facts, Runs.of([]), False, tuple(dict.fromkeys(store.troubles())))


def surroundings(
    store: Store, topics: Sequence[int], reach: Reach = Reach(), *, questions: int = 1
) -> Surroundings:
    """Fetch what lies around some entities, hop by hop.

    Args:
        topics: its entities.
        reach: how far to look.
        questions: that these are the topics of.
    """
    seen = frontier = np.unique(np.asarray(topics, np.int64))
    parts: list[Facts] = []
    cuts = [Runs.of([])]
    counted = seen[:0]
    room, full = min(reach.facts * questions, max(reach.together, reach.facts)), False
    for hop in range(reach.hops):
        check()
        if not len(frontier):
            break
        runs = _not_there(store.runs(frontier), _once(parts).triples)
        counted = np.union1d(counted, frontier)
        order = np.argsort(runs.size, kind="stable")
        small = (runs.size[order] <= reach.fan) | (hop == 0)
        taken = np.cumsum(runs.size[order])
        fits = small & (taken <= room)
        full |= bool((small & ~fits).any())
        cuts.append(runs.take(order[~fits]))
        facts = store.fetch(runs.take(order[fits]))
        room -= len(facts.rows)
        parts.append(facts)
        reached = np.unique(facts.triples[:, ::2])
        frontier = reached[~np.isin(reached, seen)]
        seen = np.union1d(seen, reached)
    left = Runs.joined(cuts)
    troubles = tuple(dict.fromkeys(store.troubles()))
    return Surroundings(tuple(topics), _once(parts), left, full, troubles, counted)


def _not_there(runs: Runs, known: np.ndarray) -> Runs:
    """Those runs of which there are more facts than are known."""
    sides = [runs_of_rows(known[:, column], known[:, 1], bool(column)) for column in (0, 2)]
    there = Runs.joined(sides)
    key, sought = (some.node << 32 | some.relation << 1 | some.inverse for some in (there, runs))
    if not len(key):
        return runs
    order = np.argsort(key)
    place = np.minimum(np.searchsorted(key[order], sought), len(key) - 1)
    size = np.where(key[order][place] == sought, there.size[order][place], 0)
    return runs.take(np.flatnonzero(runs.size > size))


def _once(parts: Sequence[Facts]) -> Facts:
    """Facts, each once, by head, relation and tail."""
    triples = np.concatenate([np.empty((0, 3), np.int64), *(part.triples for part in parts)])
    rows = np.concatenate([np.empty(0, np.int64), *(part.rows for part in parts)])
    order = np.lexsort(triples.T[::-1])
    once = np.ones(len(order), bool)
    once[1:] = np.any(np.diff(triples[order], axis=0), axis=1)
    return Facts(triples[order[once]], rows[order[once]])


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class TopicGraph(KnowledgeGraph):
    """What lies around the topics of questions: a graph like any other.

    Attributes:
        mentionable: rows of the entities that a question may name; the others are but around.
        rows: [T] the store's own number of each triple, -1 where it numbers none.
        node_of: [N] the store's number of each entity.
        sample: facts from all over the store: what a part alone does not tell, such as whether a
            relation's ends are dates, is read off these. None where this is all there is.
    """

    mentionable: np.ndarray | None = None
    rows: np.ndarray | None = None
    node_of: np.ndarray | None = None
    sample: KnowledgeGraph | None = None


def topic_graph(
    store: Store,
    nearby: Surroundings,
    *,
    whole_schema: bool = True,
    sample: KnowledgeGraph | None = None,
) -> TopicGraph:
    """Fetched facts as a graph.

    Args:
        store: they are of.
        found: the facts.
        whole_schema: keep all relations of the store, so that their codes are a model's; else
            those alone that there are facts of.
        sample: see `TopicGraph`.

    Raises:
        JaxkgError: the store does not know all of its relations, which a model needs.
    """
    if whole_schema and not store.closed:
        raise JaxkgError(
            f"{store.title} does not say what relations it has, and a trained model needs to know; "
            "use --system reader"
        )
    head, code, tail = nearby.facts.triples.T
    topics = np.asarray(nearby.topics or (), np.int64)
    nodes = np.union1d(np.unique(nearby.facts.triples[:, ::2]), topics)
    entities = store.described(nodes)
    order = np.array(sorted(range(len(nodes)), key=entities.ids.__getitem__), np.int64)
    place = np.empty(len(nodes), np.int32)
    place[order] = np.arange(len(nodes), dtype=np.int32)
    schema = store.schema
    used = np.arange(schema.num_relations) if whole_schema else np.unique(code)
    names = [schema.relations[row] for row in used.tolist()]
    by_name = np.array(sorted(range(len(used)), key=names.__getitem__), np.int64)
    rank = np.zeros(max(schema.num_relations, 1), np.int32)
    rank[used[by_name]] = np.arange(len(used), dtype=np.int32)
    ends = (place[np.searchsorted(nodes, end)] for end in (head, tail))
    triples = np.stack([next(ends), rank[code], next(ends)], axis=1).astype(np.int32)
    by_row = np.lexsort(triples.T[::-1])
    rows = nearby.facts.rows[by_row]
    sources = store.sources(rows)
    ids = NameTable.from_names([entities.ids[row] for row in order.tolist()], ascending=True)
    shown = [entities.names[row] for row in order.tolist()]
    aliases = {int(place[row]): also for row, also in entities.aliases.items()}
    relations = used[by_name].tolist()
    others = {at: schema.relation_aliases.get(row, ()) for at, row in enumerate(relations)}
    mentionable = np.unique(place[np.searchsorted(nodes, topics)])
    return TopicGraph(
        entity_ids=ids,
        entity_names=ids if entities.names == entities.ids else NameTable.from_names(shown),
        relations=tuple(names[row] for row in by_name.tolist()),
        triples=np.ascontiguousarray(triples[by_row]),
        aliases=AliasTable.from_mapping(aliases),
        provenance=None if sources is None else NameTable.from_names(sources),
        relation_labels=tuple(schema.relation_labels[row] for row in relations),
        relation_aliases=AliasTable.from_mapping(others),
        mentionable=None if nearby.topics is None else mentionable,
        rows=rows,
        node_of=nodes[order],
        sample=sample,
    )


_SEEDS = 20_000
SAMPLED = 150_000
"""Facts of a sample."""
_SAMPLE_FAN = 50


def sample_graph(store: Store) -> KnowledgeGraph:
    """Facts from all over a store: of entities here and there, all but very many of one kind.

    A graph of no more facts than a sample has is its own; a folder keeps that of a larger one.
    """
    sample = getattr(store, "sample", None)
    if sample is not None:
        return sample
    if store.count is not None and store.count <= SAMPLED:
        nearby = everything(store)
    else:
        seeds = np.unique(store.some(_SEEDS)[:, ::2])
        runs = store.runs(seeds)
        few = runs.take(np.flatnonzero(runs.size <= _SAMPLE_FAN))
        order = np.random.default_rng(0).permutation(len(few.size))
        taken = order[np.cumsum(few.size[order]) <= SAMPLED]
        facts = _once([store.fetch(few.take(np.sort(taken)))])
        store.troubles()  # what is missing of a sample is missing of no answer
        nearby = Surroundings((), facts, Runs.of([]), False)
    return topic_graph(store, nearby, whole_schema=False)


def empty_graph(
    relations: Sequence[str], labels: Sequence[str] = (), aliases: AliasTable | None = None
) -> KnowledgeGraph:
    """A graph of relations and nothing else.

    >>> empty_graph(["by"]).relation_labels
    ('by',)
    """
    none = NameTable.from_names([], ascending=True)
    return KnowledgeGraph(
        entity_ids=none,
        entity_names=none,
        relations=tuple(relations),
        triples=np.empty((0, 3), np.int32),
        aliases=AliasTable.from_mapping({}),
        relation_labels=tuple(labels),
        relation_aliases=AliasTable.from_mapping({}) if aliases is None else aliases,
    )


def cut_words(store: Store, cuts: Runs) -> str:
    """Facts that were left out, in words: the largest first, three of them.

    Returns:
        "" where there is none.
    """
    if not len(cuts.node):
        return ""
    largest = cuts.take(np.argsort(-cuts.size, kind="stable")[:3])
    names = store.described(largest.node).names
    relations = store.schema.relations
    words = [
        f"{'^' * inverse}{relations[relation]} of {name} "
        + (f"({size:,} facts)" if size >= 0 else "(too far away to be counted)")
        for name, relation, inverse, size in zip(
            names, largest.relation.tolist(), largest.inverse.tolist(), largest.size.tolist()
        )
    ]
    more = len(cuts.node) - len(words)
    return ", ".join(words) + (f" and {more:,} more" if more else "")


def runs_between(
    store: Store, heads: Sequence[int], tails: Sequence[int], codes: Sequence[int], most: int
) -> tuple[Facts, Runs]:
    """The facts of some relations that lead from these heads, or to these tails.

    Args:
        heads, tails: entities.
        codes: of the store's schema; one of an inverse leads from a tail to a head.
        most: facts of one run; a fact of two runs that are larger is looked up on its own.

    Returns:
        The facts, all between heads and tails among them; and the runs that were too large.
    """
    runs = store.runs(np.unique(np.array([*heads, *tails], np.int64)))
    total = store.schema.num_relations
    wanted = np.zeros(len(runs.node), bool)
    for code in codes:
        back, relation = divmod(code, total)
        from_head = np.isin(runs.node, heads) & (runs.inverse == bool(back))
        from_tail = np.isin(runs.node, tails) & (runs.inverse != bool(back))
        wanted |= (runs.relation == relation) & (from_head | from_tail)
    few = wanted & (runs.size <= most)
    facts = store.fetch(runs.take(np.flatnonzero(few)))
    left = runs.take(np.flatnonzero(wanted & ~few))
    if len(left.node):
        ids = dict(zip([*heads, *tails], store.described(np.array([*heads, *tails])).ids))
        sought = [
            (t, c % total, h) if c >= total else (h, c, t)
            for h in heads
            for t in tails
            for c in codes
        ]
        names = store.schema.relations
        held = store.holds([(ids[h], names[r], ids[t]) for h, r, t in sought])
        more = np.array([fact for fact, there in zip(sought, held) if there], np.int64)
        more = Facts(more.reshape(-1, 3), np.full(len(more), -1))
        facts = Facts(*(np.concatenate(columns) for columns in zip(facts, more)))
    return _once([facts]), left


def runs_of_rows(node: np.ndarray, relation: np.ndarray, inverse: bool) -> Runs:
    """Counts of facts from one (node, relation) a fact; both below 2^31."""
    if not len(node):
        return Runs.of([])
    key, count = np.unique((node.astype(np.int64) << 31) | relation, return_counts=True)
    return Runs(key >> 31, key & ((1 << 31) - 1), np.full(len(key), inverse), count)
