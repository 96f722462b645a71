"""What is odd in a graph: references to nothing, names shared, cycles, values that do not fit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.kg.hierarchies import is_called_hierarchy
from jaxkg.kg.qualifiers import OBJECT, PREDICATE, SUBJECT
from jaxkg.kg.queries.columns import is_nothing, likely_column
from jaxkg.kg.queries.literals import literal
from jaxkg.words import is_blank, one_line

KINDS = {
    "dangling": "references to what nothing is said of",
    "homonyms": "names that several ids have",
    "repeated": "ids with two values where nearly all have one: two rows of one id?",
    "unnamed": "ids without a name where most others have one",
    "cycles": "things above themselves in a hierarchy",
    "misfits": "values that do not fit their column",
    "both ways": "facts that also stand the other way round, where most do not",
}
"""What is looked for."""

_SHOWN = 5
_NEARLY_ALL, _ENOUGH = 0.95, 20


class Finding(NamedTuple):
    """Something odd.

    Attributes:
        kind: one of `KINDS`.
        relation: along which; "" where it is of none.
        times: how often.
        examples: of it, at most five.
    """

    kind: str
    relation: str
    times: int
    examples: list[str]

    def __str__(self) -> str:
        along = f" along {one_line(self.relation)!r}" if self.relation else ""
        shown = "; ".join(map(one_line, self.examples)) + "; ..." * (
            self.times > len(self.examples)
        )
        return f"{self.kind}: {self.times:,} {KINDS[self.kind]}{along}: {shown}"


def check_graph(kg: KnowledgeGraph, *, kinds: Collection[str] = tuple(KINDS)) -> list[Finding]:
    """Look a graph through.

    A relation that is declared to be a hierarchy, or symmetric, is looked at as such; see
    `KnowledgeGraph.meanings`.

    Args:
        kinds: what to look for, of `KINDS`.

    Example:
        >>> kg = KnowledgeGraph.from_triples([("a", "part of", "b"), ("b", "part of", "a")])
        >>> [(found.kind, found.examples) for found in check_graph(kg, kinds=["cycles"])]
        [('cycles', ['a, b'])]
    """
    looked: dict[str, Callable[[_Graph], Iterable[Finding]]] = {
        "dangling": _dangling,
        "homonyms": _homonyms,
        "repeated": _repeated,
        "unnamed": _unnamed,
        "cycles": _cycles,
        "misfits": _misfits,
        "both ways": _both_ways,
    }
    graph = _Graph(kg)
    return [found for kind in KINDS if kind in kinds for found in looked[kind](graph)]


class _Graph:
    """A graph with what all checks need.

    Attributes:
        is_head: [N] whether something is said of an entity.
        is_named: [N] whether it has a name beside its id.
        is_thing: [N] whether it is a thing, and no literal and no statement.
    """

    def __init__(self, kg: KnowledgeGraph) -> None:
        self.kg, self.triples = kg, np.asarray(kg.triples)
        self.ids, self.names = kg.entity_ids.tolist(), kg.entity_names.tolist()
        self.is_head = np.zeros(kg.num_entities, bool)
        self.is_head[self.triples[:, 0]] = True
        self.is_named = np.array([a != b for a, b in zip(self.ids, self.names)], bool)
        things = (not is_blank(id) and literal(id) is None for id in self.ids)
        self.is_thing = np.fromiter(things, bool, kg.num_entities)

    def relations(self) -> Iterator[tuple[int, str, np.ndarray]]:
        """Each relation's code, label and facts [f, 3]; those of statements aside."""
        for code, name in enumerate(self.kg.relations):
            if name not in (SUBJECT, PREDICATE, OBJECT):
                facts = self.triples[self.kg.rows_of(code)]
                yield code, self.kg.relation_labels[code], facts

    def shown(self, nodes: np.ndarray) -> list[str]:
        """A few entities, by name and id."""
        some = nodes[:_SHOWN].tolist()
        return [
            f"{self.names[n]} [{self.ids[n]}]" if self.is_named[n] else self.ids[n] for n in some
        ]

    def fact(self, triple: Any) -> str:
        head, code, tail = (int(part) for part in triple)
        return f"{self.names[head]} {self.kg.relation_labels[code]} {self.names[tail]}"


