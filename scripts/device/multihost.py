"""Answer relation paths on several hosts: each process has its own devices and its own questions.

Start one process a host, the same command but for `--process`:

    python scripts/device/multihost.py --coordinator HOST:PORT --processes 2 --process 0
    python scripts/device/multihost.py --coordinator HOST:PORT --processes 2 --process 1

On a TPU pod or under Slurm `jax.distributed.initialize()` finds these by itself: leave all three
out and pass `--auto`. Without any of them, two processes are started on this machine to try it.
Every process prints what its share of the questions reached; the first also prints the whole count,
summed over all devices. Half a minute on one machine.
"""

from __future__ import annotations

import argparse
import socket
import subprocess
import sys

import jax
import numpy as np


def run(hops: int, rows: int) -> None:
    """Follow the same relation from every entity of the demo graph, divided over all devices."""
    import jax.numpy as jnp
    from jax.sharding import NamedSharding, PartitionSpec

    from jaxkg.candidates import follow, start
    from jaxkg.kg import demo_graph
    from jaxkg.tensors import tensor_graph
    from jaxkg.tensors.mesh import device_mesh, over_questions

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

    def replicate(column: jax.Array) -> jax.Array:
        host = np.asarray(column)
        return jax.make_array_from_callback(host.shape, whole, lambda at: host[at])

    graph = jax.tree.map(replicate, tensor_graph(kg).graph)
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


def try_here(processes: int) -> int:
    """Start the processes on this machine, two fake devices each; the first failure is returned."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    command = [sys.executable, __file__, "--coordinator", address, "--processes", str(processes)]
    started = [
        subprocess.Popen([*command, "--process", str(index), "--fake-devices", "2"])
        for index in range(processes)
    ]
    return max(process.wait() for process in started)


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--coordinator", help="HOST:PORT of process 0")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--process", type=int, help="number of this one, from 0")
    parser.add_argument("--auto", action="store_true", help="let the cluster say all this")
    parser.add_argument("--fake-devices", type=int, help="CPU devices to pretend to have")
    parser.add_argument("--rows", type=int, default=128, help="questions a device")
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
    else:
        raise SystemExit(try_here(options.processes))
    run(hops=1, rows=options.rows)


if __name__ == "__main__":
    main()
