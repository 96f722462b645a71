"""Questions read by a language model as SELECTs over the graph's tables, and as query graphs."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Sequence

import numpy as np

from jaxkg import query as q
from jaxkg.adjudicate.ask import Outcome
from jaxkg.adjudicate.backend import Backend
from jaxkg.adjudicate.calls.selecting import SelectReply, SelectWanted, ask_selects
from jaxkg.answer import Answer
from jaxkg.cite.queries import query_answer
from jaxkg.cite.selects import Selects
from jaxkg.errors import JaxkgError
from jaxkg.kg.link.folding import word_key
from jaxkg.kg.queries.select_parts import NothingLike
from jaxkg.kg.queries.select_pattern import select_pattern
from jaxkg.kg.queries.sets import QuerySets, Result
from jaxkg.kg.relational import Column, Table
from jaxkg.kg.relational.cells import LOOKED_THROUGH
from jaxkg.kg.typed_schema import Encode
from jaxkg.records import Link, PlanCandidate, Question, TraceNode
from jaxkg.systems.answering import Progress, QuestionAnswering
from jaxkg.systems.offered import CITED, OTHERS, previewed
from jaxkg.systems.reader.language.cues import read_cues

TOKENS, MORE_TOKENS = 800, 3000
"""Of the tables' definitions at most, as estimated: two cores read some 100 a second; and for a
model that is trusted and has the context for them."""
_ROOM = 8192
"""Tokens of such a context."""
SUREST = 13 / 14
"""The most that a model is trusted: how often its SELECTs are right, see `jaxkg.systems.exam`."""
_NAMES, _PLACES, _SURE = 8, 3, 0.85
"""Names that are told of, columns of each, and the linker's score from which on one is no guess."""
_WROTE = "the model wrote"
_AGREES = 3.0
"""What a reading of confidence 1 adds to the log-probability of a SELECT that answers the same."""
_LEVEL, _SLOPE = 2.1, 0.72
"""Of the log-odds of a SELECT by that sum; fitted on 44 of a model of 1.5 billion weights."""
_LOOKUP = 1.6
"""What a SELECT loses that only looks up what a column has: of 25 of these over 24 files, which the
reader had withheld, 5 were right, of 45 others 25. The reader finds them itself, where they are."""
_USUAL = -2.5
"""Log-probability of a SELECT where the endpoint does not tell it."""


@dataclasses.dataclass(frozen=True)
class Written:
    """What a model wrote for a question.

    Attributes:
        query: the query graph of its SELECT; None where it wrote none, none that can be read, or
            one by which nothing is LIKE what it says.
        sql: the SELECT.
        outcome: of the call.
        note: what the model was not shown, else "".
    """

    query: q.Query | None
    sql: str
    outcome: Outcome[SelectReply]
    note: str = ""

    @property
    def likelihood(self) -> float | None:
        """Natural log-probability of what it wrote; None where the endpoint does not tell."""
        return self.outcome.replies[-1].likelihood if self.outcome.replies else None


