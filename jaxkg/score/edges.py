"""The hybrid edge scorer: how likely walking an edge leads to the answer of a question.

Published, (question, node, relation, target, hop) are scored one by one. Factored, the scores are
the same: fusion does not depend on the question, and a first layer over concatenated components is
a sum of one product per component, so both are taken once for each node, relation and question, and
an edge gathers and adds.

Reference: Shrestha and Kim, "Efficient multi-hop question answering over knowledge graphs via LLM
planning and embedding-guided search", Sec. III-B.
"""

import dataclasses
import functools
from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp
from jax.typing import DTypeLike

from jaxkg.score.fusion import (
    Dense,
    Fusion,
    dense,
    fuse,
    init_dense,
    init_fusion,
    layer_norm,
    multiply,
)
from jaxkg.types import NULL

PARTS = 5
"""Components of an edge: question, node, relation, target, hop context."""

_BLOCK = 256
"""Edges a CPU scores at a time: enough for a product, few enough for its cache."""


@dataclasses.dataclass(frozen=True)
class EdgeSizes:
    """Sizes of the edge scorer; the defaults are the paper's, 6.8 million parameters.

    Attributes:
        text: T, numbers of a text vector; 0 leaves the text of nodes and relations out.
        graph: G, numbers of a graph vector; 0 leaves graph vectors out.
        question: numbers of the question's text vector.
        hops: L, longest path; the hop context has 2L numbers.
        context: False leaves the hop context out.
        width: W of the shared space.
        attention: inner layers of the gates.
        classifier: inner layers of the classifier.
    """

    text: int = 1536
    graph: int = 256
    question: int = 1536
    hops: int = 3
    context: bool = True
    width: int = 512
    attention: tuple[int, int] = (1024, 512)
    classifier: tuple[int, int] = (256, 128)


class EdgeScorer(NamedTuple):
    """Weights of the edge scorer."""

    question: Dense  # [Q, W]
    node: Fusion
    relation: Fusion
    target: Fusion
    context: Dense  # [2L, W]
    attention: tuple[Dense, Dense, Dense]  # [5W, A], [A, A'], [A', 5]
    classifier: tuple[Dense, Dense, Dense]  # [W, C], [C, C'], [C', 1]
    depth: Dense  # [W, L], how many hops the question wants


class EdgeInputs(NamedTuple):
    """What the scorer reads; a source that it leaves out has width 0."""

    node_text: jax.Array  # [N, T] float32
    node_graph: jax.Array  # [N, G] float32
    relation_text: jax.Array  # [2R, T] float32
    relation_graph: jax.Array  # [2R, G] float32


@functools.partial(jax.jit, static_argnames="sizes")
def init_edge_scorer(sizes: EdgeSizes = EdgeSizes(), *, key: jax.Array) -> EdgeScorer:
    """Random weights; output layers start at 0, so that at first no gate, edge or depth stands out.

    From random output layers the first steps mostly shrink those, and with them what is below.
    """
    keys = iter(jax.random.split(key, 9))
    width = sizes.width
    outer, inner = sizes.attention
    wide, narrow = sizes.classifier

    def layer(inputs: int, outputs: int) -> Dense:
        return init_dense(inputs, outputs, key=next(keys))

    def output(inputs: int, outputs: int) -> Dense:
        return Dense(jnp.zeros((inputs, outputs)), jnp.zeros(outputs))

    def fusion() -> Fusion:
        return init_fusion(sizes.text, sizes.graph, width, key=next(keys))

    return EdgeScorer(
        question=layer(sizes.question, width),
        node=fusion(),
        relation=fusion(),
        target=fusion(),
        context=layer(2 * sizes.hops, width),
        attention=(layer(PARTS * width, outer), layer(outer, inner), output(inner, PARTS)),
        classifier=(layer(width, wide), layer(wide, narrow), output(narrow, 1)),
        depth=output(width, sizes.hops),
    )


def depth_log_probabilities(params: EdgeScorer, questions: jax.Array) -> jax.Array:
    """How many hops each question wants.

    Args:
        questions: [B, Q] float32 text vectors.

    Returns:
        [B, L] float32, log-probability of 1 … L hops.
    """
    return jax.nn.log_softmax(dense(params.depth, project_questions(params, questions)), axis=-1)


def given_depth(params: EdgeScorer, hops: int) -> EdgeScorer:
    """The scorer told that every question wants so many hops, 1 … L, whatever it reads."""
    known = jnp.where(jnp.arange(params.depth.bias.shape[0]) == hops - 1, 0.0, -1e9)
    return params._replace(depth=Dense(jnp.zeros_like(params.depth.kernel), known))


