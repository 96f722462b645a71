"""Follow relation paths on several hosts, with questions or a part of the graph each.

Start one process a host, the same command but for `--process`:

    python scripts/device/multihost.py --coordinator HOST:PORT --processes 2 --process 0
    python scripts/device/multihost.py --coordinator HOST:PORT --processes 2 --process 1

On a TPU pod or under Slurm `jax.distributed.initialize()` finds these by itself: leave all three
out and pass `--auto`. Without any of them, two processes are started on this machine to try it.
Every process prints what its share of the questions reached; the first also prints the whole count,
summed over all devices. Half a minute on one machine.

With `--graph-sharded` it is the graph that is divided, by ranges of nodes, and each process reads
its own ranges of a saved graph and no more:

    python scripts/device/multihost.py --graph-sharded metaqa

starts two processes on this machine that follow the gold paths of MetaQA's questions and exchange
what a hop asks of the other's nodes; then one process alone, which holds the whole, must reach the
same nodes by the same walks. Two minutes. On a cluster `--work FOLDER` names what all processes
can read: a saved graph with its index in `graph`, and `asked.npz` with, for L = 1, 2, ..., arrays
`topicL` [Q] and `pathL` [Q, L].
"""

from __future__ import annotations

import argparse
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.record import Record, arguments, numbers


def run(hops: int, rows: int) -> None:
    """Follow the same relation from every entity of the demo graph, divided over all devices."""
    import jax.numpy as jnp
    from jax.sharding import NamedSharding, PartitionSpec

    from jaxkg.candidates import follow, start
    from jaxkg.kg import demo_graph
    from jaxkg.tensors import tensor_graph
    from jaxkg.tensors.mesh import device_mesh, over_questions, replicated

    kg = demo_graph()
    mesh = device_mesh()
    shards, local = mesh.shape["data"], jax.local_device_count()
    code = kg.relation_code("directed_by")
    topics = np.arange(shards * rows, dtype=np.int32)
    node = np.where(topics < kg.num_entities, topics, -1).reshape(shards, rows)
    row = np.broadcast_to(np.arange(rows, dtype=np.int32), node.shape)
    relations = np.full((shards, rows, hops, 1), -1, np.int32)
    relations[..., 0, 0] = code

    def core(graph, own):
        row, node, relations = own
        trail = follow(graph, start(row, node), relations, capacities=(4 * rows,) * hops)
        return jnp.sum(trail[1].valid, dtype=jnp.int32), trail[1].overflow

    def place(columns: np.ndarray) -> jax.Array:
        # Every process hands over the shards of its own devices only.
        return jax.make_array_from_callback(
            columns.shape, NamedSharding(mesh, PartitionSpec("data")), lambda at: columns[at]
        )

    whole = NamedSharding(mesh, PartitionSpec())
    graph = jax.tree.map(lambda c: replicated(np.asarray(c), mesh), tensor_graph(kg).graph)
    reached, overflow = over_questions(core, mesh)(graph, tuple(map(place, (row, node, relations))))
    mine = sum(int(shard.data.sum()) for shard in reached.addressable_shards)
    assert not any(bool(shard.data.any()) for shard in overflow.addressable_shards)
    print(
        f"process {jax.process_index()} of {jax.process_count()}: {local} of {shards} devices, "
        f"{mine} answers of its own",
        flush=True,
    )
    total = int(jax.jit(jnp.sum, out_shardings=whole)(reached))
    if jax.process_index() == 0:
        expected = int((kg.triples[:, 1] == code).sum())
        print(f"{total} answers in all; the graph has {expected} such facts", flush=True)
        if total != expected:
            raise SystemExit("the shares do not add up")


