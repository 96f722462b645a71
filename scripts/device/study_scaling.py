"""How follow, guided search and GHRR scoring grow with the graph: synthetic graphs, 10^4 to 10^7.

All graphs have one schema and one share of hubs, and the questions are alike: three hops, at most
50 nodes at every hop. What grows is the tables, and with them the largest hubs. Guided search pays
for every edge of the nodes it stands on; its scorer computes what a small edge scorer computes and
then prefers the right relation, so that the search goes where a good scorer would lead it. GHRR
scoring ranks all relation sequences of three hops that the schema graph and the topic allow; it
never looks at an edge, so a second table lets the relations grow instead.

A size that is done is kept in the JSON file and not measured again. A quarter of an hour.

    python scripts/device/study_scaling.py -o runs/scaling
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from device_graph_cores import compiled, fitted

from jaxkg.candidates import answers, follow, start
from jaxkg.errors import JaxkgError
from jaxkg.evaluate.synthetic import QuestionConfig, World, WorldConfig, make_questions, make_world
from jaxkg.kg.schema import schema_graph
from jaxkg.records import Question
from jaxkg.score import hdc
from jaxkg.score.edges import EdgeSizes, EdgeTables, init_edge_scorer, score_from_tables
from jaxkg.search.guided import relation_scores
from jaxkg.search.relation_beam import ask, init, tell
from jaxkg.storage import write_json
from jaxkg.tensors import TensorGraph, pad, starts_table, tensor_graph

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.curves import save_curve_plot
from lib.record import Record, arguments
from lib.seconds import Laps, best_seconds

HOPS = 3
STAGES = ("follow", "guided search", "GHRR scoring", "tensors")
_SIZES = EdgeSizes(text=0, graph=16, question=32, width=32, attention=(32, 16), classifier=(16, 8))
_COLUMNS = sum((_SIZES.attention[0], _SIZES.classifier[0]))


def gold(world: World, asked: Sequence[Question], rows: int) -> tuple[np.ndarray, ...]:
    """Starts and the relation codes of each question's path."""
    kg = world.graph
    row, node = starts_table([(kg.entity(q.topics[0]),) for q in asked], num_rows=rows)
    codes = np.array([[kg.relation_code(r) for r in q.paths[0]] for q in asked], np.int32)
    return row, node, pad(codes, rows)


def follow_seconds(tensors: TensorGraph, starts: tuple[np.ndarray, ...], repeats: int) -> float:
    row, node, codes = starts

    def run(graph, row, node, codes, capacities):
        trail = follow(graph, start(row, node), codes[:, :, None], capacities=capacities)
        found = answers(trail, codes[:, :, None])
        return (trail, found), jnp.stack([frontier.needed for frontier in trail[1:]])

    call, _, _ = fitted(run, (tensors.graph, row, node, codes), (4 * len(row),) * HOPS)
    return best_seconds(call, repeats=repeats) / len(codes)


