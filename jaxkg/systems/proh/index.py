"""What PRoH's retrieval needs of a hypergraph, made once: tensors, vectors, names to link."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence

import jax
import numpy as np

from jaxkg.cite.hyperpaths import says
from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph
from jaxkg.kg.hypergraph.edit import SYNONYM, merged_entities
from jaxkg.kg.hypergraph.graph import NULL, KnowledgeHypergraph
from jaxkg.kg.hypergraph.read import hypergraph_of
from jaxkg.kg.hypergraph.text import unqualified
from jaxkg.kg.link.mentions import Mention, NameFinder
from jaxkg.tensors import Capacities, bucket, pad
from jaxkg.tensors.hypergraph import TensorHypergraph, hyperedge_tables, tensor_hypergraph
from jaxkg.text import label_words
from jaxkg.types import Hypergraph

Encode = Callable[[Sequence[str]], np.ndarray]
"""Texts to [n, D] float32 vectors of length 1."""
_NOT_SEARCHED = (SYNONYM, "passage")
"""Kinds of hyperedges that are not searched. Passages have too many entities to lead anywhere in
particular; their entities still lead to their chunks."""


@dataclasses.dataclass(frozen=True)
class HyperIndex:
    """A hypergraph ready to be searched.

    Attributes:
        graph: the hypergraph.
        encode: what made the vectors, and makes those of questions.
        tensors: the hyperedges that are searched, synonyms merged.
        chunks: the chunks as hyperedges over all entities read from them; None where there are
            none.
        entity_vectors: [N, D] float32 on the device, of descriptions; of names where an entity has
            none.
        edge_vectors: [H, D] float32 on the device, names of hyperedges mixed with their chunks;
            zero for hyperedges that are not searched.
        prior: [N] float32 on the device, 1 / number of chunks (hyperedges, where there are no
            chunks) an entity is in.
        name_vectors: [N, D] float32 on the device.
        chunk_vectors: [C, D] float32 on the host.
        finder: names of entities, found in questions; after them those with words in brackets at
            their end ("Alien (film)") without these.
        bearers: entity row of each name in `finder`.
        room: slots that the steps of a walk have been found to want.
    """

    graph: KnowledgeHypergraph
    encode: Encode
    tensors: TensorHypergraph
    chunks: Hypergraph | None
    entity_vectors: jax.Array
    edge_vectors: jax.Array
    prior: jax.Array
    name_vectors: jax.Array
    chunk_vectors: np.ndarray
    finder: NameFinder
    bearers: np.ndarray
    room: dict[str, Capacities] = dataclasses.field(default_factory=dict, compare=False)

    @functools.cached_property
    def entity_host(self) -> np.ndarray:
        """`entity_vectors` on the host."""
        return np.asarray(self.entity_vectors)

    def mentions(self, text: str) -> list[Mention]:
        """Names of entities in a text, `name` the entity's row."""
        return [m._replace(name=int(self.bearers[m.name])) for m in self.finder.find(text)]

    def told(self, edge: int) -> str:
        """A fact in words; its chunk's title before them where they do not name their subject.

        A sentence that was cut out of a passage ("It was shot at Shepperton Studios.") says nothing
        without it.
        """
        text, chunk = self.graph.tell(edge), int(self.graph.edge_chunk[edge])
        title = "" if chunk == NULL else self.graph.chunk_titles[chunk]
        named = not title.strip() or says(text, unqualified(title))
        return text if named else f"{title}: {text}"

    @property
    def has_chunks(self) -> bool:
        """True where passages can be ranked."""
        return self.chunks is not None


