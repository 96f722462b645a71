import dataclasses
import json
from decimal import Decimal

import numpy as np
import pytest
from drawn_queries import RandomQueries
from query_twin import Twin, told
from value_graphs import KINDS, TIMED, timed_triples, value_triples

from jaxkg.cite import check
from jaxkg.cite.queries import query_answer
from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph
from jaxkg.kg.qualifiers import OBJECT, PREDICATE, SUBJECT
from jaxkg.kg.queries.sets import QuerySets
from jaxkg.kg.queries.values import Values
from jaxkg.query import (
    Calculation,
    Closure,
    Column,
    Compared,
    Count,
    Difference,
    Domain,
    Entities,
    Exists,
    Extreme,
    Having,
    Intersection,
    Match,
    Quantifier,
    Rows,
    Step,
    Total,
    Union,
    Value,
    Where,
    inverse,
    query_from_dict,
    query_to_dict,
)


@pytest.mark.parametrize("seed", range(20))
def test_random_query_graphs_mean_what_the_twin_says(seed):
    rng = np.random.default_rng(seed)
    triples = value_triples(rng)
    kg = KnowledgeGraph.from_triples(triples)
    values = Values(kg, KINDS)
    sets, twin = QuerySets(kg, values), Twin(triples, KINDS)
    drawn = RandomQueries(sets, rng)
    found = 0
    for _ in range(30):
        query = drawn.draw()
        result = sets.execute(query)
        assert told(kg, result) == twin.run(query), query
        assert query_from_dict(query_to_dict(query)) == query
        found += not result.empty
    assert found > 10


@pytest.mark.parametrize("seed", range(4))
def test_facts_that_hold_at_a_time_are_what_the_twin_says(seed):
    rng = np.random.default_rng(seed)
    triples = timed_triples(rng)
    kg = KnowledgeGraph.from_triples(triples)
    sets, twin = QuerySets(kg, Values(kg, TIMED)), Twin(triples, TIMED)
    drawn = RandomQueries(sets, rng)
    queries = [drawn.draw() for _ in range(30)]
    for query in queries:
        assert told(kg, sets.execute(query)) == twin.run(query), query
        assert query_from_dict(query_to_dict(query)) == query
    assert any("during" in str(query_to_dict(query)) for query in queries)


def refused(kg, query, why):
    """In one line."""
    with pytest.raises(JaxkgError) as caught:
        QuerySets(kg).execute(query)
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)


def answered(kg, query):
    """The answer, whose citations hold and whose query is JSON and back."""
    sets = QuerySets(kg)
    answer = query_answer(sets, query, sets.execute(query))
    assert check(kg, answer) == ()
    assert query_from_dict(query_to_dict(query)) == query
    return answer


def each_path_is_missed(kg, answer):
    """What an answer cites must show all that counts."""
    for place, entity in enumerate(answer.entities):
        for lost in entity.paths:
            less = tuple(path for path in entity.paths if path != lost)
            cut = [*answer.entities]
            cut[place] = dataclasses.replace(entity, paths=less)
            assert check(kg, dataclasses.replace(answer, entities=tuple(cut))) != ()


def stated(number, head, relation, tail, **said):
    about = {"subject": head, "predicate": relation, "object": tail, **said}
    node = f"_:{number}"
    return [(head, relation, tail), *((node, word, value) for word, value in about.items())]


CLUBS = KnowledgeGraph.from_triples(
    [
        *stated(1, "Ann", "plays for", "Ajax", since="2010", until="2014", role="keeper"),
        *stated(2, "Ann", "plays for", "Roma", since="2015-02", role="striker"),
        *stated(3, "Bo", "plays for", "Ajax", until="2012"),
        *stated(4, "Bo", "plays for", "Ajax", since="2016"),
        *stated(5, "Cy", "plays for", "Roma", role="keeper"),
        ("Di", "plays for", "Roma"),
    ]
)


@pytest.mark.parametrize(
    ("date", "ajax", "roma"),
    [
        ("2009", "Bo", "Cy Di"),
        ("2012", "Ann Bo", "Cy Di"),
        ("2012-12-31", "Ann Bo", "Cy Di"),
        ("2013", "Ann", "Cy Di"),
        ("2015-01", "", "Cy Di"),
        ("2015", "", "Ann Cy Di"),
        ("2024", "Bo", "Ann Cy Di"),
    ],
)
def test_a_fact_holds_between_its_beginning_and_its_end_which_may_be_open(date, ajax, roma):
    sets = QuerySets(CLUBS)
    for club, players in (("Ajax", ajax), ("Roma", roma)):
        query = Step(Entities((club,)), ("^plays for",), during=Value("date", date))
        assert told(CLUBS, sets.execute(query)) == set(players.split())


