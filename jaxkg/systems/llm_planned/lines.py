"""Query graphs as lines, read and executed line by line.

    Al Pacino
    <- starring
    where year > 1990
    count

A relation that is named the wrong way round is walked the way that can follow, as in plans.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import Any

from jaxkg import query as q
from jaxkg.adjudicate.reading.match import Candidates
from jaxkg.errors import JaxkgError
from jaxkg.kg.queries.literals import as_date, as_number, as_truth
from jaxkg.kg.queries.rules import refusal
from jaxkg.kg.queries.sets import QuerySets

_ARROW = r"(->|<-|→|←|\^)?\s*"
_ALL = re.compile(r"(?:all\s+)?\(?(.*?)\)?", re.IGNORECASE | re.DOTALL)
_STEP = re.compile(r"(->|<-|→|←|\^)([+*]?)\s*(.+)")
_DURING = re.compile(r"(.+?)\s+in\s+(\d{4}(?:-\d\d){0,2})")
_TABLE = re.compile(rf"table(?:\s+per\s+{_ARROW}([^:;]+))?\s*[:;\s]\s*(.+)", re.IGNORECASE)
_COLUMN = re.compile(rf"(?:(count|sum|mean|min|max)\b\s*)?{_ARROW}(.*)", re.IGNORECASE)
_FIRST = re.compile(r"(largest|smallest)\s+(?:(\d+)\s+)?(.+)", re.IGNORECASE)
_TOP = re.compile(r"top\s+(\d+)", re.IGNORECASE)
_HAVING = re.compile(r"where\s+(.+?)\s*(!=|<=|>=|=|<(?!-)|>)\s*(.+)", re.IGNORECASE)
_ORDER = re.compile(rf"(largest|smallest|most|fewest)\s+(?:(\d+)\s+)?{_ARROW}(.+)", re.IGNORECASE)
_WHERE = re.compile(
    rf"where\s+(count\s+)?{_ARROW}(.+?)\s*(!=|<=|>=|=|<(?!-)|>|\bin\b)\s*(.+)", re.IGNORECASE
)
_ROOT = re.compile(rf"(count|exists|sum|mean)(?:\s+{_ARROW}(.+))?", re.IGNORECASE)
_QUANTITY = re.compile(
    rf"(?:(none|only|all)|(exactly|at least|at most)\s+(\d+))\s+of\s+{_ARROW}(.+)", re.IGNORECASE
)
_HOW: dict[str | None, q.Comparison] = {"at least": ">=", "at most": "<="}
_BY: dict[str | None, Any] = {"only": "outside", "all": "missing"}
_CALCULATIONS: dict[str, Any] = {
    "minus": "difference", "divided by": "ratio", "days since": "days", "years since": "years",
}  # fmt: skip
_COMBINE = re.compile(
    rf"and|or|except|compare\s*(?:=|!=|<=|>=|<|>)|{'|'.join(_CALCULATIONS)}", re.IGNORECASE
)
_AGAIN = re.compile(r"^(and|or|except)\s+(?=\S)(.+)$", re.IGNORECASE)
"""A line that combines, with what begins anew behind it."""
_LAST = re.compile(rf"compare|{'|'.join(_CALCULATIONS)}", re.IGNORECASE)
"""What takes all that follows it for its other side."""
_BACKWARDS = ("<-", "←", "^")


@dataclasses.dataclass(frozen=True)
class ReadLines:
    """What lines say.

    Attributes:
        query: None of no lines.
        empty: where nothing is left, the line and what was there before it; else "".
    """

    query: q.Query | None
    empty: str = ""


class LineReader:
    """Reads the lines of one question.

    Example:
        >>> from jaxkg.kg import KnowledgeGraph
        >>> kg = KnowledgeGraph.from_triples([("Heat", "by", "Mann"), ("Ali", "by", "Mann")])
        >>> offered = [Candidates([(name, name)]) for name in ("Mann", "by")]
        >>> reader = LineReader(QuerySets(kg), *offered, {})
        >>> reader.read(["Mann", "<- by", "count"]).query.source.relations
        ('^by',)
    """

    def __init__(
        self,
        sets: QuerySets,
        topics: Candidates,
        relations: Candidates,
        classes: Mapping[str, tuple[str, ...]],
    ) -> None:
        """Take what was offered: topics, relations, and classes with the relations of each."""
        self.sets, self.topics, self.relations, self.classes = sets, topics, relations, classes

    def read(self, lines: Sequence[str]) -> ReadLines:
        """Read and execute.

        Raises:
            JaxkgError: a line is no operation, names what was not offered, or cannot be executed
                over the graph; says which.
        """
        before: tuple[Any, str] | None = None
        query: Any = None
        empty = ""
        parts = [part for each in lines for part in _AGAIN.sub(r"\1\n\2", each.strip()).split("\n")]
        for number, text in enumerate(parts, start=1):
            try:
                compares = _LAST.match(text) is not None
                if isinstance(query, q.Count | q.Exists | q.Total | q.Rows) and not compares:
                    raise JaxkgError("nothing comes after a count, exists, sum, mean or table")
                if _COMBINE.fullmatch(text) or _QUANTITY.fullmatch(text):
                    if query is None:
                        raise JaxkgError("there is nothing before it to combine")
                    query, before = None, (self._joined(before, query), text)
                    continue
                if query is not None and _ends_chain(before, text):
                    query, before = self._joined(before, query), None
                query = self._line(text, query)
                if wrong := refusal(self.sets.values, query):
                    raise JaxkgError(wrong)
            except JaxkgError as error:
                raise JaxkgError(f"line {number}, {text!r}: {error}") from error
            if not empty and self.sets.execute(query).empty:
                empty = f"line {number}, {text!r}: nothing is left after it"
        if query is None and before is not None:
            raise JaxkgError("the last line combines with nothing")
        query = self._joined(before, query)
        if query is not None and (wrong := refusal(self.sets.values, query)):
            raise JaxkgError(wrong)
        if query is not None and not empty and self.sets.execute(query).empty:
            empty = "the parts have nothing in common"
        return ReadLines(query, empty)

    def _line(self, text: str, source: Any) -> Any:
        """What is denoted after a line."""
        if source is None:
            return self._start(text)
        if found := _STEP.fullmatch(text):
            return self._step(source, *found.groups())
        if found := _ORDER.fullmatch(text):
            return self._order(source, *found.groups())
        if found := _WHERE.fullmatch(text):
            return self._where(source, *found.groups())
        if found := _ROOT.fullmatch(text):
            kind = found[1].lower()
            if kind in ("count", "exists"):
                return q.Count(source) if kind == "count" else q.Exists(source)
            path = tuple(self._ways(found[2], found[3] or ""))[:1]
            return q.Total(source, path, by="sum" if kind == "sum" else "mean")
        if found := _TABLE.fullmatch(text):
            return self._table(source, *found.groups())
        raise JaxkgError("it is no operation; begin with ->, <-, where, largest, count, ...")

    def _start(self, text: str) -> Any:
        if ids := self.topics.find(text):
            return q.Entities(ids)
        if self.classes:
            named = _ALL.fullmatch(text)[1]  # pyright: ignore[reportOptionalSubscript]
            [name] = Candidates((name, name) for name in self.classes).find(named) or [None]
            if name is not None:
                return q.Domain(self.classes[name])
        raise JaxkgError(f"{text!r} is neither a topic that was offered nor a class")

    def _step(self, source: Any, arrow: str, closure: Any, name: str) -> Any:
        during = None
        if (found := _DURING.fullmatch(name)) and not self.relations.find(name):
            name, during = found[1], q.Value("date", found[2])
        steps = [
            q.Step(source, (way,), closure != "", closure, during)
            for way in self._ways(arrow, name)
        ]
        return next((step for step in steps if not self.sets.execute(step).empty), steps[0])

    def _table(self, source: Any, arrow: str | None, per: str | None, told: str) -> Any:
        """A table: its columns, and what orders and keeps its rows."""
        columns: list[q.Column] = []
        having: list[q.Having] = []
        how: dict[str, Any] = {}
        ways = [(way,) for way in self._ways(arrow, per)] if per else [()]

        def column(text: str) -> int:
            """The number of a column, which is one from now on."""
            found = _COLUMN.fullmatch(text.strip())
            assert found is not None
            by: Any = (found[1] or "value").lower()
            path = tuple(self._way(source, found[2], found[3])) if found[3].strip() else ()
            if (made := q.Column(path, by)) not in columns:
                columns.append(made)
            return columns.index(made) + 1

        for part in filter(None, map(str.strip, told.split(";"))):
            if found := _TOP.fullmatch(part):
                how["top"] = int(found[1])
            elif found := _FIRST.fullmatch(part):
                how |= {"order": column(found[3]), "largest": found[1].lower() == "largest"}
                how["last"] = int(found[2] or 0)
            elif found := _HAVING.fullmatch(part):
                values = [v for v in self._values(found[3]) if isinstance(v, q.Value)]
                having.append(q.Having(column(found[1]), found[2], values[0]))  # pyright: ignore
            else:
                column(part)
        return self._sound(
            [q.Rows(source, tuple(columns), way, tuple(having), **how) for way in ways]
        )

    def _joined(self, before: tuple[Any, str] | None, query: Any) -> Any:
        """What stands before a line that combines, with what comes after it."""
        if before is None or query is None:
            return query
        first, word = before
        if found := _QUANTITY.fullmatch(word):
            every, how, n, arrow, name = found.groups()
            how, by = _HOW.get(how and how.lower(), "="), _BY.get(every and every.lower(), "inside")
            return self._sound(
                [
                    q.Quantifier(first, (way,), query, how, int(n or 0), by)
                    for way in self._ways(arrow, name)
                ]
            )
        word = word.lower()
        if word.startswith("compare"):
            return q.Compared(first, word.removeprefix("compare").strip(), query)  # type: ignore[arg-type]
        if by := _CALCULATIONS.get(word):
            return q.Calculation(first, by, query)
        if word == "except":
            return q.Difference(first, query)
        return (q.Intersection if word == "and" else q.Union)((first, query))

    def _way(self, source: Any, arrow: str | None, name: str) -> list[str]:
        """A relation the way that leads somewhere from what there is."""
        ways = self._ways(arrow, name)
        leads = (way for way in ways if not self.sets.execute(q.Step(source, (way,))).empty)
        return [next(leads, ways[0])]

    def _order(self, source: Any, word: str, n: str | None, arrow: str, name: str) -> Any:
        word = word.lower()
        by = "count" if word in ("most", "fewest") else "value"
        found = [
            q.Extreme(source, (way,), word in ("largest", "most"), int(n or 1), by=by)
            for way in self._ways(arrow, name)
        ]
        return self._sound(found)

    def _where(
        self, source: Any, counted: str, arrow: str, name: str, comparison: Any, value: str
    ) -> Any:
        by = "count" if counted else "value"
        return self._sound(
            [
                q.Where(source, (way,), comparison.lower(), each, by=by)
                for way in self._ways(arrow, name)
                for each in self._values(value)
            ]
        )

    def _sound(self, options: list[Any]) -> Any:
        """The first that can be executed and leaves something, else the first that can be."""
        problems = [refusal(self.sets.values, option) for option in options]
        sound = [option for option, wrong in zip(options, problems) if wrong is None]
        if not sound:
            raise JaxkgError(problems[0] or "it says nothing")
        return next((some for some in sound if not self.sets.execute(some).empty), sound[0])

    def _ways(self, arrow: str | None, name: str) -> list[str]:
        """A relation the way that is written, then the other."""
        name = name.strip().strip("[]")
        if not (found := self.relations.find(name)):
            raise JaxkgError(f"{name!r} is no relation offered")
        back = arrow in _BACKWARDS
        return [q.inverse(one) if flip else one for flip in (back, not back) for one in found]

    def _values(self, text: str) -> list[q.Value | str]:
        """What a value may be meant as: an entity, a number, a date, yes or no, a text."""
        text, kg = text.strip().strip("\"'"), self.sets.kg
        found: list[q.Value | str] = [*self.topics.find(text)]
        found += [kg.entity_ids[row] for row in kg.entity_names.rows(text)][:1]
        if number := as_number(text):
            found.append(q.Value("number", str(number[0]), number[1]))
        if as_date(text):
            found.append(q.Value("date", text))
        if (truth := as_truth(text)) is not None:
            found.append(q.Value("boolean", str(truth).lower()))
        return [*found, q.Value("text", text)]


def _ends_chain(before: tuple[Any, str] | None, text: str) -> bool:
    """Whether a line takes all that is combined, and does not go on with the last chain alone."""
    if before is None or _LAST.match(before[1]):
        return False
    return not (_STEP.fullmatch(text) or _WHERE.fullmatch(text))
