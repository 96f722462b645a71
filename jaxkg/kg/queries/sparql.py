"""Query graphs as SPARQL 1.1: exactly what was executed, for another engine to run.

IRIs and RDF literals stand as they are; other entities are `<urn:jaxkg:entity:...>`, relations
that are no IRIs `<urn:jaxkg:relation:...>`, percent-encoded. Values recognised in what is no RDF
literal hang on their entities by `<urn:jaxkg:number>` (and `:unit`), `<urn:jaxkg:date>` (a text),
`<urn:jaxkg:boolean>` and `<urn:jaxkg:text>`.

Reference: Harris and Seaborne (eds.), "SPARQL 1.1 Query Language", W3C Recommendation, 2013.
"""

from __future__ import annotations

import functools
import itertools
import re
from urllib.parse import quote

import numpy as np

from jaxkg import query as q
from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.kg.queries.literals import CLOCK, NUMBERS, XSD, as_date, as_number, literal
from jaxkg.kg.queries.rules import (
    calculation_kind,
    ends_at,
    last_relations,
    match_kind,
    refuse_unsound,
    side_kind,
    topics_of,
    where_window,
)
from jaxkg.kg.queries.values import Values, count_meant

_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|^`\\]+")
_DAYS = "^(-?[0-9]{4,5})(-([0-9]{2})(-([0-9]{2}))?)?(T[0-9:.]+)?(Z|[+-][0-9]{2}:[0-9]{2})?$"
_TIME = r"^([0-9]{2}):([0-9]{2}):([0-9]{2})(\\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})?$"
_DAY = 1_000_000_000
"""By which a first day is multiplied to stand before a last one in one number."""
_NUMERIC = ", ".join(f"<{XSD}{name}>" for name in sorted(NUMBERS))
_DATED = ", ".join(f"<{XSD}{name}>" for name in ("gYear", "gYearMonth", "date", "dateTime", "time"))


def to_sparql(values: Values, query: q.Query) -> str:
    """A query graph as a SELECT of ?answer, of ?number (a mean is not rounded), or an ASK.

    A table is a SELECT of ?answer (and ?member) with ?c1, ?c2 ... for its columns: a row for every
    combination of their values; the least and the largest of dates as day * 10^9 + day.

    Args:
        query: sound over it.

    Raises:
        JaxkgError: it is not sound.

    Example:
        >>> kg = KnowledgeGraph.from_triples([("Alien", "by", "Scott")])
        >>> print(to_sparql(Values(kg), q.Step(q.Entities(("Alien",)), ("by",))))
        SELECT DISTINCT ?answer WHERE {
          VALUES ?v1 { <urn:jaxkg:entity:Alien> }
          ?v1 <urn:jaxkg:relation:by> ?answer .
        }
    """
    refuse_unsound(values, query)
    made = _Printer(values)
    if isinstance(query, q.Count):
        return f"SELECT (COUNT(DISTINCT ?answer) AS ?number) WHERE {made.group(query.source)}"
    if isinstance(query, q.Total):
        return made.total(query)
    if isinstance(query, q.Rows):
        return made.table(query)
    if isinstance(query, q.Calculation):
        return made.calculation(query)
    if isinstance(query, q.Exists):
        return f"ASK {made.group(query.source)}"
    if isinstance(query, q.Compared):
        return f"ASK {_block(made.compared(query))}"
    return f"SELECT DISTINCT ?answer WHERE {made.group(query)}"


class Terms:
    """A graph's entities and relations as RDF terms in N-Triples form."""

    def __init__(self, kg: KnowledgeGraph):
        self.kg = kg

    def entity(self, row: int) -> str:
        """Of an entity."""
        entity = self.kg.entity_ids[row]
        if entity.startswith('"') and literal(entity) and row not in self._heads:
            return entity
        return _iri(entity, "entity")

    def relation(self, name: str) -> str:
        """Of a relation that is no inverse."""
        return _iri(name, "relation")

    @functools.cached_property
    def literals(self) -> bool:
        """Whether the graph has RDF literals."""
        quoted = (row for row, entity in enumerate(self.kg.entity_ids) if entity.startswith('"'))
        return any(self.entity(row).startswith('"') for row in quoted)

    @functools.cached_property
    def _heads(self) -> frozenset[int]:
        return frozenset(np.unique(self.kg.triples[:, 0]).tolist())


def _iri(name: str, what: str) -> str:
    if _IRI.fullmatch(name):
        return f"<{name}>"
    return f"<urn:jaxkg:{what}:{quote(name, safe='')}>"


def _quoted(text: str) -> str:
    """A text as an N-Triples literal."""
    for plain, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r")):
        text = text.replace(plain, escaped)
    return f'"{text}"'


def _indented(lines: str) -> str:
    return "\n".join("  " + line for line in lines.split("\n"))


def _block(*lines: str) -> str:
    """Lines in braces."""
    return "{\n" + _indented("\n".join(lines)) + "\n}"


class _Printer:
    """Prints patterns; every variable but the one asked for is its own."""

    def __init__(self, values: Values):
        self.values, self.terms = values, Terms(values.kg)
        self._fresh = (f"?v{number}" for number in itertools.count(1))

    def group(self, node: q.Node, var: str = "?answer") -> str:
        """`{ ... }` that binds a variable to what a node denotes."""
        return _block(self.pattern(node, var))

    def term(self, entity: str) -> str:
        return self.terms.entity(self.values.kg.entity(entity))

    def pattern(self, node: q.Node, var: str) -> str:
        """Lines that bind a variable to what a node denotes, possibly several times."""
        if isinstance(node, q.Entities):
            return f"VALUES {var} {{ {' '.join(map(self.term, node.ids))} }}"
        if isinstance(node, q.Domain):
            return self.step(var, node.relations, next(self._fresh))
        if isinstance(node, q.Step):
            before = next(self._fresh)
            walk = self.closure(before, node, var) if node.closure else None
            lines = [
                self.pattern(node.source, before),
                walk or self.step(before, node.relations, var, node.during),
            ]
            if not node.returns:
                barred = map(self.term, topics_of(node))
                lines += [f"FILTER(!sameTerm({var}, {term}))" for term in barred]
            return "\n".join(lines)
        if isinstance(node, q.Intersection):
            return "\n".join(self.group(part, var) for part in node.parts)
        if isinstance(node, q.Union):
            return " UNION ".join(self.group(part, var) for part in node.parts)
        if isinstance(node, q.Difference):
            return f"{self.group(node.source, var)}\nMINUS {self.group(node.without, var)}"
        if isinstance(node, q.Where):
            return self.where(node, var)
        if isinstance(node, q.Match):
            lines, left = self.path(var, node.path)
            more, right = self.path(var, node.other)
            held = self.both(left, right, match_kind(self.values, node), node.comparison)
            return "\n".join([self.group(node.source, var), *lines, *more, *held])
        if isinstance(node, q.Quantifier):
            return self.quantified(node, var)
        return self.extreme(node, var)

    def step(
        self, start: str, relations: tuple[str, ...], end: str, during: q.Value | None = None
    ) -> str:
        """Triples that walk any of the relations."""
        walked = []
        for name in relations:
            ends = (end, start) if name.startswith("^") else (start, end)
            relation = self.terms.relation(name.removeprefix("^"))
            held = self.during(*ends, name.removeprefix("^"), during) if during else ""
            walked.append(f"{ends[0]} {relation} {ends[1]} .{held}")
        return " UNION ".join(f"{{ {one} }}" for one in walked) if walked[1:] else walked[0]

    def during(self, head: str, tail: str, relation: str, during: q.Value) -> str:
        """A filter of facts that hold in a time, or have none."""
        times, days = self.values.times, as_date(during.text)
        if not len(times.fact) or days is None:
            return ""
        found, said, kg = next(self._fresh), next(self._fresh), self.values.kg
        named = {*kg.entity_ids.rows(relation), *kg.entity_names.rows(relation)}
        links = map(self.terms.relation, times.statements.relations)
        about = [f"VALUES {said} {{ {' '.join(map(self.terms.entity, sorted(named)))} }}"]
        about += [f"{found} {link} {end} ." for link, end in zip(links, (head, said, tail))]

        def told(kinds: str, held: str = "") -> str:
            names = tuple(n for kind in kinds.split() for n in times.relations[kind])
            at = next(self._fresh)
            lines, day = self.value(at, "date")
            assert isinstance(day, tuple)
            filters = [f"FILTER({held.format(*day)})"] if held else []
            return "\n".join([self.step(found, names, at), *lines, *filters]) if names else ""

        timed = told("from to at")
        wrong = told("from at", f"{{0}} > {days[1]}"), told("to at", f"{{1}} < {days[0]}")
        without = [f"FILTER NOT EXISTS {{ {one} }}" for one in wrong if one]
        about.append(timed)
        return f"\nFILTER(!EXISTS {_block(*about)} || EXISTS {_block(*about, *without)})"

    def closure(self, start: str, node: q.Step, end: str) -> str:
        """A walk of several steps as a property path."""
        hops = []
        for name in node.relations:
            back = name.startswith("^")
            hops.append("^" * back + self.terms.relation(name[back:]))
        return f"{start} ({'|'.join(hops)}){node.closure} {end} ."

    def path(
        self, start: str, path: tuple[str, ...], last: str | None = None
    ) -> tuple[list[str], str]:
        """Lines that walk a path, and the variable at its end: `last`, or one of its own."""
        lines = []
        for number, name in enumerate(path, start=1):
            end = last if last and number == len(path) else next(self._fresh)
            lines.append(self.step(start, (name,), end))
            start = end
        return lines, start

    def where(self, node: q.Where, var: str) -> str:
        if node.by == "count":
            found = next(self._fresh)
            counted = self.counted(node, var, found)
            return f"{{ {counted} }}\nFILTER({found} {node.comparison} {count_meant(node.value)})"
        lines, end = self.path(var, node.path)
        kind, _ = where_window(self.values, node)
        lines = [self.group(node.source, var), *lines]
        if isinstance(node.value, str):
            same = f"sameTerm({end}, {self.term(node.value)})"
            return "\n".join([*lines, f"FILTER({'!' * (node.comparison == '!=')}{same})"])
        return "\n".join([*lines, *self.compares(end, kind, node)])

    def quantified(self, node: q.Quantifier, var: str) -> str:
        """How many ends are in a set, others, or how many of the set are no end."""
        path, end = self.path(var, node.path)
        found, other = next(self._fresh), next(self._fresh)
        within = [self.group(node.within, end if node.by == "inside" else other)]
        every, some = {
            "inside": ([], [*path, *within]),
            "outside": (path, within),
            "missing": (within, path),
        }[node.by]
        what = f"COUNT(DISTINCT {end})"
        if node.by != "inside":
            some = [*some, f"FILTER(sameTerm({end}, {other}))"]
            of = f"COUNT(DISTINCT {other})"
            what = f"{what} - {of}" if node.by == "outside" else f"{of} - {what}"
        lines = [self.group(node.source, var), *every, f"OPTIONAL {_block(*some)}"]
        counted = _grouped(var, what, found, lines)
        return f"{{ {counted} }}\nFILTER({found} {node.comparison} {node.n})"

    def compares(self, end: str, kind: str, node: q.Where) -> list[str]:
        """Lines that hold where the value of `end` compares with a constant as wanted."""
        value = node.value
        assert isinstance(value, q.Value)
        if kind == "text":
            return self.text_compares(end, node.comparison, value)
        lines, key = self.value(end, kind)
        if kind == "date":
            days = as_date(value.text)
            assert days is not None  # refused before
            if self.values.timed and node.comparison != "!=":
                # A day compares with days alone, a time of day with times.
                lines.append(f"FILTER({key[0]} {'>=' if days[0] >= CLOCK else '<'} {CLOCK})")
            return [*lines, _date_filter(node.comparison, key, tuple(map(str, days)))]
        constant = str(int(value.text.strip().lower() == "true"))
        if kind == "number":
            last = last_relations(node)
            unit, size = self.values.number_meant(value, last[0] if len(last) == 1 else None)
            constant = f'"{size:f}"^^<{XSD}decimal>'
            if unit is not None and self.values.told:
                lines = [*lines, *self.in_unit(end, unit)]
        return [*lines, f"FILTER({key} {node.comparison} {constant})"]

    def in_unit(self, end: str, unit: str) -> list[str]:
        """Lines that hold where a number is in this unit; RDF literals have none."""
        if not self.values.typed:
            return [f"{end} <urn:jaxkg:unit> {_quoted(unit)} ."]
        found = next(self._fresh)
        named = f"COALESCE({found}, {_quoted('')}) = {_quoted(unit)}"
        return [f"OPTIONAL {{ {end} <urn:jaxkg:unit> {found} . }}", f"FILTER({named})"]

    def text_compares(self, end: str, comparison: str, value: q.Value) -> list[str]:
        text = next(self._fresh)
        named = f"{end} <urn:jaxkg:text> {text} ."
        if self.terms.literals:
            named = f"OPTIONAL {{ {end} <urn:jaxkg:text> {text}n . }}"
            itself = f"BIND(IF(isLiteral({end}), {end}, {text}n) AS {text})"
            named = f"{named}\n{itself}"
        same = f"STR({text}) = {_quoted(value.text)}"
        if value.language:
            same += f" && LCASE(LANG({text})) = {_quoted(value.language.lower())}"
        return [named, f"FILTER({'' if comparison == '=' else '!'}({same}))"]

    def value(self, end: str, kind: str) -> tuple[list[str], tuple[str, str] | str]:
        """Lines that bind the value of an entity: a variable, or a date's first and last day."""
        known = {"number": _NUMERIC, "date": _DATED, "boolean": f"<{XSD}boolean>"}[kind]
        itself = f"isLiteral({end}) && DATATYPE({end}) IN ({known})"
        if not self.values.told:
            lines, found = [f"FILTER({itself})"], end
        elif not self.values.typed:
            found = next(self._fresh)
            lines = [f"{end} <urn:jaxkg:{kind}> {found} ."]
        else:
            told, found = next(self._fresh), next(self._fresh)
            lines = [
                f"OPTIONAL {{ {end} <urn:jaxkg:{kind}> {told} . }}",
                f"BIND(IF({itself}, {end}, {told}) AS {found})",
                f"FILTER(BOUND({found}))",
            ]
        if kind != "date":
            # Not every engine orders truth values.
            return lines, f"IF({found}, 1, 0)" if kind == "boolean" else found
        first, last = next(self._fresh), next(self._fresh)
        year, month, day = (f'REPLACE(STR({found}), "{_DAYS}", "${at}")' for at in (1, 3, 5))
        time = " + ".join(
            f'<{XSD}integer>(REPLACE(STR({found}), "{_TIME}", "${at}")) * {size}'
            for at, size in ((1, 10000), (2, 100), (3, 1))
        )
        for days, var in ((("101", "1"), first), (("1231", "31"), last)):
            of_month = f'IF({day} = "", {days[1]}, <{XSD}integer>({day}))'
            rest = f'IF({month} = "", {days[0]}, <{XSD}integer>({month}) * 100 + {of_month})'
            date = f"<{XSD}integer>({year}) * 10000 + {rest}"
            if self.values.timed:
                date = f'IF(REGEX(STR({found}), "{_TIME}"), {CLOCK} + {time}, {date})'
            lines.append(f"BIND({date} AS {var})")
        return lines, (first, last)

    def extreme(self, node: q.Extreme, var: str) -> str:
        best, other, last = (next(self._fresh) for _ in range(3))
        first = "MAX" if node.largest else "MIN"
        order = "DESC" if node.largest else "ASC"
        sign = ">=" if node.largest else "<="
        bound = "MIN" if node.largest else "MAX"
        inner = f"{{ {self.keyed(node, next(self._fresh), other, first)} }}"
        top = f"SELECT {other} WHERE {inner} ORDER BY {order}({other}) LIMIT {node.n}"
        return "\n".join(
            [
                f"{{ {self.keyed(node, var, best, first)} }}",
                f"{{ SELECT ({bound}({other}) AS {last}) WHERE {{ {top} }} }}",
                f"FILTER({best} {sign} {last})",
            ]
        )

    def keyed(self, node: q.Extreme, var: str, key: str, first: str) -> str:
        """A SELECT of every entity of the source with what it is ordered by."""
        if node.by == "count":
            return self.counted(node, var, key)
        lines, end = self.path(var, node.path)
        more, value = self.value(end, ends_at(self.values, node))
        inside = [self.group(node.source, var), *lines, *more]
        return _grouped(var, f"{first}({_ordering(value)})", key, inside)

    def counted(self, node: q.Where | q.Extreme, var: str, key: str) -> str:
        """A SELECT of every entity of the source with how many its path leads to."""
        lines, end = self.path(var, node.path)
        lines = [self.group(node.source, var), f"OPTIONAL {_block(*lines)}"]
        return _grouped(var, f"COUNT(DISTINCT {end})", key, lines)

    def total(self, query: q.Total) -> str:
        """A SELECT of ?number over every entity with each of its numbers."""
        lines, end = self.path("?answer", query.path)
        more, value = self.value(end, "number")
        inside = _block(self.group(query.source, "?answer"), *lines, *more)
        told = " ".join(dict.fromkeys(("?answer", end, str(value))))
        each = _block(f"SELECT DISTINCT {told} WHERE {inside}")
        return f"SELECT ({'SUM' if query.by == 'sum' else 'AVG'}({value}) AS ?number) WHERE {each}"

    def table(self, query: q.Rows) -> str:
        """A SELECT of what rows are of, and of their columns."""
        of, order = _of(query), "DESC" if query.largest else "ASC"
        lines = self.rows(query, "?key")
        if query.top:
            own, other = next(self._fresh), next(self._fresh)
            ahead = "\n".join(self.rows(query, other, "?answer", next(self._fresh)))
            sign = ">" if query.largest else "<"
            before = f"OPTIONAL {{\n{_indented(ahead)}\nFILTER({other} {sign} {own})\n}}"
            counted = [*self.rows(query, own), before]
            lines.append(f"{{ {_grouped(of, f'COUNT({other})', '?before', counted)} }}")
            lines.append(f"FILTER(?before < {query.top})")
        for place, sign in ((query.first, "<="), (query.last, ">=")):
            if place > (sign == "<="):
                bound = next(self._fresh)
                inside = _block(*self.rows(query, bound, next(self._fresh)))
                ranked = f"SELECT {bound} WHERE {inside} ORDER BY {order}({bound})"
                if sign == "<=":
                    lines.append(f"{{ {ranked} LIMIT 1 OFFSET {place - 1} }}")
                else:
                    last = f"{'MIN' if query.largest else 'MAX'}({bound})"
                    bound, top = next(self._fresh), f"{ranked} LIMIT {place}"
                    lines.append(f"{{ SELECT ({last} AS {bound}) WHERE {{ {{ {top} }} }} }}")
                held = sign if query.largest else {"<=": ">=", ">=": "<="}[sign]
                lines.append(f"FILTER(?key {held} {bound})")
        for number, column in enumerate(query.columns, start=1):
            lines.append(f"OPTIONAL {_block(*self.column(query, column, f'?c{number}'))}")
        told = " ".join([of, *(f"?c{n}" for n in range(1, len(query.columns) + 1))])
        ordered = f" ORDER BY {order}(?key)" if query.order else ""
        return f"SELECT DISTINCT {told} WHERE {_block(*lines)}{ordered}"

    def rows(
        self, query: q.Rows, key: str, answer: str = "?answer", member: str = "?member"
    ) -> list[str]:
        """Lines that bind what rows are of, of those that are kept, and what orders them."""
        of, (lines, _) = _of(query, answer, member), self.members(query, answer, member)
        lines = [f"{{ SELECT DISTINCT {of} WHERE {_block(*lines)} }}"]
        for one in query.having:
            column, found = query.columns[one.column - 1], next(self._fresh)
            lines += self.column(query, column, found, answer, member)
            lines.append(self.having(query, one, column, found))
        if query.order:
            ordered = query.columns[query.order - 1]
            if ordered.by == "value":
                ordered = q.Column(ordered.path, "max" if query.largest else "min")
            told = self.column(query, ordered, key, answer, member)
            every = not (query.top or query.last or query.first > 1)
            lines += [f"OPTIONAL {_block(*told)}"] if every else told
        return lines

    def members(self, query: q.Rows, answer: str, member: str) -> tuple[list[str], str]:
        """Lines that bind what a row is of and an entity that it tells of; that one's variable."""
        one = member if query.top else next(self._fresh) if query.per else answer
        return [self.group(query.source, one), *self.path(one, query.per, answer)[0]], one

    def column(
        self,
        query: q.Rows,
        column: q.Column,
        var: str,
        answer: str = "?answer",
        member: str = "?member",
    ) -> list[str]:
        """Lines that bind what a column tells."""
        of, (lines, one) = _of(query, answer, member), self.members(query, answer, member)
        if column.by == "value":
            own = [f"BIND({one} AS {var})"] if not column.path else []
            return [*lines, *self.path(one, column.path, var)[0], *own]
        path, end = self.path(one, column.path)
        if column.by == "count":
            path = [f"OPTIONAL {_block(*path)}"] if path else []
            return [f"{{ {_grouped(of, f'COUNT(DISTINCT {end})', var, [*lines, *path])} }}"]
        kind = ends_at(self.values, q.Extreme(query.source, column.path, True))
        more, value = self.value(end, kind)
        inside = [*lines, *path, *more]
        if column.by in ("sum", "mean"):
            told = " ".join(dict.fromkeys((*of.split(), one, end, str(value))))
            inside = [f"{{ SELECT DISTINCT {told} WHERE {_block(*inside)} }}"]
        how = {"sum": "SUM", "mean": "AVG", "min": "MIN", "max": "MAX"}[column.by]
        return [f"{{ {_grouped(of, f'{how}({_ordering(value)})', var, inside)} }}"]

    def having(self, query: q.Rows, one: q.Having, column: q.Column, found: str) -> str:
        """A filter of rows by what a column tells."""
        kind = "number"
        if column.by in ("min", "max"):
            kind = ends_at(self.values, q.Extreme(query.source, column.path, True))
        if kind == "date":
            days = as_date(one.value.text)
            assert days is not None  # refused before
            first = f"FLOOR({found} / {_DAY})"
            own = first, f"({found} - {first} * {_DAY})"
            return _date_filter(one.comparison, own, tuple(map(str, days)))
        number = as_number(one.value.text)
        constant = f'"{number[0]:f}"^^<{XSD}decimal>' if number else one.value.text.lower()
        if kind == "boolean":
            constant = str(int(one.value.text.strip().lower() == "true"))
        return f"FILTER({found} {one.comparison} {constant})"

    def numbered(self, side: q.Count, var: str) -> str:
        """A group that binds a variable to how many there are."""
        counted = next(self._fresh)
        inside = self.group(side.source, counted)
        return f"{{ SELECT (COUNT(DISTINCT {counted}) AS {var}) WHERE {inside} }}"

    def calculation(self, query: q.Calculation) -> str:
        """A SELECT of ?number; of no row where a side has not one value."""
        kind, lines, sides = calculation_kind(self.values, query), list[str](), list[str]()
        for side in (query.left, query.right):
            var = next(self._fresh)
            if isinstance(side, q.Count):
                lines.append(self.numbered(side, var))
                sides.append(var)
                continue
            more, value = self.value(var, kind)
            lines += [self.group(side, var), *more]
            sides.append(value if isinstance(value, str) else value[0])
        one, other = (f"MIN({side})" for side in sides)
        held = [f"MIN({side}) = MAX({side})" for side in sides]
        if kind == "date":
            held += [f"MAX({side}) < {CLOCK}" for side in sides]
        number = f"{one} {'+' if query.by == 'sum' else '-'} {other}"
        if query.by == "ratio":
            number, held = f"{one} / {other}", [*held, f"{other} != 0"]
        elif query.by == "years":
            number = f"FLOOR(ABS({number}) / 10000) * IF({one} > {other}, 1, -1)"
        elif query.by == "days":
            number = f"{_day_number(one)} - {_day_number(other)}"
        return f"SELECT ({number} AS ?number) WHERE {_block(*lines)} HAVING ({' && '.join(held)})"

    def compared(self, query: q.Compared) -> str:
        left, right = next(self._fresh), next(self._fresh)
        if isinstance(query.left, q.Count):
            assert isinstance(query.right, q.Count)
            lines = [self.numbered(query.left, left), self.numbered(query.right, right)]
            return "\n".join([*lines, f"FILTER({left} {query.comparison} {right})"])
        assert not isinstance(query.right, q.Count)
        lines = [self.group(query.left, left), self.group(query.right, right)]
        held = self.both(left, right, side_kind(self.values, query), query.comparison)
        return "\n".join([*lines, *held])

    def both(self, left: str, right: str, kind: str, comparison: str) -> list[str]:
        """Lines that hold where two variables compare as wanted."""
        if kind == "entity":
            return [f"FILTER({'!' * (comparison == '!=')}sameTerm({left}, {right}))"]
        more, one = self.value(left, kind)
        further, other = self.value(right, kind)
        if kind == "date":
            assert isinstance(other, tuple)
            return [*more, *further, _date_filter(comparison, one, other)]
        return [*more, *further, f"FILTER({one} {comparison} {other})"]


def _of(query: q.Rows, answer: str = "?answer", member: str = "?member") -> str:
    """Variables that tell the rows of a table apart."""
    return f"{answer} {member}" if query.top else answer


def _grouped(var: str, what: str, key: str, lines: list[str]) -> str:
    return f"SELECT {var} ({what} AS {key}) WHERE {_block(*lines)} GROUP BY {var}"


def _day_number(date: str) -> str:
    """The number of a day, from one written as digits, counted from the first of March."""
    month = f"(FLOOR(({date} - FLOOR({date} / 10000) * 10000) / 100) + 9)"
    turn = f"FLOOR({month} / 12)"
    year = f"(FLOOR({date} / 10000) - 1 + {turn})"
    since = f"FLOOR((153 * ({month} - {turn} * 12) + 2) / 5)"
    leap = f"FLOOR({year} / 4) - FLOOR({year} / 100) + FLOOR({year} / 400)"
    return f"({year} * 365 + {leap} + {since} + {date} - FLOOR({date} / 100) * 100)"


def _ordering(value: tuple[str, str] | str) -> str:
    return f"{value[0]} * {_DAY} + {value[1]}" if isinstance(value, tuple) else value


def _date_filter(comparison: str, days: tuple[str, str] | str, other: tuple[str, ...]) -> str:
    """A comparison of two intervals; see `jaxkg.kg.queries.values`."""
    assert isinstance(days, tuple)
    (a, b), (c, d) = days, other
    held = {
        "=": f"{a} = {c} && {b} = {d}",
        "!=": f"{b} < {c} || {a} > {d}",
        "<": f"{b} < {c}",
        "<=": f"{b} <= {d}",
        ">": f"{a} > {d}",
        ">=": f"{a} >= {c}",
        "in": f"{a} >= {c} && {b} <= {d}",
    }[comparison]
    return f"FILTER({held})"