def test_what_is_said_of_a_fact_is_returned_and_demanded():
    sets = QuerySets(CLUBS)
    plays = Step(Entities(("plays for",)), (inverse(PREDICATE),))
    ends = (("Ann", SUBJECT), ("Roma", OBJECT))
    of = Intersection((plays, *(Step(Entities((end,)), (inverse(by),)) for end, by in ends)))
    assert told(CLUBS, sets.execute(Step(of, ("role",)))) == {"striker"}
    keepers = Where(plays, ("role",), "=", "keeper")
    assert told(CLUBS, sets.execute(Step(keepers, (SUBJECT,)))) == {"Ann", "Cy"}
    assert told(CLUBS, sets.execute(Step(keepers, (OBJECT,)))) == {"Ajax", "Roma"}


FILMS = KnowledgeGraph.from_triples(
    [
        ("Alien", "by", "Scott"),
        ("Legend", "by", "Scott"),
        ("Heat", "by", "Mann"),
        ("Alien", "year", "1979"),
        ("Legend", "year", "1985-07"),
        ("Heat", "year", "1995-12-15"),
        ("Alien", "cost", "11 M"),
        ("Heat", "cost", "60 M"),
        ("Scott", "is", "director"),
        ("Mann", "is", "director"),
    ]
)
SCOTTS = Step(Entities(("Scott",)), ("^by",))
MANNS = Step(Entities(("Mann",)), ("^by",))
ALL = Union((SCOTTS, MANNS))
MADE = Union((Entities(("Scott", "Mann", "Alien")), MANNS))
BEFORE_1990 = Where(ALL, ("year",), "<", Value("date", "1990"))


def made(comparison, number, path=("^by",)):
    return Where(MADE, path, comparison, Value("number", str(number)), by="count")


@pytest.mark.parametrize(
    ("query", "meant"),
    [
        (SCOTTS, {"Alien", "Legend"}),
        (Step(Step(Entities(("Alien",)), ("by",)), ("^by",)), {"Alien", "Legend"}),
        (Step(Step(Entities(("Alien",)), ("by",), False), ("^by",), False), {"Legend"}),
        (Intersection((ALL, BEFORE_1990)), {"Alien", "Legend"}),
        (Difference(ALL, SCOTTS), {"Heat"}),
        (BEFORE_1990, {"Alien", "Legend"}),
        (Where(ALL, ("year",), "in", Value("date", "1985")), {"Legend"}),
        (Where(ALL, ("year",), "=", Value("date", "1985")), set()),
        (Where(ALL, ("year",), "!=", Value("date", "1985-07-04")), {"Alien", "Heat"}),
        (Where(ALL, ("cost",), ">", Value("number", "11", "M")), {"Heat"}),
        (Where(ALL, ("cost",), ">=", Value("number", "11")), {"Alien", "Heat"}),
        (Where(ALL, ("by",), "=", "Mann"), {"Heat"}),
        (Where(ALL, (), "=", Value("text", "Heat")), {"Heat"}),
        (made("=", 0), {"Alien", "Heat"}),
        (made("=", 1), {"Mann"}),
        (made("!=", 1), {"Scott", "Alien", "Heat"}),
        (made("<", 2), {"Mann", "Alien", "Heat"}),
        (made("<=", 0), {"Alien", "Heat"}),
        (made(">", 0), {"Scott", "Mann"}),
        (made(">=", "2.0"), {"Scott"}),
        (made(">", -1), {"Scott", "Mann", "Alien", "Heat"}),
        (made("=", 1, ("^by", "by")), {"Scott", "Mann"}),
        (Count(made(">=", 1, ("^by", "year"))), 2),
        (Extreme(ALL, ("year",), largest=False), {"Alien"}),
        (Extreme(ALL, ("cost",), largest=True), {"Heat"}),
        (Extreme(Union((SCOTTS, MANNS)), ("by", "^by"), True, by="count"), {"Alien", "Legend"}),
        (Extreme(Step(ALL, ("year",)), (), largest=True), {"1995-12-15"}),
        (Count(ALL), 3),
        (Total(ALL, ("cost",)), Decimal(71)),
        (Total(ALL, ("cost",), "mean"), Decimal("35.5")),
        (Total(Union((ALL, Entities(("Mann",)))), ("by", "^by", "cost")), Decimal(82)),
        (Total(Entities(("Legend",)), ("cost",), "mean"), None),
        (Exists(Intersection((SCOTTS, MANNS))), False),
        (
            Compared(
                Step(Entities(("Alien",)), ("year",)), "<", Step(Entities(("Heat",)), ("year",))
            ),
            True,
        ),
        (Compared(SCOTTS, "=", MANNS), False),
        (Compared(Count(SCOTTS), ">", Count(MANNS)), True),
    ],
)
def test_every_operator(query, meant):
    assert told(FILMS, QuerySets(FILMS).execute(query)) == meant


