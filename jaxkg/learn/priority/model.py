"""A trained path priority: weights, the words and relations they belong to, kept together."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph
from jaxkg.learn.checkpoint import leaves_like
from jaxkg.learn.folder import FolderModel, ModelFolder
from jaxkg.learn.words import ReadsWords
from jaxkg.score.message_passing import Inflow, inflow
from jaxkg.score.priority_params import PriorityParams, PrioritySizes, init_priority
from jaxkg.tensors import TensorGraph, bucket
from jaxkg.text import NgramHasher, label_words
from jaxkg.text.hashing import Encoder, HashingEncoder
from jaxkg.types import NULL

_CHUNK = 1024


def text_encoder(encoder: Encoder | None, relations: Sequence[str]) -> Encoder:
    """The encoder of questions and relation labels; None hashes the words of the labels."""
    if encoder is not None:
        return encoder
    labels = [label_words(name) for name in relations]
    return HashingEncoder(buckets=PrioritySizes.text).fitted(labels)


@dataclasses.dataclass(frozen=True)
class PriorityModel(FolderModel, ReadsWords):
    """Everything needed to prioritise paths on a graph with these relations.

    With states from label features (the default) the entities may be new: names are all that is
    known of them. With learned states the model belongs to one graph.

    Attributes:
        params: weights.
        relations: names of the graph's relations, in code order.
        hasher: how words become buckets.
        sizes: of the weights.
        seen: [V] bool, buckets of the words it was trained on.
        label_text: [R, G] float32 of the relation labels, by the encoder it was trained with.
        graph: fingerprint of the graph whose entities have learned states; None for label features.
        about: what it was trained on and how well it did, for people; `revisit` for the search.
    """

    kind = ModelFolder("priority model", "priority", "jaxkg-priority", 2, "`jaxkg train pathmind`")

    params: PriorityParams
    relations: tuple[str, ...]
    hasher: NgramHasher
    sizes: PrioritySizes
    seen: np.ndarray
    label_text: np.ndarray
    graph: str | None = None
    about: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def check_graph(self, kg: KnowledgeGraph) -> None:
        """Refuse a graph this model was not trained for.

        Raises:
            JaxkgError: the graph's relations differ from the model's; or the model learned states
                for the entities of another graph.
        """
        super().check_graph(kg)
        if self.graph not in (None, kg.fingerprint):
            raise JaxkgError(
                "this priority model has learned the entities of another graph; train one with "
                "states from labels, which works on any graph with these relations"
            )

    def parts(self) -> tuple[Any, dict[str, Any]]:
        """See `FolderModel`."""
        weights = {"params": self.params, "seen": self.seen, "label_text": self.label_text}
        return weights, {
            "buckets": self.hasher.buckets,
            "longest": self.hasher.longest,
            "sizes": dataclasses.asdict(self.sizes),
            "graph": self.graph,
            "about": dict(self.about),
        }

    @classmethod
    def of_parts(cls, meta: dict[str, Any], arrays: dict[str, Any]) -> PriorityModel:
        """See `FolderModel`."""
        sizes = PrioritySizes(**meta["sizes"])
        relations = tuple(meta["relations"])
        shapes = jax.eval_shape(
            lambda key: init_priority(len(relations), sizes, key=key), jax.random.key(0)
        )
        text = jax.ShapeDtypeStruct((len(relations), sizes.text), np.dtype(np.float32))
        seen = jax.ShapeDtypeStruct((meta["buckets"],), np.dtype(bool))
        weights = leaves_like(arrays, {"params": shapes, "seen": seen, "label_text": text})
        return cls(
            params=weights["params"],
            relations=relations,
            hasher=NgramHasher(buckets=meta["buckets"], longest=meta["longest"]),
            sizes=sizes,
            seen=weights["seen"],
            label_text=weights["label_text"],
            graph=meta["graph"],
            about=meta["about"],
        )


def entity_features(kg: KnowledgeGraph, encoder: Encoder, *, rows: int, width: int) -> np.ndarray:
    """[rows, F] float32 label features of a graph's entities, 0 past the last.

    They are the vectors of their names, where wider than F through a fixed random matrix.
    """
    table = np.zeros((rows, width), np.float32)
    names, matrix = kg.entity_names.tolist() if width else [], None
    for first in range(0, len(names), _CHUNK):
        vectors = encoder(names[first : first + _CHUNK])
        size = vectors.shape[1]
        if matrix is None:
            # Inner products survive it up to about F ** -0.5 (Johnson and Lindenstrauss).
            rng = np.random.default_rng(0)
            matrix = rng.normal(scale=width**-0.5, size=(size, width)).astype(np.float32)
            matrix = np.eye(size, width, dtype=np.float32) if size <= width else matrix
        table[first : first + len(vectors)] = vectors @ matrix
    return table


def graph_inflow(tensors: TensorGraph) -> Inflow:
    """The messages of a graph, in a bucket that fits its edges closely."""
    real = int(np.sum(tensors.tail != NULL))
    edges = min(bucket(real, steps=8), tensors.graph.num_edges)
    return jax.jit(inflow, static_argnames="edges")(tensors.graph, edges=edges)
