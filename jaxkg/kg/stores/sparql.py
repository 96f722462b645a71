"""A graph behind a SPARQL 1.1 endpoint as a store: counted first, fetched in pages, kept."""

from __future__ import annotations

import functools
import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.kg.files.store import save_graph
from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.kg.names import AliasTable, NameTable
from jaxkg.kg.stores.around import empty_graph
from jaxkg.kg.stores.arrays import ArrayStore, save_index
from jaxkg.kg.stores.endpoint import Endpoint, Rows, Spent, Unsorted
from jaxkg.kg.stores.patterns import Patterns, id_of, shown, tail, value_of, written
from jaxkg.kg.stores.store import Described, Facts, Runs
from jaxkg.words import relation_words

Key: TypeAlias = tuple[int, int, bool]
"""(entity, relation, inverse) of a run."""


def batches(items: Sequence[Any], size: int) -> Iterator[list[Any]]:
    """Items, so many at a time.

    >>> list(batches("abc", 2))
    [['a', 'b'], ['c']]
    """
    for first in range(0, len(items), size):
        yield list(items[first : first + size])


def of_one_query(
    keys: Sequence[Key],
    sizes: dict[Key, int],
    counted: Mapping[int, Sequence[tuple[int, int, bool, int]]],
    most: int,
    page: int,
) -> Iterator[list[list[Key]]]:
    """Runs of one direction, those that one query asks for: each alone, or all of an entity.

    Where the other runs of an entity have no more facts than those wanted, it is asked for all of
    them: one term in place of many pairs.

    >>> runs = {7: [(7, 0, False, 5), (7, 1, False, 5), (7, 2, False, 9)]}
    >>> list(of_one_query([(7, 0, False), (7, 1, False)], {(7, 0, False): 5, (7, 1, False): 5},
    ...                   runs, 200, 10_000))
    [[[(7, 0, False), (7, 1, False), (7, 2, False)]]]

    Args:
        keys: the runs.
        sizes: facts of each; those of further runs are added.
        counted: (entity, relation, inverse, facts) of all runs of entities.
        most: runs or entities named in one query.
        page: facts it should bring, at most, unless one alone has more.
    """
    of_node: dict[int, list[Key]] = {}
    for key in keys:
        of_node.setdefault(key[0], []).append(key)
    single: list[list[Key]] = []
    whole: list[list[Key]] = []
    for node, mine in of_node.items():
        there = {run[:3]: run[3] for run in counted.get(node, ()) if run[2] == mine[0][2]}
        if len(mine) > 1 and 0 < sum(there.values()) <= 2 * sum(sizes[key] for key in mine):
            sizes |= there
            whole.append(list(there))
        else:
            single += [[key] for key in mine]
    for sort in (single, whole):
        groups: list[list[Key]] = []
        total = 0
        for group in sort:
            size = sum(sizes[key] for key in group)
            if groups and (total + size > page or len(groups) >= most):
                yield groups
                groups, total = [], 0
            groups.append(group)
            total += size
        if groups:
            yield groups


class Pages:
    """Rows in pages of as many as an endpoint gives at a time."""

    def __init__(self, endpoint: Endpoint, patterns: Patterns) -> None:
        self._endpoint, self._patterns = endpoint, patterns
        self._nested = False

    @functools.cached_property
    def cap(self) -> int:
        """Rows that the endpoint gives at a time: it need not say that there are more."""
        most = self._endpoint.settings.page
        return max(len(self._endpoint.select(self._patterns.anything(most)).rows), 1)

    def rows(self, query: str, order: str | None) -> Rows:
        """All rows of a query; page by page in an order, where more than one can come."""
        rows, whole = self._endpoint.select(query)
        if order is None or not whole or len(rows) < self.cap:
            return Rows(rows, whole)
        # As many as came before: perhaps all, perhaps as many as the endpoint ever gives. To count
        # is cheaper than to sort.
        counted, _ = self._endpoint.select(self._patterns.counted(query))
        if counted and int(counted[0]["n"]["value"]) <= len(rows):
            return Rows(rows, whole)
        lines: list[dict[str, dict[str, str]]] = []
        while whole and len(rows) >= self.cap:
            rows, whole = self._page(f"{query} ORDER BY {order}", len(lines))
            lines += rows
        return Rows(lines, whole)

    def _page(self, ordered: str, start: int) -> Rows:
        part = f"LIMIT {self.cap} OFFSET {start}"
        if not self._nested:
            try:
                return self._endpoint.select(f"{ordered} {part}")
            except Unsorted:
                self._nested = True
        # Virtuoso sorts all rows of an inner query; others need not keep the order of one.
        return self._endpoint.select(f"SELECT * WHERE {{ {{ {ordered} }} }} {part}")