SHOP = KnowledgeGraph.from_triples(
    [
        *((name, "in", "drinks") for name in ("tea", "milk")),
        *((name, "in", "food") for name in ("bun", "pie", "rye")),
        *(("tea", "price", "3"), ("milk", "price", "2"), ("bun", "price", "1")),
        *(("pie", "price", "5"), ("rye", "price", "5"), ("ice", "by", "Ann"), ("pie", "by", "Bo")),
    ]
)
GOODS = Union((Domain(("in",)), Entities(("ice",))))
PRICE, NUMBER, MEAN = Column(("price",)), Column((), "count"), Column(("price",), "mean")


@pytest.mark.parametrize(
    ("query", "meant"),
    [
        (
            Rows(GOODS, (PRICE, Column(("by",)))),
            "bun 1 -, ice - Ann, milk 2 -, pie 5 Bo, rye 5 -, tea 3 -",
        ),
        (Rows(GOODS, (NUMBER, MEAN), ("in",), order=1), "food 3 3.67, drinks 2 2.5"),
        (
            Rows(GOODS, (Column(("price",), "min"), Column(("price",), "sum")), ("in",)),
            "drinks 2 5, food 1 11",
        ),
        (Rows(GOODS, (PRICE,), order=1), "pie 5, rye 5, tea 3, milk 2, bun 1, ice -"),
        (Rows(GOODS, (PRICE,), order=1, first=2, last=3), "pie 5, rye 5, tea 3"),
        (Rows(GOODS, (PRICE,), order=1, first=3, last=3), "tea 3"),
        (Rows(GOODS, (PRICE,), order=1, largest=False, first=4), "pie 5, rye 5"),
        (Rows(GOODS, (PRICE,), order=1, first=9, last=9), ""),
        (Rows(GOODS, (PRICE,), ("in",), order=1, top=1), "drinks 3, food 5, food 5"),
        (
            Rows(GOODS, (NUMBER,), ("in",), (Having(1, ">", Value("number", "2")),)),
            "food 3",
        ),
        (
            Rows(GOODS, (Column(()), NUMBER), ("in",), order=2),
            "food bun; pie; rye 3, drinks milk; tea 2",
        ),
    ],
)  # fmt: skip
def test_a_table_tells_rows_of_things_or_of_groups(query, meant):
    sets = QuerySets(SHOP)
    result = sets.execute(query)
    told = [
        " ".join([SHOP.name(row.key), *(cell.words(sets.values) or "-" for cell in row.cells)])
        for row in result.table
    ]
    assert ", ".join(told) == meant
    assert query_from_dict(json.loads(json.dumps(query_to_dict(query)))) == query


def test_means_that_look_alike_when_rounded_are_still_ordered():
    facts = [("a", n) for n in 99 * "1" + "2"] + [("b", n) for n in 109 * "1" + "2"]
    kg = KnowledgeGraph.from_triples(
        row
        for number, (group, size) in enumerate(facts)
        for row in ((f"x{number}", "in", group), (f"x{number}", "size", size))
    )
    mean = Column(("size",), "mean")
    query = Rows(Domain(("in",)), (mean,), ("in",), (Having(1, ">=", Value("number", "1.01")),))
    sets = QuerySets(kg)
    assert [kg.name(row.key) for row in sets.execute(query).table] == ["a"]
    ordered = Rows(Domain(("in",)), (mean,), ("in",), order=1, largest=False, last=1)
    [row] = sets.execute(ordered).table
    assert (kg.name(row.key), row.cells[0].words(sets.values)) == ("b", "1.01")


