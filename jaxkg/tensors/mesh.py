"""Several devices: questions over the mesh axis "data", a graph that does not fit over "graph".

The numeric cores name no device. `over_questions` runs any of them on every "data" shard at once,
each shard with questions of its own. A graph lies across "graph" by ranges of nodes, and what a hop
asks of other ranges is exchanged (`ops.ranges`); XLA fetches rows of other tables that lie so.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import jax
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from jaxkg.errors import JaxkgError
from jaxkg.ops.ranges import Ranged
from jaxkg.tensors.buckets import bucket
from jaxkg.types import NULL, Graph

T = TypeVar("T")
AXES = ("data", "graph")
_EDGES, _RUNS, _NODES = ("head", "relation", "tail"), ("run_relation",), ("offsets", "run_offsets")
_CLOSE = 4
"""Buckets to an octave of a range's rows: memory is why a graph is divided."""


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
            f"a mesh of {max(data, 1)} x {graph} requires {max(data, 1) * graph} devices; there "
            f"are {len(devices)}"
        )
    return Mesh(np.array(devices[: data * graph]).reshape(data, graph), AXES)


def place_graph(graph: Graph, mesh: Mesh) -> Graph:
    """A graph on a mesh: every device of "graph" holds the edges, runs and offsets of a range of
    nodes, chosen so that the ranges have about as many edges.

    Args:
        graph: padded tensors, on one device.
        mesh: from `device_mesh`.

    Returns:
        Of one shard, the graph as it is, on every device. Else one whose columns are `Ranged`,
        without padding edges and table of starts: cores that read columns by row take it as they
        take any; those that compute over all edges do not.
    """
    if mesh.shape["graph"] == 1:
        return jax.device_put(graph, NamedSharding(mesh, PartitionSpec()))
    columns = {name: np.asarray(getattr(graph, name)) for name in (*_EDGES, *_RUNS, *_NODES)}
    starts, offsets, runs = np.asarray(graph.run_start), columns["offsets"], columns["run_offsets"]

    def read(low: int, high: int) -> dict[str, np.ndarray]:
        edges, own = slice(offsets[low], offsets[high]), slice(runs[low], runs[high])
        part = {name: columns[name][edges] for name in _EDGES}
        part["run_relation"] = columns["run_relation"][own]
        part["run_start"] = starts[own.start : own.stop + 1]
        part["offsets"] = offsets[low : high + 1]
        return part | {"run_offsets": runs[low : high + 1] - runs[low]}

    return graph_of_ranges(
        mesh, graph.num_nodes, offsets.__getitem__, read, num_relations=graph.num_relations
    )


def graph_of_ranges(
    mesh: Mesh,
    nodes: int,
    edges_before: Callable[[int], int],
    read: Callable[[int, int], Mapping[str, np.ndarray]],
    *,
    num_relations: int,
) -> Graph:
    """As `place_graph`, each process reading what its own devices hold and no more.

    Args:
        mesh: from `device_mesh`, over one process or several.
        nodes: N, ids are below it.
        edges_before: how many edges leave the nodes below one; of `nodes`, all.
        read: from a range of nodes to its int32 columns, as of `Graph`: edges and runs of these
            nodes; `offsets` and `run_start` with the end of the last and counting from the whole
            graph's first edge; `run_offsets` alike, but counting from the range's own first run.
        num_relations: R.
    """
    shards = mesh.shape["graph"]
    total = int(edges_before(nodes))
    cuts = [
        bisect.bisect_left(range(nodes), total * shard // shards, key=edges_before)
        for shard in range(shards)
    ]
    node = np.array([0, *cuts[1:], nodes])
    edge = np.array([edges_before(cut) for cut in node.tolist()])
    here = [d.process_index == jax.process_index() for d in mesh.devices.ravel()]
    held = np.flatnonzero(np.reshape(here, mesh.devices.shape).any(0)).tolist()
    parts = {shard: read(*node[shard : shard + 2].tolist()) for shard in held}
    counts = np.zeros((shards, 2), np.int32)  # runs, and the most of a node
    for shard, part in parts.items():
        most = np.diff(part["run_offsets"]).max(initial=0)
        counts[shard] = len(part["run_relation"]), most
    if jax.process_count() > 1:
        counts = np.asarray(multihost_utils.process_allgather(counts)).max(0)
    run = np.concatenate([[0], np.cumsum(counts[:, 0])])
    over = NamedSharding(mesh, PartitionSpec("graph"))

    def column(name: str, bounds: np.ndarray, *, ends: bool = False) -> Any:
        # The end of the last range's last is a row, too.
        span = np.array(list(itertools.pairwise(bounds.tolist())), np.int32)
        span[-1, 1] += ends
        width = bucket(int(np.diff(bounds).max()) + 1, steps=_CLOSE)

        def row(at: Any) -> np.ndarray:
            (shard,) = range(shards)[at[0]]
            padded = np.full((1, width), NULL, np.int32)
            own = parts[shard][name]
            padded[0, : len(own)] = own + (run[shard] if name == "run_offsets" else 0)
            return padded

        return Ranged(
            jax.make_array_from_callback((shards, width), over, row),
            jax.make_array_from_callback(span.shape, over, lambda at: span[at]),
            int(span[-1, 1]),
            mesh,
        )

    return Graph(
        **{name: column(name, edge) for name in _EDGES},
        **{name: column(name, run) for name in _RUNS},
        **{name: column(name, node, ends=True) for name in _NODES},
        run_start=column("run_start", run, ends=True),
        edge_start=replicated(np.zeros(0, np.int32), mesh),
        num_relations=num_relations,
        lookup_steps=int(counts[:, 1].max()).bit_length(),
    )


def replicated(table: np.ndarray, mesh: Mesh) -> jax.Array:
    """A table that every device holds whole, from processes that each have it."""
    whole = NamedSharding(mesh, PartitionSpec())
    return jax.make_array_from_callback(table.shape, whole, lambda at: table[at])


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
