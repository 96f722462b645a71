"""Answers of SELECTs over the tables of a graph, cited as any answer is."""

from __future__ import annotations

import functools

from jaxkg import query as q
from jaxkg.answer import Answer
from jaxkg.cite.queries import query_answer
from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph
from jaxkg.kg.queries.rules import refusal
from jaxkg.kg.queries.select import SelectReader
from jaxkg.kg.queries.sets import QuerySets
from jaxkg.kg.relational import Relational, Table
from jaxkg.kg.typed_schema import Encode

MOST_RELATIONS = 2000
"""Graphs of more relations are no tables that anybody would write over."""
_TOKENS = 4000


class Selects:
    """A graph to write SELECTs over; none is run as SQL, see `jaxkg.kg.queries.select`.

    Example:
        >>> from jaxkg.kg import KnowledgeGraph
        >>> kg = KnowledgeGraph.from_triples([("Alien", "is a", "film"), ("Alien", "year", "1979")])
        >>> answer = Selects(kg).answer("SELECT year FROM film WHERE name = 'Alien'")
        >>> [entity.name for entity in answer.entities], answer.paths[0].sentence
        (['1979'], 'Alien, year: 1979')
    """

    def __init__(self, kg: KnowledgeGraph, sets: QuerySets | None = None) -> None:
        """Take a graph, and its sets where they are at hand; tables are made when asked for."""
        self.sets = QuerySets(kg) if sets is None else sets
        self.relational = Relational(self.sets)

    @property
    def able(self) -> bool:
        """Whether the graph has few enough relations for tables, and any."""
        return 0 < self.sets.kg.num_relations <= MOST_RELATIONS

    @functools.cached_property
    def reader(self) -> SelectReader:
        """Reads SELECTs.

        Raises:
            JaxkgError: the graph has no relation, or too many for tables.
        """
        if not self.able:
            count = self.sets.kg.num_relations
            raise JaxkgError(f"{count:,} relations make no tables; 1 to {MOST_RELATIONS:,} do")
        return SelectReader(self.relational)

    def tables(self, question: str = "", encode: Encode | None = None) -> tuple[Table, ...]:
        """The tables; of a question, with the columns that it most likely needs.

        Raises:
            JaxkgError: see `reader`.
        """
        relational = self.reader.relational  # which refuses graphs of too many relations
        if not question.strip():
            return relational.tables
        return relational.projected(question, encode, tokens=_TOKENS)

    def query(self, sql: str) -> q.Query:
        """The query graph of a SELECT.

        Raises:
            NothingLike: see `SelectReader.read`.
            JaxkgError: it cannot be read, or cannot be executed; says why.
        """
        query = self.reader.read(sql)
        if wrong := refusal(self.sets.values, query):
            raise JaxkgError(wrong)
        return query

    def answer(self, sql: str) -> Answer:
        """Execute a SELECT, and cite what it finds.

        Raises:
            JaxkgError: see `query`.
        """
        query = self.query(sql)
        return query_answer(self.sets, query, self.sets.execute(query), question=sql)