def guided_seconds(
    tensors: TensorGraph, starts: tuple[np.ndarray, ...], repeats: int, seed: int
) -> tuple[float, int]:
    """Seconds a question, and the edges looked at a question."""
    row, node, codes = starts
    rows, graph = len(codes), tensors.graph
    rng = np.random.default_rng(seed)
    params = init_edge_scorer(_SIZES, key=jax.random.key(seed))
    sizes = graph.num_nodes, 2 * graph.num_relations, graph.num_nodes
    made = [rng.standard_normal((n, _COLUMNS), np.float32) for n in sizes]
    tables = EdgeTables(*jax.device_put(made))
    asked = rng.standard_normal((rows, _COLUMNS), np.float32)

    def run(graph, params, tables, asked, row, node, codes, capacities):
        beam = init(start(row, node), num_questions=rows, width=1, hops=HOPS)
        needed = []
        for hop in range(HOPS):
            runs, looked, scored, copied, walked = capacities[5 * hop : 5 * hop + 5]
            options, beam = ask(graph, beam, capacity=runs)

            def score(at, head, relation, tail, hop=hop):
                parts = (
                    asked[at], tables.node[head], tables.relation[relation], tables.target[tail],
                    asked[at],
                )  # fmt: skip
                value = jax.nn.sigmoid(score_from_tables(params, parts))
                return jnp.where(relation == codes[at, hop], 1.0, 0.5 * value)

            found = relation_scores(
                graph, beam.frontier, score, num_rows=rows, sample=8, capacities=(looked, scored)
            )
            grown = jnp.log(jnp.maximum(found.mean, 1e-30)).reshape(rows, 1, -1)
            scores = jnp.concatenate([grown, jnp.full((rows, 1, 1), -1e9)], axis=2)
            beam = tell(graph, beam, options, scores, capacities=(copied, walked))
            wants = beam.needed[3 * hop : 3 * hop + 3]
            needed.append(jnp.concatenate([wants[:1], found.needed, wants[1:]]))
        return beam.relations, jnp.concatenate(needed)

    given = graph, params, tables, asked, row, node, codes
    call, _, needed = fitted(run, given, (1 << 13, 1 << 16, 1 << 13, 1 << 10, 1 << 13) * HOPS)
    right = np.mean(np.all(np.asarray(call()[0])[:, 0] == codes, axis=1))
    if right < 0.99:
        raise RuntimeError(f"the search left the gold path for {1 - right:.0%} of the questions")
    return best_seconds(call, repeats=repeats) / rows, sum(needed[1::5]) // rows


def ghrr_seconds(
    follows: np.ndarray, starts: np.ndarray, blocks: int, repeats: int, seed: int
) -> float:
    algebra = hdc.ghrr(blocks, 4, layout="pair")
    table = algebra.random((len(follows),), key=jax.random.key(seed))
    queries = algebra.random((len(starts),), key=jax.random.key(seed + 1))
    call = compiled(
        lambda t, q, s, f: hdc.exhaustive(algebra, t, q, starts=s, follows=f, min_length=HOPS),
        table,
        queries,
        starts,
        follows,
    )
    return best_seconds(call, repeats=repeats) / len(starts)


def size_of(record: Any) -> int:
    """Bytes of all arrays that a dataclass holds, those inside others included."""
    if isinstance(record, np.ndarray | jax.Array):
        return record.nbytes
    if not dataclasses.is_dataclass(record) or isinstance(record, type):
        return 0
    return sum(size_of(getattr(record, f.name)) for f in dataclasses.fields(record))


def measured(edges: int, options: argparse.Namespace) -> dict[str, Any]:
    laps = Laps()
    world = make_world(WorldConfig(edges=edges), seed=options.seed)
    making = laps.lap()
    config = QuestionConfig(train=0, test=options.questions, hops=(HOPS,))
    _, asked = make_questions(world, config, seed=options.seed)
    laps.lap()
    tensors = tensor_graph(world.graph)
    jax.block_until_ready(tensors.graph)
    padding = laps.lap()
    kg, graph = world.graph, tensors.graph
    starts = gold(world, asked, options.questions)
    few = tuple(column[: options.guided] for column in starts)
    laps.lap()
    follows = schema_graph(
        np.asarray(graph.run_offsets), np.asarray(graph.run_relation), kg.num_relations
    ).toarray()
    schema = laps.lap()
    codes = 2 * kg.num_relations
    leaves = np.zeros((options.guided, codes), bool)
    for place, topic in enumerate(few[1].tolist()):
        low, high = np.asarray(graph.run_offsets[topic : topic + 2])
        leaves[place, np.asarray(graph.run_relation[low:high])] = True
    guided, looked = guided_seconds(tensors, few, options.repeats, options.seed)
    names = kg.entity_ids.blob.nbytes + kg.entity_ids.offsets.nbytes
    return {
        "edges": edges,
        "entities": kg.num_entities,
        "largest_degree": int(np.bincount(kg.triples[:, [0, 2]].ravel()).max()),
        "generate": making,
        "tensors": padding,
        "schema graph": schema,
        "follow": follow_seconds(tensors, starts, options.repeats),
        "guided search": guided,
        "edges looked at": looked,
        "GHRR scoring": ghrr_seconds(follows, leaves, options.blocks, options.repeats, 0),
        "device_bytes": size_of(graph),
        "host_bytes": size_of(tensors) - size_of(graph) + kg.triples.nbytes + names,
    }


