"""The state of a training in one file, from which it goes on exactly; arrays of trees by name."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar
from zipfile import BadZipFile

import jax
import jax.numpy as jnp
import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.storage import digest_of, read_npz, write_npz

T = TypeVar("T")

FILE = "state.npz"
_FORMAT = "jaxkg-training"
_VERSION = 1


def save_state(
    folder: Path,
    tree: Any,
    losses: Sequence[float],
    scores: Iterable[tuple[int, float]],
    *,
    mark: Mapping[str, Any],
) -> None:
    """Replace the state kept in a folder.

    Args:
        folder: of this run alone; made where absent.
        tree: any pytree of arrays.
        losses: of every step done.
        scores: (steps done, score) of every epoch done.
        mark: what tells one run from another, JSON: settings, seed, fingerprints of the data.
    """
    about = {"format": _FORMAT, "version": _VERSION, "mark": dict(mark), "scores": list(scores)}
    folder.mkdir(parents=True, exist_ok=True)
    told = np.frombuffer(json.dumps(about).encode(), np.uint8)
    arrays = {"about": told, "losses": np.asarray(losses, np.float64)}
    write_npz(folder / FILE, arrays | named_leaves({"tree": _plain(tree)}))


def load_state(
    folder: Path, like: T, *, mark: Mapping[str, Any]
) -> tuple[T, list[float], list[tuple[int, float]]] | None:
    """The state that `save_state` left, in the shape and on the devices of another of the same run.

    Returns:
        The tree, the losses and the scores; None where nothing is kept.

    Raises:
        JaxkgError: the folder holds another run or other files, or its file is damaged.
    """
    names = sorted(path.name for path in folder.iterdir()) if folder.exists() else []
    names = [name for name in names if not name.endswith(".tmp")]  # of a writer that was killed
    if not names:
        return None
    path = folder / FILE
    if not path.exists():
        raise JaxkgError(
            f"{folder} holds other files ({', '.join(names[:3])}) and no {FILE} to go on from; "
            "give a new or empty folder"
        )
    try:
        arrays = read_npz(path)
        about = json.loads(arrays.pop("about").tobytes())
        losses = arrays.pop("losses").tolist()
        told, version = about["format"], about["version"]
        kept, scores = about["mark"], [(int(done), float(score)) for done, score in about["scores"]]
    except (OSError, EOFError, KeyError, TypeError, ValueError, BadZipFile) as error:
        raise JaxkgError(f"{path} is damaged or no training state: {error}") from error
    if told != _FORMAT or version > _VERSION:
        raise JaxkgError(
            f"{path} is {told} version {version}; this jaxkg reads {_FORMAT} up to version "
            f"{_VERSION}"
        )
    wanted = json.loads(json.dumps(dict(mark)))
    if different := sorted(key for key in {*wanted, *kept} if wanted.get(key) != kept.get(key)):
        raise JaxkgError(
            f"{folder} holds another run (its {', '.join(different)} differ); give a new folder, "
            "or the same settings to go on; the command's --fresh starts anew"
        )
    try:
        found = leaves_like(arrays, {"tree": _plain(like)})["tree"]
    except (KeyError, ValueError) as error:
        raise JaxkgError(f"{path} holds the state of another model: {error}") from error
    return jax.tree.map(_placed, found, like), losses, scores


def fingerprint(*trees: Any) -> str:
    """SHA-256 of all arrays in some trees, for the mark of a run."""
    return digest_of(map(np.asarray, jax.tree.leaves(_plain(trees))))


def _is_key(leaf: Any) -> bool:
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _plain(tree: Any) -> Any:
    """Keys of random numbers as what they are made of."""
    return jax.tree.map(lambda leaf: jax.random.key_data(leaf) if _is_key(leaf) else leaf, tree)


def _placed(array: np.ndarray, like: Any) -> jax.Array:
    """An array on the devices that another one is on."""
    if _is_key(like):
        return jax.random.wrap_key_data(jax.device_put(array))
    if isinstance(like, jax.Array) and len(like.sharding.device_set) > 1:
        return jax.device_put(array, like.sharding)
    return jax.device_put(array)


def named_leaves(tree: Any) -> dict[str, np.ndarray]:
    """The arrays of a tree by their path.

    >>> sorted(named_leaves({"layers": (np.zeros(2), np.ones(3)), "seen": np.ones(1)}))
    ['layers/0', 'layers/1', 'seen']
    """
    return {name: np.asarray(leaf) for name, leaf in _by_path(tree).items()}


def leaves_like(arrays: Mapping[str, np.ndarray], like: T) -> T:
    """The tree of the same shape as another, from the arrays that `named_leaves` named.

    Args:
        arrays: these and no others.
        like: of arrays, or of their shapes and dtypes.

    Raises:
        ValueError: the names, shapes or dtypes are not those of `like`.
    """
    wanted = _by_path(like)
    if odd := sorted(set(wanted) ^ set(arrays)):
        raise ValueError(f"weights and sizes disagree: {', '.join(odd[:3])}")
    leaves = []
    for name, want in wanted.items():
        array = arrays[name]
        if array.dtype.kind == "V":  # a dtype that NumPy's own format does not know, as bfloat16
            array = array.view(want.dtype)
        if (array.shape, array.dtype) != (tuple(want.shape), np.dtype(want.dtype)):
            raise ValueError(
                f"weights and sizes disagree: {name} is {array.dtype}{list(array.shape)}, not "
                f"{want.dtype}{list(want.shape)}"
            )
        leaves.append(array)
    return jax.tree.unflatten(jax.tree.structure(like), leaves)


def _by_path(tree: Any) -> dict[str, Any]:
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {jax.tree_util.keystr(path, simple=True, separator="/"): leaf for path, leaf in leaves}