def _dangling(graph: _Graph) -> Iterator[Finding]:
    """Ends without a name or a fact, of a relation whose other ends mostly have a name."""
    for _, label, facts in graph.relations():
        ends = np.unique(facts[:, 2])
        named = graph.is_named[ends] & graph.is_head[ends]
        left = ends[~graph.is_named[ends] & ~graph.is_head[ends] & graph.is_thing[ends]]
        if 0 < len(left) < named.sum():
            yield Finding("dangling", label, len(left), graph.shown(left))


def _homonyms(graph: _Graph) -> Iterator[Finding]:
    ids: dict[str, list[str]] = defaultdict(list)
    for node in np.flatnonzero(graph.is_head & graph.is_thing & graph.is_named).tolist():
        ids[graph.names[node]].append(graph.ids[node])
    shared = {name: some for name, some in ids.items() if len(some) > 1}
    if shared:
        examples = [f"{name} ({', '.join(some[:3])})" for name, some in shared.items()]
        yield Finding("homonyms", "", len(shared), examples[:_SHOWN])


def _repeated(graph: _Graph) -> Iterator[Finding]:
    for _, label, facts in graph.relations():
        heads = facts[graph.is_thing[facts[:, 0]], 0]
        heads, counts = np.unique(heads, return_counts=True)
        again = heads[counts > 1]
        enough = len(heads) >= _ENOUGH and len(again) <= (1 - _NEARLY_ALL) * len(heads)
        if len(again) and enough and not graph.is_head[facts[:, 2]].any():
            yield Finding("repeated", label, len(again), graph.shown(again))


def _unnamed(graph: _Graph) -> Iterator[Finding]:
    heads = graph.is_head & graph.is_thing
    left = np.flatnonzero(heads & ~graph.is_named)
    if 0 < len(left) < (heads & graph.is_named).sum():
        yield Finding("unnamed", "", len(left), graph.shown(left))


def _cycles(graph: _Graph) -> Iterator[Finding]:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    for code, label, facts in graph.relations():
        meant = graph.kg.meanings.get(graph.kg.relations[code], {})
        if not meant.get("hierarchy", is_called_hierarchy(graph.kg, code)):
            continue
        n = graph.kg.num_entities
        links = coo_array((np.ones(len(facts), bool), (facts[:, 0], facts[:, 2])), shape=(n, n))
        _, component = connected_components(links, directed=True, connection="strong")
        sizes = np.bincount(component)
        loops = {int(component[head]) for head in facts[facts[:, 0] == facts[:, 2], 0]}
        found = sorted(loops.union(np.flatnonzero(sizes > 1).tolist()))
        if found:
            some = (np.flatnonzero(component == one)[:_SHOWN] for one in found[:_SHOWN])
            examples = [", ".join(graph.names[node] for node in nodes.tolist()) for nodes in some]
            yield Finding("cycles", label, len(found), examples)


def _misfits(graph: _Graph) -> Iterator[Finding]:
    for _, label, facts in graph.relations():
        ends = np.unique(facts[:, 2])
        ends = ends[~graph.is_head[ends]]
        texts = [graph.names[end] for end in ends.tolist()]
        column = likely_column(texts)
        if column is None:
            continue
        odd = [text for text, value in zip(texts, column.values) if value is None]
        odd = [text for text in odd if not is_nothing(text)]
        if odd and 2 * len(odd) < len(texts):
            yield Finding("misfits", label, len(odd), odd[:_SHOWN])


def _both_ways(graph: _Graph) -> Iterator[Finding]:
    n = np.int64(graph.kg.num_entities)
    for code, label, facts in graph.relations():
        if graph.kg.meanings.get(graph.kg.relations[code], {}).get("symmetric"):
            continue
        apart = facts[facts[:, 0] != facts[:, 2]]
        forth, back = apart[:, 0] * n + apart[:, 2], apart[:, 2] * n + apart[:, 0]
        both = apart[np.isin(forth, back)]
        if 0 < len(both) < len(apart) / 2:
            once = both[both[:, 0] < both[:, 2]]
            yield Finding("both ways", label, len(once), [graph.fact(one) for one in once[:_SHOWN]])
