"""One round of relational message passing, forward and backward, beside PyTorch Geometric's RGCN.

Same graph, sizes and basis decomposition; the same arrays go to both, each in its own process.
PyTorch Geometric runs where `--rival` names a Python that has torch and torch_geometric. A minute.

    python scripts/bench/bench_message_passing.py --rival /path/to/python
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxkg.learn.priority.model import graph_inflow
from jaxkg.score.message_passing import init_messages, mean_messages

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.record import Record, arguments, numbers
from lib.seconds import Laps, best_seconds
from lib.sets import sets

GRAPHS = ("metaqa", "webqsp")

# Runs in the other Python: reads the arrays, times RGCN both ways PyTorch Geometric offers it.
RIVAL = """
import json, sys, time
import numpy as np
try:
    import torch, torch_geometric
    from torch_geometric.nn import FastRGCNConv, RGCNConv
except ImportError as error:
    print(json.dumps({"missing": str(error)}))
    sys.exit()
stored = np.load(sys.argv[1])
repeats, slowest = int(sys.argv[2]), float(sys.argv[3])
edges, code = torch.from_numpy(stored["edges"]), torch.from_numpy(stored["code"])
states, pull = torch.from_numpy(stored["states"]), torch.from_numpy(stored["pull"])
basis, comp = torch.from_numpy(stored["basis"]), torch.from_numpy(stored["coefficient"])
width, codes, told = states.shape[1], len(comp), {}
degree = torch.bincount(edges[1], minlength=len(states)).clamp(min=1)[:, None]
for kind in (RGCNConv, FastRGCNConv):
    if kind is FastRGCNConv and edges.shape[1] * width**2 * 4 > 16e9:
        told[kind.__name__] = None  # it makes a matrix for every edge
        continue
    layer = kind(width, width, codes, num_bases=len(basis), aggr="add",
                 root_weight=False, bias=False)
    with torch.no_grad():
        layer.weight.copy_(basis)
        layer.comp.copy_(comp)
    times = []
    for _ in range(repeats + 1):
        begin = time.perf_counter()
        leaf = states.clone().requires_grad_()
        layer.zero_grad()
        out = layer(leaf, edges, code) / degree
        (out * pull).sum().backward()
        times.append(time.perf_counter() - begin)
        if times[-1] > slowest:
            break
    told[kind.__name__] = min(times[1:] or times)
    np.save(sys.argv[1] + ".out.npy", out.detach().numpy())
told["versions"] = f"torch {torch.__version__}, torch_geometric {torch_geometric.__version__}"
told["threads"] = torch.get_num_threads()
print(json.dumps(told))
"""


def measure(tensors, *, width: int, bases: int, repeats: int, seed: int):
    """Seconds of ours, and the arrays that the rival is given."""
    graph = tensors.graph
    params = init_messages(
        2 * graph.num_relations, width=width, bases=bases, key=jax.random.key(seed)
    )
    rng = np.random.default_rng(seed)
    states, pull = (rng.normal(size=(graph.num_nodes, width)).astype(np.float32) for _ in "ab")
    into = jax.block_until_ready(graph_inflow(tensors))

    @jax.jit
    def both(coefficient, basis, states):
        def total(coefficient, basis, states):
            out = mean_messages(coefficient, basis, into, states)
            return jnp.sum(out * pull), out

        return jax.value_and_grad(total, argnums=(0, 1, 2), has_aux=True)(
            coefficient, basis, states
        )

    arguments = jax.device_put((params.coefficient, params.basis, states))
    laps = Laps()
    (_, out), _ = jax.block_until_ready(both(*arguments))
    compiled = laps.lap()
    seconds = best_seconds(lambda: both(*arguments), repeats=repeats, warm=False)
    # The rival needs no padding and gets none.
    real, entities = int(graph.offsets[-1]), int(tensors.tail.max()) + 1
    arrays = {
        "edges": np.stack([tensors.head[:real], tensors.tail[:real]]).astype(np.int64),
        "code": tensors.relation[:real].astype(np.int64),
        "states": states[:entities],
        "pull": pull[:entities],
        "basis": np.asarray(params.basis),
        "coefficient": np.asarray(params.coefficient),
    }
    return seconds, compiled, arrays, np.asarray(out)[:entities]


def rival(python: str, arrays, out: np.ndarray, *, repeats: int, slowest: float) -> dict[str, Any]:
    """What PyTorch Geometric needs for the same, and how far apart the results are."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "arrays.npz"
        np.savez(path, allow_pickle=False, **arrays)
        done = subprocess.run(
            [python, "-c", RIVAL, str(path), str(repeats), str(slowest)],
            capture_output=True,
            text=True,
        )
        if done.returncode:
            return {"missing": done.stderr.strip().rpartition("\n")[2]}
        told = json.loads(done.stdout.splitlines()[-1])
        if "missing" not in told:
            told["difference"] = float(np.abs(np.load(f"{path}.out.npy") - out).max())
        return told


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__)
    parser.add_argument("--graph", choices=GRAPHS, action="append", help="default: metaqa")
    parser.add_argument("--width", type=int, default=32, help="of the states")
    numbers(parser, bases=8, repeats=5)
    parser.add_argument("--slowest", type=float, default=20.0, help="seconds; no repeats above it")
    parser.add_argument("--rival", default=sys.executable, help="a Python with torch_geometric")
    options = parser.parse_args(argv)
    record = Record(__file__, options)
    record.note(f"width {options.width}, {options.bases} bases; forward and backward")
    table = record.table("graph", "edges", "relation codes", "", "ms", "x ours")
    for name in options.graph or ["metaqa"]:
        tensors = sets(name, options.data).tensors
        ours, compiled, arrays, out = measure(
            tensors,
            width=options.width,
            bases=options.bases,
            repeats=options.repeats,
            seed=options.seed,
        )
        told = rival(options.rival, arrays, out, repeats=options.repeats, slowest=options.slowest)
        of_graph = name, arrays["edges"].shape[1], 2 * tensors.graph.num_relations
        table.add(*of_graph, f"jaxkg, compiled in {compiled:.1f} s", 1e3 * ours, 1.0)
        if "missing" in told:
            record.note(f"PyTorch Geometric not measured ({told['missing']}); see --rival")
            continue
        for kind in ("RGCNConv", "FastRGCNConv"):
            if told[kind] is None:  # it would make a matrix for every edge
                table.add(*of_graph, f"{kind}, too large", None, None)
            else:
                table.add(*of_graph, kind, 1e3 * told[kind], told[kind] / ours)
        record.note(
            f"{name}: {told['versions']}, {told['threads']} threads; largest difference of the "
            f"results {told['difference']:.1e}"
        )
    record.save()


if __name__ == "__main__":
    main()
