"""Query graphs of mixed shapes executed exactly in batches: rounds on the device, host-planned.

A query graph is taken apart into chains of steps, combinations, conditions and orders. What needs
nothing but what is known already is one round, of all query graphs of the batch together: chains
run as relation paths do (`search.plans.execute_batch`), the others as in `rounds`.
"""

from __future__ import annotations

from collections.abc import Sequence

from jaxkg.kg.queries.sets import Result
from jaxkg.query import Query
from lib.query_graphs.batch import QueryBatch, query_batch
from lib.query_graphs.execution import Executed, QueryTables


class QueryGraphs(QueryTables):
    """Executes query graphs over one graph, in batches; see `QueryTables`.

    Example:
        >>> from jaxkg.kg import KnowledgeGraph
        >>> from jaxkg.query import Count, Entities, Step
        >>> kg = KnowledgeGraph.from_triples([("Alien", "by", "Scott"), ("Legend", "by", "Scott")])
        >>> films = Step(Entities(("Scott",)), ("^by",))
        >>> [result] = QueryGraphs(kg).execute([Count(films)])
        >>> result.number, result.complete
        (2, True)
    """

    def batch(self, queries: Sequence[Query]) -> QueryBatch:
        """Take query graphs apart, ready to be executed, also more than once.

        Raises:
            JaxkgError: one is not sound (`jaxkg.kg.queries.rules.refuse_unsound`); says which.
        """
        return query_batch(self.values, queries)

    def execute(self, queries: Sequence[Query] | QueryBatch) -> list[Result]:
        """Execute query graphs exactly.

        Returns:
            A result for each, in order; `complete` is False where one step alone outgrew the
            largest bucket.

        Raises:
            JaxkgError: see `batch`.
        """
        return list(self.run(queries))

    def run(self, queries: Sequence[Query] | QueryBatch) -> Executed:
        """As `execute`, each result made when it is asked for."""
        return Executed(self, queries if isinstance(queries, QueryBatch) else self.batch(queries))
