"""A trained planner: weights, the words it knows and the graph it belongs to, kept together."""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from jaxkg.kg import KnowledgeGraph
from jaxkg.learn.folder import ModelFolder
from jaxkg.learn.leaves import leaves_like
from jaxkg.learn.planner.wordings import Wordings
from jaxkg.learn.words import ReadsWords
from jaxkg.score.planner import PlannerParams, init_planner
from jaxkg.text import NgramHasher

_FOLDER = ModelFolder("planner", "planner", "jaxkg-planner", 2, "`jaxkg train planner`")


@dataclasses.dataclass(frozen=True)
class Planner(ReadsWords):
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

    def check_graph(self, kg: KnowledgeGraph) -> None:
        """Refuse a graph that the planner was not trained for.

        Raises:
            JaxkgError: the graph's relations differ from the planner's.
        """
        self.check_relations(kg.relations)

    def check_relations(self, relations: Sequence[str]) -> None:
        """Refuse other relations than those of the training, as `check_graph` does."""
        _FOLDER.check_relations(self.relations, relations)

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write the planner to a folder.

        Raises:
            JaxkgError: the folder holds something other than a planner.
        """
        return _FOLDER.save(
            folder,
            {"params": self.params, "seen": self.seen},
            self.relations,
            buckets=self.hasher.buckets,
            longest=self.hasher.longest,
            hops=self.hops,
            about=dict(self.about),
            wordings=list(self.wordings.texts),
        )

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> Planner:
        """Read a planner written by `save`.

        Raises:
            JaxkgError: the planner is missing, damaged or of another version.
        """
        with _FOLDER.reading(folder) as (meta, arrays):
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
