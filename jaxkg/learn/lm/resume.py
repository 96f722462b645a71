"""The state of a training run in one file, from which it goes on exactly."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import jax
import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.lm.tensor_files import open_tensors
from jaxkg.storage import write_tensors

T = TypeVar("T")

_FILE = "state.safetensors"
_FORMAT = "jaxkg-lm-training"
_VERSION = 1


def save_state(folder: Path, tree: Any, *, run: Mapping[str, Any], losses: list[float]) -> None:
    """Replace the state kept in a folder.

    Args:
        folder: of this run alone.
        tree: any pytree of arrays.
        run: what tells one run from another.
        losses: of every step done.
    """
    arrays = {name: np.asarray(leaf) for name, leaf in _named(tree)}
    about = {"format": _FORMAT, "version": _VERSION, "run": dict(run), "losses": losses}
    folder.mkdir(parents=True, exist_ok=True)
    write_tensors(folder / _FILE, arrays, {"about": json.dumps(about)})


def load_state(folder: Path, like: T, *, run: Mapping[str, Any]) -> tuple[T, list[float]] | None:
    """The state that `save_state` left, in the shape of a tree of the same run.

    Returns:
        The tree with NumPy or device arrays, and the losses so far; None where nothing is kept.

    Raises:
        JaxkgError: the folder holds another run or other files, or its file is damaged.
    """
    if not folder.exists() or not any(folder.iterdir()):
        return None
    path = folder / _FILE
    if not path.exists():
        raise JaxkgError(f"{folder} holds other files; give a new or empty folder")
    file = open_tensors(path)
    try:
        about = json.loads(file.metadata()["about"])
        found, version = about["format"], about["version"]
        kept, losses = about["run"], about["losses"]
    except (KeyError, TypeError, ValueError) as error:
        raise JaxkgError(f"{path} is no training state: {error}") from error
    if found != _FORMAT or version > _VERSION:
        raise JaxkgError(f"{path} is {found} version {version}; this jaxkg reads {_FORMAT} "
                         f"up to version {_VERSION}")  # fmt: skip
    wanted = json.loads(json.dumps(dict(run)))
    if different := sorted(key for key in {*wanted, *kept} if wanted.get(key) != kept.get(key)):
        raise JaxkgError(
            f"{folder} holds another run (its {', '.join(different)} differ); give a new folder, "
            "or the same settings to go on"
        )
    names = [name for name, _ in _named(like)]
    if set(names) != set(file.keys()):
        raise JaxkgError(f"{path} holds the state of another optimiser or model")
    return jax.tree.unflatten(
        jax.tree.structure(like), [file.get_tensor(name) for name in names]
    ), losses


def _named(tree: Any) -> list[tuple[str, Any]]:
    return [
        (jax.tree_util.keystr(path), leaf)
        for path, leaf in jax.tree_util.tree_flatten_with_path(tree)[0]
    ]
