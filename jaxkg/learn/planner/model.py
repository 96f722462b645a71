"""A trained planner: weights, the words it knows and the graph it belongs to, kept together."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np

from jaxkg.learn.checkpoint import leaves_like
from jaxkg.learn.folder import FolderModel, ModelFolder
from jaxkg.learn.planner.wordings import Wordings
from jaxkg.learn.words import ReadsWords
from jaxkg.score.planner import PlannerParams, init_planner
from jaxkg.text import NgramHasher


@dataclasses.dataclass(frozen=True)
class Planner(FolderModel, ReadsWords):
    """A trained planner for one graph.

    Attributes:
        params: weights.
        relations: names of the graph's relations, in code order.
        hasher: maps words to buckets.
        hops: length of the longest path that it plans.
        seen: [V] bool, buckets of the words in its training questions.
        about: training set and scores, for people.
        wordings: its training questions; empty for a planner made from relation labels.
    """

    kind = ModelFolder("planner", "planner", "jaxkg-planner", 2, "`jaxkg train planner`")

    params: PlannerParams
    relations: tuple[str, ...]
    hasher: NgramHasher
    hops: int
    seen: np.ndarray
    about: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    wordings: Wordings = dataclasses.field(default_factory=Wordings)

    @property
    def on_device(self) -> tuple[PlannerParams, jax.Array]:
        """Return the weights and `label_ngrams` on the device."""
        return self._on_device

    @functools.cached_property
    def _on_device(self) -> tuple[PlannerParams, jax.Array]:
        return jax.device_put((self.params, self.label_ngrams()))

    def check_relations(self, relations: Sequence[str]) -> None:
        """Refuse other relations than those of the training, as `check_graph` does."""
        self.kind.check_relations(self.relations, relations)

    def parts(self) -> tuple[Any, dict[str, Any]]:
        """See `FolderModel`."""
        return {"params": self.params, "seen": self.seen}, {
            "buckets": self.hasher.buckets,
            "longest": self.hasher.longest,
            "hops": self.hops,
            "about": dict(self.about),
            "wordings": list(self.wordings.texts),
        }

    @classmethod
    def of_parts(cls, meta: dict[str, Any], arrays: dict[str, Any]) -> Planner:
        """See `FolderModel`."""
        hasher = NgramHasher(buckets=meta["buckets"], longest=meta["longest"])
        shape = jax.eval_shape(
            lambda: init_planner(
                len(meta["relations"]),
                hops=meta["hops"],
                width=arrays["params/ngram"].shape[1],
                buckets=hasher.buckets,
                key=jax.random.key(0),
            )
        )
        seen = jax.ShapeDtypeStruct((hasher.buckets,), np.dtype(bool))
        weights = leaves_like(arrays, {"params": shape, "seen": seen})
        return cls(
            params=weights["params"],
            relations=tuple(meta["relations"]),
            hasher=hasher,
            hops=meta["hops"],
            seen=weights["seen"],
            about=meta["about"],
            wordings=Wordings(tuple(meta.get("wordings", ()))),
        )
