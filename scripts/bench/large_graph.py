"""A made-up graph of Freebase's shape, written as it is made: many relations, few of them large
hubs, names apart from ids."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

_CHUNK = 1 << 20
_KIN = 0.16
"""Share of the facts that lead to one of a few hubs."""
_HUBS = 200
_START_TEXT = "ba ke ri so lu mi ta ve no da fe go hi ju ka le ma ni po ra"
_END_TEXT = "lan mor din tas vel ron kis bar nul fen gat sol mir tan dek pol ras lim vor nes"
_STARTS, _ENDS = _START_TEXT.split(), _END_TEXT.split()
_WORDS = [a + b for a in _STARTS for b in _ENDS]
_KINDS = [b + a for a in _STARTS for b in _ENDS]


def entity_id(row: int) -> str:
    """The id of an entity; ids ascend with rows.

    >>> entity_id(7)
    'm.00000007'
    """
    return f"m.{row:08d}"


def entity_name(row: int) -> str:
    """Two words and a number, another for each.

    >>> entity_name(7)
    'Babar Balan 7'
    """
    first, second = _WORDS[row % len(_WORDS)], _WORDS[row // len(_WORDS) % len(_WORDS)]
    return f"{first.title()} {second.title()} {row}"


def relation_name(row: int) -> str:
    """A subject and what is told of it.

    >>> relation_name(401)
    'lanke.morke'
    """
    subject, told = _KINDS[row // 20 % len(_KINDS)], _KINDS[row * 21 % len(_KINDS)]
    return f"{subject}.{told}{'' if row < 8_000 else row}"


def write_graph(folder: Path, triples: int, relations: int, seed: int = 0) -> tuple[Path, Path]:
    """Write `facts.parquet` and `names.tsv`.

    Half a sixth of the facts lead to one hub (10 million of 126 million); relations and heads are
    skewed, so that most have few facts; there is an entity for every three facts.

    Args:
        folder: that is there.
        triples: lines to write; a few are the same as others.
        relations: how many.
        seed: of all that is random.

    Returns:
        The two files.
    """
    import pyarrow
    from pyarrow import parquet

    rng = np.random.default_rng(seed)
    entities = max(triples // 3, 2 * _HUBS)
    facts, names = folder / "facts.parquet", folder / "names.tsv"
    ids = pyarrow.string()
    schema = pyarrow.schema([("head", ids), ("relation", ids), ("tail", ids)])
    told = pyarrow.array([relation_name(row) for row in range(relations)])
    weight = 1.0 / np.arange(1, _HUBS + 1)
    weight[0] = weight[1:].sum()  # half of all
    with parquet.ParquetWriter(facts, schema, compression="zstd") as file:
        for start in range(0, triples, _CHUNK):
            count = min(_CHUNK, triples - start)
            head = (entities * rng.random(count) ** 1.3).astype(np.int64)
            relation = 1 + ((relations - 1) * rng.random(count) ** 3).astype(np.int64)
            tail = rng.integers(_HUBS, entities, count)
            kin = rng.random(count) < _KIN
            relation[kin] = 0
            tail[kin] = rng.choice(_HUBS, int(kin.sum()), p=weight / weight.sum())
            columns = [_ids(head), told.take(pyarrow.array(relation)), _ids(tail)]
            file.write_table(pyarrow.table(columns, schema=schema))
    with open(names, "w", encoding="utf-8") as lines:
        for start in range(0, entities, _CHUNK):
            rows = range(start, min(start + _CHUNK, entities))
            lines.writelines(f"{entity_id(row)}\t{entity_name(row)}\n" for row in rows)
    return facts, names


def _ids(rows: np.ndarray) -> Any:
    import pyarrow

    return pyarrow.array([entity_id(row) for row in rows.tolist()])
