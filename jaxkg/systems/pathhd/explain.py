"""How much each hop of an answer's relation path contributes to its similarity, in words.

The candidate relation paths of one question, for a saved trace.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from jaxkg.kg import KnowledgeGraph
from jaxkg.records import TraceNode
from jaxkg.score import hdc
from jaxkg.systems.following import Followed
from jaxkg.systems.pathhd.queries import Query, Space, encode_queries
from jaxkg.systems.pathhd.records import Schemas
from jaxkg.systems.pathhd.space import SymbolSpace
from jaxkg.systems.paths import path_words
from jaxkg.tensors import bucket, pad
from jaxkg.types import NULL
from jaxkg.words import relation_path_words


@functools.partial(jax.jit, static_argnames="algebra")
def hop_shares(
    algebra: hdc.Algebra, space: Space, query: Query, paths: jax.Array
) -> hdc.HopContributions:
    """`hdc.hop_contributions` for a batch.

    Args:
        algebra: isometric; static.
        space: the symbols.
        query: B questions.
        paths: [B, L] int32.
    """
    encoded = encode_queries(algebra, space, query, hops=paths.shape[1], prefixes=False)
    length = jnp.maximum(jnp.sum(paths != NULL, axis=1), 1)
    rows = jnp.take_along_axis(encoded.whole, (length - 1)[:, None, None], axis=1)[:, 0]
    vectors = algebra.unflatten(rows)
    return jax.vmap(lambda q, p: hdc.hop_contributions(algebra, space.table, q, p))(vectors, paths)


def explain_paths(
    kg: KnowledgeGraph,
    symbols: SymbolSpace,
    query: Query,
    paths: np.ndarray,
    *,
    length_weight: Sequence[float],
    batch_size: int,
) -> list[str | None]:
    """One sentence a question: the similarity of its path, told hop by hop.

    Args:
        kg: names of the relations.
        symbols: the space the query is in.
        query: of Q questions.
        paths: [Q, L] int32, NULL for a question without one.
        length_weight: [L] factor of the similarity of 1, 2, ... hops.
        batch_size: questions a batch.

    Returns:
        None where there is no path, or where the operator cannot be unbound exactly.
    """
    notes: list[str | None] = [None] * len(paths)
    if not symbols.algebra.isometric:
        return notes
    wanted = np.flatnonzero(paths[:, 0] != NULL)
    size = min(batch_size, bucket(len(wanted)))
    for first in range(0, len(wanted), size):
        rows = wanted[first : first + size]
        batch = jax.tree.map(lambda column, rows=rows: pad(column[rows], size), query)
        parts = jax.device_get(
            hop_shares(symbols.algebra, symbols.space, batch, pad(paths[rows], size))
        )
        for place, i in enumerate(rows.tolist()):
            hop_names = [kg.relation_name(c) for c in paths[i].tolist() if c != NULL]
            by = length_weight[len(hop_names) - 1]
            hop_words = [
                f"{by * share:+.2f} for {relation_path_words([name])}"
                for share, name in zip(parts.share[place].tolist(), hop_names)
            ]
            notes[i] = (
                f"similarity {by * parts.score[place]:.2f} = {by * parts.baseline[place]:.2f} for "
                f"any path of that length {' '.join(hop_words)}"
            )
    return notes


def candidate_nodes(
    kg: KnowledgeGraph, paths: Schemas, followed: Followed, *, calibrated: bool
) -> tuple[TraceNode, ...]:
    """Every candidate by the score that it was ranked by, best first.

    Args:
        kg: names of relations and entities.
        paths: of the one question.
        followed: its K kept candidates, and where they lead.
        calibrated: the scores are not the similarities themselves.

    Returns:
        One node; below it the candidates, and below those kept what they reach.
    """
    by = "calibrated score" if calibrated else "similarity"
    nodes = []
    for place in np.flatnonzero(np.isfinite(paths.weight[0])).tolist():
        names = [kg.relation_name(c) for c in paths.relations[0, place].tolist() if c != NULL]
        size = int(followed.sizes[0, place])
        words = path_words(kg, names, None if size == NULL else size)
        if calibrated:
            words += f", similarity {paths.similarity[0, place]:.3f}"
        ends = dict.fromkeys(followed.node[followed.place == place].tolist())
        nodes.append(
            TraceNode(
                words,
                float(paths.weight[0, place]),
                bool(followed.used[0, place]),
                tuple(TraceNode(kg.name(node)) for node in ends),
            )
        )
    return (TraceNode(f"candidate relation paths by {by}", below=tuple(nodes)),)