@pytest.mark.parametrize(
    ("query", "why"),
    [
        (Rows(GOODS, ()), "no columns"),
        (Rows(GOODS, [PRICE]), "a tuple of columns"),  # pyright: ignore
        (Rows(GOODS, (Column(("cost",)),)), "no relation 'cost'"),
        (Rows(GOODS, (PRICE,), ("kind",)), "no relation 'kind'"),
        (Rows(GOODS, (Column(("in",), "sum"),)), "cannot be added up"),
        (Rows(GOODS, (Column(("in",), "max"),)), "cannot be ordered"),
        (Rows(GOODS, (Column(("in",), "least"),)), "a column is by"),  # pyright: ignore
        (Rows(GOODS, (PRICE,), order=2), "none of number 2"),
        (Rows(GOODS, (Column(()),), order=1), "has no order"),
        (Rows(GOODS, (PRICE,), order=1, first=3, last=2), "the last comes before the first"),
        (Rows(GOODS, (PRICE,), last=2), "require an order"),
        (Rows(GOODS, (PRICE,), order=1, top=2), "requires groups"),
        (Rows(GOODS, (PRICE,), order=1, first=0), "from 1"),
        (Rows(GOODS, (PRICE,), having=(Having(1, ">", Value("number", "2")),)), "a number in a"),
        (Rows(GOODS, (NUMBER,), having=(Having(1, ">", Value("number", "two")),)), "'two'"),
        (Rows(GOODS, (NUMBER,), having=(Having(1, "in", Value("number", "2")),)), "'in'"),
        (Step(Rows(GOODS, (PRICE,)), ("in",)), "rows must be the root"),  # pyright: ignore
    ],
)
def test_a_table_that_cannot_be_told_is_refused_in_one_line(query, why):
    refused(SHOP, query, why)


@pytest.mark.parametrize("columns", [[["price"]], [{"path": ["price"], "more": 1}], [{}], "price"])
def test_columns_that_are_none_are_refused_as_json(columns):
    raw = query_to_dict(Rows(GOODS, (PRICE,))) | {"columns": columns}
    with pytest.raises(JaxkgError):
        query_from_dict(raw)


KINDS_OF = KnowledgeGraph.from_triples(
    [
        *(("cat", "is_a", "pet"), ("dog", "is_a", "pet"), ("pet", "is_a", "animal")),
        *(("cat", "is_a", "hunter"), ("hunter", "is_a", "animal"), ("Tom", "type", "cat")),
        *(("egg", "from", "hen"), ("hen", "from", "egg"), ("Eve", "from", "Eve")),
    ]
)


def kinds_of(start, *relations, closure: Closure = "+", returns=True):
    return Step(Entities((start,)), relations, returns, closure)


@pytest.mark.parametrize(
    ("query", "meant"),
    [
        (kinds_of("cat", "is_a"), {"pet", "hunter", "animal"}),
        (kinds_of("cat", "is_a", closure="*"), {"cat", "pet", "hunter", "animal"}),
        (kinds_of("animal", "^is_a"), {"pet", "hunter", "cat", "dog"}),
        (kinds_of("animal", "^is_a", "^type"), {"pet", "hunter", "cat", "dog", "Tom"}),
        (Step(kinds_of("animal", "^is_a", closure="*"), ("^type",)), {"Tom"}),
        (kinds_of("egg", "from"), {"egg", "hen"}),
        (kinds_of("egg", "from", returns=False), {"hen"}),
        (kinds_of("Eve", "from"), {"Eve"}),
        (kinds_of("animal", "is_a"), set()),
        (kinds_of("animal", "is_a", closure="*"), {"animal"}),
        (
            Step(kinds_of("cat", "is_a", returns=False), ("^is_a",), False, "+"),
            {"pet", "hunter", "dog"},
        ),
    ],
)
def test_a_closure_walks_until_nothing_is_new(query, meant):
    assert told(KINDS_OF, QuerySets(KINDS_OF).execute(query)) == meant
    assert query_from_dict(query_to_dict(query)) == query


