"""From triples to trained embeddings: epochs, early stopping, a folder to resume from."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph
from jaxkg.learn.checkpoint import fingerprint, leaves_like
from jaxkg.learn.embeddings.ranking import rank_links
from jaxkg.learn.embeddings.train import (
    EmbeddingConfig,
    epoch_batches,
    init_state,
    run_steps,
)
from jaxkg.learn.folder import TRAINING, FolderModel, ModelFolder
from jaxkg.learn.loop import Checkpoints, Selection, run
from jaxkg.score.embeddings import Embeddings, init_embeddings
from jaxkg.types import NULL

Progress = Callable[[str, int, int], None]


@dataclasses.dataclass(frozen=True)
class TrainedEmbeddings(FolderModel):
    """Embeddings with the names of their rows.

    Attributes:
        embeddings: [N, D] and [R, D] (RotatE: [R, D/2]) float32.
        config: what they were trained with.
        entities: N ids.
        relations: R names.
        about: how training went, for people: `epochs`, (epoch, loss, realistic MRR) of each
            evaluation, and `best`, the epoch kept.
    """

    kind = ModelFolder("embeddings", "embeddings", "jaxkg-embeddings", 2, "`jaxkg train kge`")

    embeddings: Embeddings
    config: EmbeddingConfig
    entities: tuple[str, ...]
    relations: tuple[str, ...]
    about: Mapping[str, Any]

    def check_graph(self, kg: KnowledgeGraph) -> None:
        """Refuse a graph of which entities or relations have no vector here.

        Raises:
            JaxkgError: it names one.
        """
        ids, names = set(self.entities), set(self.relations)
        lacking = [id for id in kg.entity_ids if id not in ids]
        lacking += [name for name in kg.relations if name not in names]
        if lacking:
            raise JaxkgError(
                f"the embeddings have no vector of {lacking[0]!r} ({len(lacking):,} are missing); "
                f"train them on this graph with {self.kind.made_by}"
            )

    def parts(self) -> tuple[Any, dict[str, Any]]:
        """See `FolderModel`."""
        return self.embeddings, {
            "entities": self.entities,
            "config": dataclasses.asdict(self.config),
            "about": dict(self.about),
        }

    @classmethod
    def of_parts(cls, meta: dict[str, Any], arrays: dict[str, Any]) -> TrainedEmbeddings:
        """See `FolderModel`."""
        config, about = EmbeddingConfig(**meta["config"]), meta["about"]
        about["epochs"] = [tuple(row) for row in about.get("epochs", ())]
        entities, relations = tuple(meta["entities"]), tuple(meta["relations"])
        shape = jax.eval_shape(
            lambda: init_embeddings(
                config.model,
                len(entities),
                len(relations),
                dimension=config.dimension,
                key=jax.random.key(0),
            )
        )
        weights = jax.tree.map(jnp.asarray, leaves_like(arrays, shape))
        return cls(weights, config, entities, relations, about)


def rows_of(graph: KnowledgeGraph, facts: KnowledgeGraph) -> tuple[np.ndarray, int]:
    """Facts in the numbering of another graph.

    Args:
        graph: the graph that embeddings are trained on.
        facts: validation or test facts.

    Returns:
        [F, 3] int32 of the facts whose entities and relation the graph has, and how many there are
        that it lacks.
    """
    entity = [(graph.entity_ids.rows(name) or (NULL,))[0] for name in facts.entity_ids]
    known = {name: code for code, name in enumerate(graph.relations)}
    relation = [known.get(name, NULL) for name in facts.relations]
    ends, kinds = np.asarray(entity, np.int32), np.asarray(relation, np.int32)
    rows = np.stack(
        [ends[facts.triples[:, 0]], kinds[facts.triples[:, 1]], ends[facts.triples[:, 2]]], axis=1
    )
    there = (rows != NULL).all(axis=1)
    return rows[there], int((~there).sum())


def mean_reciprocal_rank(
    config: EmbeddingConfig, embeddings: Embeddings, triples: np.ndarray, known: np.ndarray
) -> float:
    """Filtered MRR over heads and tails, ties at their mean rank."""
    better, equal = rank_links(config.model, embeddings, triples, known, norm=config.norm)
    return float(np.mean(1 / (1 + better + equal / 2)))


def fit_embeddings(
    folder: str | os.PathLike[str],
    training: np.ndarray,
    validation: np.ndarray,
    *,
    entities: Sequence[str],
    relations: Sequence[str],
    config: EmbeddingConfig = EmbeddingConfig(),
    seed: int = 0,
    on_progress: Progress | None = None,
) -> TrainedEmbeddings:
    """Train, keep the evaluation that ranks the validation facts best, and resume where it stopped.

    Args:
        folder: for the best embeddings and, within it, the state to go on from; a folder with the
            state of the same run is gone on with, bit for bit on one kind of device.
        training: [T, 3] int rows of (head, relation, tail).
        validation: [V, 3] int, facts that choose the epoch.
        entities, relations: names of the rows, N and R of them.
        config: model and schedule.
        seed: of weights, order and corruptions.
        on_progress: called with (stage, done, total).

    Raises:
        JaxkgError: nothing to train on, or the folder holds another run.
    """
    if not len(training) or not len(validation):
        raise JaxkgError(
            f"{len(training)} training and {len(validation)} validation triples: both are needed"
        )
    known = np.concatenate([training, validation])
    target = TrainedEmbeddings.kind.vacant(folder)
    tick = on_progress or (lambda stage, done, total: None)

    def step(state: Any, batches: np.ndarray) -> tuple[Any, jax.Array]:
        state, losses = run_steps(config, state, batches)
        return state, losses.mean()

    result = run(
        step,
        init_state(config, len(entities), len(relations), seed=seed),
        (
            (epoch_batches(training, config.batch_size, seed=seed, epoch=epoch),)
            for epoch in range(config.epochs)
        ),
        steps=config.epochs,
        per_epoch=config.every,
        selection=Selection(
            lambda weights: mean_reciprocal_rank(config, weights, validation, known),
            config.patience,
        ),
        checkpoints=Checkpoints(
            target / TRAINING,
            mark={
                "kind": "embeddings",
                "config": dataclasses.asdict(config),
                "seed": seed,
                "relations": list(relations),
                "entities": hashlib.sha256(json.dumps(list(entities)).encode()).hexdigest(),
                "triples": fingerprint(training, validation),
            },
        ),
        on_step=lambda done: tick("train", done, config.epochs),
    )
    about = {
        "done": len(result.losses),
        "best": result.best[0],
        "epochs": [(done, result.losses[done - 1], mrr) for done, mrr in result.scores],
    }
    trained = TrainedEmbeddings(result.weights, config, tuple(entities), tuple(relations), about)
    trained.save(target)
    return trained
