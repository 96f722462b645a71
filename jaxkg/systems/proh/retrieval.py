"""PRoH-L's retrieval without a language model: ranked paths, passages and entities."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Sequence
from typing import ClassVar, NamedTuple, TypeVar

import jax
import numpy as np

from jaxkg.candidates.nearest import nearest
from jaxkg.errors import JaxkgError
from jaxkg.search.hyperedges import BeamSettings, Explored, Landed, Texts, explore, land
from jaxkg.settings import Checked, Count, CountOrZero, NotNegative, Share
from jaxkg.systems.proh.index import HyperIndex, rows_bucket
from jaxkg.tensors import Capacities, bucket, pad, starts_table, stream
from jaxkg.types import NULL, Fit, Hypergraph

_Item = TypeVar("_Item", int, tuple[int, ...])

FLOW = BeamSettings(
    depth=1,
    width=64,
    seeds=30,
    weigh="one",
    threshold=-1.0,
    specificity=1.0,
    carry="flow",
    merge="sum",
)
"""The search that ranks passages best: attention flows from similar facts over rare entities."""

EWO = BeamSettings(depth=3, width=64, seeds=60)
"""PRoH-L as printed: EW = SE (Eq. 4 and 5), directions by their overlap alone, d_max = 3."""


@dataclasses.dataclass(frozen=True)
class RetrievalSettings(Checked):
    """Knobs of retrieval. The defaults were chosen on half of a set of MuSiQue questions.

    Attributes:
        beam: of the search.
        targets: most target hyperedges of a question.
        target_threshold: least similarity of one (theta_e).
        topics: most topic entities that are found by similarity of their names.
        topic_threshold: least similarity of one (theta_v).
        topic_bonus: what a topic that nothing else is called adds to the similarity of its
            hyperedges; less the more chunks it is in.
        decay: a path of l hyperedges counts decay^(l - 1) when chunks are scored.
        chunk_temperature: a chunk scores log(share of the paths) + similarity / temperature; 0
            leaves its own similarity out.
        chunks: most passages returned.
        chunk_share: how much of a hyperedge's vector is its chunk's, see `hyper_index`.
        batch_size: questions a batch.
    """

    beam: BeamSettings = FLOW
    targets: CountOrZero = 60
    target_threshold: float = 0.0
    topics: CountOrZero = 0
    topic_threshold: float = 0.8
    topic_bonus: NotNegative = 0.1
    decay: NotNegative = 1.0
    chunk_temperature: NotNegative = 0.3
    chunks: Count = 100
    chunk_share: Share = 0.5
    batch_size: Count = 64

    presets: ClassVar = {
        "paper": {"beam": EWO, "topic_bonus": 0.0, "chunk_temperature": 0.0, "chunk_share": 0.0}
    }


class Anchors(NamedTuple):
    """Where the search of one question starts."""

    topics: tuple[int, ...]
    """Entity rows."""
    targets: tuple[int, ...]
    """Hyperedge rows, most similar first."""


@dataclasses.dataclass(frozen=True)
class Retrieved:
    """What was found for one question, everything best first.

    Attributes:
        anchors: where it started.
        paths: hyperedge rows of each path, and its score.
        chunks: chunk row and score.
        entities: entity row and score, the entities of the paths.
        complete: False where the search outgrew the largest bucket.
    """

    anchors: Anchors
    paths: tuple[tuple[tuple[int, ...], float], ...]
    chunks: tuple[tuple[int, float], ...]
    entities: tuple[tuple[int, float], ...]
    complete: bool = True


_ABSENT = 1e-6
"""Share of the paths that a chunk is given where none leads to it."""

_nearest = functools.partial(jax.jit, static_argnames=("k", "block"))(nearest)


@functools.partial(jax.jit, static_argnames=("keep", "capacities", "landing"))
def _search(
    graph: Hypergraph,
    chunks: Hypergraph | None,
    texts: Texts,
    anchors: tuple[jax.Array, ...],
    *,
    settings: BeamSettings,
    decay: float,
    keep: int,
    capacities: tuple[int, ...],
    landing: tuple[int, int],
) -> Fit[tuple[Explored, Landed | None]]:
    explored = explore(graph, texts, *anchors, settings=settings, capacities=capacities)
    if chunks is None:
        return Fit((explored, None), explored.needed, explored.overflow)
    landed = land(
        graph,
        chunks,
        texts,
        explored,
        settings=settings,
        decay=decay,
        keep=keep,
        capacities=landing,
    )
    needed = jax.numpy.concatenate([explored.needed, landed.needed])
    return Fit((explored, landed), needed, explored.overflow | landed.overflow)


class Retriever:
    """Searches one hypergraph; keeps the slot counts it has learnt.

    Attributes:
        index: what is searched.
        settings: knobs.
    """

    def __init__(
        self, index: HyperIndex, settings: RetrievalSettings = RetrievalSettings()
    ) -> None:
        self.index = index
        self.settings = settings
        self._capacities: dict[int, Capacities] = {}

    def anchor(
        self, questions: Sequence[str], keywords: Sequence[Sequence[str]] | None = None
    ) -> list[Anchors]:
        """Topic entities and target hyperedges.

        Args:
            questions: any number.
            keywords: of each question, as a language model names them; None looks for the names of
                entities in the question.

        Reference: PRoH, Section 4.2.
        """
        if not len(questions):
            return []
        texts_of = keywords if keywords is not None else [[text] for text in questions]
        topics: list[dict[int, None]] = []
        merged = self.index.tensors.node_of_entity
        for words in texts_of:
            rows = [m.name for text in words for m in self.index.mentions(text)]
            topics.append(dict.fromkeys(merged[rows].tolist() if rows else ()))
        if self.settings.topics:
            self._by_similarity(texts_of, topics)
        vectors = self.index.encode(list(questions)).astype(np.float32)
        targets: list[tuple[int, ...]] = [()] * len(questions)
        if self.settings.targets:
            rows, scores = self._top(vectors, self.index.edge_vectors, self.settings.targets)
            keep = (rows != NULL) & (scores >= self.settings.target_threshold)
            targets = [tuple(row[good].tolist()) for row, good in zip(rows, keep)]
        return [Anchors(tuple(row_topics), edges) for row_topics, edges in zip(topics, targets)]

    def retrieve(
        self, questions: Sequence[str], anchors: Sequence[Anchors] | None = None
    ) -> list[Retrieved]:
        """Search for each question.

        Args:
            questions: any number.
            anchors: where to start; None calls `anchor`.
        """
        if not len(questions):
            return []
        anchors = self.anchor(questions) if anchors is None else anchors
        if len(anchors) != len(questions):
            raise JaxkgError(f"{len(anchors)} anchors for {len(questions)} questions")
        vectors = self.index.encode(list(questions)).astype(np.float32)
        size = min(rows_bucket(len(questions)), bucket(self.settings.batch_size, floor=1))
        capacities = self._capacities.setdefault(size, self._first_capacities(size))

        def run(indices: np.ndarray, slots: tuple[int, ...]):
            return self._run(vectors[indices], [anchors[i] for i in indices.tolist()], size, slots)

        retrievals: list[Retrieved] = []
        for indices, result, complete in stream(len(questions), size, run, capacities):
            for place, i in enumerate(indices.tolist()):
                retrievals.append(self._read(anchors[i], vectors[i], result.value, place, complete))
        return retrievals

    def _first_capacities(self, rows: int) -> Capacities:
        """Slots that an average batch needs: what is too little is learnt at a compilation each."""
        beam, index = self.settings.beam, self.index
        degree = index.tensors.degree.astype(np.float64)
        arity = max(1.0, degree.sum() / max(1, index.graph.num_edges))
        # An entity is met as often as it has hyperedges, and then leads to all of them.
        spread = float(np.sum(degree**2) / max(1.0, degree.sum()))
        steps = [8.0 * rows * spread]
        for depth in range(beam.depth):
            places = rows * (beam.width if depth else beam.seeds)
            steps += [places * arity, places * arity * spread]
        paths = rows * (beam.seeds + beam.depth * beam.width)
        steps.append(paths * (1 + beam.depth) * arity)
        if index.has_chunks:
            count = 1.0 / np.asarray(index.prior)[: len(degree)]
            homes = float(np.sum(count * degree) / max(1.0, degree.sum()))
            steps += [paths * arity, paths * arity * homes]
        limit = 1 << 22
        return Capacities(tuple(min(limit, bucket(int(s), floor=1024)) for s in steps), limit)

    def _run(
        self, vectors: np.ndarray, anchors: Sequence[Anchors], size: int, slots: tuple[int, ...]
    ) -> Fit[tuple[Explored, Landed | None]]:
        index, settings = self.index, self.settings
        columns = anchor_columns(anchors, index, settings.topic_bonus, size)
        texts = Texts(
            question=jax.device_put(pad(vectors, size)),
            entity=index.entity_vectors,
            edge=index.edge_vectors,
            prior=index.prior,
            weight=jax.numpy.zeros((0, 0), jax.numpy.float32),
        )
        split = 2 + 2 * settings.beam.depth
        return _search(
            index.tensors.graph,
            index.chunks,
            texts,
            jax.device_put(columns),
            settings=settings.beam,
            decay=settings.decay,
            keep=settings.chunks,
            capacities=slots[:split],
            landing=(slots[-2], slots[-1]) if index.has_chunks else (0, 0),
        )

    def _read(
        self,
        anchors: Anchors,
        vector: np.ndarray,
        result: tuple[Explored, Landed | None],
        place: int,
        complete: bool,
    ) -> Retrieved:
        explored, landed = result
        flow = self.settings.beam.carry == "flow"
        scores = explored.score[place] if flow else explored.path_score[place]
        open_ = np.isfinite(explored.score[place])
        order = [i for i in np.argsort(-scores, kind="stable").tolist() if open_[i]]
        paths = tuple(
            (
                tuple(edge for edge in explored.path[place, i].tolist() if edge != NULL),
                float(scores[i]),
            )
            for i in order
        )
        entities: dict[int, float] = {}
        shown: dict[int, int] = {}  # of merged entities the first that is met
        for rows, score in paths:
            met = {
                int(self.index.tensors.node_of_entity[e]): e
                for row in reversed(rows)
                for e in self.index.graph.entities_of(row).tolist()[::-1]
            }
            for node, entity in met.items():
                entities[node] = entities.get(node, 0.0) + score
                shown.setdefault(node, entity)
        ranked = sorted(entities.items(), key=lambda item: (-item[1], item[0]))
        chunks = () if landed is None else self._chunks(vector, landed, place)
        named = tuple((shown[node], score) for node, score in ranked)
        return Retrieved(anchors, paths, chunks, named, complete)

    def _chunks(
        self, vector: np.ndarray, landed: Landed, place: int
    ) -> tuple[tuple[int, float], ...]:
        there = landed.chunk[place] != NULL
        share = dict(zip(landed.chunk[place][there].tolist(), landed.score[place][there].tolist()))
        heat = self.settings.chunk_temperature
        if not heat:
            return tuple(sorted(share.items(), key=lambda item: (-item[1], item[0])))
        near = self.index.chunk_vectors @ vector
        # A chunk that no path leads to may still be the one.
        best = np.argsort(-near, kind="stable")[: self.settings.chunks].tolist()
        scored = [
            (chunk, math.log(share.get(chunk, 0.0) + _ABSENT) + float(near[chunk]) / heat)
            for chunk in dict.fromkeys([*share, *best])
        ]
        return tuple(sorted(scored, key=lambda item: (-item[1], item[0]))[: self.settings.chunks])

    def _top(self, vectors: np.ndarray, table: jax.Array, k: int) -> tuple[np.ndarray, np.ndarray]:
        padded = pad(vectors, rows_bucket(len(vectors)))
        k = min(k, table.shape[0])
        rows, scores = jax.device_get(_nearest(jax.device_put(padded), table, k=k))
        return rows[: len(vectors)], scores[: len(vectors)]

    def _by_similarity(
        self, keywords: Sequence[Sequence[str]], topics: Sequence[dict[int, None]]
    ) -> None:
        flat = [(row, text) for row, texts in enumerate(keywords) for text in texts]
        if not flat:
            return
        vectors = self.index.encode([text for _, text in flat]).astype(np.float32)
        rows, scores = self._top(vectors, self.index.name_vectors, self.settings.topics)
        merged = self.index.tensors.node_of_entity
        for (owner, _), near_rows, near in zip(flat, rows, scores):
            good = near_rows[(near_rows != NULL) & (near >= self.settings.topic_threshold)]
            topics[owner].update(dict.fromkeys(merged[good].tolist()))


def merged(rankings: Sequence[Sequence[tuple[_Item, float]]]) -> tuple[tuple[_Item, float], ...]:
    """Several rankings as one: the best of each, then the second best; of those the higher scores
    first, of an item that is in several the first."""
    ranked = [
        (place, -score, item) for ranking in rankings for place, (item, score) in enumerate(ranking)
    ]
    best: dict[_Item, float] = {}
    for _, minus, item in sorted(ranked):
        best.setdefault(item, -minus)
    return tuple(best.items())


def anchor_columns(
    anchors: Sequence[Anchors], index: HyperIndex, bonus: float, size: int
) -> tuple[np.ndarray, ...]:
    """Flat columns of topics and targets: node_row, node, edge_row, edge, bonus."""

    node_row, node = starts_table(
        [sorted(anchor.topics) for anchor in anchors], num_rows=size, slots=8 * size
    )
    edge_row, edge = starts_table(
        [sorted(anchor.targets) for anchor in anchors], num_rows=size, slots=64 * size
    )
    # ln 2 / ln(2 + n): 1 at no chunk, 0.63 at one, 0.15 at a hundred.
    prior = np.asarray(index.prior)[np.maximum(node, 0)]
    extra = bonus * math.log(2) / np.log(2 + 1 / prior)
    return node_row, node, edge_row, edge, np.where(node == NULL, 0, extra).astype(np.float32)