def project_questions(
    params: EdgeScorer, questions: jax.Array, *, dtype: DTypeLike = jnp.float32
) -> jax.Array:
    """[B, Q] text vectors to [B, W] float32."""
    return dense(params.question, layer_norm(questions), dtype=dtype)


def hop_context(depth: jax.Array, hop: jax.Array) -> jax.Array:
    """The scorer's view of where the search is: hops wanted, as predicted, and the hop at hand.

    Args:
        depth: [..., L] float32 log-probabilities.
        hop: [...] int32, 0 for the first.

    Returns:
        [..., 2L] float32.
    """
    one_hot = jax.nn.one_hot(hop, depth.shape[-1], dtype=jnp.float32)
    return jnp.concatenate([jnp.exp(depth), one_hot], axis=-1)


def activate(states: jax.Array) -> jax.Array:
    """[..., W] of an inner layer, layer-normalised and rectified.

    Vectors of texts have much in common. Without the norm the first steps of training move every
    unit by what they share, past where rectified units still learn.
    """
    return jax.nn.relu(layer_norm(states))


class EdgeTables(NamedTuple):
    """The first layers' products with every node and relation: A of the gates, then C."""

    node: jax.Array  # [N, A + C] float32, as where an edge leaves from
    relation: jax.Array  # [2R, A + C] float32
    target: jax.Array  # [N, A + C] float32, as where it leads


def edge_tables(params: EdgeScorer, inputs: EdgeInputs) -> EdgeTables:
    """Everything about nodes and relations that does not depend on a question."""
    text, graph = inputs.node_text, inputs.node_graph
    return EdgeTables(
        node=node_rows(params, text, graph),
        relation=relation_rows(params, inputs.relation_text, inputs.relation_graph),
        target=target_rows(params, text, graph),
    )


def question_rows(
    params: EdgeScorer, questions: jax.Array, *, dtype: DTypeLike = jnp.float32
) -> jax.Array:
    """[B, Q] text vectors to their [B, A + C] share of the first layers."""
    return _first_layers(params, project_questions(params, questions, dtype=dtype), 0, dtype)


def node_rows(
    params: EdgeScorer, text: jax.Array, graph: jax.Array, *, dtype: DTypeLike = jnp.float32
) -> jax.Array:
    """[M, T] and [M, G] vectors of nodes that edges leave to their [M, A + C] share."""
    return _first_layers(params, fuse(params.node, text, graph, dtype=dtype), 1, dtype)


def relation_rows(
    params: EdgeScorer, text: jax.Array, graph: jax.Array, *, dtype: DTypeLike = jnp.float32
) -> jax.Array:
    """[M, T] and [M, G] vectors of relations to their [M, A + C] share."""
    return _first_layers(params, fuse(params.relation, text, graph, dtype=dtype), 2, dtype)


def target_rows(
    params: EdgeScorer, text: jax.Array, graph: jax.Array, *, dtype: DTypeLike = jnp.float32
) -> jax.Array:
    """[M, T] and [M, G] vectors of nodes that edges lead to, to their [M, A + C] share."""
    return _first_layers(params, fuse(params.target, text, graph, dtype=dtype), 3, dtype)


def context_rows(
    params: EdgeScorer, context: jax.Array, *, dtype: DTypeLike = jnp.float32
) -> jax.Array:
    """[..., 2L] hop contexts to their [..., A + C] share of the first layers."""
    # The products of its few inputs and of the bias are taken once, not those of every context.
    inputs = jnp.concatenate([params.context.kernel, params.context.bias[None]])
    each = _first_layers(params, inputs, 4, dtype)
    return dense(Dense(each[:-1], each[-1]), context, dtype=dtype)


def _first_layers(params: EdgeScorer, part: jax.Array, place: int, dtype: DTypeLike) -> jax.Array:
    """A component's part of the gates' first layer beside its own classifier's first layer."""
    width = part.shape[-1]
    gates = params.attention[0].kernel[place * width : (place + 1) * width]
    kernel = jnp.concatenate([gates, params.classifier[0].kernel], axis=1)
    return multiply(part, kernel, dtype=dtype)