STAFF = KnowledgeGraph.from_triples(
    [
        *(("Ann", "lives in", "Rome"), ("Ann", "office", "HQ"), ("HQ", "in", "Rome")),
        *(("Bo", "lives in", "Bonn"), ("Bo", "office", "HQ"), ("Cy", "lives in", "Rome")),
        *(
            ("Ann", "earns", "10"),
            ("Ann", "spends", "9"),
            ("Bo", "earns", "5"),
            ("Bo", "spends", "7"),
        ),
        *(("Bo", "likes", "Ann"), ("Cy", "likes", "Cy"), ("Ann", "spends", "12")),
    ]
)
EVERYONE = Domain(("lives in",))


@pytest.mark.parametrize(
    ("query", "meant"),
    [
        (Match(EVERYONE, ("lives in",), "=", ("office", "in")), {"Ann"}),
        (Match(EVERYONE, ("lives in",), "!=", ("office", "in")), {"Bo"}),
        (Match(EVERYONE, ("earns",), ">", ("spends",)), {"Ann"}),
        (Match(EVERYONE, ("earns",), "<", ("spends",)), {"Ann", "Bo"}),
        (Match(EVERYONE, (), "=", ("likes",)), {"Cy"}),
        (Count(Match(EVERYONE, ("likes",), "!=", ())), 1),
    ],
)
def test_two_paths_of_one_thing_are_compared(query, meant):
    assert told(STAFF, QuerySets(STAFF).execute(query)) == meant
    answered(STAFF, query)


PIZZAS = KnowledgeGraph.from_triples(
    [
        *(("Marinara", "topping", "garlic"), ("Marinara", "topping", "tomato")),
        *(("Parma", "topping", "ham"), ("Parma", "topping", "tomato")),
        *(("Meat", "topping", "ham"), ("Meat", "topping", "salami"), ("Base", "price", "3")),
        *(("garlic", "is", "vegetable"), ("tomato", "is", "vegetable"), ("Meat", "price", "9")),
        *(("ham", "is", "meat"), ("salami", "is", "meat"), ("ham", "made of", "pork")),
    ]
)
MENU, ON = Entities(("Base", "Marinara", "Meat", "Parma")), ("topping",)
VEGETABLES = Step(Entities(("vegetable",)), ("^is",))


@pytest.mark.parametrize(
    ("query", "meant"),
    [
        (Quantifier(MENU, ON, VEGETABLES), {"Base", "Meat"}),
        (Quantifier(MENU, ON, VEGETABLES, "=", 1), {"Parma"}),
        (Quantifier(MENU, ON, VEGETABLES, ">=", 1), {"Marinara", "Parma"}),
        (Quantifier(MENU, ON, VEGETABLES, by="outside"), {"Marinara"}),
        (Quantifier(MENU, ON, VEGETABLES, "!=", 0, "outside"), {"Meat", "Parma"}),
        (Quantifier(MENU, ON, VEGETABLES, by="missing"), {"Marinara"}),
        (Quantifier(MENU, ON, VEGETABLES, "=", 1, "missing"), {"Parma"}),
        (Quantifier(MENU, ON, Step(VEGETABLES, ("^is",)), by="missing"), set()),
        (Quantifier(MENU, ("topping", "is"), Entities(("meat",)), by="outside"), {"Meat"}),
        (Count(Quantifier(MENU, ON, Entities(("ham", "salami")), "<", 2)), 3),
    ],
)
def test_as_many_ends_as_wanted_are_in_a_set(query, meant):
    assert told(PIZZAS, QuerySets(PIZZAS).execute(query)) == meant
    answer = answered(PIZZAS, query)
    if meant != 3:
        each_path_is_missed(PIZZAS, answer)


@pytest.mark.parametrize(
    ("query", "why"),
    [
        (Quantifier(MENU, (), VEGETABLES), "path is empty"),
        (Quantifier(MENU, ON, VEGETABLES, "=", -1), "a whole number from 0"),
        (Quantifier(MENU, ON, VEGETABLES, "in"), "do not compare by 'in'"),
        (Quantifier(MENU, ON, VEGETABLES, by="some"), "not by 'some'"),  # pyright: ignore
        (Quantifier(MENU, ON, Count(VEGETABLES)), "must be the root"),  # pyright: ignore
    ],
)
def test_a_quantifier_of_another_kind_is_refused_in_one_line(query, why):
    refused(PIZZAS, query, why)


