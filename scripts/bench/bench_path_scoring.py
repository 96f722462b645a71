"""PathHD without training beside a learned path ranker: time and memory on the same candidates.

"Equal candidates": all relation paths around the topics, scored by both for a batch of questions.
The ranker takes one product of small vectors; PathHD binds and compares every path (Eq. 3 to 5).
"System" is each as it runs, from text vectors to the best paths: the ranker looks around and scores
all, PathHD compares its list of schemas or grows a beam. "Answers" have walks and sentences too.
Text vectors are kept but in the rows "reading", which take MiniLM anew. The ranker starts as what
text alone says; training changes its weights and not its cost. Five minutes on one core.

    python scripts/bench/bench_path_scoring.py --questions 64
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxkg.kg import find_topics
from jaxkg.kg.link.topics import masked_texts
from jaxkg.learn.ranker.fit import PathRanker, label_table
from jaxkg.learn.ranker.paths import PathTable, surrounding_paths
from jaxkg.learn.ranker.train import RankerConfig
from jaxkg.score import hdc
from jaxkg.score.path_ranker import init_ranker, path_scores
from jaxkg.systems.pathhd import PathHD, PathHDSettings
from jaxkg.systems.pathhd.queries import Space, TextQuery, encode_queries
from jaxkg.systems.ranked import RankedPaths
from jaxkg.tensors import bucket, pad
from jaxkg.text import NgramHasher, TextEncoder
from jaxkg.text.best import encoder_kept, encoder_named
from jaxkg.types import NULL

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.record import Record, arguments, numbers
from lib.rows import Table
from lib.seconds import fastest
from lib.sets import sets

BLOCK = 1024
"""Paths that PathHD encodes at a time: their hypervectors are not all held at once."""


class Candidates(NamedTuple):
    """P relation paths of which each of C candidates is one; blocks have one length each."""

    blocks: np.ndarray  # [P / BLOCK, BLOCK, L] int32, NULL past the end
    question: np.ndarray  # [C] int32
    place: np.ndarray  # [C] int32 below P


def candidates(table: PathTable) -> Candidates:
    """The distinct paths by length, each length padded to whole blocks."""
    distinct, place = np.unique(table.relations, axis=0, return_inverse=True)
    length = np.sum(distinct != NULL, axis=1)
    parts, moved, begun = [], np.zeros(len(distinct), np.int64), 0
    for hops in np.unique(length):
        mine = np.flatnonzero(length == hops)
        size = -(-len(mine) // BLOCK) * BLOCK
        parts.append(pad(distinct[mine].astype(np.int32), size))
        moved[mine] = begun + np.arange(len(mine))
        begun += size
    blocks = np.concatenate(parts).reshape(-1, BLOCK, table.relations.shape[1])
    count = bucket(len(place), floor=1024)
    question, where = table.question.astype(np.int32), moved[place.ravel()].astype(np.int32)
    return Candidates(blocks, np.resize(question, count), np.resize(where, count))


@jax.jit
def ranker_scores(weights, texts, ngrams, some: Candidates) -> jax.Array:
    """[C] float32 of the ranker."""
    params, labels = weights
    paths = jnp.asarray(some.blocks).reshape(-1, some.blocks.shape[2])
    return path_scores(params, labels, texts, ngrams, paths)[some.question, some.place]


@functools.partial(jax.jit, static_argnames="algebra")
def similarities(
    algebra: hdc.Algebra, space: Space, query: TextQuery, some: Candidates
) -> jax.Array:
    """[C] float32 of PathHD: every path encoded and compared with every question."""
    whole = encode_queries(algebra, space, query, hops=some.blocks.shape[2], prefixes=False).whole

    def compared(paths: jax.Array) -> jax.Array:
        rows = jax.vmap(algebra.flatten)(hdc.encode_paths(algebra, space.table, paths))
        hop = jnp.maximum(jnp.sum(paths[0] != NULL) - 1, 0)
        return jnp.take(whole, hop, axis=1) @ rows.T

    every = jax.lax.map(compared, some.blocks)  # [P / BLOCK, B, BLOCK]
    return every[some.place // BLOCK, some.question, some.place % BLOCK]


def mebibytes(arrays: Any) -> float:
    """What arrays take."""
    return sum(leaf.nbytes for leaf in jax.tree.leaves(arrays)) / 2**20


def at_work(program: jax.stages.Compiled) -> float:
    """MiB that a program takes beside what goes in and comes out."""
    told = program.memory_analysis()
    return float("nan") if told is None else told.temp_size_in_bytes / 2**20


def untrained(relations: Sequence[str], encoder: TextEncoder, hops: int, seed: int) -> PathRanker:
    """A ranker of the default sizes as it is before its first step."""
    config = RankerConfig()
    params = init_ranker(
        2 * len(relations),
        dimension=encoder.dimension,
        width=config.width,
        hidden=config.hidden,
        buckets=config.buckets,
        hops=hops,
        key=jax.random.key(seed),
    )
    labels = label_table(encoder, relations, directed=True)
    hasher = NgramHasher(buckets=config.buckets, longest=2)
    of = encoder.name, encoder.revision
    return PathRanker((jax.device_get(params),), tuple(relations), labels, hasher, of, True)


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__)
    parser.add_argument("--sets", nargs="+", default=["webqsp", "metaqa-3"])
    parser.add_argument("--dimension", type=int, nargs="+", default=[1024, 4096], help="d")
    numbers(parser, questions=64, alone=16, rounds=3)
    options = parser.parse_args(argv)
    record = Record(__file__, options)
    kept = encoder_kept("minilm")
    times = ("ms a question", "CPU ms", "ms of one alone")
    table = record.table("set", "what", "of", *times, "MiB kept", "MiB at work")
    for name in options.sets:
        compare(table, name, options, kept, record)
    record.save()


def compare(table: Table, name: str, options: Any, kept: TextEncoder, record: Record) -> None:
    """All rows of one set."""
    world = sets(name.removesuffix("-3"), options.data)
    asked = world.questions(name, limit=options.questions)
    topics = find_topics(world.linker, asked)
    masked, texts = masked_texts(asked, topics), [question.text for question in asked]
    hops = 3 if name == "metaqa-3" else 2
    ranker = untrained(world.kg.relations, kept, hops, options.seed)
    ranked = RankedPaths.build(world.kg, ranker, kept, **world.shared)
    hyper = {
        f"PathHD, d = {dimension:,}": PathHD.build(
            world.kg,
            encoder=kept,
            settings=PathHDSettings(query="text", dimension=dimension, hops=hops),
            seed=options.seed,
            **world.shared,
        )
        for dimension in options.dimension
    }
    ones = range(min(options.alone, len(asked)))

    def add(what: str, of: str, run: Callable[[slice], Any], *memory: float) -> None:
        """Time of all questions together, and the median of one by itself."""
        best = fastest(lambda: run(slice(None)), repeats=options.rounds)
        alone = [fastest(lambda i=i: run(slice(i, i + 1)), repeats=1).seconds for i in ones]
        cells = (best.seconds / len(asked), best.cpu / len(asked), float(np.median(alone)))
        table.add(name, what, of, *(1e3 * cell for cell in cells), *memory)

    # Text vectors are taken anew here, by an encoder that keeps none.
    fresh = encoder_named("minilm")
    add("reading", "ranked", lambda rows: ranker.read(fresh, texts[rows], masked[rows]))
    add("reading", "PathHD", lambda rows: fresh(masked[rows]))

    around = [some.entities for some in topics]
    found = surrounding_paths(world.tensors, around, hops=hops, directed=True)
    shapes = [candidates(found)]
    for row in ones:
        mine = PathTable(np.zeros(len(found.of(row)), int), found.of(row), np.zeros(0), np.zeros(0))
        shapes.append(candidates(mine) if len(mine.relations) else shapes[0])

    def of_rows(rows: slice) -> Candidates:
        return shapes[0] if rows.start is None else shapes[1 + rows.start]

    views, ngrams = ranker.read(kept, texts, masked)
    weights = jax.device_put((ranker.members[0], ranker.labels))

    def by_ranker(rows: slice) -> jax.Array:
        return ranker_scores(weights, views[rows], ngrams[rows], of_rows(rows))

    program = ranker_scores.lower(weights, views, ngrams, shapes[0]).compile()
    cells = mebibytes(weights), at_work(program)
    add("equal candidates", "ranked", by_ranker, *cells)
    for of, qa in hyper.items():
        algebra, space = qa.symbols.algebra, qa.symbols.space
        query = qa.symbols.text_query(masked)

        def by_similarity(rows: slice, qa=qa, query=query) -> jax.Array:
            own = TextQuery(query.coordinates[rows])
            return similarities(qa.symbols.algebra, qa.symbols.space, own, of_rows(rows))

        program = similarities.lower(algebra, space, query, shapes[0]).compile()
        cells = mebibytes(space.table), at_work(program)
        add("equal candidates", of, by_similarity, *cells)

    add("system", "ranked", lambda rows: ranked.rank(asked[rows], topics[rows]))
    for of, qa in hyper.items():
        add("system", of, lambda rows, qa=qa: qa.retrieve(
            qa.read(asked[rows], topics[rows]), topics[rows]
        ), mebibytes((qa.symbols.space.table, qa.schemas and qa.schemas.encoded)))  # fmt: skip
    for of, qa in {"ranked": ranked, **hyper}.items():
        add("answers", of, lambda rows, qa=qa: qa.answer(asked[rows]))
    listed = "listed" if next(iter(hyper.values())).schemas else "grown by a beam"
    record.note(
        f"{name}: {len(asked)} questions, paths of {hops} hops at most, a median of "
        f"{np.median(np.diff(found.offsets)):,.0f} candidates a question, "
        f"{len(np.unique(found.relations, axis=0)):,} in all; PathHD's own are {listed}"
    )


if __name__ == "__main__":
    main()
