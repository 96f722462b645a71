"""A trained edge scorer: weights, relation vectors and the text encoder it was trained with."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph
from jaxkg.learn.checkpoint import leaves_like
from jaxkg.learn.embeddings.fit import TrainedEmbeddings
from jaxkg.learn.folder import FolderModel, ModelFolder
from jaxkg.score.edges import EdgeInputs, EdgeScorer, EdgeSizes, init_edge_scorer
from jaxkg.tensors import bucket
from jaxkg.text import TextEncoder, label_words


@dataclasses.dataclass(frozen=True)
class TrainedScorer(FolderModel):
    """Everything needed to score edges of a graph.

    Attributes:
        params: weights.
        sizes: of the scorer.
        relations: names of the relations it was trained on.
        relation_graph: [2R, G] float32 graph vectors of their codes.
        node_graph: [N, G] float32 graph vectors of the entities; G = 0 where it reads text alone,
            and then it runs on other graphs too.
        encoder: name and revision of the text encoder.
        about: what it was trained on, for people.
    """

    kind = ModelFolder("edge scorer", "edges", "jaxkg-edge-scorer", 3, "`jaxkg train guided`")

    params: EdgeScorer
    sizes: EdgeSizes
    relations: tuple[str, ...]
    relation_graph: np.ndarray
    node_graph: np.ndarray
    encoder: tuple[str, str]
    about: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def check_graph(self, kg: KnowledgeGraph) -> None:
        """Refuse another graph where the scorer reads graph vectors.

        Raises:
            JaxkgError: relations or entities are not those it was trained for.
        """
        same = tuple(kg.relations) == self.relations and kg.num_entities == len(self.node_graph)
        if self.sizes.graph and not same:
            raise JaxkgError(
                f"this edge scorer has graph vectors of {len(self.node_graph):,} entities and "
                f"{len(self.relations)} relations, the graph has {kg.num_entities:,} and "
                f"{len(kg.relations)}; train one for this graph, or one that reads text alone"
            )

    def inputs(self, kg: KnowledgeGraph, encoder: TextEncoder) -> EdgeInputs:
        """The scorer's view of a graph.

        Raises:
            JaxkgError: another encoder, or another graph where the scorer reads graph vectors.
        """
        self.kind.check_encoder(self.encoder, (encoder.name, encoder.revision))
        self.check_graph(kg)
        graph = None if self.sizes.graph == 0 else (self.node_graph, self.relation_graph)
        return edge_inputs(kg, encoder if self.sizes.text else None, graph)

    def parts(self) -> tuple[Any, dict[str, Any]]:
        """See `FolderModel`."""
        names = ("params", "relation_graph", "node_graph")
        return {name: getattr(self, name) for name in names}, {
            "sizes": dataclasses.asdict(self.sizes),
            "encoder": self.encoder,
            "about": dict(self.about),
        }

    @classmethod
    def of_parts(cls, meta: dict[str, Any], arrays: dict[str, Any]) -> TrainedScorer:
        """See `FolderModel`."""
        inner = {key: tuple(meta["sizes"][key]) for key in ("attention", "classifier")}
        sizes = EdgeSizes(**{**meta["sizes"], **inner})
        shape = jax.eval_shape(lambda: init_edge_scorer(sizes, key=jax.random.key(0)))
        rows = {
            "relation_graph": 2 * len(meta["relations"]),
            "node_graph": len(arrays["node_graph"]),
        }
        kind = np.dtype(np.float32)
        graph = {name: jax.ShapeDtypeStruct((n, sizes.graph), kind) for name, n in rows.items()}
        weights = leaves_like(arrays, {"params": shape, **graph})
        name, revision = meta["encoder"]
        return cls(
            sizes=sizes,
            relations=tuple(meta["relations"]),
            encoder=(name, revision),
            about=meta["about"],
            **weights,
        )


def edge_inputs(
    kg: KnowledgeGraph,
    encoder: TextEncoder | None,
    graph: tuple[np.ndarray, np.ndarray] | None,
) -> EdgeInputs:
    """Vectors of a graph's entities and relation codes.

    Args:
        kg: the graph.
        encoder: of names and labels; None leaves text out.
        graph: [N, G] vectors of entities and [2R, G] of relation codes; None leaves them out.

    Returns:
        Tables on the device, with as many node rows as the padded graph has.
    """
    rows, codes = bucket(kg.num_entities), 2 * len(kg.relations)
    if encoder is None:
        node_text = np.zeros((rows, 0), np.float32)
        relation_text = np.zeros((codes, 0), np.float32)
    else:
        node_text = np.zeros((rows, encoder.dimension), np.float32)
        node_text[: kg.num_entities] = encoder([kg.name(i) for i in range(kg.num_entities)])
        relation_text = encoder(code_texts(kg.relations))
    node_graph = np.zeros((rows, 0 if graph is None else graph[0].shape[1]), np.float32)
    relation_graph = np.zeros((codes, node_graph.shape[1]), np.float32)
    if graph is not None:
        node_graph[: kg.num_entities], relation_graph[:] = graph
    return EdgeInputs(*jax.device_put((node_text, node_graph, relation_text, relation_graph)))


def graph_vectors(kg: KnowledgeGraph, trained: TrainedEmbeddings) -> tuple[np.ndarray, np.ndarray]:
    """Graph vectors of entities and relation codes from TransE, where an inverse is a negation.

    Returns:
        [N, G] and [2R, G] float32.

    Raises:
        JaxkgError: another model, or embeddings of another graph.
    """
    if trained.config.model != "transe":
        raise JaxkgError(f"the edge scorer reads TransE vectors, these are {trained.config.model}")
    trained.check_graph(kg)
    row = {id: place for place, id in enumerate(trained.entities)}
    code = {name: place for place, name in enumerate(trained.relations)}
    entities = np.asarray(trained.embeddings.entity)[[row[id] for id in kg.entity_ids]]
    relations = np.asarray(trained.embeddings.relation)[[code[name] for name in kg.relations]]
    return entities, np.concatenate([relations, -relations])


def code_texts(relations: Sequence[str]) -> list[str]:
    """What the 2R relation codes are called.

    >>> code_texts(["directed_by"])
    ['directed by', 'directed by reversed']
    """
    words = [label_words(name) for name in relations]
    return [*words, *(f"{word} reversed" for word in words)]
