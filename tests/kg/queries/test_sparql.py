from decimal import Decimal

import numpy as np
import pytest
from drawn_queries import RandomQueries
from ntriples import to_ntriples
from value_graphs import KINDS, TIMED, timed_triples, value_triples

from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph, read_graph
from jaxkg.kg.queries.sets import QuerySets
from jaxkg.kg.queries.sparql import Terms, to_sparql
from jaxkg.kg.queries.values import Values
from jaxkg.query import Entities, Extreme, Intersection, Step, Value, Where

pyoxigraph = pytest.importorskip("pyoxigraph")


def store_of(lines):
    store = pyoxigraph.Store()
    store.load("\n".join(lines).encode(), pyoxigraph.RdfFormat.N_TRIPLES)
    return store


def agrees(store, sets, query, result):
    terms, text = Terms(sets.kg), to_sparql(sets.values, query)
    found = store.query(text)
    if result.kind == "boolean":
        return bool(found) == result.truth
    if result.kind == "number":
        if (row := next(found, None)) is None:  # a side of a calculation has not one value
            return result.number is None
        number, wanted = Decimal(row["number"].value), Decimal(result.number or 0)
        # A mean is not rounded there, and the sum of nothing is 0.
        return abs(number - wanted) <= Decimal(5).scaleb(int(wanted.as_tuple().exponent) - 1)
    if result.kind == "table":
        return table_agrees(found, sets, query, result)
    told = [str(row["answer"]) for row in found]
    assert len(told) == len(set(told))
    return set(told) == {terms.entity(row) for row in result.rows.tolist()}


def table_agrees(found, sets, query, result):
    """Rows of combinations of values against rows of cells that hold them."""
    terms, cells = Terms(sets.kg), {}
    names = [f"c{n}" for n in range(1, len(query.columns) + 1)]
    for row in found:
        key = (str(row["answer"]), str(row["member"]) if query.top else "")
        told = cells.setdefault(key, [set() for _ in names])
        for name, values in zip(names, told):
            if row[name] is not None:
                values.add(str(row[name]))
    wanted = {}
    for row in result.table:
        member = terms.entity(int(row.members[0])) if query.top else ""
        wanted[terms.entity(row.key), member] = [
            cell_told(sets, column, cell) for column, cell in zip(query.columns, row.cells)
        ]
    assert len(wanted) == len(result.table)
    return cells.keys() == wanted.keys() and all(
        same_cell(column, one, other)
        for key in wanted
        for column, one, other in zip(query.columns, cells[key], wanted[key])
    )


def cell_told(sets, column, cell):
    if cell.number is not None:
        return {Decimal(cell.number)}
    if column.by not in ("min", "max"):
        return {Terms(sets.kg).entity(end) for end in cell.ends.tolist()}
    keys = sets.values.keys[:, :, cell.ends].tolist()
    numbers = [sets.values.number(end) for end in cell.ends.tolist()]
    days = [first * 10**9 + last for first, last in zip(*keys[1])]
    return {Decimal(n[1] if n else d) for n, d in zip(numbers, days)}


def same_cell(column, told, wanted):
    if column.by == "value":
        return told == wanted
    told = {Decimal(one.split('"')[1]) for one in told}
    if column.by != "mean" or not wanted:
        return told == wanted
    [mean] = wanted
    [number] = told
    return abs(number - mean) <= Decimal(5).scaleb(int(mean.as_tuple().exponent) - 1)


def all_agree(sets, store, rng, count):
    drawn = RandomQueries(sets, rng)
    for _ in range(count):
        query = drawn.draw()
        assert agrees(store, sets, query, sets.execute(query)), to_sparql(sets.values, query)


@pytest.mark.parametrize("seed", range(4))
def test_another_engine_finds_what_holds_at_a_time(seed):
    rng = np.random.default_rng(seed)
    values = Values(KnowledgeGraph.from_triples(timed_triples(rng)), TIMED)
    all_agree(QuerySets(values.kg, values), store_of(to_ntriples(values)), rng, 25)


@pytest.mark.parametrize("seed", range(8))
def test_another_engine_finds_the_same(seed):
    rng = np.random.default_rng(seed)
    kg = KnowledgeGraph.from_triples(value_triples(rng))
    values = Values(kg, KINDS)
    all_agree(QuerySets(kg, values), store_of(to_ntriples(values)), rng, 25)


def test_another_engine_counts_the_same():
    values = Values(KnowledgeGraph.from_triples(value_triples(np.random.default_rng(3))), KINDS)
    sets, store = QuerySets(values.kg, values), store_of(to_ntriples(values))
    every = Entities(tuple(values.kg.entity_ids))
    for path in (("a",), ("b", "^c"), ("size",)):
        for how in ("=", "!=", "<", "<=", ">", ">="):
            for number in ("-1", "0", "1", "2"):
                query = Where(every, path, how, Value("number", number), "count")
                further = Step(Intersection((query, every)), ("a",))
                for one in (query, further):
                    assert agrees(store, sets, one, sets.execute(one)), one


RDF = """@prefix : <http://e/> . @prefix x: <http://www.w3.org/2001/XMLSchema#> .
:a :born "1941-05-02"^^x:date ; :size 12.5 ; :alive true ; :motto "Hej"@sv, "1990" ; :knows :b, :c .
:b :born "1941"^^x:gYear ; :size 7 ; :alive false ; :motto "Hej"@da ; :knows :c .
:c :born "1941-07"^^x:gYearMonth ; :size 7 ; :knows :a .
:d :born "1950"^^x:gYear ; :size -3 ; :motto "a \\"quoted\\" word" ; :knows :d .
"""