def followed(graph: Any, topics: np.ndarray, paths: np.ndarray, rows: int) -> dict[str, Any]:
    """What relation paths reach, one walk to each node, and the bytes exchanged for a batch.

    Args:
        graph: on one device, or in ranges.
        topics: [Q] int32.
        paths: [Q, L] int32 codes.
        rows: questions a batch.
    """
    from lib.ranges import exchanged_bytes

    from jaxkg.candidates import follow, start
    from jaxkg.search.plans import execute_batch
    from jaxkg.tensors import Capacities, pad, stream

    row, hops = np.arange(rows, dtype=np.int32), paths.shape[1]
    capacities = Capacities(slots=(4 * rows,) * hops)

    def batch(indices: np.ndarray) -> tuple[np.ndarray, ...]:
        return row, pad(topics[indices], rows), pad(paths[indices], rows)[:, :, None]

    def run(indices: np.ndarray, slots: tuple[int, ...]) -> Any:
        return execute_batch(graph, *batch(indices), capacities=slots, revisit="topic")

    columns = []
    for indices, found, complete in stream(len(topics), rows, run, capacities):
        assert complete
        value, there = found.value, found.value.valid
        columns.append((value.row[there] + indices[0], value.node[there], value.edges[there]))

    def exchanged(hops: int) -> int:
        def core(graph: Any, row: jax.Array, node: jax.Array, relations: jax.Array) -> Any:
            slots = capacities.slots[:hops]
            return follow(graph, start(row, node), relations[:, :hops], capacities=slots)

        return exchanged_bytes(core, graph, *batch(np.arange(1)))

    sent = np.diff([0, *(exchanged(hop) for hop in range(1, hops + 1))])
    names = ("row", "node", "edges")
    return dict(zip(names, map(np.concatenate, zip(*columns)))) | {
        "sent": sent,
        "slots": np.array(capacities.slots),
    }


def asked_hops(asked: Any) -> list[int]:
    """For how many hops the arrays of what is asked hold questions."""
    return sorted(len(asked[name][0]) for name in asked.files if name.startswith("path"))


def divided(work: Path, rows: int) -> None:
    """The part of one process in following paths over a graph in ranges."""
    from lib.ranges import graph_from_folder, resident

    from jaxkg.tensors.mesh import device_mesh

    mesh = device_mesh(data=1, graph=jax.device_count())
    graph, read = graph_from_folder(work / "graph", mesh)
    own, total = resident(graph), graph.num_edges
    told = (
        f"process {jax.process_index()} of {jax.process_count()}: {jax.local_device_count()} of "
        f"{jax.device_count()} devices; read {read:,} of {total:,} rows of facts; holds "
        f"{own.edges:,} of {total:,} edges, of {own.facts:,} of {total // 2:,} facts, "
        f"{own.bytes:,} bytes"
    )
    print(told, flush=True)
    (work / f"process{jax.process_index()}.txt").write_text(told, "utf-8")
    asked, found = np.load(work / "asked.npz"), {}
    for hops in asked_hops(asked):
        result = followed(graph, asked[f"topic{hops}"], asked[f"path{hops}"], rows)
        found |= {f"{name}{hops}": column for name, column in result.items()}
    if jax.process_index() == 0:
        np.savez(work / "found.npz", **found)


def prepared(dataset: str, options: argparse.Namespace, work: Path) -> Any:
    """Save a graph, its index and what is asked of it; returns the graph."""
    from jaxkg.kg import demo_graph, demo_questions
    from jaxkg.kg.files.store import save_graph
    from jaxkg.kg.stores.arrays import save_index

    if dataset == "demo":
        kg = demo_graph()
        questions = demo_questions()
    else:
        from lib.sets import sets

        world = sets("metaqa", options.data)
        kg = world.kg
        questions = [
            question
            for hops in (1, 2, 3)
            for question in world.questions(f"metaqa-{hops}")[: options.questions]
        ]
    save_graph(kg, work / "graph")
    save_index(work / "graph", kg)
    asked: dict[str, Any] = {}
    for hops in (1, 2, 3):
        some = [q for q in questions if q.paths and len(q.paths[0]) == hops]
        if not some:
            continue
        paths = [[kg.relation_code(relation) for relation in q.paths[0]] for q in some]
        asked[f"topic{hops}"] = np.array([kg.entity(q.topics[0]) for q in some], np.int32)
        asked[f"path{hops}"] = np.array(paths, np.int32)
    np.savez(work / "asked.npz", **asked)
    return kg


