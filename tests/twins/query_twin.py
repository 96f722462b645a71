"""What query graphs mean, in plain Python over sets of string triples: slow, and easy to trust.

Values are read here by other means than the package does: `datetime` for dates, `Fraction` for
numbers, both from texts that the test writes.
"""

import calendar
import datetime
from decimal import Context, Decimal
from fractions import Fraction

from jaxkg.query import (
    Calculation,
    Compared,
    Count,
    Difference,
    Domain,
    Entities,
    Exists,
    Extreme,
    Intersection,
    Match,
    Quantifier,
    Rows,
    Step,
    Total,
    Union,
    Where,
)


def days(text):
    """First and last day."""
    year, *rest = map(int, text.split("-"))
    if not rest:
        return datetime.date(year, 1, 1), datetime.date(year, 12, 31)
    month, *day = rest
    if not day:
        last = calendar.monthrange(year, month)[1]
        return datetime.date(year, month, 1), datetime.date(year, month, last)
    return (datetime.date(year, month, day[0]),) * 2


def told(kg, result):
    """What the package found, as the twin tells it."""
    if result.kind == "entities":
        return {kg.entity_ids[row] for row in result.rows.tolist()}
    if result.kind == "table":
        ids = kg.entity_ids
        return [
            (
                ids[row.key],
                {ids[m] for m in row.members.tolist()},
                tuple(
                    {ids[e] for e in c.ends.tolist()} if c.number is None else c.number
                    for c in row.cells
                ),
            )
            for row in result.table
        ]
    return result.number if result.kind == "number" else result.truth


READ = {"date": days, "number": Fraction, "boolean": ["false", "true"].index, "text": str}


def compares(comparison, one, other):
    """Of two dates as intervals, or of two others."""
    (a, b), (c, d) = (x if isinstance(x, tuple) else (x, x) for x in (one, other))
    return {
        "=": (a, b) == (c, d),
        "!=": b < c or a > d,
        "<": b < c,
        "<=": b <= d,
        ">": a > d,
        ">=": a >= c,
        "in": c <= a and b <= d,
    }[comparison]