def test_rdf_is_asked_in_its_own_terms(tmp_path):
    path = tmp_path / "facts.ttl"
    path.write_text(RDF)
    sets = QuerySets(read_graph(path))
    store = store_of(to_ntriples(sets.values))
    all_agree(sets, store, np.random.default_rng(0), 200)


@pytest.mark.parametrize("typed", [False, True])
def test_names_in_quotes_beside_values_that_are_told_by_their_columns(typed):
    rng = np.random.default_rng(7)
    triples = value_triples(rng)
    quoted = [(head, "said", f'"{relation}, I think"') for head, relation, _ in triples[::3]]
    x = "http://www.w3.org/2001/XMLSchema#"
    if typed:
        quoted += [
            (head, "weighs", f'"{row}.5"^^<{x}decimal>') for row, (head, *_) in enumerate(triples)
        ]
        quoted += [
            (head, "met", f'"{1900 + row}"^^<{x}gYear>') for row, (head, *_) in enumerate(triples)
        ]
    values = Values(KnowledgeGraph.from_triples([*triples, *quoted]), KINDS)
    all_agree(QuerySets(values.kg, values), store_of(to_ntriples(values)), rng, 150)


def test_what_is_printed_reads_well():
    kg = KnowledgeGraph.from_triples(
        [("Alien", "by", "Scott"), ("Alien", "year", "1979"), ("a > b", "by", "http://x/y")]
    )
    films = Step(Entities(("Scott",)), ("^by",))
    text = to_sparql(Values(kg), Intersection((films, Step(Entities(("http://x/y",)), ("^by",)))))
    assert "<http://x/y>" in text
    assert "?answer <urn:jaxkg:relation:by> ?v1 ." in text
    assert any("<urn:jaxkg:entity:a%20%3E%20b>" in line for line in to_ntriples(Values(kg)))


def test_what_cannot_be_executed_is_not_printed():
    kg = KnowledgeGraph.from_triples([("Alien", "by", "Scott")])
    with pytest.raises(JaxkgError, match="cannot be ordered"):
        to_sparql(Values(kg), Extreme(Entities(("Alien",)), ("by",), True))
    where = Where(Entities(("Alien",)), (), "; DROP", Value("text", "x"))  # pyright: ignore
    with pytest.raises(JaxkgError, match="no comparison"):
        to_sparql(Values(kg), where)


def test_another_engine_reads_values_however_they_are_written():
    kg = KnowledgeGraph.from_triples(
        [("a", "born", "14.06.1987"), ("b", "born", "3 March 1990"), ("a", "high", "1.200 m")]
        + [("b", "high", "900 m")]
    )
    values = Values(kg)
    store, sets = store_of(to_ntriples(values)), QuerySets(kg, values)
    every = Entities(("a", "b"))
    for query in (
        Where(every, ("born",), "<", Value("date", "1990")),
        Where(every, ("high",), ">", Value("number", "1000")),
    ):
        result = sets.execute(query)
        assert [kg.entity_ids[row] for row in result.rows.tolist()] == ["a"]
        assert agrees(store, sets, query, result)


@pytest.mark.parametrize("typed", [False, True])
def test_another_engine_compares_times_of_day(typed):
    times = {"a": "4:30 pm", "b": "09:05", "c": "21 Uhr"}
    if typed:
        x = "http://www.w3.org/2001/XMLSchema#time"
        told = ("16:30:00", "09:05:00Z", "21:00:00.000")
        times = {name: f'"{time}"^^<{x}>' for name, time in zip(times, told)}
    kg = KnowledgeGraph.from_triples(
        [*((name, "starts", time) for name, time in times.items()), ("a", "since", "1990")]
    )
    values = Values(kg)
    store, sets = store_of(to_ntriples(values)), QuerySets(kg, values)
    every = Entities(("a", "b", "c"))
    for query, kept in (
        (Where(every, ("starts",), ">", Value("date", "10:00")), "ac"),
        (Where(every, ("starts",), "<=", Value("date", "16:30")), "ab"),
        (Where(every, ("starts",), "=", Value("date", "9 pm")), "c"),
        (Where(every, ("starts",), ">", Value("date", "1990")), ""),
        (Where(every, ("since",), "<", Value("date", "10:00")), ""),
        (Where(every, ("since",), "in", Value("date", "1990")), "a"),
        (Extreme(every, ("starts",), largest=False), "b"),
    ):
        result = sets.execute(query)
        assert [kg.entity_ids[row] for row in result.rows.tolist()] == list(kept)
        assert agrees(store, sets, query, result)


def test_another_engine_puts_times_of_day_among_days_in_the_same_order():
    days = [(f"day {n}", "when", f"2024-01-{n + 1:02}") for n in range(29)]
    kg = KnowledgeGraph.from_triples([*days, ("late", "when", "22:30")])
    values = Values(kg)
    assert (values.clocks, values.timed) == (set(), True)
    store, sets = store_of(to_ntriples(values)), QuerySets(kg, values)
    every = Entities(("day 3", "late"))
    for query in (
        Extreme(every, ("when",), largest=True),
        Where(every, ("when",), ">", Value("date", "2023")),
        Where(every, ("when",), ">", Value("date", "20:00")),
    ):
        assert agrees(store, sets, query, sets.execute(query)), query
