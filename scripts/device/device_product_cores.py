"""The cores that score by products, with what each must do at least."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from device_counts import Count, product
from device_graph_cores import Core, Makers, compiled

from jaxkg.candidates.nearest import nearest
from jaxkg.evaluate.synthetic import WorldConfig, make_world
from jaxkg.score import hdc
from jaxkg.score.edges import EdgeSizes, EdgeTables, init_edge_scorer, score_at
from jaxkg.score.embeddings import init_embeddings, move, score_against
from jaxkg.score.message_passing import inflow, init_messages, pass_messages
from jaxkg.tensors import tensor_graph


def hypervector_cores(times: int, seed: int) -> Makers:
    """GHRR: binding, similarity of queries and candidates."""
    algebra = hdc.ghrr(256, 4, layout="pair")
    d, floats, m = algebra.dimension, algebra.floats, 4
    key = jax.random.key(seed)

    def bind() -> Core:
        x, y = algebra.random((2, 256 * times), key=key)
        # m^3 complex multiply-adds of 8 operations a block of m^2 entries; 8 B an entry.
        count = Count(bytes=3 * 8.0 * d * len(x), flops=8.0 * m * d * len(x))
        call = compiled(jax.vmap(algebra.bind), x, y)
        return Core(
            f"GHRR bind, d = {d:,}", "bindings", len(x), call, count,
            "32 operations for 24 bytes an entry, in vector code without fused multiply-adds",
        )  # fmt: skip

    def similarity() -> Core:
        queries = algebra.random((256,), key=key)
        candidates = algebra.random((2048 * times,), key=key)
        count = product(len(queries), floats, len(candidates))
        call = compiled(lambda q, c: hdc.similarity_matrix(algebra, q, c), queries, candidates)
        return Core(
            "GHRR blockwise similarity", "pairs", len(queries) * len(candidates), call, count,
            "flattening the candidates reads and writes the table once more before the product",
        )  # fmt: skip

    yield "ghrr-bind", bind
    yield "ghrr-similarity", similarity


def network_cores(times: int, seed: int) -> Makers:
    """Message passing, edge scorer, nearest texts, embeddings against all entities."""
    rng = np.random.default_rng(seed)

    def normal(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape, np.float32)

    def messages() -> Core:
        graph = tensor_graph(make_world(WorldConfig(edges=100_000 * times), seed=seed).graph).graph
        width, bases = 32, 8
        params = init_messages(
            2 * graph.num_relations, width=width, bases=bases, key=jax.random.key(seed)
        )
        into = jax.jit(inflow)(graph)
        real, slots, nodes = int(graph.offsets[-1]), into.receiver.size, graph.num_nodes
        # A message: sender and slot in, a row in, a row added (read and written); a run: a row in,
        # a row added; a node: a row in, a row out.
        count = Count(
            bytes=real * (8 + 12 * width) + slots * 12 * width + nodes * 12 * width,
            flops=real * width + 2.0 * (slots + nodes) * width**2,
            reads=real + slots,
            writes=real + slots,
        )
        call = compiled(pass_messages, params, into, normal(nodes, width))
        return Core(
            f"message passing, width {width}", "messages", real, call, count,
            "rows are gathered, written out, and added one after the other at random places",
            table=nodes * width, width=width,
        )  # fmt: skip

    def edges() -> Core:
        many, nodes = 8192 * times, 4096
        sizes = EdgeSizes(text=384, question=384)
        (outer, inner), (wide, narrow) = sizes.attention, sizes.classifier
        params = init_edge_scorer(sizes, key=jax.random.key(seed))
        made = [normal(rows, outer + wide) for rows in (nodes, 64, nodes)]
        tables = EdgeTables(*jax.device_put(made))
        asked, context = normal(64, outer + wide), normal(64, outer + wide)
        index = [rng.integers(0, n, many).astype(np.int32) for n in (64, nodes, 64, nodes, 64)]

        def score(params, tables, asked, context, *places):
            parts = asked, tables.node, tables.relation, tables.target, context
            return score_at(params, parts, places)

        count = Count(
            bytes=4.0 * many * 5 * (outer + wide),
            flops=2.0 * many * (outer * inner + inner * 5 + 5 * wide + wide * narrow + narrow)
            + 5.0 * many * outer,
            reads=5 * many,
        )
        call = compiled(score, params, tables, asked, context, *index)
        return Core(
            "edge scorer, factored", "edges", many, call, count,
            "five rows of 1,280 numbers an edge are gathered and added before its products, which "
            "have few columns",
            table=nodes * (outer + wide), width=outer + wide,
        )  # fmt: skip

    def texts() -> Core:
        queries, table, k = normal(256 * times, 384), normal(32_768, 384), 10
        count = product(len(queries), 384, len(table))
        call = compiled(lambda q, t: nearest(q, t, k=k), queries, table)
        return Core(
            "nearest texts, k = 10", "pairs", len(queries) * len(table), call, count,
            "the k best of every row are sought in all cosines after the product, on a CPU by a "
            "selection that takes longer than the product",
        )  # fmt: skip

    def embeddings(model, rows: int) -> Core:
        made = init_embeddings(model, 16_384, 16, dimension=256, key=jax.random.key(seed))
        heads = jnp.resize(made.entity, (rows, 256))
        relations = jnp.resize(made.relation, (rows, 256))

        def score(heads, relations, entities):
            moved = jax.vmap(lambda h, r: move(model, h, r, inverse=False))(heads, relations)
            return score_against(model, moved, entities)

        count = product(rows, 256, len(made.entity))
        bound = "the product alone"
        if model == "transe":
            count = Count(bytes=count.bytes, flops=1.5 * count.flops)
            bound = (
                "a difference, a magnitude and a sum a number: three plain instructions where a "
                "product has one fused one, so half of its rate is the most there is"
            )
        call = compiled(score, heads, relations, made.entity)
        name = f"{'TransE' if model == 'transe' else 'ComplEx'}, one against all"
        return Core(name, "triples", rows * len(made.entity), call, count, bound)

    yield "messages", messages
    yield "edge-scorer", edges
    yield "nearest", texts
    yield "transe", lambda: embeddings("transe", 64 * times)
    yield "complex", lambda: embeddings("complex", 256 * times)
