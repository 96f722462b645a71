import dataclasses

import numpy as np
import pytest
from drawn_queries import RandomQueries
from lib.query_graphs import QueryGraphs
from query_twin import Twin, told
from value_graphs import KINDS, TIMED, timed_triples, value_triples

from jaxkg.cite import check
from jaxkg.cite.queries import query_answer
from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph, demo_graph
from jaxkg.kg.queries.sets import QuerySets
from jaxkg.kg.queries.values import Values
from jaxkg.query import (
    Count,
    Difference,
    Entities,
    Extreme,
    Intersection,
    Step,
    Union,
    Value,
    Where,
    path_query,
)
from jaxkg.search.plans import execute_paths
from jaxkg.tensors import tensor_graph


def same(device, host):
    """Equal node by node down the tree; walks may differ, but not where they lead."""
    assert device.nodes.tolist() == host.nodes.tolist()
    if device.ends is not None:
        assert len(device.ends) == len(host.nodes)


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_a_random_batch_is_executed_as_by_the_twin_and_on_the_host(seed):
    rng = np.random.default_rng(seed)
    triples = value_triples(rng)
    kg = KnowledgeGraph.from_triples(triples)
    values = Values(kg, KINDS)
    sets, twin = QuerySets(kg, values), Twin(triples, KINDS)
    drawn = RandomQueries(sets, rng)
    queries = [drawn.draw() for _ in range(40)]
    results = QueryGraphs(kg, values=values).execute(queries)
    for query, result in zip(queries, results):
        assert result.complete
        assert told(kg, result) == twin.run(query), query
        for one, other in zip(result.derived, sets.execute(query).derived):
            same(one, other)


def test_steps_at_a_time_are_executed_on_the_host_and_read_from_on_the_device():
    rng = np.random.default_rng(5)
    triples = timed_triples(rng)
    kg = KnowledgeGraph.from_triples(triples)
    values = Values(kg, TIMED)
    sets = QuerySets(kg, values)
    drawn = RandomQueries(sets, rng)
    queries = [drawn.draw() for _ in range(40)]
    executor = QueryGraphs(kg, values=values)
    batch = executor.batch(queries)
    assert batch.on_host
    for query, result in zip(queries, executor.execute(batch)):
        assert told(kg, result) == told(kg, sets.execute(query)), query


@pytest.mark.parametrize("seed", range(3))
def test_conditions_on_counts_are_those_of_the_twin_on_device_and_host(seed):
    rng = np.random.default_rng(seed)
    triples = value_triples(rng)
    kg = KnowledgeGraph.from_triples(triples)
    values = Values(kg, KINDS)
    sets, twin = QuerySets(kg, values), Twin(triples, KINDS)
    every = Entities(tuple(kg.entity_ids))
    queries = [
        Where(every, path, how, Value("number", str(number)), "count")
        for path in (("a",), ("^b",), ("c", "^a"), ("size",))
        for how in ("=", "!=", "<", "<=", ">", ">=")
        for number in (-1, 0, 1, 2)
    ]
    mixed = [Where(query, ("size",), ">", Value("number", "2")) for query in queries]
    mixed += [dataclasses.replace(q, by="value") for q in queries if q.path == ("size",)]
    for query, result in zip(
        [*queries, *mixed], QueryGraphs(kg, values=values).execute(queries + mixed)
    ):
        assert told(kg, result) == told(kg, sets.execute(query)) == twin.run(query), query
        for one, other in zip(result.derived, sets.execute(query).derived):
            same(one, other)
            assert query in mixed or one.keys.tolist() == other.keys.tolist()  # pyright: ignore


def test_what_was_counted_on_the_device_is_cited_as_on_the_host():
    people = Step(FILM, ("directed_by", "starred"))
    sets = QuerySets(FILMS)
    both = (
        Where(people, ("^directed_by",), ">=", Value("number", "1"), "count"),
        Extreme(people, ("^directed_by",), True, by="count"),
    )
    for query, result in zip(both, QueryGraphs(FILMS).execute(both)):
        answer = query_answer(sets, query, result)
        assert answer.entities
        assert check(FILMS, answer) == ()
        assert answer == query_answer(sets, query, sets.execute(query))


FILMS = demo_graph()
FILM = Entities(("Alien",))
BY = Step(FILM, ("directed_by",))