class SelectWriter:
    """Asks a model for SELECTs over one graph.

    Args:
        sets: of the graph.
        backend: the model.
        encode: tells which columns are like a question's words where not all can be shown; None
            shows the first ones.
        repair: allow one more call for a reply that cannot be read, also of a model that is not
            trusted.
        trust: says how often the model's SELECTs are right, 0 to 1, where that is often; it may
            then write any SELECT, and sees more of the tables. None of a model that writes within a
            pattern.
    """

    def __init__(
        self,
        sets: QuerySets,
        backend: Backend,
        encode: Encode | None = None,
        *,
        repair: bool = False,
        trust: Callable[[], float | None] = lambda: None,
    ) -> None:
        self.sets, self.backend, self.encode = sets, backend, encode
        self.repair = repair
        self.selects = Selects(sets.kg, sets)
        self.relational = self.selects.relational
        self._trust = trust

    @functools.cached_property
    def trusted(self) -> float | None:
        """How often the model's SELECTs are right; None of a model that is not trusted."""
        return self._trust()

    def write(
        self, questions: Sequence[tuple[str, str]], links: Sequence[Sequence[Link]]
    ) -> list[Written]:
        """Ask for the SELECT of each question, one call a question.

        Args:
            questions: text and id of each.
            links: what each names.

        Returns:
            One a question, in order.
        """
        columns = sum(len(table.columns) for table in self.relational.tables)
        has_room = (self.backend.context or _ROOM) >= _ROOM
        most = MORE_TOKENS if has_room else TOKENS
        wanted, notes = [], []
        for (text, question_id), mentions in zip(questions, links, strict=True):
            places = self._places(text, mentions)
            if self.trusted is None:
                tables = self.relational.projected(text, self.encode, tokens=TOKENS)
                pattern = self._pattern(text, mentions, tables)
            else:
                first = {place for name in places for place in places[name][:_PLACES]}
                tables = self.relational.projected(text, self.encode, tokens=most, first=first)
                tables, pattern = self.relational.fuller(tables, tokens=most), ""
            lines = "\n".join(table.definition() for table in tables).split("\n")
            names = self._names(text, places, tables)
            wanted.append(SelectWanted(text, question_id, tuple(lines), names, pattern))
            shown = sum(len(table.columns) for table in tables)
            hidden = f"the model was shown {shown} of {columns} columns"
            notes.append(hidden if shown < columns else "")
        queries: dict[int, q.Query] = {}

        def check(place: int, reply: SelectReply) -> str | None:
            queries.pop(place, None)
            if not reply.sql.strip():
                return None
            try:
                queries[place] = self.selects.query(reply.sql)
            except NothingLike:
                return None
            except JaxkgError as error:
                return str(error)
            return None

        repair = self.repair or self.trusted is not None
        outcomes = ask_selects(self.backend, wanted, check=check, repair=repair)
        replies = []
        for place, (outcome, note) in enumerate(zip(outcomes, notes)):
            sql = outcome.value.sql if outcome.value is not None else ""
            replies.append(Written(queries.get(place), sql, outcome, note))
        return replies

    def _pattern(self, text: str, links: Sequence[Link], tables: Sequence[Table]) -> str:
        """What may be written for a question."""
        cues = read_cues(text)
        truth = True if cues.plainly else None if cues.yesno else False
        values = functools.partial(self._values, text, links)
        return select_pattern(tables, values, truth=truth)

    def _values(
        self, text: str, links: Sequence[Link], table: Table, column: Column
    ) -> Sequence[str] | None:
        """What a column may be compared with: all that it has where that is little, else what the
        question names; None, for anything, in large tables."""
        if table.size > LOOKED_THROUGH:
            return None
        if few := self.relational.cells.few(column, table):
            return few
        names = [*self.relational.cells.named(column, table, text)]
        for link in links:
            if self.relational.cells.matches(column, table, link.name, whole=True):
                names.append(link.name)
        return list(dict.fromkeys(names))

    def _places(self, text: str, links: Sequence[Link]) -> dict[str, list[str]]:
        """What links say that a question names, with the columns that each stands in."""
        words = word_key(text)
        named = {
            link.entity: link.name
            for link in links
            if (link.chosen and link.score >= _SURE) or word_key(link.name) in words
        }
        places: dict[str, list[str]] = {}
        for entity, name in named.items():
            places.setdefault(name, [*self.relational.places(self.sets.kg.entity(entity))])
        return places

    def _names(
        self, text: str, places: dict[str, list[str]], tables: Sequence[Table]
    ) -> tuple[str, ...]:
        """What a question names, with the columns that each stands in, told in words."""
        for table in tables:
            for column in table.columns.values():
                if column.kind == "text" and len(column.path) < 2 and not column.closure:
                    self._name(text, table, column, places)
        told = {name: where[:_PLACES] for name, where in places.items() if where}
        lines = [f"'{name}' is in {' and '.join(where)}" for name, where in told.items()]
        return tuple(lines[:_NAMES])

    def _name(self, text: str, table: Table, column: Column, places: dict[str, list[str]]) -> None:
        """Add a column to the places of all that a question names of it."""
        if table.size > LOOKED_THROUGH:
            return
        place = f"{table.name}.{column.name}"
        for name in self.relational.cells.named(column, table, text):
            is_whole = self.relational.cells.matches(column, table, name, whole=True)
            if is_whole and place not in places.setdefault(name, []):
                places[name].append(place)


