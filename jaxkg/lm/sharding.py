"""Where the weights and batches of a training run live: mesh axes "data" and "model"."""

from __future__ import annotations

from typing import Any, TypeVar

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from jaxkg.errors import JaxkgError

T = TypeVar("T")

DATA, MODEL = "data", "model"

_AXIS = {
    "embedding": 0, "head": 0,
    "query": 2, "key": 2, "value": 2, "gate": 2, "up": 2, "output": 1, "down": 1,
    "query_bias": 1, "key_bias": 1, "value_bias": 1,
}  # fmt: skip
"""Axis of each weight that is split over "model": outputs of the first of two products, inputs of
the second, so that one sum over the devices follows each pair."""


def make_mesh(data: int, model: int = 1) -> Mesh:
    """A mesh of data · model devices.

    Raises:
        JaxkgError: there are fewer.
    """
    devices = jax.devices()
    if data * model > len(devices):
        raise JaxkgError(f"{data} x {model} devices wanted, {len(devices)} there")
    grid = np.array(devices[: data * model]).reshape(data, model)
    return Mesh(grid, (DATA, MODEL))


def place_weights(tree: T, mesh: Mesh | None) -> T:
    """Put weights, or an optimiser's state of them, on the mesh.

    A weight whose size the mesh does not divide, and every LoRA factor, is held by every device.
    """
    if mesh is None:
        return jax.device_put(tree)
    parts = mesh.shape[MODEL]

    def put(path: tuple[Any, ...], array: Any) -> jax.Array:
        axis = _AXIS.get(_weight_of(path), 0)
        spec = PartitionSpec()
        if _weight_of(path) in _AXIS and array.shape[axis] % parts == 0:
            spec = PartitionSpec(*[None] * axis, MODEL)
        return jax.device_put(array, NamedSharding(mesh, spec))

    return jax.tree_util.tree_map_with_path(put, tree)


def place_batch(batch: T, mesh: Mesh | None) -> T:
    """Split the rows of a batch over "data"."""
    if mesh is None:
        return jax.device_put(batch)
    return jax.device_put(batch, NamedSharding(mesh, PartitionSpec(DATA)))


def _weight_of(path: tuple[Any, ...]) -> str:
    """Name of the weight a leaf belongs to; empty for a leaf of anything else."""
    names = [str(part.key) for part in path if isinstance(part, jax.tree_util.DictKey)]
    if "layers" in names:
        return names[names.index("layers") + 1]
    return next((name for name in names if name in ("embedding", "head")), "")