LIVES = KnowledgeGraph.from_triples(
    [
        *(("Ada", "born", "1815-12-10"), ("Ada", "died", "1852-11-27"), ("Ada", "height", "1.6 m")),
        *(("Bo", "born", "1800"), ("Bo", "height", "2 m"), ("Bo", "height", "1.9 m")),
        *(("Cy", "height", "1.2 m"), ("Cy", "debts", "0"), ("Cy", "born", "1815-12-11")),
        *(("Dee", "debts", "7"), ("Dee", "debts", "3"), ("Ed", "debts", "9")),
        *(("Flo", "born", "-0044-03-15"), ("Ada", "knows", "Bo"), ("Ada", "knows", "Cy")),
    ]
)


def of(name, relation):
    return Step(Entities((name,)), (relation,))


@pytest.mark.parametrize(
    ("left", "by", "right", "words"),
    [
        (of("Ada", "height"), "difference", of("Cy", "height"), "0.4 m"),
        (of("Ada", "height"), "sum", of("Cy", "height"), "2.8 m"),
        (of("Ada", "height"), "ratio", of("Cy", "height"), "1.33333"),
        (of("Cy", "height"), "difference", of("Ada", "height"), "-0.4 m"),
        (of("Ada", "died"), "years", of("Ada", "born"), "36 years"),
        (of("Ada", "died"), "days", of("Ada", "born"), "13502 days"),
        (of("Ada", "born"), "days", of("Cy", "born"), "-1 days"),
        (of("Ada", "born"), "years", of("Flo", "born"), "1859 years"),
        (of("Ada", "born"), "years", of("Bo", "born"), "15 years"),
        (Count(of("Ada", "knows")), "difference", Count(of("Bo", "knows")), "2"),
        (Count(of("Ada", "knows")), "ratio", Count(of("Bo", "knows")), "divided by 0"),
        (of("Ed", "debts"), "ratio", of("Cy", "debts"), "divided by 0"),
        (of("Ada", "height"), "ratio", of("Bo", "height"), "the second has 2 values"),
        (of("Dee", "height"), "difference", of("Bo", "height"), "the first has 0 values"),
    ],
)
def test_two_values_are_reckoned_with(left, by, right, words):
    answer = answered(LIVES, Calculation(left, by, right))
    if answer.abstained:
        assert words in answer.abstained
        return
    assert [entity.name for entity in answer.entities] == [words]
    assert any("first days" in note for note in answer.notes) == (
        "Bo" in str(right) and by == "years"
    )
    each_path_is_missed(LIVES, answer)


@pytest.mark.parametrize(
    ("query", "why"),
    [
        (Calculation(of("Ada", "born"), "ratio", of("Bo", "born")), "ratio is of two numbers"),
        (Calculation(of("Ada", "height"), "days", of("Bo", "height")), "days is of two dates"),
        (Calculation(of("Ada", "knows"), "years", of("Bo", "born")), "cannot be compared"),
        (Calculation(of("Ed", "debts"), "difference", of("Bo", "height")), "numbers in units"),
        (Calculation(of("Ed", "debts"), "product", of("Ed", "debts")), "not by 'product'"),  # pyright: ignore
        (Count(Calculation(of("Ed", "debts"), "ratio", of("Ed", "debts"))), "be the root"),  # pyright: ignore
    ],
)
def test_values_that_are_not_reckoned_with_are_refused_in_one_line(query, why):
    refused(LIVES, query, why)


@pytest.mark.parametrize(
    ("query", "why"),
    [
        (Match(EVERYONE, (), "=", ()), "both paths are empty"),
        (Match(EVERYONE, ("earns",), "=", ("likes",)), "cannot be compared"),
        (Match(EVERYONE, ("lives in",), "<", ("office",)), "no values to order"),
        (Match(EVERYONE, ("earns",), "in", ("spends",)), "as dates are"),
        (Match(EVERYONE, ("pays",), "=", ("spends",)), "no relation 'pays'"),
        (Match(EVERYONE, ("earns",), "=", "spends"), "requires a tuple"),  # pyright: ignore
    ],
)
def test_paths_that_do_not_compare_are_refused_in_one_line(query, why):
    refused(STAFF, query, why)


