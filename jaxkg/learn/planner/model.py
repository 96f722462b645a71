"""A trained planner: weights, the words it knows and the graph it belongs to, kept together."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.learn.folder import ModelFolder
from jaxkg.learn.planner.train import PlannerConfig
from jaxkg.learn.words import ReadsWords
from jaxkg.score.planner import PlannerParams
from jaxkg.text import NgramHasher

_FOLDER = ModelFolder("planner", "planner", "jaxkg-planner", 1, "`jaxkg train planner`")


def hasher_for(masked: Sequence[str], config: PlannerConfig) -> NgramHasher:
    """The hasher that the configuration asks for, or one that fits the training questions."""
    if config.buckets is None:
        return NgramHasher.fitting(masked)
    return NgramHasher(buckets=config.buckets)


@dataclasses.dataclass(frozen=True)
class Planner(ReadsWords):
    """Everything needed to plan on one graph.

    Attributes:
        params: weights.
        relations: names of the graph's relations, in code order.
        hasher: how words become buckets.
        hops: longest path it plans.
        seen: [V] bool, buckets of the words it was trained on.
        about: what it was trained on and how well it did, for people.
    """

    params: PlannerParams
    relations: tuple[str, ...]
    hasher: NgramHasher
    hops: int
    seen: np.ndarray
    about: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def check_graph(self, relations: Sequence[str]) -> None:
        """Refuse a graph this planner was not trained for.

        Raises:
            JaxkgError: the graph's relations differ from the planner's.
        """
        if tuple(relations) == self.relations:
            return
        missing = sorted(set(self.relations) - set(relations))
        extra = sorted(set(relations) - set(self.relations))
        detail = "; ".join(
            f"{what} {', '.join(names[:3])}{' …' if len(names) > 3 else ''}"
            for what, names in (("the graph lacks", missing), ("the planner never saw", extra))
            if names
        )
        raise JaxkgError(
            f"this planner was trained for another graph ({len(self.relations)} relations against "
            f"{len(relations)}; {detail or 'the same relations in another order'}); train one for "
            "this graph with `jaxkg train planner`"
        )

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write to a folder, through a temporary name.

        Raises:
            JaxkgError: the folder holds something that is no planner.
        """
        meta = {
            "relations": self.relations,
            "buckets": self.hasher.buckets,
            "longest": self.hasher.longest,
            "hops": self.hops,
            "about": dict(self.about),
        }
        return _FOLDER.save(folder, meta, {"seen": self.seen, **self.params._asdict()})

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> Planner:
        """Read a planner written by `save`.

        Raises:
            JaxkgError: there is none, or it is damaged or of a newer version.
        """
        with _FOLDER.reading(folder) as (meta, arrays):
            planner = cls(
                params=PlannerParams(**{name: arrays[name] for name in PlannerParams._fields}),
                relations=tuple(meta["relations"]),
                hasher=NgramHasher(buckets=meta["buckets"], longest=meta["longest"]),
                hops=meta["hops"],
                seen=arrays["seen"],
                about=meta["about"],
            )
            params, buckets = planner.params, planner.hasher.buckets
            sizes = (len(params.previous), len(params.ngram), len(planner.seen), len(params.step))
            if sizes != (2 * len(planner.relations), buckets, buckets, planner.hops + 1):
                raise ValueError("weights and names disagree")
        return planner
