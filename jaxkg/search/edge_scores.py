"""The edge scorer as a search asks it: which edges are good for a question, at the hop it is at.

Reference: Shrestha and Kim, "Efficient multi-hop question answering over knowledge graphs via LLM
planning and embedding-guided search", Algorithm 2.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import jax
import jax.numpy as jnp

from jaxkg.score.edges import (
    EdgeScorer,
    EdgeTables,
    context_rows,
    depth_log_probabilities,
    hop_context,
    question_rows,
    score_at,
)
from jaxkg.select import best_in_rows
from jaxkg.types import NULL, Frontier, Graph

EdgeScores = Callable[[jax.Array, jax.Array, jax.Array, jax.Array], jax.Array]
"""From [F] int32 rows, nodes, relation codes and targets to [F] float32: of relations to [0, 1], of
targets to anything finite. A row that is NULL marks a slot whose score nobody reads."""


def asked(
    params: EdgeScorer,
    tables: EdgeTables,
    questions: jax.Array,
    hop: int | jax.Array,
    *,
    use_context: bool = True,
    dtype: str = "float32",
) -> EdgeScores:
    """The edge scorer, asked about some questions at one hop.

    Args:
        params, tables: the scorer's.
        questions: [B, T] float32 text vectors.
        hop: hops taken.
        use_context: False where the scorer was trained without hop context; static.
        dtype: of the products; static.

    Returns:
        Logits of edges whose rows are questions.
    """
    depth = depth_log_probabilities(params, questions)
    context = hop_context(depth, jnp.full(len(questions), hop, jnp.int32))
    of_context = context_rows(params, context if use_context else jnp.zeros_like(context))
    of_question = question_rows(params, questions)
    parts = (of_question, tables.node, tables.relation, tables.target, of_context)

    def score(question, node, relation, target):
        places = (question, node, relation, target, question)
        return score_at(params, parts, places, dtype=dtype)

    return score


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class BestTargets:
    """What `follow` keeps with top-M: of every path's edges, the best-scored.

    A callable and a pytree, so that programs that take one are compiled once.
    """

    graph: Graph
    params: EdgeScorer
    tables: EdgeTables
    questions: jax.Array  # [B, T] float32 text vectors
    targets: int = dataclasses.field(metadata={"static": True})
    """M, edges kept."""
    width: int = dataclasses.field(default=1, metadata={"static": True})
    """Paths a question: row r belongs to question r // width."""
    use_context: bool = dataclasses.field(default=True, metadata={"static": True})
    dtype: str = dataclasses.field(default="float32", metadata={"static": True})

    def __call__(self, hop: int, edges: Frontier) -> jax.Array:
        """[F] bool of the edges walked after `hop` hops."""
        score = asked(
            self.params,
            self.tables,
            self.questions,
            hop,
            use_context=self.use_context,
            dtype=self.dtype,
        )

        def of_slots(slot: jax.Array) -> jax.Array:
            edge = edges.edge[slot]
            row = jnp.where(slot == NULL, NULL, edges.row[slot] // self.width)
            return score(row, self.graph.head[edge], self.graph.relation[edge], edges.node[slot])

        return best_in_rows(
            edges.row,
            edges.valid,
            of_slots,
            num_rows=len(self.questions) * self.width,
            most=self.targets,
        )
