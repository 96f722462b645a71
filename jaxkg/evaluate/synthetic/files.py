"""Synthetic worlds as files that every reader of the package takes."""

from __future__ import annotations

import os

import numpy as np

from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.kg.hypergraph.graph import KnowledgeHypergraph
from jaxkg.kg.names import NameTable
from jaxkg.storage import write_lines, writing

_ROWS = 1 << 18


def write_triples(graph: KnowledgeGraph, path: str | os.PathLike[str]) -> None:
    """Write head<TAB>relation<TAB>tail lines.

    Lines are put together as bytes in numpy, a quarter of a million at a time.

    Args:
        graph: with ids that hold no tab and no line break.
        path: of the file.
    """
    ids, relations = _padded(graph.entity_ids), _padded(NameTable.from_names(graph.relations))
    with writing(path) as file:
        for first in range(0, graph.num_triples, _ROWS):
            head, code, tail = graph.triples[first : first + _ROWS].T
            lines = np.concatenate(
                [
                    ids[head],
                    np.full((len(head), 1), ord("\t"), np.uint8),
                    relations[code],
                    np.full((len(head), 1), ord("\t"), np.uint8),
                    ids[tail],
                    np.full((len(head), 1), ord("\n"), np.uint8),
                ],
                axis=1,
            )
            file.write(lines[lines != 0].tobytes())


def write_nary(graph: KnowledgeHypergraph, path: str | os.PathLike[str]) -> None:
    """Write relation<TAB>e1<TAB>e2... lines, as `jaxkg.kg.hypergraph.read.read_nary` reads them."""
    ids, members = graph.entity_ids.tolist(), graph.members.tolist()
    bounds = graph.offsets.tolist()
    lines = (
        "\t".join((name, *(ids[row] for row in members[low:high])))
        for name, low, high in zip(graph.edge_names.tolist(), bounds, bounds[1:])
    )
    write_lines(path, lines)


def _padded(table: NameTable) -> np.ndarray:
    """[n, longest] uint8, zeros past the end of a name."""
    lengths = np.diff(table.offsets)
    columns = np.arange(lengths.max(initial=0))
    there = columns[None, :] < lengths[:, None]
    letters = np.zeros(there.shape, np.uint8)
    letters[there] = table.blob
    return letters