class SelectedQA(QuestionAnswering):
    """A system, and a model that writes a SELECT for each question whose answer it withholds.

    The SELECT is read as a query graph, which is executed, cited and checked as any answer is. The
    answer stays withheld where the model writes nothing, what it writes finds nothing, or it is not
    sure of it; a withheld reading that answers the same makes it surer.

    A model that is trusted writes wherever the system is less sure than the model is right, and its
    word counts: what its SELECT finds is the answer, and where it writes nothing, none is given.

    Args:
        inner: the system.
        writer: asks the model.
        likely: least chance of a SELECT that is answered by; others are told as readings.
        alone: the system without a choice by the model, which one that is trusted needs not make.
        every: let a model that is trusted write for every question.
    """

    def __init__(
        self,
        inner: QuestionAnswering,
        writer: SelectWriter,
        likely: float,
        alone: QuestionAnswering,
        *,
        every: bool = False,
    ) -> None:
        self.inner, self.writer, self.likely, self.alone = inner, writer, likely, alone
        self.every, self.sets = every, writer.sets

    @property
    def _first(self) -> QuestionAnswering:
        """The system that answers first."""
        return self.alone if not self.every or self.writer.trusted is not None else self.inner

    def answer(
        self,
        questions: Sequence[Question],
        *,
        use_given: bool = True,
        on_progress: Progress | None = None,
    ) -> list[Answer]:
        """Answer all questions, then let the model write for those that are withheld."""
        answers = self._first.answer(questions, use_given=use_given, on_progress=on_progress)
        return self._written(answers)

    def traced(self, question: Question) -> tuple[Answer, tuple[TraceNode, ...]]:
        """An answer, what the system considered, and what the model wrote."""
        answer, stages = self._first.traced(question)
        [answer] = self._written([answer])
        nodes = tuple(
            TraceNode(note, kept=True) for note in answer.notes if note.startswith(_WROTE)
        )
        return answer, (*stages, TraceNode("written by the model", below=nodes))

    def _written(self, answers: Sequence[Answer]) -> list[Answer]:
        places = [i for i, each in enumerate(answers) if each.error is None and self._asks(each)]
        if not places:
            return list(answers)
        asked = [answers[place] for place in places]
        texts = [(each.question, each.question_id) for each in asked]
        written = self.writer.write(texts, [each.topics for each in asked])
        decided = list(answers)
        for place, answer, reply in zip(places, asked, written):
            decided[place] = self._decided(answer, reply)
        return decided

    def _asks(self, answer: Answer) -> bool:
        """Whether the model writes for what the system answers."""
        if answer.abstained is not None:
            return True
        if not self.every and _confidence(answer) >= SUREST:  # whoever the model is
            return False
        trusted = self.writer.trusted
        return trusted is not None and (self.every or _confidence(answer) < trusted)

    def _decided(self, answer: Answer, written: Written) -> Answer:
        """An answer by what the model wrote, or the withheld one with why it stays so."""
        outcome = written.outcome
        usage = answer.usage + outcome.usage
        notes = tuple(filter(None, (written.note, outcome.note)))
        if outcome.error is not None:
            failed = f"{outcome.error}: {outcome.detail}"
            notes = (*answer.notes, *notes, f"{_WROTE} nothing that can be read ({failed})")
            # A reply that cannot be read leaves the answer as it was; other failures are failures.
            error = None if outcome.error in ("unparsed", "budget") else failed
            return dataclasses.replace(answer, usage=usage, notes=notes, error=error)
        if written.query is None:
            what = f"{written.sql}, which finds nothing" if written.sql.strip() else "nothing"
            notes = (*answer.notes, *notes, f"{_WROTE} {what}")
            answer = dataclasses.replace(answer, usage=usage, notes=notes)
            return answer if written.sql.strip() or answer.abstained else _withheld(answer)
        sets, note = self.writer.sets, f"{_WROTE} {written.sql}"
        result = sets.execute(written.query)
        cited = query_answer(
            sets,
            written.query,
            result,
            question=answer.question,
            topics=answer.topics,
            most=CITED,
        )
        if cited.abstained is not None or result.empty:
            notes = (*answer.notes, *notes, f"{note}, which finds nothing")
            return dataclasses.replace(answer, usage=usage, notes=notes)
        if answer.abstained is None and _same(answer, cited):
            notes = (*answer.notes, *notes, f"{note}, which answers the same")
            return dataclasses.replace(answer, usage=usage, notes=notes)
        chance = self._chance(answer, written, result)
        if chance >= self.likely:
            return dataclasses.replace(
                cited,
                question_id=answer.question_id,
                system=answer.system,
                plan=(PlanCandidate((), chance, used=True),),
                notes=(*cited.notes, *notes, note),
                usage=usage,
                readings=answer.readings,
            )
        query = q.query_to_dict(written.query)
        own = previewed(cited.reading or written.sql, chance, cited.entities, query)
        others = (other for other in answer.readings if other.reading != own.reading)
        return dataclasses.replace(
            answer,
            usage=usage,
            notes=(*answer.notes, *notes, f"{note}, but is not sure of it"),
            readings=(own, *others)[:OTHERS],
        )

    def _chance(self, answer: Answer, written: Written, result: Result) -> float:
        """How likely the model's SELECT is meant, and right."""
        if self.writer.trusted is not None:
            return self.writer.trusted
        likelihood = _USUAL if written.likelihood is None else written.likelihood
        agrees = 0.0
        for reading in answer.readings:
            if reading.query is not None and reading.confidence > agrees:
                other = self.writer.sets.execute(q.query_from_dict(reading.query))
                if _said(other) == _said(result):
                    agrees = reading.confidence
        level = _LEVEL - _LOOKUP * is_lookup(written.query)
        return 1 / (1 + math.exp(-(level + _SLOPE * (likelihood + _AGREES * agrees))))