LOOP = Union((SCOTTS,))
object.__setattr__(LOOP, "parts", (LOOP,))
CHAIN = Step(SCOTTS, ("by",))
object.__setattr__(CHAIN, "source", CHAIN)


@pytest.mark.parametrize(
    ("query", "why"),
    [
        (Entities(()), "no entity"),
        (Entities(("Aliens",)), "Alien"),
        (Entities("Alien"), "entities requires a tuple of entities, not 'Alien'"),  # pyright: ignore
        (Entities((3,)), "entities requires a tuple of entities"),  # pyright: ignore
        (Step(SCOTTS, (3,)), "step requires a tuple of relations"),  # pyright: ignore
        (Where(ALL, ("cost",), "<", Value("number", 5)), "a text"),  # pyright: ignore
        (Step(SCOTTS, ["by"]), "step requires a tuple of relations"),  # pyright: ignore
        (Step(SCOTTS, "by"), "step requires a tuple of relations"),  # pyright: ignore
        (Intersection([SCOTTS, MANNS]), "requires a tuple of query graphs"),  # pyright: ignore
        (Where(ALL, "by", "=", "Mann"), "where requires a tuple of relations"),  # pyright: ignore
        (Step(SCOTTS, ()), "one relation"),
        (Step(SCOTTS, ("by",), closure="?"), 'a closure is "+"'),  # pyright: ignore
        (Step(SCOTTS, ("by",), during=Value("number", "1990")), "during a date"),
        (Step(SCOTTS, ("by",), during="1990"), "during a date"),  # pyright: ignore
        (Step(SCOTTS, ("by",), during=Value("date", "soon")), "no date 'soon'"),
        (Step(SCOTTS, ("by",), during=Value("date", "16:30")), "facts hold on days"),
        (Step(SCOTTS, ("by",), True, "+", Value("date", "1990")), "at no time"),
        (Step(SCOTTS, ("directed",), closure="+"), "no relation 'directed'"),
        (Step(SCOTTS, ("directed",)), "no relation 'directed'"),
        (Domain(()), "a domain requires one relation"),
        (Domain(("directed",)), "no relation 'directed'"),
        (Extreme(Domain(("by",)), (), True), "what ^by leads to cannot be ordered"),
        (Intersection(()), "intersection of nothing"),
        (Union(()), "union of nothing"),
        (Count(Count(SCOTTS)), "be the root"),  # pyright: ignore
        ("Alien", "no query graph operator"),
        (LOOP, "more than 64"),
        (CHAIN, "more than 64"),
        (Step(Step(Count(SCOTTS), ("by",)), ("by",)), "count must be the root"),  # pyright: ignore
        (Step(Step("Alien", ("by",)), ("by",)), "no query graph operator"),  # pyright: ignore
        (Where(ALL, ("year",), "<", Value("number", "5")), "cannot be compared"),
        (Where(ALL, ("year",), "<", Value("date", "long ago")), "no date 'long ago'"),
        (Where(ALL, ("year",), "~", Value("date", "1990")), "no comparison '~'"),  # pyright: ignore
        (Where(ALL, ("cost",), "<", Value("number", "5", "km")), "in units 'M'"),
        (Where(ALL, ("cost",), "in", Value("number", "5")), "as dates are"),
        (Where(ALL, ("by",), "<", "Scott"), "by = and != alone"),
        (Where(ALL, ("by",), "=", "director"), "no entity has 'director'"),
        (Where(ALL, ("by",), "=", "actor"), "no entity 'actor'"),
        (made("in", 1), "count values are not `in` each other"),
        (made("~", 1), "no comparison '~'"),
        (made("<", 1.5), "a count compares with a whole number such as 3, not with Value"),
        (made("<", "2 km"), "a whole number"),
        (made("<", "many"), "a whole number"),
        (made("<", 2**31), "a whole number"),
        (made("<", "1e200"), "a whole number"),
        (made("<", 1, ()), "where counts along a path, but"),
        (Where(ALL, ("by",), "=", "Mann", by="count"), "a whole number"),
        (Where(ALL, ("year",), "=", Value("date", "1990"), by="count"), "a whole number"),
        (Where(ALL, ("by",), "=", "Mann", by="sum"), 'where goes by "value" or "count"'),  # pyright: ignore
        (Extreme(ALL, ("by",), True), "cannot be ordered"),
        (Extreme(ALL, (), True), "cannot be ordered"),
        (Extreme(ALL, (), True, by="count"), "counts along a path, but"),
        (Extreme(ALL, ("year",), True, 0), "at least 1"),
        (Total(ALL, ()), "a total adds up along a path, but"),
        (Total(ALL, ("by",)), "the values of by cannot be added up: they are things"),
        (Total(ALL, ("year",)), "the values of year cannot be added up: they are dates"),
        (Total(ALL, ("pay",)), "no relation 'pay'"),
        (Total(ALL, "cost"), "total requires a tuple of relations"),  # pyright: ignore
        (Total(ALL, ("cost",), "max"), '"sum" or "mean", not by \'max\''),  # pyright: ignore
        (Compared(Total(ALL, ("cost",)), "<", Count(ALL)), "total must be the root"),  # pyright: ignore
        (Compared(SCOTTS, "<", MANNS), "no values to order"),
        (Compared(SCOTTS, "<", Step(ALL, ("year",))), "cannot be compared"),
        (Compared(Count(SCOTTS), "<", MANNS), "another count"),
    ],
)
def test_what_cannot_be_executed_is_refused_in_one_line(query, why):
    refused(FILMS, query, why)