def by_relations(options: argparse.Namespace) -> list[dict[str, Any]]:
    """GHRR scoring alone, all sequences allowed."""
    rows = []
    for codes in options.relations:
        follows, starts = np.ones((codes, codes), bool), np.ones((1, codes), bool)
        seconds = ghrr_seconds(follows, starts, options.blocks, options.repeats, 0)
        rows.append({"relations": codes, "GHRR scoring": seconds})
    return rows


def exponent(rows: Sequence[dict[str, Any]], size: str, measure: str) -> float:
    """Slope of log(measure) over log(size), by least squares."""
    if len(rows) < 2:
        return math.nan
    x, y = (np.log([row[name] for row in rows]) for name in (size, measure))
    return float(np.polyfit(x, y, 1)[0])


def report(record: Record, rows: list[dict[str, Any]], grown: list[dict[str, Any]]) -> None:
    heads = (
        "edges", "entities", "largest degree", "generate s", "to device s", "follow µs/question",
        "guided µs/question", "edges it looks at", "GHRR µs/question", "device B/edge",
        "host B/edge",
    )  # fmt: skip
    table = record.table(*heads)
    for row in rows:
        edges = row["edges"]
        table.add(
            edges, row["entities"], row["largest_degree"], row["generate"], row["tensors"],
            1e6 * row["follow"], 1e6 * row["guided search"], row["edges looked at"],
            1e6 * row["GHRR scoring"], row["device_bytes"] / edges, row["host_bytes"] / edges,
        )  # fmt: skip
    fits = [f"{name} {exponent(rows, 'edges', name):.2f}" for name in STAGES]
    record.note("Fitted exponent over edges: " + ", ".join(fits))
    table = record.table("relation codes R", "GHRR, all R^3 sequences, ms/query")
    for row in grown:
        table.add(row["relations"], 1e3 * row["GHRR scoring"])
    slope = exponent(grown, "relations", "GHRR scoring")
    record.note(f"Fitted exponent over relations: {slope:.2f}")


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__, data=False)
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder of the results")
    parser.add_argument("--edges", type=float, nargs="+", default=[1e4, 1e5, 1e6, 1e7])
    parser.add_argument("--relations", type=int, nargs="+", default=[32, 64, 128, 256])
    parser.add_argument("--questions", type=int, default=512, help="of follow")
    parser.add_argument("--guided", type=int, default=32, help="questions of the other stages")
    parser.add_argument("--blocks", type=int, default=64, help="D of GHRR; d = 16 D")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--fresh", action="store_true", help="measure anew what is done")
    options = parser.parse_args(argv)
    record = Record(__file__, options)
    options.output.mkdir(parents=True, exist_ok=True)
    path = options.output / "scaling.json"
    done: dict[str, Any] = {"rows": [], "relations": []}
    if path.exists() and not options.fresh:
        done = json.loads(path.read_text("utf-8"))
    if not done["relations"]:
        done["relations"] = by_relations(options)
    for edges in map(int, options.edges):
        if all(row["edges"] != edges for row in done["rows"]):
            done["rows"].append(measured(edges, options))
            print(json.dumps(done["rows"][-1]), flush=True)
        done["rows"].sort(key=lambda row: row["edges"])
        write_json(path, done)
    report(record, done["rows"], done["relations"])
    record.save()
    curves = {
        name: [(row["edges"], row[name]) for row in done["rows"]]
        for name in STAGES
        if name != "tensors"
    }
    memory = {
        where: [(row["edges"], row[f"{where}_bytes"] / row["edges"]) for row in done["rows"]]
        for where in ("device", "host")
    }
    panels = {"time": curves, "memory": memory}
    try:
        save_curve_plot(
            panels,
            options.output / "scaling.png",
            x="edges",
            y=["seconds a question", "bytes an edge"],
            log=True,
        )
    except JaxkgError as error:
        print(f"no plot: {error}")


if __name__ == "__main__":
    main()