def _same(answer: Answer, other: Answer) -> bool:
    """Whether two answers say the same."""
    names = [{entity.name or entity.entity for entity in each.entities} for each in (answer, other)]
    return names[0] == names[1]


def _confidence(answer: Answer) -> float:
    """The confidence in the reading that was executed."""
    return answer.plan[0].probability if answer.plan else 0.0


def _withheld(answer: Answer) -> Answer:
    """An answer that is withheld after all; how it was read is told as a reading."""
    own = previewed(answer.reading, _confidence(answer), answer.entities, answer.query)
    return dataclasses.replace(
        answer,
        entities=(),
        paths=(),
        reading="",
        query=None,
        columns=(),
        abstained="the model finds nothing in the graph that says it",
        readings=(own, *answer.readings)[:OTHERS],
    )


def is_lookup(query: q.Query | None) -> bool:
    """Whether a query graph only tells what things that are named have.

    >>> alien = q.Entities(("Alien",))
    >>> old = q.Where(alien, ("born",), "<", q.Value("date", "1950"))
    >>> [is_lookup(node) for node in (q.Step(alien, ("by",)), q.Step(old, ("by",)), alien)]
    [True, False, False]
    """
    return isinstance(query, q.Step) and _names(query)


def _names(query: q.Query) -> bool:
    """Whether a query graph walks from names alone: nothing is compared, ordered or left out."""
    named = isinstance(query, q.Where) and isinstance(query.value, str) and query.comparison == "="
    plain = isinstance(query, (q.Entities, q.Domain, q.Step, q.Intersection, q.Union))
    return (named or plain) and all(map(_names, q.children(query)))


def _said(result: Result) -> tuple[str, bytes]:
    """What a query graph answers."""
    has_rows = result.kind in ("entities", "table")
    return result.words, np.sort(result.rows).tobytes() if has_rows else b""
