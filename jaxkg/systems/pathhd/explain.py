"""How much each hop of a relation path contributes to its similarity; candidates for a trace."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np

from jaxkg.kg import KnowledgeGraph
from jaxkg.records import TraceNode
from jaxkg.score import hdc
from jaxkg.systems.following import Followed
from jaxkg.systems.pathhd.queries import Query, Space, encode_queries
from jaxkg.systems.pathhd.records import Schemas
from jaxkg.systems.paths import path_words
from jaxkg.types import NULL


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