_FORGET = 2_000_000
"""Facts, or texts that were searched for, held in memory beyond which all are forgotten."""

Row: TypeAlias = dict[str, dict[str, str]]


class SparqlStore:
    """A graph behind an endpoint; see `Store`.

    An entity's id, its names and a relation's name are those that `jaxkg.kg.files.rdf` gives a file
    with the same facts. Blank nodes are seen but not looked behind: no second query can name them.

    Args:
        endpoint: that is asked.
        patterns: what it is asked.

    Attributes:
        labels: all its names, where `kg labels` kept them: they are searched in its place.
    """

    numbered = False

    def __init__(self, endpoint: Endpoint, patterns: Patterns = Patterns()) -> None:
        self.endpoint, self.patterns = endpoint, patterns
        self.title = endpoint.title
        self.labels: ArrayStore | None = None
        self._ids: list[str] = []
        self._node: dict[str, int] = {}
        self._values: dict[int, str] = {}
        self._told: dict[int, tuple[str, ...]] = {}
        self._found: dict[str, list[int]] = {}
        self._known: dict[str, list[int]] = {}
        self._runs: dict[int, list[tuple[int, int, bool, int]]] = {}
        self._facts: dict[Key, list[tuple[int, int, int]]] = {}
        self._held = 0
        self._pages = Pages(endpoint, patterns)
        self._troubles: list[str] = []
        self._iris: list[str] = []
        self._names: list[str] = []
        self._row: dict[str, int] = {}
        self._counts: dict[str, int] = {}

    @property
    def closed(self) -> bool:
        """Whether the endpoint said what relations it has."""
        return self._relations_read

    @functools.cached_property
    def _relations_read(self) -> bool:
        try:
            rows, whole = self._pages.rows(self.patterns.relations(), "?p")
        except JaxkgError as error:
            _ = self._pages.cap  # raises where nothing can be asked
            self._troubles.append(f"its relations are not all known ({error})")
            return False
        counts = {id_of(row["p"]): int(row["n"]["value"]) for row in rows if "p" in row}
        if not counts:
            graph = self.patterns.graph
            where = f"the graph {graph}" if graph else "the default graph"
            raise JaxkgError(f"{self.title}: {where} has no facts; --graph IRI names another")
        tails = Counter(map(tail, counts))
        name = {iri: tail(iri) if tails[tail(iri)] == 1 else iri for iri in counts}
        self._iris = sorted(counts, key=name.__getitem__)
        self._names = [name[iri] for iri in self._iris]
        self._row = {iri: row for row, iri in enumerate(self._iris)}
        self._counts = {name[iri]: counts[iri] for iri in self._iris}
        return whole

    @property
    def schema(self) -> KnowledgeGraph:
        return self._whole_schema if self.closed else empty_graph(self._names)

    @functools.cached_property
    def _whole_schema(self) -> KnowledgeGraph:
        nodes = list(map(self._intern, self._iris))
        self._tell(nodes)
        names = [self._told.get(node, ()) for node in nodes]
        labels = [texts[0] if texts else relation_words(n) for texts, n in zip(names, self._names)]
        others = AliasTable.from_mapping(
            {row: texts[1:] for row, texts in enumerate(names) if texts}
        )
        schema = empty_graph(self._names, labels, others)
        about = repr((self.endpoint.url, self.patterns, self._counts))
        schema.__dict__["fingerprint"] = hashlib.sha256(about.encode()).hexdigest()
        return schema

    def named(self, names: Sequence[str]) -> list[list[int]]:
        """See `Store`. Each is asked once."""
        if len(self._known) > _FORGET:
            self._known.clear()
        before, bearers = len(self._troubles), dict[str, list[int]]()
        unknown = [name for name in dict.fromkeys(names) if name not in self._known]
        terms = {name: term for name in unknown if (term := written(name))}
        for batch in batches(list(terms), max(1, self.endpoint.settings.batch // 4)):
            rows, _ = self._answered(self.patterns.mentioned(terms[name] for name in batch))
            there = [batch[int(row["n"]["value"])] for row in rows]
            bearers |= {name: [self._intern(name)] for name in there}
        bearers |= self._bearers({name: [name] for name in unknown if name not in bearers})
        if len(self._troubles) == before:
            self._known |= {name: bearers.get(name, []) for name in unknown}
        return [self._known.get(name) or bearers.get(name, []) for name in names]

    def search(self, texts: Sequence[str]) -> list[list[int]]:
        """See `Store`; as written, in small letters, and with capitals. Each is asked once."""
        if self.labels is not None:
            return [self._kept(rows) for rows in self.labels.search(texts)]
        means: dict[str, list[str]] = {}
        if len(self._found) > _FORGET:
            self._found.clear()
        for text in dict.fromkeys(texts):
            if text in self._found:
                continue
            capital = text[:1].upper() + text[1:]
            for said in dict.fromkeys((text, text.lower(), capital, text.title())):
                means.setdefault(said, []).append(text)
        before = len(self._troubles)
        bearers = self._bearers(means)
        if len(self._troubles) == before:
            self._found |= {
                text: bearers.get(text, []) for text in texts if text not in self._found
            }
        return [self._found.get(text) or bearers.get(text, []) for text in texts]

    def near(self, text: str) -> list[int]:
        """See `Store`; without labels that are kept nothing is near."""
        return [] if self.labels is None else self._kept(self.labels.near(text))

    def worded(self, text: str) -> list[int]:
        """See `Store`; without labels that are kept it cannot tell."""
        return [] if self.labels is None else self._kept(self.labels.worded(text))

    def _kept(self, rows: Iterable[int]) -> list[int]:
        """Entities of the kept labels."""
        assert self.labels is not None
        return [self._intern(self.labels.kg.entity_ids[row]) for row in rows]

    def _bearers(self, means: dict[str, list[str]]) -> dict[str, list[int]]:
        """Entities whose name is one of the keys, by the texts it stands for."""
        nodes: dict[str, dict[int, None]] = {}
        for batch in batches(list(means), 2 * self.endpoint.settings.batch):
            for row in self._answered(self.patterns.named(batch), "?s ?l")[0]:
                for text in means.get(row["l"]["value"], ()):
                    nodes.setdefault(text, {})[self._intern(id_of(row["s"]))] = None
        return {text: list(batch) for text, batch in nodes.items()}

    def runs(self, nodes: np.ndarray) -> Runs:
        _ = self.closed
        wanted = nodes.tolist()
        partial: dict[int, list[tuple[int, int, bool, int]]] = {}
        missing = [node for node in wanted if node not in self._runs]
        for batch in batches(missing, self.endpoint.settings.batch):
            counted: dict[int, list[tuple[int, int, bool, int]]] = {node: [] for node in batch}
            whole = True
            for inverse, end in ((False, "s"), (True, "o")):
                terms = self._terms(batch, subjects=not inverse)
                if not terms:
                    continue
                rows, complete = self._answered(self.patterns.counts(end, terms), f"?{end} ?p")
                whole &= complete
                for row in filter(lambda row: end in row, rows):
                    node, relation = self._node.get(id_of(row[end])), self._relation(row["p"])
                    if node in counted and relation is not None:
                        counted[node].append((node, relation, inverse, int(row["n"]["value"])))
            (self._runs if whole else partial).update(counted)
        every = ((self._runs.get(node) or partial.get(node, ())) for node in wanted)
        return Runs.of([run for batch in every for run in batch])

    def fetch(self, runs: Runs) -> Facts:
        if self._held > _FORGET:
            self._facts.clear()
            self._held = 0
        settings = self.endpoint.settings
        keys = list(zip(runs.node.tolist(), runs.relation.tolist(), runs.inverse.tolist()))
        sizes = dict(zip(keys, runs.size.tolist()))
        partial: dict[Key, list[tuple[int, int, int]]] = {}
        for inverse in (False, True):
            wanted = [key for key in keys if key[2] == inverse and key not in self._facts]
            for groups in of_one_query(wanted, sizes, self._runs, settings.batch, settings.page):
                facts, whole = self._fetched(groups, sizes)
                (self._facts if whole else partial).update(facts)
                self._held += sum(map(len, facts.values()))
        every = ((self._facts.get(key) or partial.get(key, ())) for key in keys)
        table = np.array([fact for part in every for fact in part], np.int64).reshape(-1, 3)
        return Facts(table, np.full(len(table), -1))

    def _fetched(
        self, groups: list[list[Key]], sizes: dict[Key, int]
    ) -> tuple[dict[Key, list[tuple[int, int, int]]], bool]:
        """The facts of some runs of one direction, and whether all that were counted came."""
        keys = [key for group in groups for key in group]
        inverse, wanted = keys[0][2], sum(sizes[key] for key in keys)
        terms = " ".join(
            f"({written(self._ids[node])} <{self._iris[relation]}>)"
            if len(group) == 1
            else written(self._ids[node]) or ""
            for group in groups
            for node, relation, _ in group[:1]
        )
        rows, _ = self._answered(self.patterns.facts("o" if inverse else "s", terms), "?s ?p ?o")
        facts: dict[Key, list[tuple[int, int, int]]] = {key: [] for key in keys}
        for row in rows:
            head, end = self._of(row["s"]), self._of(row["o"])
            relation = self._relation(row["p"])
            if relation is not None:
                key = (end if inverse else head, relation, inverse)
                facts.setdefault(key, []).append((head, relation, end))
        self._short(wanted - len(rows))
        return facts, wanted <= len(rows)

    @property
    def count(self) -> int | None:
        return sum(self._counts.values()) if self.closed else None

    def everything(self) -> Facts:
        """See `Store`; page by page, and all names likewise."""
        rows, _ = self._answered(self.patterns.everything(), "?s ?p ?o")
        facts = self._read(rows)
        self._short((self.count or 0) - len(facts))
        named, whole = self._answered(self.patterns.names(), "?s ?p ?l")
        nodes = [node for node in range(len(self._ids)) if node not in self._told]
        self._learn(nodes, named, whole)
        return Facts(facts, np.full(len(facts), -1))

    def names(self) -> dict[str, tuple[str, ...]]:
        """All that are named, by id: the name to show first."""
        rows, whole = self._answered(self.patterns.names(), "?s ?p ?l")
        nodes = {self._of(row["s"]) for row in rows if row["s"]["type"] == "uri"}
        self._learn(nodes, rows, whole)
        return {self._ids[node]: self._told[node] for node in nodes if self._told.get(node)}

    def some(self, most: int) -> np.ndarray:
        """See `Store`; those that the endpoint gives first."""
        most = min(most, 5 * self.endpoint.settings.batch)
        return self._read(self._answered(self.patterns.anything(most))[0])

    def _read(self, rows: list[Row]) -> np.ndarray:
        """[K, 3] int64 facts."""
        _ = self.closed
        read = ((self._of(row["s"]), self._relation(row["p"]), self._of(row["o"])) for row in rows)
        return np.array([fact for fact in read if fact[1] is not None], np.int64).reshape(-1, 3)

    def _short(self, missing: int) -> None:
        if missing > 0:
            self._troubles.append(f"{self.title} counted {missing:,} facts that it did not send")

    def described(self, nodes: np.ndarray) -> Described:
        listed = nodes.tolist()
        self._tell(listed)
        ids = [self._ids[node] for node in listed]
        texts_of = [self._told.get(node, ()) for node in listed]
        names = [
            texts[0] if texts else shown(id, self._values.get(node))
            for texts, id, node in zip(texts_of, ids, listed)
        ]
        return Described(
            ids, names, {row: texts[1:] for row, texts in enumerate(texts_of) if texts[1:]}
        )

    def _tell(self, nodes: Sequence[int]) -> None:
        """Read the names of entities: in the language first, then in none, then other names."""
        unknown = [node for node in nodes if node not in self._told]
        rest = [node for node in unknown if not self._ids[node].startswith(('"', "_:"))]
        for batch in batches(rest, 2 * self.endpoint.settings.batch):
            terms = self._terms(batch)
            rows, whole = (
                self._answered(self.patterns.told(terms), "?s ?p ?l") if terms else ([], True)
            )
            self._learn(batch, rows, whole)

    def _learn(self, nodes: Iterable[int], rows: list[Row], whole: bool) -> None:
        """Names of entities from rows of `Patterns.told`; where they are not all, those there."""
        names: dict[int, list[tuple[int, str]]] = {}
        for row in rows:
            text, node = row["l"]["value"].strip(), self._node.get(id_of(row["s"]))
            rank = 0 if row["l"].get("xml:lang") else 1
            rank += 2 * (row["p"]["value"] in self.patterns.aliases)
            if node is not None and text:
                names.setdefault(node, []).append((rank, text))
        for node in nodes:
            texts = tuple(dict.fromkeys(text for _, text in sorted(names.get(node, ()))))
            if texts or whole:
                self._told[node] = texts

    def sources(self, rows: np.ndarray) -> list[str] | None:
        """See `Store`: the endpoint."""
        return [self.title] * len(rows)

    def holds(self, triples: Sequence[tuple[str, str, str]]) -> list[bool]:
        """See `Store`; the endpoint is asked anew. A fact about a blank node cannot be."""
        _ = self.closed
        iri = dict(zip(self._names, self._iris))
        facts = [(head, iri.get(relation, ""), end) for head, relation, end in triples]
        blank = [any(term.startswith("_:") for term in fact) for fact in facts]
        terms = [[written(term) for term in fact] for fact in facts]
        asked = [
            tuple(term or "" for term in batch)
            for batch in terms
            if None not in batch and not str(batch[0]).startswith('"')
        ]
        there = set[tuple[str, ...]]()
        for batch in batches(asked, max(1, self.endpoint.settings.batch // 4)):
            rows = self.endpoint.select(self.patterns.held(batch), fresh=True).rows
            there |= {batch[int(row["n"]["value"])] for row in rows}
        return [skipped or tuple(fact) in there for skipped, fact in zip(blank, terms)]

    def troubles(self) -> list[str]:
        troubles, self._troubles = self._troubles, []
        return troubles

    def stats(self) -> dict[str, Any]:
        labelled, _ = self._answered(self.patterns.labelled()) if self.closed else ([], False)
        counts = sorted(self._counts.items(), key=lambda pair: (-pair[1], pair[0]))
        stats: dict[str, Any] = {
            "endpoint": self.title,
            "relations": len(self._names) if self.closed else None,
            "triples": sum(self._counts.values()) if self.closed else None,
            "labelled": int(labelled[0]["n"]["value"]) if labelled else None,
            "relation_counts": dict(counts),
        }
        troubles = self.troubles()
        return stats | ({"incomplete": "; ".join(troubles)} if troubles else {})

    def _answered(self, query: str, order: str | None = None) -> tuple[list[Row], bool]:
        """Rows, and whether they are all; where they are not, that is told."""
        try:
            rows, whole = self._pages.rows(query, order)
        except Spent as error:
            self._troubles.append(str(error))
            return [], False
        if not whole:
            self._troubles.append(f"{self.title} answered in part")
        return rows, whole

    def _terms(self, nodes: Sequence[int], *, subjects: bool = True) -> str:
        ids = (self._ids[node] for node in nodes)
        terms = (written(id) for id in ids if not (subjects and id.startswith('"')))
        return " ".join(filter(None, terms))

    def _intern(self, id: str) -> int:
        node = self._node.setdefault(id, len(self._ids))
        if node == len(self._ids):
            self._ids.append(id)
        return node

    def _of(self, term: dict[str, str]) -> int:
        node = self._intern(id_of(term))
        if term["type"] not in ("uri", "bnode"):
            self._values[node] = value_of(term)
        return node

    def _relation(self, term: dict[str, str]) -> int | None:
        """Row of a relation; one that is new to a schema that is not closed is added."""
        iri = id_of(term)
        row = self._row.get(iri)
        if row is None and not self.closed:
            row = self._row[iri] = len(self._iris)
            self._iris.append(iri)
            self._names.append(iri if tail(iri) in self._names else tail(iri))
        return row


def save_labels(store: SparqlStore, folder: str | os.PathLike[str]) -> int:
    """Read all names at an endpoint and keep them: a saved graph of entities and no facts.

    Returns:
        How many entities have a name.

    Raises:
        JaxkgError: the endpoint fails or does not give all of them; or see `save_graph`.
    """
    names = store.names()
    if troubles := store.troubles():
        raise JaxkgError(f"not all names were read: {'; '.join(troubles)}")
    ids = sorted(names)
    kg = KnowledgeGraph(
        entity_ids=NameTable.from_names(ids, ascending=True),
        entity_names=NameTable.from_names([names[id][0] for id in ids]),
        relations=(_source(store),),
        triples=np.empty((0, 3), np.int32),
        aliases=AliasTable.from_mapping({row: names[id][1:] for row, id in enumerate(ids)}),
    )
    save_graph(kg, folder, beside=lambda path: save_index(path, kg))
    return len(ids)


def open_labels(store: SparqlStore, folder: str | os.PathLike[str]) -> ArrayStore:
    """The names kept of this endpoint; nothing is read but what is looked up.

    Raises:
        JaxkgError: there are none, or they are of another endpoint, graph or language.
    """
    labels = ArrayStore.open(folder)
    if labels.kg.num_triples or labels.kg.relations != (_source(store),):
        of = "a graph" if labels.kg.num_triples else ", ".join(labels.kg.relations)
        raise JaxkgError(f"{os.fspath(folder)}: of {of}, not names of {_source(store)}")
    return labels


def _source(store: SparqlStore) -> str:
    """Where names were read, and which."""
    asked = store.patterns
    return " ".join(
        [store.title, asked.graph or "", f"@{asked.language}", *asked.labels, *asked.aliases]
    )
