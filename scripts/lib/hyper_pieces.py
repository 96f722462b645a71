"""What a retrieval over a hypergraph shows: facts and passages by cosine, PageRank and PRoH."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from jaxkg.cite.hyperpaths import says
from jaxkg.kg.hypergraph.edit import merged_entities
from jaxkg.systems.proh.index import HyperIndex
from jaxkg.systems.proh.retrieval import Retriever
from jaxkg.systems.proh.walk import chain

Ranking = list[list[int]]
"""Chunk rows of every question, best first."""


def dense(index: HyperIndex, texts: Sequence[str]) -> Ranking:
    """Plain passage retrieval with the same encoder."""
    scores = index.encode(list(texts)) @ index.chunk_vectors.T
    return np.argsort(-scores, axis=1, kind="stable")[:, :100].tolist()


def page_rank(
    index: HyperIndex, texts: Sequence[str], *, facts: int, passage: float, restart: float
) -> Ranking:
    """Passages by `page_rank_masses`."""
    _, masses = page_rank_masses(index, texts, facts=facts, passage=passage, restart=restart)
    return np.argsort(-masses, axis=1, kind="stable")[:, :100].tolist()


def page_rank_masses(
    index: HyperIndex, texts: Sequence[str], *, facts: int, passage: float, restart: float
) -> tuple[np.ndarray, np.ndarray]:
    """Personalised PageRank over entities and passages, seeded as HippoRAG 2 does.

    Edges: the two ends of a fact, an entity and its passages; synonyms are merged. Seeds: entities
    of the most similar facts over their number of passages, and passages by their similarity.

    Returns:
        [questions, entities] and [questions, chunks] masses.
    """
    graph, merged = index.graph, merged_entities(index.graph)
    rows = graph.rows_of_kind("fact")
    names = index.encode([graph.edge_names[row] for row in rows.tolist()])
    count, chunks = graph.num_entities, graph.num_chunks
    edge = np.repeat(np.arange(graph.num_edges), np.diff(graph.offsets))
    node = merged[graph.members]
    is_fact = np.isin(edge, rows)
    place = np.searchsorted(rows, edge[is_fact])
    fact = _binary(place, node[is_fact], (len(rows), count))
    chunk = graph.edge_chunk[edge]
    home = _binary(chunk[chunk >= 0], node[chunk >= 0], (chunks, count))
    ends = (fact.T @ fact).tolil()
    ends.setdiag(0)
    walk = sparse.bmat([[ends, home.T], [home, None]]).tocsc()
    walk = walk @ sparse.diags(1 / np.maximum(np.asarray(walk.sum(0)).ravel(), 1e-9))
    vectors = index.encode(list(texts))
    near, homely = vectors @ names.T, vectors @ index.chunk_vectors.T
    width = np.maximum(np.ptp(homely, axis=1, keepdims=True), 1e-9)
    homely = (homely - homely.min(1, keepdims=True)) / width
    seeds = np.zeros_like(near)
    best = np.argsort(-near, axis=1, kind="stable")[:, :facts]
    np.put_along_axis(seeds, best, np.take_along_axis(near, best, 1), 1)
    members = np.maximum((fact.T @ (seeds > 0).T.astype(np.float32)).T, 1)
    spread = np.maximum(np.asarray(home.sum(0)).ravel(), 1)
    start = np.concatenate([(fact.T @ seeds.T).T / members / spread, passage * homely], axis=1)
    start /= start.sum(1, keepdims=True)
    state = start.T
    for _ in range(30):
        state = (1 - restart) * (walk @ state) + restart * start.T
    return state[:count].T, state[count:].T


def _binary(row: np.ndarray, column: np.ndarray, shape: tuple[int, int]) -> Any:
    matrix = sparse.csr_matrix((np.ones(len(row), np.float32), (row, column)), shape)
    matrix.data[:] = 1
    return matrix


Piece = tuple[tuple[int, ...], int]
"""A path of facts (none: the passage itself) and its chunk."""
OTHERS: dict[str, Callable[[HyperIndex, list[str]], list[list[Piece]]]] = {
    "gold plan, 16 facts by FLOW": lambda index, texts: [
        [(path, int(index.graph.edge_chunk[path[-1]])) for path, _ in found.paths[:16]]
        for found in Retriever(index).retrieve(texts)
    ],
    "gold plan, 16 facts by cosine": lambda index, texts: nearest_facts(index, texts, 16),
    "gold plan, 2 passages by FLOW": lambda index, texts: [
        [((), chunk) for chunk, _ in found.chunks[:2]] for found in Retriever(index).retrieve(texts)
    ],
    "gold plan, 2 passages by cosine": lambda index, texts: [
        [((), chunk) for chunk in row[:2]] for row in dense(index, texts)
    ],
    "gold plan, 2 passages by PageRank": lambda index, texts: [
        [((), chunk) for chunk in row[:2]]
        for row in page_rank(index, texts, facts=5, passage=0.05, restart=0.5)
    ],
}
"""What a retrieval shows a model for each sub-question."""


def nearest_facts(index: HyperIndex, texts: list[str], count: int) -> list[list[Piece]]:
    """The facts most like each text."""
    rows = index.graph.rows_of_kind("fact")
    near = index.encode(texts) @ np.asarray(index.edge_vectors)[rows].T
    best = rows[np.argsort(-near, axis=1, kind="stable")[:, :count]]
    return [[((edge,), int(index.graph.edge_chunk[edge])) for edge in row] for row in best.tolist()]


class ByPlan(NamedTuple):
    """What a gold plan came to: the last answer or "", what held the answers, tokens shown."""

    answer: str
    facts: list[str]
    passages: list[str]
    tokens: int


def by_gold_plan(
    index: HyperIndex,
    steps: Mapping[str, Sequence[str]],
    retrieve: Callable[[HyperIndex, list[str]], list[list[Piece]]],
) -> ByPlan:
    """Ask each gold sub-question of what a retrieval shows for it.

    It is answered where a piece holds its answer, and the next ones hold the right answers of those
    before. Tokens are a quarter of the characters shown: nothing is chosen or asked twice.

    Args:
        index: of the hypergraph.
        steps: names that answer each sub-question, earlier answers filled in, in order.
        retrieve: of `OTHERS`.
    """
    told = ByPlan("", [], [], 0)
    for pieces, names in zip(retrieve(index, list(steps)), steps.values()):
        texts = [
            chain(index, path) if path else index.graph.chunk_texts[chunk] for path, chunk in pieces
        ]
        tokens = told.tokens + sum(map(len, texts)) // 4
        held = [(at, name) for at, text in enumerate(texts) for name in names if says(text, name)]
        if not held:
            return told._replace(answer="", tokens=tokens)
        at, name = held[0]
        passage = index.graph.chunk_texts[pieces[at][1]]
        told = ByPlan(name, [*told.facts, texts[at]], [*told.passages, passage], tokens)
    return told