@pytest.mark.parametrize(
    "raw",
    [
        None,
        {"operator": "sum"},
        {"operator": ["count"]},
        {"operator": "count"},
        {"operator": "entities", "ids": "Alien"},
        {"operator": "entities", "ids": ["Alien"], "more": 1},
        {"operator": "step", "source": {"operator": "entities", "ids": []}, "relations": [3]},
    ],
)
def test_json_that_is_no_query_graph_is_refused(raw):
    with pytest.raises(JaxkgError):
        query_from_dict(raw)


def test_a_condition_on_a_count_is_json_and_back():
    query = made(">=", 2)
    raw = query_to_dict(query)
    assert raw["by"] == "count"
    assert query_from_dict(raw) == query
    del raw["by"]
    assert query_from_dict(raw) == dataclasses.replace(query, by="value")


def test_numbers_of_several_units_are_not_added_up_and_none_is_lost():
    heavy = [("a", "heavy", "1e30"), ("b", "heavy", "1e-30"), ("c", "heavy", "1")]
    kg = KnowledgeGraph.from_triples([("a", "long", "2 km"), ("b", "long", "3 kg"), *heavy])
    sets = QuerySets(kg, Values(kg, {"long": "number", "heavy": "number"}))
    every = Domain(("heavy",))
    with pytest.raises(JaxkgError, match=r"their units are \['kg', 'km'\]"):
        sets.execute(Total(every, ("long",)))
    assert sets.execute(Total(every, ("heavy",))).words == "1" + "0" * 29 + "1." + "0" * 29 + "1"


def test_a_total_tells_its_unit_and_a_mean_two_digits_more_than_its_numbers():
    facts = [("a", "long", "2 km"), ("b", "long", "2.5 km"), ("c", "long", "3 km")]
    sets = QuerySets(KnowledgeGraph.from_triples([*facts, ("d", "of", "a")]))
    assert sets.execute(Total(Domain(("long",)), ("long",))).words == "7.5 km"
    assert sets.execute(Total(Entities(("a", "c")), ("long",), "mean")).words == "2.5 km"
    thirds = Total(Entities(("a", "b", "c")), ("long",), "mean")
    assert sets.execute(thirds).words == "2.5 km"
    whole = [("a", "n", "1"), ("b", "n", "1"), ("c", "n", "0")]
    sets = QuerySets(KnowledgeGraph.from_triples(whole))
    assert sets.execute(Total(Domain(("n",)), ("n",), "mean")).words == "0.67"
    assert sets.execute(Total(Domain(("n",)), ("n",))).number == 2  # equal numbers are not one


def test_a_walk_comes_with_everything_found():
    sets = QuerySets(FILMS)
    for query in (SCOTTS, BEFORE_1990, Extreme(ALL, ("year",), largest=False)):
        [found] = sets.execute(query).derived
        assert found.steps is not None
        assert len(found.steps) == len(found.nodes) > 0
        for node, steps in zip(found.nodes.tolist(), found.steps.tolist()):
            triple, back = divmod(steps[0], 2)
            head, _, tail = FILMS.triples[triple].tolist()
            assert node == ((head if back else tail) if query is SCOTTS else head)
