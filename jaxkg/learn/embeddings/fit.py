"""From triples to trained embeddings: epochs, early stopping, a folder to resume from."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import jax
import jax.numpy as jnp
import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph
from jaxkg.learn.embeddings.ranking import rank_links
from jaxkg.learn.embeddings.train import (
    EmbeddingConfig,
    TrainState,
    epoch_batches,
    init_state,
    run_steps,
)
from jaxkg.learn.folder import read_npz
from jaxkg.score.embeddings import Embeddings
from jaxkg.storage import write_npz
from jaxkg.types import NULL

_FORMAT = "jaxkg-embeddings"
_VERSION = 1
Progress = Callable[[str, int, int], None]


@dataclasses.dataclass(frozen=True)
class TrainedEmbeddings:
    """Embeddings with the names of their rows.

    Attributes:
        embeddings: [N, D] and [R, D] (RotatE: [R, D/2]) float32.
        config: what they were trained with.
        entities: N ids.
        relations: R names.
        about: how training went, for people: `epochs`, (epoch, loss, realistic MRR) of each
            evaluation, and `best`, the epoch kept.
    """

    embeddings: Embeddings
    config: EmbeddingConfig
    entities: tuple[str, ...]
    relations: tuple[str, ...]
    about: Mapping[str, Any]

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> TrainedEmbeddings:
        """Read what `fit_embeddings` left in a folder.

        Raises:
            JaxkgError: there is nothing, or it is damaged or of a newer version.
        """
        source = Path(folder)
        meta, arrays = _read(source, "best")
        return cls(
            Embeddings(jnp.asarray(arrays["entity"]), jnp.asarray(arrays["relation"])),
            EmbeddingConfig(**meta["config"]),
            tuple(meta["entities"]),
            tuple(meta["relations"]),
            meta["about"],
        )


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
    known: np.ndarray | None = None,
    on_progress: Progress | None = None,
) -> TrainedEmbeddings:
    """Train, keep the evaluation that ranks the validation facts best, and resume where it stopped.

    Args:
        folder: holds the best embeddings and the state to go on from; a folder with the state of
            the same run is gone on with, bit for bit on one kind of device.
        training: [T, 3] int rows of (head, relation, tail).
        validation: [V, 3] int, facts that choose the epoch.
        entities, relations: names of the rows, N and R of them.
        config: model and schedule.
        seed: of weights, order and corruptions.
        known: [K, 3] int, facts that are no mistakes when ranked; None takes training and
            validation.
        on_progress: called with (stage, done, total).

    Raises:
        JaxkgError: nothing to train on, or the folder holds another run.
    """
    if not len(training) or not len(validation):
        raise JaxkgError(
            f"{len(training)} training and {len(validation)} validation triples: both are needed"
        )
    if known is None:
        known = np.concatenate([training, validation])
    target = Path(folder)
    header = {
        "format": _FORMAT,
        "version": _VERSION,
        "config": dataclasses.asdict(config),
        "seed": seed,
        "entities": list(entities),
        "relations": list(relations),
        "triples": len(training),
    }
    state, about = _resume(target, header)
    if state is None:
        state = init_state(config, len(entities), len(relations), seed=seed)
    tick = on_progress or (lambda stage, done, total: None)
    for epoch in range(about["done"], config.epochs):
        if _enough(about, config):
            break
        batches = epoch_batches(training, config.batch_size, seed=seed, epoch=epoch)
        state, losses = run_steps(config, state, batches)
        about["done"] = epoch + 1
        tick("train", epoch + 1, config.epochs)
        if (epoch + 1) % config.every and epoch + 1 < config.epochs:
            continue
        score = mean_reciprocal_rank(config, state.embeddings, validation, known)
        if score > max((mrr for _, _, mrr in about["epochs"]), default=-1.0):
            about["best"] = epoch + 1
        about["epochs"].append((epoch + 1, float(np.mean(jax.device_get(losses))), score))
        if about["best"] == epoch + 1:
            _write(target, "best", header | {"about": about}, state.embeddings._asdict())
        _write(target, "state", header | {"about": about}, _flat(state))
    # What was kept is told how training ended.
    _, kept = _read(target, "best")
    _write(target, "best", header | {"about": about}, kept)
    return TrainedEmbeddings.open(target)


def _enough(about: Mapping[str, Any], config: EmbeddingConfig) -> bool:
    since = sum(epoch > about["best"] for epoch, _, _ in about["epochs"])
    return since >= config.patience


def _flat(state: TrainState) -> dict[str, Any]:
    return {
        "entity": state.embeddings.entity,
        "relation": state.embeddings.relation,
        "entity_squares": state.squares.entity,
        "relation_squares": state.squares.relation,
        "key": jax.random.key_data(state.key),
    }


def _resume(folder: Path, header: Mapping[str, Any]) -> tuple[TrainState | None, dict[str, Any]]:
    """The state left in a folder and what is known of it; nothing where there is none."""
    fresh = {"done": 0, "best": 0, "epochs": []}
    if not folder.exists() or not any(folder.iterdir()):
        return None, fresh
    if not (folder / "state.npz").exists():
        if (folder / "best.npz").exists():
            raise JaxkgError(f"{folder} holds finished embeddings; give a new or empty folder")
        raise JaxkgError(f"{folder} holds other files; give a new or empty folder")
    meta, arrays = _read(folder, "state")
    different = [name for name in header if meta.get(name) != header[name]]
    if different:
        raise JaxkgError(
            f"{folder} holds another run (its {', '.join(different)} differ); give a new folder, "
            "or the same settings to go on"
        )
    found = {name: jnp.asarray(array) for name, array in arrays.items()}
    state = TrainState(
        Embeddings(found["entity"], found["relation"]),
        Embeddings(found["entity_squares"], found["relation_squares"]),
        jax.random.wrap_key_data(found["key"]),
    )
    return state, meta["about"]


def _write(folder: Path, name: str, meta: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    """`name.npz`, arrays and description in one file, through a temporary name."""
    folder.mkdir(parents=True, exist_ok=True)
    text = np.frombuffer(json.dumps(meta, ensure_ascii=False).encode(), np.uint8)
    write_npz(folder / f"{name}.npz", {"meta": text, **jax.device_get(dict(arrays))})


def _read(folder: Path, name: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    path = folder / f"{name}.npz"
    try:
        arrays = read_npz(path)
        meta = json.loads(arrays.pop("meta").tobytes())
    except FileNotFoundError as error:
        raise JaxkgError(
            f"no embeddings in {folder} ({path.name} is missing); make some with `jaxkg train kge`"
        ) from error
    except (OSError, EOFError, KeyError, ValueError, BadZipFile) as error:
        raise JaxkgError(f"{path} is damaged: {error}") from error
    if meta.get("format") != _FORMAT or meta.get("version", 0) > _VERSION:
        raise JaxkgError(
            f"{path} is {meta.get('format')} version {meta.get('version')}; this jaxkg reads "
            f"{_FORMAT} up to version {_VERSION}"
        )
    return meta, arrays
