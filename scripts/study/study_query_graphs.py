"""Query graphs: executed right, and how fast, beside another engine in the same run.

`random`: random query graphs over small random graphs with dates and numbers, on the device and on
the host, against a twin in plain Python (`tests/twins`). `engine`: random query graphs over MetaQA,
the pooled Freebase graph and a graph with dates and numbers, against pyoxigraph running the printed
SPARQL; `many`: over many small graphs. `random` and `many` stop after some `seconds` and go on from
the `start`-th query graph. `speed`: intersections of two 2-hop relation paths over MetaQA beside
pyoxigraph, relation paths beside `execute_paths`, and the programs that a mixed batch compiles.
Small counts take minutes, those below hours.

    python scripts/study/study_query_graphs.py --random 10000 --engine 1000
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import jax
import numpy as np
from lib.ntriples import to_ntriples
from lib.query_graphs import QueryGraphs
from lib.query_graphs.rounds import PROGRAMS

from jaxkg.kg import KnowledgeGraph, read_graph
from jaxkg.kg.queries.sets import QuerySets, Result
from jaxkg.kg.queries.sparql import Terms, to_sparql
from jaxkg.kg.queries.values import Values
from jaxkg.query import (
    Count,
    Difference,
    Exists,
    Extreme,
    Intersection,
    Node,
    Query,
    Step,
    Union,
    Value,
    Where,
    inverse,
    path_query,
)
from jaxkg.search.plans import execute_batch, execute_paths

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.record import Record, arguments, numbers
from lib.seconds import fastest

sys.path += [str(Path(__file__).resolve().parents[2] / "tests" / of) for of in ("twins", "worlds")]
from drawn_queries import RandomQueries
from query_twin import Twin, told
from value_graphs import KINDS, TIMED, timed_triples, value_triples

PATHS = (
    ("directed_by", "^directed_by"),
    ("starred_actors", "^starred_actors"),
    ("written_by", "^written_by"),
    ("^starred_actors", "directed_by"),
    ("^directed_by", "starred_actors"),
)


def stretches(
    count: int, per_graph: int, options: argparse.Namespace
) -> Iterator[tuple[int, np.random.Generator, int]]:
    """Graph after graph, from the `start`-th query graph until all are drawn or the time is out:
    its number, where what is drawn comes from, and how many query graphs it gets."""
    ends = time.perf_counter() + (options.seconds or float("inf"))
    for graph in range(options.start // per_graph, -(-count // per_graph)):
        if time.perf_counter() > ends:
            return
        rng = np.random.default_rng([options.seed, graph])
        yield graph, rng, min(per_graph, count - graph * per_graph)


def against_twin(count: int, options: argparse.Namespace) -> tuple[int, int, int]:
    """Query graphs, those equal on the device, those equal on the host; every other graph tells
    when facts hold."""
    done = device = host = 0
    for graph, rng, some in stretches(count, 1000, options):
        kinds = TIMED if graph % 2 else KINDS
        triples = timed_triples(rng) if graph % 2 else value_triples(rng, 14, 40)
        kg = KnowledgeGraph.from_triples(triples)
        values = Values(kg, kinds)
        sets, twin = QuerySets(kg, values), Twin(triples, kinds)
        drawn = RandomQueries(sets, rng)
        queries = [drawn.draw() for _ in range(some)]
        for query, result in zip(queries, QueryGraphs(kg, values=values).execute(queries)):
            meant = twin.run(query)
            device += told(kg, result) == meant
            host += told(kg, sets.execute(query)) == meant
        done += some
    return done, device, host


def stored(values: Values) -> Any:
    import pyoxigraph

    store = pyoxigraph.Store()
    store.bulk_load("\n".join(to_ntriples(values)).encode(), pyoxigraph.RdfFormat.N_TRIPLES)
    return store


def same(found: Any, terms: Terms, result: Result) -> bool:
    if result.kind == "boolean":
        return bool(found) == result.truth
    if result.kind == "number":
        row = next(found, None)
        if row is None:  # of a calculation without one value a side
            return result.number is None
        number, wanted = Decimal(row["number"].value), Decimal(result.number or 0)
        # A mean is not rounded there, and the sum of nothing is 0.
        return abs(number - wanted) <= Decimal(5).scaleb(int(wanted.as_tuple().exponent) - 1)
    return {str(row["answer"]) for row in found} == {terms.entity(r) for r in result.rows.tolist()}


def against_engine(kg: KnowledgeGraph, count: int, seed: int) -> tuple[int, int, int, int]:
    """Query graphs, those that find something, those equal, those incomplete."""
    sets = QuerySets(kg)
    store, terms = stored(sets.values), Terms(kg)
    drawn = RandomQueries(sets, np.random.default_rng(seed), most=50)
    queries = [drawn.draw() for _ in range(count)]
    results = QueryGraphs(kg, values=sets.values).execute(queries)
    equal = sum(
        same(store.query(to_sparql(sets.values, query)), terms, result)
        for query, result in zip(queries, results)
    )
    return (
        count,
        sum(not result.empty for result in results),
        equal,
        sum(not result.complete for result in results),
    )


def against_engine_on_many(count: int, options: argparse.Namespace) -> tuple[int, ...]:
    """As `against_engine`, over small graphs with dates and numbers."""
    counts = np.zeros(4, int)
    for _, rng, some in stretches(count, 250, options):
        kg = KnowledgeGraph.from_triples(value_triples(rng, 40, 160))
        counts += against_engine(kg, some, int(rng.integers(2**31)))
    return tuple(counts.tolist())


def crossings(sets: QuerySets, count: int, rng: np.random.Generator) -> list[Intersection]:
    """Two 2-hop relation paths from different topics that meet in an entity."""
    kg, made = sets.kg, []
    while len(made) < count:
        meeting, branches = rng.integers(kg.num_entities), []
        for path in (PATHS[rng.integers(len(PATHS))] for _ in range(2)):
            at = np.array([meeting])
            for relation in reversed(path):
                back = inverse(relation)
                ends = sets.step(at, (back,))[0]
                at = rng.choice(ends, 1) if len(ends) else ends
            if len(at):
                branches.append(path_query((kg.entity_ids[int(at[0])],), path))
        if len(branches) == 2 and branches[0] != branches[1]:
            made.append(Intersection(tuple(branches)))
    return made


def ten_shapes(pair: Intersection) -> tuple[Query, ...]:
    """Ten query graphs from the two branches of one."""
    one, other = pair.parts
    either: Node = Union(pair.parts)
    return (
        one,
        pair,
        either,
        Difference(one, other),
        Step(pair, ("release_year",)),
        Where(either, ("release_year",), ">", Value("date", "1990")),
        Extreme(either, ("release_year",), largest=True),
        Extreme(one, ("starred_actors",), largest=True, by="count"),
        Count(pair),
        Exists(Difference(other, one)),
    )


def speed(record: Record, kg: KnowledgeGraph, options: argparse.Namespace) -> None:
    sets = QuerySets(kg)
    executor = QueryGraphs(kg, values=sets.values)
    rng = np.random.default_rng(options.seed)
    pairs = crossings(sets, options.pairs, rng)

    mixed = [query for pair in pairs[:100] for query in ten_shapes(pair)]
    jax.clear_caches()
    began = time.perf_counter()
    executor.execute(mixed)
    each = [program._cache_size() for program in (execute_batch, *PROGRAMS)]  # pyright: ignore
    record.note(
        f"a mixed batch of {len(mixed):,} query graphs of ten shapes: {sum(each)} programs {each}, "
        f"{time.perf_counter() - began:.1f} s with compiling, "
        f"{fastest(lambda: executor.execute(mixed), repeats=3).seconds:.2f} s without"
    )

    batch = executor.batch(pairs)
    # By CPU seconds too, of all threads: the clock means little where others use the machine.
    columns = "a second", "x pyoxigraph", "x by CPU seconds"
    table = record.table("intersection of two 2-hop paths", *columns)
    store, terms = stored(sets.values), Terms(kg)
    some = pairs[: options.asked]
    texts = [to_sparql(sets.values, pair) for pair in some]
    engine = fastest(lambda: [list(store.query(text)) for text in texts], repeats=3)  # pyright: ignore
    rate = len(some) / engine.seconds
    table.add("pyoxigraph, no walks", rate, 1.0, 1.0)
    runs = {
        "jaxkg, a walk per branch in arrays": lambda: executor.run(batch),
        "jaxkg, results one by one": lambda: executor.execute(batch),
        "jaxkg, from query records": lambda: executor.execute(pairs),
        "jaxkg on the host": lambda: [sets.execute(pair) for pair in some],
    }
    for name, run in runs.items():
        best = fastest(run, repeats=options.repeats)
        here = len(best.result) / best.seconds
        cpu = (len(best.result) / best.cpu) / (len(some) / engine.cpu)
        table.add(name, here, here / rate, cpu)
    results = executor.execute(batch)
    agree = sum(
        {str(row["answer"]) for row in rows} == {terms.entity(r) for r in result.rows.tolist()}
        for rows, result in zip(engine.result, results)
    )
    record.note(f"{agree:,} of {len(some):,} intersections agree with pyoxigraph")
    paths(record, kg, executor, [part for pair in pairs for part in pair.parts], options)


def paths(
    record: Record,
    kg: KnowledgeGraph,
    executor: QueryGraphs,
    queries: Sequence[Node],
    options: argparse.Namespace,
) -> None:
    topics, codes = [], []
    for query in queries:
        assert isinstance(query, Step)
        assert isinstance(query.source, Step)
        hops = (query.source.relations[0], query.relations[0])
        topics.append([kg.entity(query.source.source.ids[0])])  # pyright: ignore
        codes.append([kg.relation_code(name) for name in hops])
    relations, batch = np.array(codes, np.int32), executor.batch(queries)
    runs = {
        "execute_paths": lambda: execute_paths(executor.tensors, topics, relations, revisit="any"),
        "query graphs": lambda: executor.run(batch),
    }
    table = record.table("2-hop relation paths", "a second")
    best = dict.fromkeys(runs, 0.0)
    for _ in range(options.repeats):  # by turns, as the machine is not ours alone
        for name, run in runs.items():
            best[name] = max(best[name], len(queries) / fastest(run, repeats=1).seconds)
    for name, rate in best.items():
        table.add(name, rate)


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__)
    numbers(parser, random=1000, engine=1000, many=1000, pairs=4096, asked=200, repeats=5)
    numbers(parser, start=0, seconds=0)
    options = parser.parse_args(argv)
    record = Record(__file__, options)
    if options.random:
        table = record.table("random query graphs", "device equal", "host equal")
        table.add(*(f"{number:,}" for number in against_twin(options.random, options)))
    folder = Path(options.data)
    metaqa = read_graph(folder / "metaqa" / "kb.txt")
    if options.engine:
        rng = np.random.default_rng(options.seed)
        graphs = {
            "MetaQA": metaqa,
            "Freebase, pooled": read_graph(folder / "freebase_webqsp_cwq" / "kg_pooled.tsv"),
            "dates and numbers": KnowledgeGraph.from_triples(value_triples(rng, 2000, 8000)),
        }
        table = record.table(
            "against pyoxigraph", "query graphs", "not empty", "equal", "incomplete"
        )
        for name, kg in graphs.items():
            counts = against_engine(kg, options.engine, options.seed)
            table.add(name, *(f"{number:,}" for number in counts))
    if options.many:
        table = record.table(
            "small graphs against pyoxigraph", "query graphs", "not empty", "equal", "incomplete"
        )
        table.add(
            "dates and numbers", *(f"{n:,}" for n in against_engine_on_many(options.many, options))
        )
    if options.pairs:
        speed(record, metaqa, options)
    record.save()


if __name__ == "__main__":
    main()
