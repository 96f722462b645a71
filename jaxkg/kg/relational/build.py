"""A graph seen as tables: a row for each thing of a class, a column for each path from it.

A relation to things that have facts of their own is followed one step on, so a query needs no join:
beside `manager` of an employee stands `manager_born`. Nothing is copied; a column is a path, and a
table is the query graph of its rows. Facts with properties (`jaxkg.kg.qualifiers`) are rows of a
table of their relation. Of a hierarchy there is also a column of all that is above.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

from jaxkg import query as q
from jaxkg.kg.hierarchies import hierarchies
from jaxkg.kg.neighbourhood import distinct, spread
from jaxkg.kg.queries.sets import QuerySets
from jaxkg.kg.relational.cells import FEW, LONGEST, LOOKED_THROUGH, Cells
from jaxkg.kg.relational.table import NAME, Column, Table
from jaxkg.kg.typed_schema import DIGITS, Encode, TypedSchema
from jaxkg.limits import shortened

_ROW, _THING = "row", "thing"
_LETTERS, _NEAR = 4, 0.2
"""Letters of a token; how much likelier than another a column is that follows no relation."""
_ALIKE = 0.5
"""Share of their relations that classes have in common which are kinds of one thing."""
_SAMPLE = 200
_TOLD = 3
"""Classes that a table is called by, at most."""
_SHOWN = _PLACES = 3
_MORE_SHOWN = 15
_FOLLOWED, _MOST_FOLLOWED = 0.1, 30
"""Share of what a relation leads to that must have a further one for that to be a column, and how
many of these are."""
_MOST_NAMED = 1000
"""Rows that a table is told by, one by one, where statements are of classes of their own, too."""
_CLASSES = ("http://www.w3.org/2002/07/owl#Class", "http://www.w3.org/2000/01/rdf-schema#Class")
_RESERVED = ("select", "distinct", "not")
"""Words of SQL that no column can be called."""
_TOGETHER = 0.5
"""Share of a relation's heads that have a more frequent one, too, which is of the same things."""


