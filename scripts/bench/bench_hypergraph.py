"""Building and searching large hypergraphs: JF17K, and random hyperedges of arity 2 to 6.

Three minutes on two CPU cores.

    python scripts/bench/bench_hypergraph.py --questions 256 --depth 3
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import jax
import numpy as np

from jaxkg.experiments.programs import peak_memory
from jaxkg.kg.hypergraph.graph import KnowledgeHypergraph
from jaxkg.kg.hypergraph.read import read_nary
from jaxkg.kg.link.mentions import NameFinder
from jaxkg.kg.names import NameTable
from jaxkg.search.hyperedges import BeamSettings
from jaxkg.systems.proh.index import HyperIndex
from jaxkg.systems.proh.retrieval import Anchors, RetrievalSettings, Retriever
from jaxkg.tensors import pad
from jaxkg.tensors.hypergraph import tensor_hypergraph

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.record import Record, arguments, numbers
from lib.rows import Table
from lib.seconds import Laps


def random_hypergraph(edges: int, entities: int, rng: np.random.Generator) -> KnowledgeHypergraph:
    """Arity 2 to 6, uniform; a hundredth of the memberships go to a hundred hubs."""
    offsets = np.zeros(edges + 1, np.int64)
    np.cumsum(rng.integers(2, 7, edges), out=offsets[1:])
    members = rng.integers(0, entities, offsets[-1]).astype(np.int32)
    hubs = rng.random(len(members)) < 0.01
    members[hubs] = rng.integers(0, 100, np.count_nonzero(hubs))
    ids = NameTable.from_names(f"e{number:08d}" for number in range(entities))
    empty = NameTable.from_names([])
    return KnowledgeHypergraph(
        entity_ids=ids,
        entity_names=ids,
        descriptions=NameTable(np.zeros(0, np.uint8), np.zeros(entities + 1, np.int64)),
        edge_names=NameTable.from_names(["r"] * edges),
        kinds=("relation",),
        edge_kind=np.zeros(edges, np.int8),
        edge_chunk=np.full(edges, -1, np.int32),
        offsets=offsets,
        members=members,
        chunk_ids=empty,
        chunk_titles=empty,
        chunk_texts=empty,
    )


def unit(count: int, dim: int, rng: np.random.Generator) -> np.ndarray:
    vectors = rng.standard_normal((count, dim), np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def measured(
    name: str, graph: KnowledgeHypergraph, read: float, table: Table, options: argparse.Namespace
) -> None:
    rng, laps = np.random.default_rng(options.seed), Laps()
    tensors = tensor_hypergraph(graph)
    build = laps.lap()
    nodes, edges = tensors.graph.num_nodes, tensors.graph.num_edges
    prior = np.ones(nodes, np.float32)
    prior[: graph.num_entities] = 1.0 / np.maximum(tensors.degree, 1)
    questions = unit(options.questions, options.dim, rng)
    index = HyperIndex(
        graph=graph,
        encode=lambda texts: questions[[int(text) for text in texts]],
        tensors=tensors,
        chunks=None,
        entity_vectors=jax.device_put(pad(unit(graph.num_entities, options.dim, rng), nodes)),
        edge_vectors=jax.device_put(pad(unit(graph.num_edges, options.dim, rng), edges)),
        prior=jax.device_put(prior),
        name_vectors=jax.device_put(np.zeros((1, options.dim), np.float32)),
        chunk_vectors=np.zeros((0, options.dim), np.float32),
        finder=NameFinder(["nothing"]),
        bearers=np.zeros(1, np.int64),
    )
    beam = BeamSettings(
        depth=options.depth,
        width=options.width,
        seeds=2 * options.width,
        threshold=options.threshold,
    )
    retriever = Retriever(index, RetrievalSettings(beam=beam, batch_size=options.batch))
    texts = [str(number) for number in range(options.questions)]
    # Topics in proportion to how often they are mentioned: hubs are asked about most.
    topics = np.asarray(graph.members)[rng.integers(0, len(graph.members), options.questions)]
    anchors = [Anchors((int(topic),), ()) for topic in topics]
    retriever.retrieve(texts[: options.batch], anchors[: options.batch])
    laps.lap()
    found = retriever.retrieve(texts, anchors)
    seconds = laps.lap()
    table.add(
        *(name, graph.num_entities, graph.num_edges, int(tensors.degree.max()), read, build),
        *(seconds, sum(len(some.paths) for some in found)),
        sum(not some.complete for some in found),
        peak_memory() / 2**30,
    )


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__)
    numbers(
        parser, questions=256, depth=3, width=8, batch=64, hyperedges=1_000_000, entities=400_000
    )
    parser.add_argument("--threshold", type=float, default=0.1, help="least entity similarity")
    parser.add_argument("--dim", type=int, default=64, help="of the random vectors")
    options = parser.parse_args(argv)
    record, laps = Record(__file__, options), Laps()
    asked = f"{options.questions} questions, depth {options.depth}, s"
    table = record.table(
        *("hypergraph", "entities", "hyperedges", "largest degree", "read s", "to device s"),
        *(asked, "paths", "incomplete", "peak GB"),
    )
    path = options.data / "nary" / "JF17K" / "train.txt"
    if path.exists():
        graph = read_nary(path)
        measured("JF17K train", graph, laps.lap(), table, options)
    laps.lap()
    rng = np.random.default_rng(options.seed)
    graph = random_hypergraph(options.hyperedges, options.entities, rng)
    measured("random, arity 2-6", graph, laps.lap(), table, options)
    record.save()


if __name__ == "__main__":
    main()