def test_walks_lead_from_the_source_to_what_was_found():
    [result] = QueryGraphs(FILMS).execute([Step(BY, ("^directed_by",))])
    [found] = result.derived
    assert found.steps is not None
    for node, steps in zip(found.nodes.tolist(), found.steps.tolist()):
        at = FILMS.entity("Alien")
        for step in steps:
            row, back = divmod(step, 2)
            head, _, tail = FILMS.triples[row].tolist()
            assert at == (tail if back else head)
            at = head if back else tail
        assert at == node


@pytest.mark.parametrize("returns", [True, False])
def test_a_relation_path_is_what_execute_paths_reaches(returns):
    tensors = tensor_graph(FILMS)
    path = ("directed_by", "^directed_by")
    topics = FILMS.entity_ids.tolist()
    codes = np.array([[FILMS.relation_code(name) for name in path]] * len(topics), np.int32)
    revisit = "any" if returns else "topic"
    reached = execute_paths(tensors, [[i] for i in range(len(topics))], codes, revisit=revisit)
    queries = [path_query((topic,), path, returns=returns) for topic in topics]
    results = QueryGraphs(FILMS, tensors=tensors).execute(queries)
    for row, result in enumerate(results):
        low, high = reached.offsets[row], reached.offsets[row + 1]
        assert sorted(reached.node[low:high].tolist()) == result.rows.tolist()


def test_a_batch_too_large_for_its_first_buckets_is_run_again():
    kg = KnowledgeGraph.from_triples(
        [(f"a{i}", "r", f"b{j}") for i in range(90) for j in range(90)]
    )
    executor = QueryGraphs(kg)
    hops = [path_query((f"a{i}",), ("r", "^r")) for i in range(3)]
    before = executor.execute([Count(hop) for hop in hops])
    assert [result.number for result in before] == [90, 90, 90]
    assert all(result.complete for result in before)
    [used] = executor._capacities.values()
    assert used.slots[1] > 4096


def test_what_outgrows_the_largest_bucket_says_so():
    kg = KnowledgeGraph.from_triples(
        [(f"a{i}", "r", f"b{j}") for i in range(90) for j in range(90)]
    )
    executor = QueryGraphs(kg)
    hop = path_query(("a0",), ("r", "^r"))
    executor.capacities(8, 32, 2, 1, topic=False).limit = 4096
    [result] = executor.execute([Difference(hop, Entities(("a0",)))])
    assert not result.complete


def test_a_query_graph_that_is_not_sound_is_named():
    with pytest.raises(JaxkgError, match="query graph 2: intersection of nothing"):
        QueryGraphs(FILMS).execute([BY, Intersection(())])


def test_equal_parts_are_executed_once():
    executor = QueryGraphs(FILMS)
    batch = executor.batch([Count(BY), BY, Intersection((BY, BY))])
    assert len(batch.operators) == 3
    assert executor.execute(batch)[0].number == 1


def test_query_graphs_that_differ_in_anything_are_executed_apart():
    executor = QueryGraphs(FILMS)
    years = ("release_year",)
    kinds = (
        [Step(BY, ("^directed_by",), returns) for returns in (True, False)],
        [Extreme(FILM, years, largest, n) for largest in (True, False) for n in (1, 2)],
        [Extreme(FILM, years, True, 1, by) for by in ("value", "count")],
        [Where(BY, ("^directed_by",), ">", Value("number", str(n)), "count") for n in (1, 2)],
        [Where(FILM, years, how, Value("date", y)) for how in ("<", ">") for y in ("1990", "1991")],
        [Intersection((BY, FILM)), Union((BY, FILM)), Difference(BY, FILM), Difference(FILM, BY)],
    )
    for some in kinds:
        apart = [executor.batch([query]).operators for query in some]
        both = executor.batch([*some, *some])
        assert len(set(both.roots)) == len(some)
        assert both.roots[: len(some)] == both.roots[len(some) :]
        assert len(both.operators) < 2 * sum(map(len, apart))
        for query, roots in zip(some, both.roots):
            assert both.operators[roots[0]] == query


def test_no_query_graph_is_no_result():
    assert QueryGraphs(FILMS).execute([]) == []


def test_a_mixed_batch_runs_in_few_programs():
    from lib.query_graphs.rounds import PROGRAMS

    from jaxkg.search.plans import execute_batch

    programs = (*PROGRAMS, execute_batch)
    for program in programs:
        program.clear_cache()  # pyright: ignore
    executor = QueryGraphs(FILMS)
    films = Step(BY, ("^directed_by",))
    years = Extreme(films, ("release_year",), True)
    shapes = [films, Count(films), Intersection((films, films)), years, Difference(films, years)]
    executor.execute(shapes * 20)
    assert sum(program._cache_size() for program in programs) <= 4  # pyright: ignore