class Relational:
    """The tables of a graph.

    Example:
        >>> from jaxkg.kg import KnowledgeGraph
        >>> kg = KnowledgeGraph.from_triples([
        ...     ("Ann", "is a", "person"), ("Bo", "is a", "person"), ("Ann", "boss", "Bo"),
        ...     ("Ann", "age", "41"), ("Bo", "age", "52")])
        >>> print(Relational(QuerySets(kg)).tables[0].definition())
        CREATE TABLE person ( -- 2 rows
          name TEXT -- 'Ann', 'Bo'
          age REAL -- 41, 52, ...
          boss TEXT -- 'Bo'
          boss_age REAL
        )
    """

    def __init__(self, sets: QuerySets) -> None:
        """Take the sets of a graph; tables are made when they are asked for."""
        self.sets, self.kg = sets, sets.kg
        self.schema, self.cells = TypedSchema(sets.kg), Cells(sets)
        self._sets: dict[str, frozenset[int]] = {}

    @functools.cached_property
    def tables(self) -> tuple[Table, ...]:
        """The tables, that with the most rows first."""
        names: set[str] = set()
        tables = [self._table(kinds, names) for kinds in self._kinds]
        return tuple(sorted(tables, key=lambda table: -table.size))

    def projected(
        self, text: str, encode: Encode | None, *, tokens: int, first: Collection[str] = ()
    ) -> tuple[Table, ...]:
        """The tables with the columns that a question most likely needs, all where they fit.

        Args:
            text: the question.
            encode: texts to [Q, D] vectors of length 1; None takes the first columns of each.
            tokens: of the definitions at most, at four letters each.
            first: columns that go before all others, as `table.column`.

        Returns:
            Tables in their order, those without a column left out.
        """
        lines = [(t, c) for t in self.tables for c in t.columns.values()]
        heads = {table.name: len(table.definition(())) for table in self.tables}
        left = _LETTERS * tokens
        order = range(len(lines))
        if sum(heads.values()) + sum(len(column.line) + 3 for _, column in lines) > left:
            near = [_NEAR * (len(column.path) < 2) for _, column in lines]
            if encode is not None:
                near = [a + b for a, b in zip(near, (self._vectors(encode) @ encode([text])[0]))]
            called = [f"{table.name}.{column.name}" in first for table, column in lines]
            order = sorted(order, key=lambda i: (not called[i], -round(near[i], DIGITS), i))
        likely = set[int]()
        for place in order:
            table, column = lines[place]
            left -= len(column.line) + 3 + heads.pop(table.name, 0)
            if left < 0:
                break
            likely.add(place)
        tables = []
        for table in self.tables:
            columns = {c.name: c for i, (t, c) in enumerate(lines) if t is table and i in likely}
            if columns and NAME in table.columns:
                columns = {NAME: table.columns[NAME], **columns}
            tables += [dataclasses.replace(table, columns=columns)] if columns else []
        return tuple(tables)

    def fuller(self, tables: Sequence[Table], *, tokens: int) -> tuple[Table, ...]:
        """Tables with more values of their columns of texts, where there is room for these."""
        full = tuple(
            dataclasses.replace(
                table, columns={c.name: self._fuller(table, c) for c in table.columns.values()}
            )
            for table in tables
        )
        size = sum(len(table.definition()) for table in full)
        return full if size <= _LETTERS * tokens else tuple(tables)

    def _fuller(self, table: Table, column: Column) -> Column:
        if column.kind != "text" or column.listed or not column.values or column.closure:
            return column
        if table.size > LOOKED_THROUGH:
            return column
        rows = sorted(self.cells.ends(column, table))
        names = tuple(dict.fromkeys(map(self.kg.name, rows[:_SAMPLE])))
        shown = tuple(shortened(name)[:LONGEST] for name in names[:_MORE_SHOWN])
        return dataclasses.replace(column, values=shown)

    def places(self, node: int) -> tuple[str, ...]:
        """Columns that an entity stands in, `table.column`, itself first; three at most."""
        columns: dict[str, None] = {}
        into = self._triples[self._triples[:, 2] == node]
        names = {self.kg.relations[r]: into[into[:, 1] == r, 0] for r in set(into[:, 1].tolist())}
        for table in self.tables:
            if NAME in table.columns and node in self._rows(table):
                columns[f"{table.name}.{NAME}"] = None
        for table in self.tables:
            for column in table.columns.values():
                heads = names.get(column.path[0], ()) if len(column.path) == 1 else ()
                if not self._rows(table).isdisjoint(map(int, heads)):
                    columns[f"{table.name}.{column.name}"] = None
        return tuple(columns)[:_PLACES]

    def _rows(self, table: Table) -> frozenset[int]:
        if table.name not in self._sets:
            self._sets[table.name] = frozenset(self.sets.execute(table.source).rows.tolist())
        return self._sets[table.name]

    def _vectors(self, encode: Encode) -> np.ndarray:
        """[C, D] of the words of all columns."""
        if getattr(self, "_encoded", (None,))[0] is not encode:
            words = [c.name.replace("_", " ") for t in self.tables for c in t.columns.values()]
            self._encoded = encode, np.asarray(encode(words))
        return self._encoded[1]

    @functools.cached_property
    def _by_id(self) -> list[str]:
        """Classes that ids say; where they do, no relation says any."""
        return sorted(set(self.schema.by_id.values()))

    @functools.cached_property
    def _heads(self) -> dict[int, np.ndarray]:
        """Entities with a class or with facts, by class: its entity, or -2, -3, ... of those that
        ids say; -1 of those without one; of statements, N more than the entity of their relation.
        """
        triples, types = self._triples, self.schema.types
        of_type = np.isin(triples[:, 1], list(types))
        kinds = np.full(self.kg.num_entities, -1, np.int64)
        kinds[triples[of_type, 0]] = triples[of_type, 2]
        heads = distinct(triples[:, 0])
        codes = {word: -2 - place for place, word in enumerate(self._by_id)}
        for row in heads.tolist() if codes else ():
            if (word := self.schema.by_id.get(self.kg.entity_ids[row])) is not None:
                kinds[row] = codes[word]
        if len(self.sets.values.statements.node):
            said = self._facts[self._predicate]
            said = said[np.isin(said[:, 0], self.sets.values.statements.node)]
            kinds[said[:, 0]] = said[:, 2] + self.kg.num_entities
        return {kind: heads[kinds[heads] == kind] for kind in np.unique(kinds[heads]).tolist()}

    @functools.cached_property
    def _predicate(self) -> int:
        """The relation that leads from statements to the relation of their fact."""
        return self.kg.relation_code(self.sets.values.statements.relations[1])

    def _of_facts(self, kinds: Iterable[int]) -> bool:
        """Whether rows of these classes are statements about facts; these are never mixed."""
        return min(kinds) >= self.kg.num_entities

    @functools.cached_property
    def _hierarchies(self) -> frozenset[str]:
        return frozenset(hierarchies(self.kg))

    @functools.cached_property
    def _kinds(self) -> list[dict[int, np.ndarray]]:
        """Rows of each table, by class: classes that have much the same relations are one table."""
        said = {
            kind: self._relations(heads)
            for kind, heads in self._heads.items()
            if kind != -1 and not (self._are_classes(kind, heads) or self._are_amounts(heads))
        }
        groups: list[list[int]] = []
        for kind, relations in sorted(said.items(), key=lambda pair: -len(pair[1])):
            plain = (group for group in groups if not self._of_facts(group))
            group = next((some for some in plain if _alike(relations, said[some[0]])), None)
            if group is None or self._of_facts((kind,)):
                groups.append([kind])
            else:
                group.append(kind)
        tables = [{kind: self._heads[kind] for kind in group} for group in groups]
        if -1 in self._heads:
            apart = self._apart(self._heads[-1])
            tables += [{-1: rows} for rows in apart if not self._are_amounts(rows)]
        return tables

    def _are_classes(self, kind: int, heads: np.ndarray) -> bool:
        """Whether rows are the classes of others, as a vocabulary beside its data declares them."""
        if kind < 0 or self.kg.entity_ids[kind % self.kg.num_entities] not in _CLASSES:
            return False
        of_type = np.isin(self._triples[:, 1], [*self.schema.types])
        return 2 * self._among(self._triples[of_type, 2])[heads].sum() > len(heads)

    def _apart(self, heads: np.ndarray) -> Iterable[np.ndarray]:
        """Entities without a class, those together that have the same frequent relation.

        Rarer relations go with it that half of their heads have beside it; by most of them it is
        decided where an entity has several frequent ones, or none.
        """
        pairs = self._pairs(heads)
        relations, counts = np.unique(pairs[:, 1], return_counts=True)
        group = np.zeros(self.kg.num_relations, np.int64)
        leaders: list[np.ndarray] = []
        for relation in relations[np.argsort(-counts, kind="stable")].tolist():
            having = self._among(pairs[pairs[:, 1] == relation, 0])
            shares = [having[rows].sum() / having.sum() for rows in leaders]
            if not shares or max(shares) < _TOGETHER:
                leaders.append(np.flatnonzero(having))
                shares.append(1.0)
            group[relation] = int(np.argmax(shares))
        counted = np.zeros((self.kg.num_entities, len(leaders)), np.int32)
        np.add.at(counted, (pairs[:, 0], group[pairs[:, 1]]), 1)
        for place, rows in enumerate(leaders):
            counted[rows, place] += self.kg.num_relations
        of = counted[heads].argmax(axis=1)
        for place in np.unique(of).tolist():
            yield heads[of == place]

    def _pairs(self, heads: np.ndarray) -> np.ndarray:
        """[P, 2] int32, heads with their relations, each once; triples are ordered by heads."""
        column = self._triples[:, 0]
        rows = spread(np.searchsorted(column, heads), np.searchsorted(column, heads, "right"))
        return np.unique(self._triples[rows, :2], axis=0)

    def _relations(self, heads: np.ndarray) -> Counter[int]:
        pairs = self._pairs(heads)
        counts = Counter(pairs[:, 1].tolist())
        return Counter({r: n for r, n in counts.items() if r not in self.schema.types})

    def _table(self, kinds: dict[int, np.ndarray], names: set[str]) -> Table:
        heads = _all(kinds)
        relations = self._relations(heads)
        if self._of_facts(kinds):
            del relations[self._predicate]
        source = self._source(kinds, relations)
        few = len(self.sets.values.statements.node) > 0 and len(heads) <= _MOST_NAMED
        if few and len(self.sets.execute(source).rows) != len(heads):
            source = q.Entities(tuple(self.kg.entity_ids[head] for head in heads.tolist()))
        name = _identifier(self._word(kinds), names)
        columns: dict[str, Column] = {}
        used: set[str] = set()

        def take(label: str, path: tuple[str, ...], ends: Sequence[int]) -> None:
            column = self._column(_identifier(label, used), path, ends)
            columns[column.name] = column

        if any(map(self.kg.has_name, heads[:_SAMPLE].tolist())):
            take(NAME, (), heads.tolist())
        else:
            for relation in self._into(heads):
                back = q.inverse(self.kg.relations[relation])
                take(self._owner(relation), (back,), self.sets.values.ends_of(back).tolist())
        if len(kinds) > 1 and not self._by_id:
            for relation in self.schema.types:
                take(self.schema.names[relation], (self.kg.relations[relation],), [*kinds])
        beyond, amounts = [], self.sets.values.amounts
        for relation, _ in relations.most_common():
            if self._names(heads, relation):
                continue
            ends = self._tails(heads, relation)
            label, path = self._label(kinds, relation), (self.kg.relations[relation],)
            take(label, path, ends)
            if path[0] in self._hierarchies:
                name_above = _identifier(f"all {label}", used)
                columns[name_above] = Column(name_above, path, "text", (), False, closure=True)
            beyond.append((label, path, ends))
        for label, path, ends in beyond:
            own = [end for end in ends if self.schema.headed[end]]
            if 2 * len(own) < len(ends) or not own:
                continue
            onwards, amount = self._relations(np.array(own)), amounts.get(path[0])
            for relation, count in onwards.most_common(_MOST_FOLLOWED):
                if count < _FOLLOWED * len(own):
                    break
                is_amount = amount is not None and relation == amount.number
                if is_amount or self._names(np.array(own), relation):
                    continue
                further = self._tails(np.array(own), relation)
                there = (*path, self.kg.relations[relation])
                take(f"{label} {self.schema.names[relation]}", there, further)
        return Table(name, source, len(heads), columns)

    def _are_amounts(self, heads: np.ndarray) -> bool:
        """Whether rows are but the numbers of others, in whose columns they stand."""
        amounts = [amount.size[:, 0] for amount in self.sets.values.amounts.values()]
        return bool(amounts) and bool(np.isin(heads, np.concatenate(amounts)).all())

    def _word(self, kinds: Mapping[int, np.ndarray]) -> str:
        """What a table of these classes is called."""
        if -1 in kinds and list(map(min, self._kinds)).count(-1) > 1:
            return f"with {self.schema.names[self._relations(kinds[-1]).most_common(1)[0][0]]}"
        if -1 in kinds or len(kinds) > _TOLD:
            return _ROW if -1 in kinds else _THING
        count = self.kg.num_entities
        return " or ".join(
            self._by_id[-2 - kind] if kind < -1 else self.kg.name(kind % count) for kind in kinds
        )

    def _names(self, heads: np.ndarray, relation: int) -> bool:
        """Whether a relation leads to nothing but what its heads are called, as texts."""
        facts = self._from(heads, relation)
        if self.schema.headed[facts[:, 2]].any():
            return False
        return all(self.kg.name(head) == self.kg.name(tail) for head, _, tail in facts.tolist())

    def _owner(self, relation: int) -> str:
        """What the table is called that most heads of a relation are rows of."""
        heads = distinct(self._facts[relation][:, 0])
        return self._word(self._home(heads))

    def _home(self, nodes: np.ndarray) -> dict[int, np.ndarray]:
        """The rows of the table that has most of these."""
        there = self._among(nodes)
        return max(self._kinds, key=lambda kinds: there[_all(kinds)].sum())

    def _label(self, kinds: Mapping[int, np.ndarray], relation: int) -> str:
        """What a column is called: as its relation; a fact's end as the table that it is in."""
        label, names = self.schema.names[relation], self.sets.values.statements.relations
        facts = self.kg.relations[relation] in (*names[:1], *names[2:])
        if not facts or not self._of_facts(kinds):
            return label
        codes = [self.kg.relation_code(name) for name in (names[0], names[2])]
        words = {}
        for code in codes:
            ends = np.array(self._tails(_all(kinds), code))
            home = self._home(ends)
            is_home = 2 * self._among(_all(home))[ends].sum() > len(ends)
            is_class = is_home and len(home) == 1 and -1 not in home
            words[code] = self._word(home) if is_class else label
        return words[relation] if len({*words.values()}) > 1 else label

    def _into(self, heads: np.ndarray) -> list[int]:
        """Relations that lead to entities without a name from what they belong to."""
        rows = self._triples[self._among(heads)[self._triples[:, 2]]]
        return np.unique(rows[:, 1]).tolist()

    def _from(self, heads: np.ndarray, relation: int) -> np.ndarray:
        """[F, 3] triples of a relation that leave these."""
        facts = self._facts[relation]
        return facts[self._among(heads)[facts[:, 0]]]

    def _tails(self, heads: np.ndarray, relation: int) -> list[int]:
        return distinct(self._from(heads, relation)[:, 2]).tolist()

    def _source(self, kinds: dict[int, np.ndarray], relations: Counter[int]) -> q.Node:
        rows = sum(map(len, kinds.values()))
        is_class = len(kinds) == 1 and min(kinds) >= 0
        own = {
            self.kg.relations[relation]: count
            for relation, count in relations.items()
            if not is_class and count == len(distinct(self._facts[relation][:, 0]))
        }  # what nothing else has
        for name, count in own.items():
            if count == rows:
                return q.Domain((name,))
        if min(kinds) < 0:
            return q.Domain(tuple(own) or tuple(self.kg.relations[r] for r in relations))
        ids = tuple(self.kg.entity_ids[kind % self.kg.num_entities] for kind in kinds)
        types = [self._predicate] if self._of_facts(kinds) else sorted(self.schema.types)
        back = tuple(q.inverse(self.kg.relations[relation]) for relation in types)
        return q.Step(q.Entities(ids), back)

    def _column(self, name: str, path: tuple[str, ...], ends: Sequence[int]) -> Column:
        kind = (self.sets.values.relation_kinds.get(path[-1]) if path else None) or "text"
        kind = "text" if kind not in ("number", "date") else kind
        told_as = self.cells.date_of if kind == "date" else self.kg.name
        names = dict.fromkeys(told_as(end) for end in ends[:_SAMPLE] if self.kg.has_name(end))
        values = [*names]
        listed = len(values) <= FEW and len(ends) <= _SAMPLE
        listed &= all(len(value) <= LONGEST for value in values) and kind == "text"
        shown = values if listed else values[:_SHOWN]
        told_of = () if len(path) > 1 else tuple(shortened(v)[:LONGEST] for v in shown)
        return Column(name, path, kind, told_of, listed)

    def _among(self, nodes: np.ndarray) -> np.ndarray:
        """[N] bool, which entities these are."""
        there = np.zeros(self.kg.num_entities, bool)
        there[nodes] = True
        return there

    @functools.cached_property
    def _triples(self) -> np.ndarray:
        return np.asarray(self.kg.triples)

    @functools.cached_property
    def _facts(self) -> list[np.ndarray]:
        """Triples of each relation."""
        return [self._triples[self.kg.rows_of(code)] for code in range(self.kg.num_relations)]


def _all(kinds: Mapping[int, np.ndarray]) -> np.ndarray:
    return np.concatenate([*kinds.values()])


def _alike(relations: Counter[int], others: Counter[int]) -> bool:
    return len(relations.keys() & others.keys()) > _ALIKE * len(relations.keys() | others.keys())


def _identifier(text: str, used: set[str]) -> str:
    """A name that SQL takes without quotes, and nothing else has.

    >>> used = set()
    >>> _identifier("Rent p.a. £", used), _identifier("rent p a", used), _identifier("2nd", used)
    ('rent_p_a', 'rent_p_a_2', '_2nd')
    """
    word = re.sub(r"\W+", "_", text.strip().lower()).strip("_") or "x"
    word = f"_{word}" if word[0].isdigit() else word
    name, number = word, 1
    while name in used or name in _RESERVED:
        number += 1
        name = f"{word}_{number}"
    used.add(name)
    return name
