"""Rounds of a batch of query graphs on the device, planned on the host."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import overload

import jax
import numpy as np

from jaxkg.candidates import Revisit
from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.kg.neighbourhood import spread
from jaxkg.kg.queries.sets import Derived, QuerySets, Result, root_result, start_of
from jaxkg.kg.queries.values import Values
from jaxkg.kg.queries.windows import NONE
from jaxkg.query import Domain
from jaxkg.search.plans import execute_batch
from jaxkg.tensors import Capacities, TensorGraph, bucket, pad, stream, tensor_graph
from jaxkg.types import NULL
from lib.query_graphs.batch import Chains, Closures, Combinations, Conditions, QueryBatch
from lib.query_graphs.rounds import combine, keep_foremost, keep_where

_FEWEST_SLOTS = 4096
_MOST_SLOTS = 1 << 17


@dataclasses.dataclass(frozen=True, eq=False)
class _Sets:
    """Sets found in one round, end to end: nodes [K], walks [K, L] of edges or None, ends [K]."""

    node: np.ndarray
    edges: np.ndarray | None = None
    end: np.ndarray | None = None
    count: np.ndarray | None = None


class QueryTables:
    """What the execution of query graphs over one graph needs: its tensors, values and buckets.

    Args:
        kg: the graph.
        tensors, values: of the graph, where they are there already.
        batch_size: rows of a chain round.
    """

    def __init__(
        self,
        kg: KnowledgeGraph,
        *,
        tensors: TensorGraph | None = None,
        values: Values | None = None,
        batch_size: int = 1024,
    ):
        self.kg = kg
        self.values = values or Values(kg)
        self.tensors = tensors or tensor_graph(kg)
        self.batch_size = batch_size
        self._capacities: dict[tuple[int, ...], Capacities] = {}

    def capacities(self, rows: int, starts: int, hops: int, width: int, topic: bool) -> Capacities:
        """What a chain round of this shape has needed so far."""
        key = (rows, starts, hops, width, topic)
        if key not in self._capacities:
            first = (bucket(8 * rows << 2 * hop, floor=_FEWEST_SLOTS) for hop in range(hops))
            # Long chains would ask for millions; what is too small grows.
            slots = tuple(min(size, _MOST_SLOTS) for size in first)
            self._capacities[key] = Capacities(slots=slots)
        return self._capacities[key]

    @functools.cached_property
    def sets(self) -> QuerySets:
        """What works out the root of a query graph on the host."""
        return QuerySets(self.kg, self.values)

    @functools.cached_property
    def keys(self) -> jax.Array:
        """[5, 2, N] int32 of all kinds; texts are read when a query graph first compares one."""
        return self._keys(with_texts=False)

    @functools.cached_property
    def keys_with_texts(self) -> jax.Array:
        """As `keys`, texts included."""
        return self._keys(with_texts=True)

    def _keys(self, *, with_texts: bool) -> jax.Array:
        nodes = self.tensors.graph.num_nodes
        table = np.full((5, 2, nodes), NONE, np.int32)
        table[:3, :, : self.kg.num_entities] = self.values.keys
        if with_texts:
            table[3, :, : self.kg.num_entities] = self.values.texts
        table[4] = np.arange(nodes)
        return jax.device_put(table)

    @functools.cached_property
    def order(self) -> jax.Array:
        """[3, N] int32, place of every number, date and truth value among its kind."""
        table = np.full((3, self.tensors.graph.num_nodes), NULL, np.int32)
        for kind, (first, second) in enumerate(self.values.keys):
            there = np.flatnonzero(first != NONE)
            pairs = np.stack([first[there], second[there]], axis=1)
            table[kind, there] = np.unique(pairs, axis=0, return_inverse=True)[1].reshape(-1)
        return jax.device_put(table)


class Executed(Sequence[Result]):
    """One execution of a batch: what every operator found, and with it every result."""

    def __init__(self, owner: QueryTables, batch: QueryBatch):
        self.owner, self.batch = owner, batch
        count = len(batch.operators)
        self.found: list[_Sets] = []
        self.sets = np.zeros(count, np.int64)  # place in `found` of every operator
        self.low = np.zeros(count, np.int64)
        self.high = np.zeros(count, np.int64)
        self.complete = np.ones(count, bool)
        # All rounds have as many rows, so that they share a program.
        chains = [chains for level in batch.rounds for chains in level.chains]
        most = max((len(one.places) for one in chains), default=1)
        conditions = any(level.wheres or level.extremes or level.closures for level in batch.rounds)
        size = owner.batch_size
        self.rows = size if conditions else min(size, bucket(most))
        self.spare = 1 if len(batch.rounds) == 1 else 4
        self.found.append(_Sets(batch.starts))
        places, self.low[places], self.high[places] = batch.entities.T
        for level in batch.rounds:
            for chains in level.chains:
                self._chains(chains)
            if level.closures:
                self._close(level.closures)
            if level.combinations:
                self._combine(level.combinations)
            if level.wheres:
                self._where(level.wheres)
            if level.extremes:
                self._extreme(level.extremes)

    def _keep_all(self, places: np.ndarray, sets: _Sets, row: np.ndarray) -> None:
        """Sets of the operators at `places`, `row` [K] ascending into these."""
        offsets = np.searchsorted(row, np.arange(len(places) + 1))
        self.sets[places] = len(self.found)
        self.found.append(sets)
        self.low[places], self.high[places] = offsets[:-1], offsets[1:]

    @functools.cached_property
    def _spans(self) -> tuple[list[int], list[int], list[int]]:
        return self.sets.tolist(), self.low.tolist(), self.high.tolist()

    def nodes(self, place: int) -> np.ndarray:
        """[K] int32 found by an operator, ascending."""
        sets, low, high = self._spans
        nodes = self.found[sets[place]].node[low[place] : high[place]]
        if len(nodes) > 1:
            nodes = nodes.copy()
            nodes.sort()
        return nodes

    def _gathered(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Nodes of several sets end to end, and how many each has."""
        low, high = self.low[places], self.high[places]
        lengths, slot = high - low, spread(low, high)
        where = self.sets[places]
        if (where == where[0]).all():
            return self.found[where[0]].node[slot], lengths
        node, of_slot = np.empty(len(slot), np.int32), np.repeat(where, lengths)
        for sets in np.unique(where).tolist():
            node[of_slot == sets] = self.found[sets].node[slot[of_slot == sets]]
        return node, lengths

    def _walk(
        self, node: np.ndarray, lengths: np.ndarray, relations: np.ndarray, revisit: Revisit
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Paths from sets of nodes: row, node, edges of what was reached, rows that are complete.

        Args:
            node: [S] int32 of all rows end to end.
            lengths: [P] int64 nodes of each row.
            relations: [P, L, W] int32.
            revisit: see `candidates.follow`.
        """
        count, hops, width = relations.shape
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        rows, spare = self.rows, self.spare
        most = int(np.diff(offsets[::rows], append=offsets[-1:]).max(initial=0))
        slots = _room(most, rows * spare)
        capacities = self.owner.capacities(rows, slots, hops, width, revisit == "topic")

        def run(indices: np.ndarray, caps: tuple[int, ...]):
            low, high = int(indices[0]), int(indices[-1]) + 1
            row = np.repeat(np.arange(high - low, dtype=np.int32), lengths[low:high])
            starts = np.full(slots, rows - 1, np.int32)
            starts[: len(row)] = row
            return execute_batch(
                self.owner.tensors.graph,
                starts,
                pad(node[offsets[low] : offsets[high]], slots),
                pad(relations[low:high], rows),
                capacities=caps,
                revisit=revisit,
            )

        parts, completes = [], np.ones(count, bool)
        results = stream(count, rows, run, capacities)
        for indices, (found, _, _), complete in results:
            there = np.flatnonzero(found.valid)
            row = found.row[there]
            if hops > 1:
                order = np.argsort(row, kind="stable")
                there, row = there[order], row[order]
            parts.append((row + np.int32(indices[0]), found.node[there], found.edges[there]))
            completes[indices] = complete
        row, reached, edges = parts[0] if len(parts) == 1 else map(np.concatenate, zip(*parts))
        return row, reached, edges, completes

    def _chains(self, chains: Chains) -> None:
        node, lengths = self._gathered(chains.sources)
        row, reached, edges, complete = self._walk(node, lengths, chains.relations, chains.revisit)
        self._keep_all(chains.places, _Sets(reached, edges), row)
        self.complete[chains.places] = complete

    def _close(self, closures: Closures) -> None:
        """Step from all that is new until nothing is; what is known already is told on the host."""
        node, lengths = self._gathered(closures.sources)
        count, size = len(closures.places), np.int64(self.owner.kg.num_entities)
        begins = np.repeat(np.arange(count), lengths) * size + node
        frontier = begins
        found, edges = [np.zeros(0, np.int64)], [np.zeros((0, 1), np.int32)]
        complete = np.ones(count, bool)
        while len(frontier):
            row, node = np.divmod(np.sort(frontier), size)
            lengths = np.bincount(row, minlength=count)
            row, node, walked, whole = self._walk(
                node.astype(np.int32), lengths, closures.relations, "any"
            )
            complete &= whole
            keys = row * size + node
            new = np.flatnonzero(~np.isin(keys, np.concatenate(found)))
            found.append(keys[new])
            edges.append(walked[new])
            frontier = np.setdiff1d(keys[new], begins)
        keys, walked = np.concatenate(found), np.concatenate(edges)
        own = begins[closures.whole[begins // size]]
        others = ~np.isin(keys, own)
        keys = np.concatenate([own, keys[others]])
        walked = np.concatenate([np.full((len(own), 1), NULL, np.int32), walked[others]])
        order = np.argsort(keys, kind="stable")
        row, node = np.divmod(keys[order], size)
        self._keep_all(closures.places, _Sets(node.astype(np.int32), walked[order]), row)
        self.complete[closures.places] = complete

    def _combine(self, combined: Combinations) -> None:
        node, lengths = self._gathered(combined.parts)
        row, least, most = np.repeat(combined.row, lengths), combined.least, combined.most
        left_out = (most[combined.row] == 1) & (combined.number > 0)
        weight = np.repeat(np.where(left_out, np.int32(1 << 20), np.int32(1)), lengths)
        size, rows = _room(len(row)), _room(len(least), 256)
        kept = combine(
            pad(row, size), pad(node, size), pad(weight, size), pad(least, rows), pad(most, rows)
        )
        slot = np.flatnonzero(np.asarray(kept)[: len(row)])
        self._keep_all(combined.places, _Sets(node[slot]), row[slot])

    def _ends(
        self, conditions: Conditions
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """What the paths lead to from every entity of the sources.

        Returns:
            row [P] and node [P] of the pairs; pair [F], end [F] and edges [F, L] of the ends.
        """
        origin, lengths = self._gathered(conditions.sources)
        row = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
        walks = conditions.hops[row] > 0
        going, staying = np.flatnonzero(walks), np.flatnonzero(~walks)
        hops = conditions.relations.shape[1]
        pair, end, edges = going, origin[going], np.full((len(going), hops), NULL, np.int32)
        if len(going):
            relations = conditions.relations[row[going]]
            ones = np.ones(len(going), np.int64)
            at, end, edges, complete = self._walk(origin[going], ones, relations, "any")
            pair = going[at]
            for place in row[going[~complete]].tolist():
                self.complete[conditions.places[place]] = False
        if len(staying):
            pair, end = np.concatenate([pair, staying]), np.concatenate([end, origin[staying]])
            none = np.full((len(staying), edges.shape[1]), NULL, np.int32)
            edges = np.concatenate([edges, none])
        return row, origin, pair.astype(np.int32), end, edges

    def _where(self, conditions: Conditions) -> None:
        def kept(pair: np.ndarray, end: np.ndarray, row: np.ndarray, size: int):
            texts = bool((conditions.kind == 3).any())
            return keep_where(
                self.owner.keys_with_texts if texts else self.owner.keys,
                pair,
                end,
                _padded(conditions.kind[row], size, 0),
                _padded(conditions.window[row], size, 0),
                _padded(conditions.negate[row], size, 0),
            )

        self._condition(conditions, kept)

    def _extreme(self, conditions: Conditions) -> None:
        def kept(pair: np.ndarray, end: np.ndarray, row: np.ndarray, size: int):
            return keep_foremost(
                self.owner.order,
                pair,
                end,
                pad(row, size),
                _padded(conditions.kind[row], size, 0),
                _padded(conditions.negate[row], size, 0),
                _padded(conditions.most[row], size, 1),
            )

        self._condition(conditions, kept)

    def _condition(self, conditions: Conditions, kept: Callable[..., Sequence[jax.Array]]) -> None:
        row, origin, pair, end, edges = self._ends(conditions)
        size = _room(max(len(pair), len(row)))
        found = kept(pad(pair, size), pad(end, size), row, size)
        keep, slot, ends = (np.asarray(column)[: len(row)] for column in found)
        there = np.flatnonzero(keep)
        slot = slot[there]
        # What was counted has no end of its own, and no walk.
        walks = np.full((len(there), edges.shape[1]), NULL, np.int32)
        best = np.full(len(there), NULL, np.int32)
        walks[slot != NULL], best[slot != NULL] = edges[slot[slot != NULL]], end[slot[slot != NULL]]
        sets = _Sets(origin[there], walks, best, ends[there])
        self._keep_all(conditions.places, sets, row[there])

    def __len__(self) -> int:
        return len(self.batch.queries)

    @overload
    def __getitem__(self, place: int) -> Result: ...
    @overload
    def __getitem__(self, place: slice) -> list[Result]: ...
    def __getitem__(self, place: int | slice) -> Result | list[Result]:
        """The result of a query graph."""
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        query, roots = self.batch.queries[place], self.batch.roots[place]
        complete = self._whole or all(map(self._all_complete, roots))
        derive = functools.partial(self._derived, roots)
        found = [self.nodes(place) for place in roots]
        return root_result(query, found, derive, self.owner.sets, complete=complete)

    @functools.cached_property
    def _whole(self) -> bool:
        return bool(self.complete.all())

    def _all_complete(self, place: int) -> bool:
        parts = self.batch.parts[place]
        return bool(self.complete[place]) and all(map(self._all_complete, parts))

    def _derived(self, roots: Sequence[int]) -> tuple[Derived, ...]:
        return tuple(map(self._derive, roots))

    def _derive(self, place: int) -> Derived:
        query = self.batch.operators[place]
        if (known := self.batch.on_host.get(place)) is not None:
            return known
        if isinstance(query, Domain):
            return start_of(self.owner.values, query)
        sets, low, high = self.found[self.sets[place]], self.low[place], self.high[place]
        order = low + np.argsort(sets.node[low:high])
        steps = None if sets.edges is None else self._steps(sets.edges[order])
        return Derived(
            query,
            sets.node[order],
            steps,
            None if sets.end is None else sets.end[order],
            None if sets.count is None else sets.count[order],
            tuple(map(self._derive, self.batch.parts[place])),
        )

    def _steps(self, edges: np.ndarray) -> np.ndarray:
        tensors, safe = self.owner.tensors, np.maximum(edges, 0)
        inverse = tensors.relation[safe] >= self.owner.kg.num_relations
        step = 2 * tensors.triple_of_edge[safe].astype(np.int64) + inverse
        return np.where(edges == NULL, -1, step)


def _room(size: int, floor: int = _FEWEST_SLOTS) -> int:
    """A power of four times the floor, so that few programs compile."""
    room = floor
    while room < size:
        room *= 4
    return room


def _padded(column: np.ndarray, size: int, fill: int) -> np.ndarray:
    padded = np.full((size, *column.shape[1:]), fill, column.dtype)
    padded[: len(column)] = column
    return padded