def score_from_tables(
    params: EdgeScorer,
    rows: tuple[jax.Array, ...],
    *,
    hidden: tuple[jax.Array, jax.Array] | None = None,
    dtype: DTypeLike = jnp.float32,
) -> jax.Array:
    """Score edges from the rows of their five components.

    Args:
        rows: five arrays [F, A + C] float32: question, node, relation, target, context.
        hidden: dropout masks of the classifier's inner layers, [F, C] and [F, C'], scaled; None
            for no dropout.
        dtype: of the products.

    Returns:
        [F] float32 logits.
    """
    chex.assert_equal(len(rows), PARTS)
    chex.assert_equal_shape(rows)
    wide = params.attention[0].bias.shape[0]
    first = sum(row[:, :wide] for row in rows) + params.attention[0].bias[None]
    states = activate(dense(params.attention[1], activate(first), dtype=dtype))
    gates = jax.nn.softmax(dense(params.attention[2], states), axis=-1)
    mixed = sum(gates[:, p, None] * row[:, wide:] for p, row in enumerate(rows))
    mixed = activate(mixed + params.classifier[0].bias[None])
    if hidden is not None:
        mixed = mixed * hidden[0]
    mixed = activate(dense(params.classifier[1], mixed, dtype=dtype))
    if hidden is not None:
        mixed = mixed * hidden[1]
    return dense(params.classifier[2], mixed)[:, 0]


def score_at(
    params: EdgeScorer,
    tables: tuple[jax.Array, ...],
    places: tuple[jax.Array, ...],
    *,
    block: int | None = None,
    dtype: DTypeLike = jnp.float32,
) -> jax.Array:
    """Score edges from tables of their five components, a block of edges at a time.

    The rows of an edge are thousands of numbers. Those of a block stay in a CPU's cache from where
    they are gathered to where they are multiplied; those of all edges would go out to memory and
    back at every step.

    Args:
        tables: five arrays [*, A + C] float32: questions, nodes, relations, targets, contexts.
        places: five arrays [F] int32, the row of each edge in each. NULL in the first marks an
            edge that nobody asks for; blocks after the last edge asked for are skipped.
        block: edges at a time; None takes what suits the device. Static.
        dtype: of the products.

    Returns:
        [F] float32 logits where asked for, finite elsewhere.
    """
    chex.assert_equal_shape(places)
    size = places[0].shape[0]
    if block is None:
        block = _BLOCK if jax.default_backend() == "cpu" else size
    count = -(-size // block)
    padded = [jnp.pad(place, (0, count * block - size), constant_values=NULL) for place in places]
    asked = jnp.where(padded[0] == NULL, 0, jnp.arange(1, count * block + 1, dtype=jnp.int32))

    def fill(tile: jax.Array, scores: jax.Array) -> jax.Array:
        parts = (jax.lax.dynamic_slice(place, (tile * block,), (block,)) for place in padded)
        rows = tuple(table[jnp.maximum(place, 0)] for table, place in zip(tables, parts))
        values = score_from_tables(params, rows, dtype=dtype)
        return jax.lax.dynamic_update_slice(scores, values, (tile * block,))

    blocks = (jnp.max(asked) + block - 1) // block
    return jax.lax.fori_loop(0, blocks, fill, jnp.zeros(count * block))[:size]


def score_state_edges(
    params: EdgeScorer,
    inputs: EdgeInputs,
    questions: jax.Array,
    context: jax.Array,
    node: jax.Array,
    state: jax.Array,
    relation: jax.Array,
    target: jax.Array,
    *,
    hidden: tuple[jax.Array, jax.Array] | None = None,
    dtype: DTypeLike = jnp.float32,
) -> jax.Array:
    """Score edges that share states, each component once for what it depends on.

    Where weights change at every step, tables of the whole graph do not pay; those of a step's
    states and relations do.

    Args:
        inputs: vectors of nodes and relations.
        questions: [S, Q] float32, the question's text vector at each state.
        context: [S, 2L] float32 from `hop_context`.
        node: [S] int32, where its edges leave.
        state, relation, target: [F] int32 of each edge.
        hidden: see `score_from_tables`.
        dtype: of the products.

    Returns:
        [F] float32 logits.
    """
    chex.assert_rank([questions, context, node, state], [2, 2, 1, 1])
    text, graph = inputs.node_text, inputs.node_graph
    codes = (inputs.relation_text, inputs.relation_graph)
    if len(codes[0]) <= len(relation):
        of_relation = relation_rows(params, *codes, dtype=dtype)[relation]
    else:
        of_relation = relation_rows(params, *(table[relation] for table in codes), dtype=dtype)
    rows = (
        question_rows(params, questions, dtype=dtype)[state],
        node_rows(params, text[node], graph[node], dtype=dtype)[state],
        of_relation,
        target_rows(params, text[target], graph[target], dtype=dtype),
        context_rows(params, context, dtype=dtype)[state],
    )
    return score_from_tables(params, rows, hidden=hidden, dtype=dtype)