def hyper_index(
    graph: KnowledgeHypergraph,
    encode: Encode,
    *,
    chunk_share: float = 0.5,
    labels: Sequence[str] | None = None,
) -> HyperIndex:
    """Encode a hypergraph's texts and move everything to the device.

    The entities of a synonym hyperedge are taken as one.

    Args:
        graph: with at least one hyperedge that is searched.
        encode: a text encoder.
        chunk_share: how much of a hyperedge's vector is its chunk's; 0 takes its name alone.
        labels: a label of each hyperedge, where a vector is to be put together of the label's and
            the entities' vectors: a graph has many more facts than labels and names. None encodes
            each hyperedge's own words.

    Raises:
        JaxkgError: no hyperedge is left to search.
    """
    tensors = tensor_hypergraph(graph, merged=merged_entities(graph), skip=_NOT_SEARCHED)
    if labels is not None and len(labels) != graph.num_edges:
        raise JaxkgError(f"{len(labels)} labels for {graph.num_edges} hyperedges")
    merged = tensors.node_of_entity
    nodes, edges = tensors.graph.num_nodes, tensors.graph.num_edges
    names = encode(graph.entity_names.tolist()).astype(np.float32)
    described = np.flatnonzero(np.diff(graph.descriptions.offsets))
    entities = names
    if len(described):
        entities = names.copy()
        entities[described] = encode([graph.descriptions[int(row)] for row in described])
    chunk_texts = [chunk_text(t, x) for t, x in zip(graph.chunk_titles, graph.chunk_texts)]
    chunk_vectors = encode(chunk_texts) if chunk_texts else np.zeros((0, names.shape[1]))
    chunk_vectors = chunk_vectors.astype(np.float32)
    chunks, count = None, tensors.degree
    if graph.num_chunks:
        chunks, count = _chunk_tables(graph, merged)
    prior = np.ones(nodes, np.float32)
    prior[: len(count)] = 1.0 / np.maximum(count, 1)
    bare = [(row, unqualified(name)) for row, name in enumerate(graph.entity_names)]
    bare = [(row, name) for row, name in bare if name != graph.name(row)]
    edge_vectors = _edge_vectors(graph, encode, chunk_vectors, chunk_share, labels, names)
    return HyperIndex(
        graph=graph,
        encode=encode,
        tensors=tensors,
        chunks=chunks,
        entity_vectors=jax.device_put(pad(entities.astype(np.float32), nodes)),
        edge_vectors=jax.device_put(pad(edge_vectors, edges)),
        prior=jax.device_put(prior),
        name_vectors=jax.device_put(pad(names, nodes)),
        chunk_vectors=chunk_vectors,
        finder=NameFinder([*graph.entity_names, *(name for _, name in bare)]),
        bearers=np.asarray([*range(graph.num_entities), *(row for row, _ in bare)], np.int64),
    )


def graph_index(kg: KnowledgeGraph, encode: Encode) -> HyperIndex:
    """A knowledge graph ready to be searched: every fact a hyperedge over its two ends.

    A fact's vector is put together of those of its relation's label and its ends' names.

    Args:
        kg: the graph.
        encode: a text encoder.

    Raises:
        JaxkgError: the graph has no fact.
    """
    words = [label_words(name) for name in kg.relations]
    labels = [words[code] for code in kg.triples[:, 1].tolist()]
    return hyper_index(hypergraph_of(kg), encode, labels=labels)


def chunk_text(title: str, text: str) -> str:
    """A chunk as it is encoded and shown.

    >>> chunk_text("Bonn", "A city."), chunk_text("", "A city.")
    ('Bonn\\nA city.', 'A city.')
    """
    return f"{title}\n{text}" if title else text


def _edge_vectors(
    graph: KnowledgeHypergraph,
    encode: Encode,
    chunk_vectors: np.ndarray,
    share: float,
    labels: Sequence[str] | None,
    names: np.ndarray,
) -> np.ndarray:
    searched = np.ones(graph.num_edges, bool)
    for kind in _NOT_SEARCHED:
        searched[graph.rows_of_kind(kind)] = False
    rows = np.flatnonzero(searched)
    sentences = [graph.tell(row) if labels is None else labels[row] for row in rows.tolist()]
    once = list(dict.fromkeys(sentences))
    place = {text: number for number, text in enumerate(once)}
    mixed = encode(once).astype(np.float32)[[place[text] for text in sentences]]
    if labels is not None:
        from scipy.sparse import csr_matrix

        joined = np.ones(len(graph.members), np.float32), graph.members, graph.offsets
        mixed += csr_matrix(joined, shape=(graph.num_edges, len(names)))[rows] @ names
        mixed /= np.maximum(np.linalg.norm(mixed, axis=1, keepdims=True), 1e-9)
    vectors = np.zeros((graph.num_edges, mixed.shape[1]), np.float32)
    vectors[rows] = mixed
    chunk = np.asarray(graph.edge_chunk)
    mixed = rows[chunk[rows] != NULL]
    if share and len(mixed):
        vectors[mixed] = (1 - share) * vectors[mixed] + share * chunk_vectors[chunk[mixed]]
    return vectors


def _chunk_tables(graph: KnowledgeHypergraph, merged: np.ndarray) -> tuple[Hypergraph, np.ndarray]:
    """Chunks as hyperedges, and the number of chunks of each node."""
    edge = np.repeat(np.arange(graph.num_edges), np.diff(graph.offsets))
    chunk = np.asarray(graph.edge_chunk)[edge]
    there = chunk != NULL
    members = np.asarray(graph.members)[there]
    tables = hyperedge_tables(
        chunk[there].astype(np.int64), members, graph.num_chunks, graph.num_entities, merged=merged
    )
    return tables.graph, tables.degree


def rows_bucket(count: int) -> int:
    """Questions of a padded batch: one, or few sizes for few questions, each being a program.

    >>> [rows_bucket(count) for count in (1, 2, 9, 70)]
    [1, 8, 64, 128]
    """
    return next((size for size in (1, 8, 64) if count <= size), bucket(count))
