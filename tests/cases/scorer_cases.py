"""The path ranker and the edge scorer for `conformance_cases.py`: function and inputs by seed."""

import jax
import numpy as np
from drawn import floats, graph, ints, mask, path, rng
from programs import frontier_of, random_topics

from jaxkg.learn.edges import train as edge_training
from jaxkg.learn.ranker import train as ranker_training
from jaxkg.score import edges, fusion, path_ranker
from jaxkg.search import guided as guided_search

ROWS, SLOTS, HOPS, CODES, DIM, BUCKETS = 4, 64, 2, 6, 8, 16


def starts(seed):
    return frontier_of(random_topics(rng(seed), ROWS), size=16, last=ROWS - 1)


def words(seed, *shape):
    return ints(seed, BUCKETS, *shape, 5, low=-1)


def ranker(seed):
    return path_ranker.init_ranker(
        CODES,
        dimension=DIM,
        hidden=5,
        width=4,
        buckets=BUCKETS,
        hops=HOPS,
        key=jax.random.key(seed),
    )


SIZES = edges.EdgeSizes(
    text=DIM, graph=4, question=DIM, hops=HOPS, width=6, attention=(10, 7), classifier=(5, 4)
)


def edge_scorer(seed):
    params = edges.init_edge_scorer(SIZES, key=jax.random.key(seed))
    # Output layers start at 0, where no input would matter.
    draw = rng(seed)
    return jax.tree.map(
        lambda leaf: leaf + draw.normal(size=leaf.shape).astype(np.float32) / 4, params
    )


def edge_inputs(seed):
    return edges.EdgeInputs(
        *(floats(seed + i, *shape) for i, shape in enumerate(((14, DIM), (14, 4)))),
        *(floats(seed + i, *shape) for i, shape in enumerate(((CODES, DIM), (CODES, 4)))),
    )


CASES = {
    "score.path_ranker.question_vectors": (
        path_ranker.question_vectors,
        lambda s: (ranker(s), floats(s, ROWS, 2 * DIM), words(s, ROWS)),
    ),
    "score.path_ranker.path_vectors": (
        path_ranker.path_vectors,
        lambda s: (ranker(s), floats(s, CODES, DIM), path(s, 5)),
    ),
    "score.path_ranker.path_scores": (
        path_ranker.path_scores,
        lambda s: (
            ranker(s),
            floats(s, CODES, DIM),
            floats(s, ROWS, 2 * DIM),
            words(s, ROWS),
            path(s, 7),
        ),
    ),
    "learn.ranker_training.log_share": (
        lambda scores, right: ranker_training.log_share(scores, right.at[:, 0].set(True)),
        lambda s: (floats(s, ROWS, 5), jax.numpy.asarray(mask(s, ROWS, 5))),
    ),
    "score.fusion.fuse": (
        lambda params, text, graph: fusion.fuse(params.node, text, graph),
        lambda s: (edge_scorer(s), floats(s, 9, DIM), floats(s + 1, 9, 4)),
    ),
    "score.edges.init_edge_scorer": (
        lambda key: edges.init_edge_scorer(SIZES, key=key),
        lambda s: (jax.random.key(s),),
    ),
    "score.edges.given_depth": (
        lambda params: edges.given_depth(params, 1),
        lambda s: (edge_scorer(s),),
    ),
    "score.edges.project_questions": (
        edges.project_questions,
        lambda s: (edge_scorer(s), floats(s, ROWS, DIM)),
    ),
    "score.edges.activate": (edges.activate, lambda s: (floats(s, ROWS, DIM),)),
    **{
        f"score.edges.{rows.__name__}": (
            rows,
            lambda s: (edge_scorer(s), floats(s, 5, DIM), floats(s + 1, 5, 4)),
        )
        for rows in (edges.node_rows, edges.relation_rows, edges.target_rows)
    },
    "score.edges.depth_log_probabilities": (
        edges.depth_log_probabilities,
        lambda s: (edge_scorer(s), floats(s, ROWS, DIM)),
    ),
    "score.edges.hop_context": (
        edges.hop_context,
        lambda s: (floats(s, ROWS, HOPS), ints(s, HOPS, ROWS)),
    ),
    "score.edges.edge_tables": (edges.edge_tables, lambda s: (edge_scorer(s), edge_inputs(s))),
    "score.edges.question_rows": (
        edges.question_rows,
        lambda s: (edge_scorer(s), floats(s, ROWS, DIM)),
    ),
    "score.edges.context_rows": (
        edges.context_rows,
        lambda s: (edge_scorer(s), floats(s, ROWS, 2 * HOPS)),
    ),
    "score.edges.score_from_tables": (
        lambda params, *rows: edges.score_from_tables(params, rows),
        lambda s: (edge_scorer(s), *(floats(s + i, SLOTS, 15) for i in range(edges.PARTS))),
    ),
    "score.edges.score_at": (
        lambda params, *args: edges.score_at(params, args[:5], args[5:], block=24),
        lambda s: (
            edge_scorer(s),
            *(floats(s + i, n, 15) for i, n in enumerate((ROWS, 14, CODES, 14, ROWS))),
            *(ints(s + i, n, SLOTS) for i, n in enumerate((ROWS, 14, CODES, 14, ROWS))),
        ),
    ),
    "score.edges.score_state_edges": (
        edges.score_state_edges,
        lambda s: (
            edge_scorer(s),
            edge_inputs(s),
            floats(s, ROWS, DIM),
            floats(s + 1, ROWS, 2 * HOPS),
            ints(s, 14, ROWS),
            *(ints(s, high, SLOTS) for high in (ROWS, CODES, 14)),
        ),
    ),
    "learn.edge_training.edge_loss": (
        lambda params, inputs, questions, *columns: edge_training.edge_loss(
            params,
            inputs,
            questions,
            jax.numpy.full(ROWS, 1, jax.numpy.int32),
            edge_training.EdgeBatch(*columns),
            None,
            weight=3.0,
            use_context=True,
        ),
        lambda s: (
            edge_scorer(s),
            edge_inputs(s),
            floats(s, ROWS, DIM),
            *(ints(s, high, ROWS) for high in (ROWS, HOPS, 14)),
            *(ints(s, high, SLOTS) for high in (ROWS, CODES, 14)),
            mask(s, SLOTS),
            mask(s + 1, SLOTS),
        ),
    ),
    "systems.guided_search.relation_scores": (
        lambda tensors, begin, values: guided_search.relation_scores(
            tensors,
            begin,
            lambda row, node, relation, target: jax.nn.sigmoid(values[relation]),
            num_rows=ROWS,
            sample=2,
            capacities=(256, SLOTS),
        ),
        lambda s: (graph(s), starts(s), floats(s, CODES)),
    ),
    "systems.guided_search.hazard": (
        lambda depth: guided_search.hazard(depth, 1),
        lambda s: (-abs(floats(s, ROWS, HOPS)),),
    ),
}