def compared(options: argparse.Namespace, here: Sequence[str]) -> int:
    """Follow paths over a divided graph in processes of this machine, then over the whole here."""
    from jaxkg.tensors import tensor_graph

    jax.config.update("jax_platforms", "cpu")
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        kg = prepared(options.graph_sharded, options, work)
        if failed := try_here(options.processes, [*here, "--work", folder]):
            return failed
        record, graph = Record(__file__, options, part="graph-sharded"), tensor_graph(kg).graph
        table = record.table("hops", "questions", "nodes reached", "equal", "slots", "bytes a hop")
        asked, found = np.load(work / "asked.npz"), np.load(work / "found.npz")
        unequal = 0
        for hops in asked_hops(asked):
            topics, paths = asked[f"topic{hops}"], asked[f"path{hops}"]
            whole = followed(graph, topics, paths, options.rows)
            names = ("row", "node", "edges", "slots")
            equal = all(np.array_equal(whole[name], found[f"{name}{hops}"]) for name in names)
            unequal += not equal
            table.add(
                hops, len(topics), len(whole["node"]), "yes" if equal else "NO",
                ", ".join(map(str, whole["slots"])), ", ".join(map(str, found[f"sent{hops}"])),
            )  # fmt: skip
        for told in sorted(work.glob("process*.txt")):
            record.note(told.read_text("utf-8"))
        record.note(
            f"batches of {options.rows} questions; bytes are those added up over the devices for "
            "one batch: each of S devices sends 2 (S - 1) / S times as many around a ring; equal: "
            "the same nodes by the same walks as in one process that holds the whole graph"
        )
        record.save()
    return int(unequal > 0)


def try_here(processes: int, more: Sequence[str] = ()) -> int:
    """Start the processes on this machine, two fake devices each; the first failure is returned."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    command = [sys.executable, __file__, "--coordinator", address, "--processes", str(processes)]
    command += more
    started = [
        subprocess.Popen([*command, "--process", str(index), "--fake-devices", "2"])
        for index in range(processes)
    ]
    return max(process.wait() for process in started)


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__, seed=False)
    parser.add_argument("--coordinator", help="HOST:PORT of process 0")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--process", type=int, help="number of this one, from 0")
    parser.add_argument("--auto", action="store_true", help="let the cluster say all this")
    parser.add_argument("--fake-devices", type=int, help="CPU devices to pretend to have")
    parser.add_argument("--rows", type=int, default=128, help="questions a device, or a batch")
    parser.add_argument("--graph-sharded", choices=("demo", "metaqa"), help="divide this graph")
    parser.add_argument("--work", type=Path, help="folder of a graph to divide and what is asked")
    numbers(parser, questions=1000)
    options = parser.parse_args(argv)
    if options.fake_devices:
        jax.config.update("jax_platforms", "cpu")
        jax.config.update("jax_num_cpu_devices", options.fake_devices)
        jax.config.update("jax_cpu_collectives_implementation", "gloo")
    if options.auto:
        jax.distributed.initialize()
    elif options.coordinator:
        if options.process is None:
            parser.error("--coordinator wants --process, the number of this one")
        jax.distributed.initialize(options.coordinator, options.processes, options.process)
    elif options.graph_sharded:
        raise SystemExit(compared(options, ["--rows", str(options.rows)]))
    else:
        raise SystemExit(try_here(options.processes))
    if options.work:
        divided(options.work, options.rows)
    else:
        run(hops=1, rows=options.rows)


if __name__ == "__main__":
    main()
