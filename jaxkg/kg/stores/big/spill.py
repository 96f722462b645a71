"""Facts and names put on the disk as they are read, for `build_big` to sort."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from jaxkg.errors import JaxkgError, how_to_install
from jaxkg.kg.encode import TripleEncoder
from jaxkg.kg.files.rdf.read import ALIASES, LABELS, NAMES, label_rank, statements
from jaxkg.kg.files.textfile import BadLines, Progress, open_bytes
from jaxkg.kg.names import NameCollector

_BATCH = 1 << 19


def libraries() -> tuple[Any, Any]:
    """DuckDB and PyArrow.

    Raises:
        JaxkgError: they are not installed.
    """
    try:
        import duckdb
        import pyarrow
    except ModuleNotFoundError as error:
        raise JaxkgError(f"a graph is sorted on disk by DuckDB: {how_to_install('big')}") from error
    return duckdb, pyarrow


class Spill:
    """Rows written to Parquet files as they come.

    Args:
        folder: for the files.
        name: theirs.
        columns: names of their columns.
    """

    def __init__(self, folder: Path, name: str, columns: Sequence[str]) -> None:
        self.folder, self.name = folder, name
        self.rows = 0
        self._columns: dict[str, list[Any]] = {column: [] for column in columns}
        self._tables: list[Any] = []
        self._files = 0

    def extend(self, *columns: Sequence[Any]) -> None:
        """Take rows, column by column."""
        for held, more in zip(self._columns.values(), columns, strict=True):
            held.extend(more)
        self.rows += len(columns[0])
        if len(next(iter(self._columns.values()))) >= _BATCH:
            self.flush()

    def append(self, *row: Any) -> None:
        """Take a row."""
        for held, cell in zip(self._columns.values(), row, strict=True):
            held.append(cell)
        self.rows += 1
        if not self.rows % _BATCH:
            self.flush()

    def flush(self) -> None:
        """Write what is held."""
        import pyarrow
        from pyarrow import parquet

        if any(self._columns.values()):
            self._tables.append(pyarrow.table(self._columns))
        if self._tables:
            path = self.folder / f"{self.name}-{self._files:05}.parquet"
            parquet.write_table(pyarrow.concat_tables(self._tables), path, compression="lz4")
            self._files += 1
            self._tables.clear()
            for held in self._columns.values():
                held.clear()

    def take(self, columns: Sequence[Any]) -> None:
        """Write rows that are Arrow arrays already."""
        import pyarrow

        self._tables.append(pyarrow.table(list(columns), names=list(self._columns)))
        before, self.rows = self.rows, self.rows + len(columns[0])
        if before // _BATCH < self.rows // _BATCH:
            self.flush()


class SpilledTriples(TripleEncoder):
    """Takes triples as `TripleEncoder` does, and keeps none; sources are not taken."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.facts = Spill(folder, "facts", ("head", "relation", "tail"))

    def __len__(self) -> int:
        return self.facts.rows

    def add(
        self,
        heads: Sequence[str],
        relations: Sequence[str],
        tails: Sequence[str],
        sources: Sequence[str] | None = None,
    ) -> None:
        """Take a batch of triples."""
        self.facts.extend(heads, relations, tails)

    def add_arrow(self, columns: Sequence[Any]) -> bool:
        """See `TripleEncoder`."""
        from pyarrow import string
        from pyarrow.compute import call_function as call

        columns = [column.cast(string()) for column in columns]
        for column in columns:
            trimmed = call("utf8_trim_whitespace", [column])
            changed = call("not_equal", [trimmed, column])
            blank = call("equal", [trimmed, ""])
            if column.null_count or changed.true_count or blank.true_count:
                return False
        self.facts.take(columns)
        return True


class SpilledNames(NameCollector):
    """Takes names as `NameCollector` does, and keeps none.

    The first label by rank, then by order of reading, is the name to show.

    Attributes:
        rank: of the labels that come now; lower goes first.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.rank = 1
        self.names = Spill(folder, "names", ("id", "rank", "number", "name"))

    def label(self, entity: str, name: str) -> None:
        """Take a display name."""
        self.put(entity, name, self.rank)

    def alias(self, entity: str, name: str) -> None:
        """Take another name."""
        self.put(entity, name, ALIAS)

    def put(self, entity: str, name: str, rank: int) -> None:
        """Take a name of some rank."""
        self.names.append(entity, rank, self.names.rows, name)


ALIAS = 9
"""Rank of names that are never shown first."""


def spill_rdf(
    path: Path,
    format: str,
    facts: SpilledTriples,
    names: SpilledNames,
    bad: BadLines,
    on_progress: Progress | None = None,
    on_stage: Callable[[str], None] = lambda stage: None,
) -> None:
    """Read an RDF file as `jaxkg.kg.files.rdf.read` does; relations keep their whole IRIs."""

    @functools.cache
    def one_graph() -> None:
        on_stage("reading its named graphs as one")

    columns: tuple[list[str], ...] = ([], [], [])
    with open_bytes(path, on_progress) as file:
        for subject, predicate, value, literal in statements(
            path, file, format, bad, on_graph=lambda graph: one_graph(), tell=on_stage
        ):
            if literal is not None and predicate in LABELS + NAMES + ALIASES:
                rank = ALIAS if predicate in ALIASES else 2 + label_rank(predicate, literal[1])
                names.put(subject, literal[0], rank)
                continue
            if literal is not None:
                names.put(value, literal[0], 1)
            for column, term in zip(columns, (subject, predicate, value)):
                column.append(term)
            if len(columns[0]) == 1 << 16:
                facts.add(*columns)
                for column in columns:
                    column.clear()
    facts.add(*columns)