class Twin:
    """`kinds`: the kind of every relation that leads to values."""

    def __init__(self, triples, kinds):
        self.triples, self.kinds = set(triples), kinds
        self.kind_of = {t: kinds[r] for _, r, t in self.triples if r in kinds}

    def out(self, entities, relation, during=None):
        facts = {f for f in self.triples if f[1] == relation.removeprefix("^")}
        if during is not None:
            facts = {fact for fact in facts if self.holds(fact, days(during.text))}
        if relation.startswith("^"):
            return {h for h, r, t in facts if t in entities}
        return {t for h, r, t in facts if h in entities}

    def holds(self, fact, during):
        """By its statements, of which one must; those without a time say nothing."""
        ends = {
            (r, t): {h for h, *rest in self.triples if rest == [r, t]} for _, r, t in self.triples
        }
        head, relation, tail = fact
        about = (("subject", head), ("predicate", relation), ("object", tail))
        nodes = set.intersection(*(ends.get(one, set()) for one in about))
        told = []
        for node in nodes:
            said = [
                (r, days(t)) for h, r, t in self.triples if h == node and r in ("since", "until")
            ]
            if said:
                told.append(
                    all(d[0] <= during[1] if r == "since" else d[1] >= during[0] for r, d in said)
                )
        return any(told) or not told

    def ends(self, entity, path):
        found = {entity}
        for relation in path:
            found = self.out(found, relation)
        return found

    def value(self, entity, kind):
        if kind == "entity":
            return entity
        if kind == "text":
            return entity
        return READ[kind](entity) if self.kind_of.get(entity) == kind else None

    def kind(self, q):
        if isinstance(q, Entities):
            kinds = {self.kind_of.get(e) for e in q.ids}
        elif isinstance(q, Step):
            kinds = {self.kinds.get(r) if q.closure != "*" else None for r in q.relations}
        elif isinstance(q, Domain):
            kinds = {self.kinds.get(r[1:]) if r[0] == "^" else None for r in q.relations}
        elif isinstance(q, Intersection | Union):
            kinds = {self.kind(part) for part in q.parts}
        else:
            return self.kind(q.source)
        return kinds.pop() if len(kinds) == 1 else None

    def topics(self, q):
        while isinstance(q, Step):
            q = q.source
        return set(q.ids) if isinstance(q, Entities) else set()

    def run(self, q):
        if isinstance(q, Entities):
            return set(q.ids)
        if isinstance(q, Domain):
            entities = {e for h, _, t in self.triples for e in (h, t)}
            return {e for e in entities if any(self.out({e}, r) for r in q.relations)}
        if isinstance(q, Step):
            found = source = self.run(q.source)
            found = set().union(*(self.out(source, r, q.during) for r in q.relations))
            while q.closure and (
                found != (more := found.union(*(self.out(found, r) for r in q.relations)))
            ):
                found = more
            if q.closure == "*":
                found = found | source
            return found if q.returns else found - self.topics(q)
        if isinstance(q, Intersection):
            return set.intersection(*map(self.run, q.parts))
        if isinstance(q, Union):
            return set.union(*map(self.run, q.parts))
        if isinstance(q, Difference):
            return self.run(q.source) - self.run(q.without)
        if isinstance(q, Where):
            return {e for e in self.run(q.source) if self.where(q, e)}
        if isinstance(q, Match):
            return {e for e in self.run(q.source) if self.matches(q, e)}
        if isinstance(q, Quantifier):
            within = self.run(q.within)
            return {e for e in self.run(q.source) if self.quantified(q, e, within)}
        if isinstance(q, Extreme):
            return self.extreme(q)
        if isinstance(q, Count):
            return len(self.run(q.source))
        if isinstance(q, Total):
            return self.total(self.run(q.source), q.path, q.by)
        if isinstance(q, Rows):
            return self.rows(q)
        if isinstance(q, Exists):
            return bool(self.run(q.source))
        if isinstance(q, Calculation):
            return self.calculated(q)
        if isinstance(q.left, Count):
            return compares(q.comparison, self.run(q.left), self.run(q.right))
        assert isinstance(q, Compared)
        kind = self.kind(q.left) or "entity"
        sides = [[self.value(e, kind) for e in self.run(s)] for s in (q.left, q.right)]
        return any(
            compares(q.comparison, x, y)
            for x in sides[0]
            for y in sides[1]
            if x is not None and y is not None
        )

    def calculated(self, q):
        sides = []
        for side in (q.left, q.right):
            if isinstance(side, Count):
                sides.append({str(self.run(side)): self.run(side)})
                continue
            kind = self.kind(side)
            values = {e: self.value(e, kind) for e in self.run(side)}
            sides.append({e: v for e, v in values.items() if v is not None})
        if any(
            len({v[0] if isinstance(v, tuple) else v for v in side.values()}) != 1 for side in sides
        ):
            return None
        (one, a), (other, b) = (min(side.items()) for side in sides)
        if q.by == "sum":
            return a + b
        if q.by == "difference":
            return a - b
        if q.by == "days":
            return (a[0] - b[0]).days
        if q.by == "years":
            first, last = sorted((a[0], b[0]))
            early = (last.month, last.day) < (first.month, first.day)
            return (last.year - first.year - early) * (1 if a[0] > b[0] else -1)
        if not b:
            return None
        return Context(max(6, len(str(int(abs(a / b)))) + 2)).divide(Decimal(one), Decimal(other))

    def matches(self, q, entity):
        kind = self.kinds.get(q.path[-1]) if q.path else self.kind(q.source)
        values = [
            [self.value(end, kind or "entity") for end in self.ends(entity, path)]
            for path in (q.path, q.other)
        ]
        return any(
            compares(q.comparison, x, y)
            for x in values[0]
            for y in values[1]
            if x is not None and y is not None
        )

    def quantified(self, q, entity, within):
        ends = self.ends(entity, q.path)
        counted = {"inside": ends & within, "outside": ends - within, "missing": within - ends}
        if not {"inside": {1}, "outside": ends, "missing": within}[q.by]:
            return False
        return compares(q.comparison, len(counted[q.by]), q.n)

    def where(self, q, entity):
        entities = self.ends(entity, q.path)
        if q.by == "count":
            return compares(q.comparison, len(entities), int(q.value.text))
        if isinstance(q.value, str):
            return any(compares(q.comparison, e, q.value) for e in entities)
        wanted = READ[q.value.kind](q.value.text)
        values = [self.value(e, q.value.kind) for e in entities]
        return any(compares(q.comparison, v, wanted) for v in values if v is not None)

    def rows(self, q):
        source, groups = self.run(q.source), {}
        for entity in source:
            for key in self.ends(entity, q.per):
                groups.setdefault((key, entity if q.top else ""), set()).add(entity)
        rows = []
        for (key, _), members in groups.items():
            cells = [self.cell(c, members) for c in q.columns]
            exact = [self.cell(c, members, exact=True) for c in q.columns]
            if all(self.has(h, q.columns[h.column - 1], exact[h.column - 1]) for h in q.having):
                rows.append((key, members, tuple(cells)))
        if not q.order:
            return sorted(rows, key=lambda row: row[0])
        column = q.columns[q.order - 1]
        keyed = []
        for row in rows:
            cell = self.cell(column, row[1], exact=True)
            if isinstance(cell, set):
                kind = self.kinds[column.path[-1]]
                values = [v for v in (self.value(e, kind) for e in cell) if v is not None]
                cell = (max if q.largest else min)(values) if values else None
            keyed.append((cell, row))
        without = [row for cell, row in keyed if cell is None]
        keyed = [(cell, row) for cell, row in keyed if cell is not None]

        def place(one, row, ahead):
            same = [c for c, other in keyed if not q.top or other[0] == row[0]]
            return sum(c > one if q.largest else c < one for c in same) + (
                sum(c == one for c in same) if not ahead else 1
            )

        last = q.top or q.last or len(rows)
        kept = [
            (cell, row)
            for cell, row in keyed
            if place(cell, row, True) <= last and place(cell, row, False) >= q.first
        ]
        kept.sort(key=lambda one: (one[1][0], sorted(one[1][1])))
        kept.sort(key=lambda one: one[0], reverse=q.largest)
        if q.top:
            kept.sort(key=lambda one: one[1][0])
        every = not (q.top or q.last or q.first > 1)
        return [row for _, row in kept] + sorted(without, key=lambda row: row[0]) * every

    def cell(self, column, members, exact=False):
        ends = {end for one in members for end in self.ends(one, column.path)}
        if column.by == "value":
            return ends
        if column.by == "count":
            return len(ends)
        if column.by in ("sum", "mean"):
            number = self.total(members, column.path, column.by, exact)
            return set() if number is None else number
        kind = self.kinds[column.path[-1]]
        values = {e: self.value(e, kind) for e in ends if self.value(e, kind) is not None}
        best = (max if column.by == "max" else min)(values.values(), default=None)
        return {e for e, value in values.items() if value == best}

    def has(self, having, column, cell):
        if cell == set():
            return False
        kind = having.value.kind
        one = self.value(min(cell), kind) if isinstance(cell, set) else cell
        return compares(having.comparison, one, READ[kind](having.value.text))

    def total(self, source, path, by, exact=False):
        added = [end for entity in source for end in self.ends(entity, path)]
        if not added:
            return None
        number = sum(map(Fraction, added))
        if by == "sum":
            return number
        if exact:
            return number / len(added)
        digits = max(len(text.partition(".")[2]) for text in added)
        return round(number / len(added), digits + 2)

    def extreme(self, q):
        kind = self.kinds.get(q.path[-1]) if q.path else self.kind(q.source)
        keyed = {}
        for entity in self.run(q.source):
            ends = self.ends(entity, q.path)
            if q.by == "count":
                keyed[entity] = len(ends)
                continue
            values = [self.value(e, kind) for e in ends]
            values = [v for v in values if v is not None]
            if values:
                keyed[entity] = max(values) if q.largest else min(values)
        order = sorted(keyed.values(), reverse=q.largest)
        kept = set(order[: q.n])
        return {entity for entity, key in keyed.items() if key in kept}
