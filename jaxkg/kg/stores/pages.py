"""All rows of a query of an endpoint that gives but some at a time."""

from __future__ import annotations

import functools

from jaxkg.kg.stores.endpoint import Endpoint, Rows, Unsorted
from jaxkg.kg.stores.patterns import Patterns


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
