"""Several devices: questions over the mesh axis "data", a graph that does not fit over "graph".

The numeric cores name no device. `over_questions` runs any of them on every "data" shard at once,
each shard with questions of its own, and XLA fetches rows of the tables that lie across "graph".
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from jaxkg.errors import JaxkgError
from jaxkg.types import Graph

T = TypeVar("T")
AXES = ("data", "graph")
_EDGE_COLUMNS = ("head", "relation", "tail", "run_relation")


def device_mesh(
    *, data: int | None = None, graph: int = 1, devices: Sequence[Any] | None = None
) -> Mesh:
    """A mesh of `data` times `graph` devices.

    Args:
        data: shards of the questions; None takes all that `graph` leaves.
        graph: shards of the graph's tables; 1 keeps them whole on every device.
        devices: `jax.Device`s; all there are by default.

    Raises:
        JaxkgError: there are not that many devices, or they cannot be divided so.
    """
    devices = jax.devices() if devices is None else list(devices)
    if graph < 1 or (data is not None and data < 1):
        raise JaxkgError(f"a mesh of {data} x {graph} devices: both are at least 1")
    data = len(devices) // graph if data is None else data
    if data * graph > len(devices) or not data:
        raise JaxkgError(
            f"a mesh of {max(data, 1)} x {graph} wants {max(data, 1) * graph} devices; there are "
            f"{len(devices)}"
        )
    return Mesh(np.array(devices[: data * graph]).reshape(data, graph), AXES)


def place_graph(graph: Graph, mesh: Mesh) -> Graph:
    """A graph on a mesh: edge and run columns divided over "graph", offsets on every device.

    Args:
        graph: padded tensors; E and U are multiples of the shards, as powers of two are.
        mesh: from `device_mesh`.

    Raises:
        JaxkgError: the columns cannot be divided so.
    """
    shards = mesh.shape["graph"]

    def place(name: str) -> Any:
        column = getattr(graph, name)
        if not isinstance(column, jax.Array):  # the static fields
            return column
        spec = PartitionSpec()
        if name in _EDGE_COLUMNS:
            if column.shape[0] % shards:
                raise JaxkgError(f"{column.shape[0]} rows of `{name}` do not divide by {shards}")
            spec = PartitionSpec("graph")
        return jax.device_put(column, NamedSharding(mesh, spec))

    return Graph(**{field.name: place(field.name) for field in dataclasses.fields(graph)})


def place_rows(tables: T, mesh: Mesh) -> T:
    """Tables of a graph's nodes, edges or hyperedges on a mesh, their rows divided over "graph".

    For entity states, an edge scorer's tables, messages, embeddings. Weights, which every question
    reads whole, need no placing.

    Args:
        tables: a pytree of arrays; one whose first axis does not divide (or has none) is held
            whole by every device.
        mesh: from `device_mesh`.
    """
    shards = mesh.shape["graph"]

    def place(table: Any) -> jax.Array:
        divides = np.ndim(table) > 0 and np.shape(table)[0] % shards == 0
        spec = PartitionSpec("graph") if divides else PartitionSpec()
        return jax.device_put(table, NamedSharding(mesh, spec))

    return jax.tree.map(place, tables)


def place_questions(shards: Sequence[T], mesh: Mesh) -> T:
    """The arguments of each shard's own questions, stacked and placed.

    Args:
        shards: for every "data" shard a pytree of arrays, alike in shape and type.
        mesh: from `device_mesh`.

    Returns:
        The same pytree with one more leading axis, over "data".
    """
    if len(shards) != mesh.shape["data"]:
        raise JaxkgError(f"{len(shards)} shards of questions for {mesh.shape['data']} of the mesh")
    sharding = NamedSharding(mesh, PartitionSpec("data"))
    return jax.tree.map(
        lambda *parts: jax.device_put(np.stack([np.asarray(part) for part in parts]), sharding),
        *shards,
    )


def over_questions(function: Callable[[Any, T], Any], mesh: Mesh) -> Callable[[Any, T], Any]:
    """Run a core on every shard of the questions at once, in one program.

    Args:
        function: (shared, own) to a pytree of arrays. `shared` is what all questions need, e.g. a
            graph or a model's weights; `own` belongs to one shard's questions, rows counted from 0.
        mesh: from `device_mesh`.

    Returns:
        A jit-compiled function of `shared` and of `own` with a leading axis over "data", from
        `place_questions`; what it returns has that axis too.
    """

    def shard(shared: Any, own: T) -> Any:
        found = function(shared, jax.tree.map(lambda column: column[0], own))
        return jax.tree.map(lambda column: column[None], found)

    mine = PartitionSpec("data")
    return jax.jit(
        jax.shard_map(
            shard,
            mesh=mesh,
            in_specs=(PartitionSpec(), mine),
            out_specs=mine,
            axis_names={"data"},
            check_vma=False,
        )
    )
