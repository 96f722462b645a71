import dataclasses
import functools

import numpy as np
import pytest
from drawn_queries import RandomQueries
from sentence_twin import Grammar
from value_graphs import KINDS, TIMED, timed_triples, value_triples

from jaxkg.kg import KnowledgeGraph
from jaxkg.kg.builtin import demo_graph
from jaxkg.kg.queries.literals import as_number
from jaxkg.kg.queries.sets import QuerySets
from jaxkg.kg.queries.values import Values
from jaxkg.query import (
    Calculation,
    Compared,
    Count,
    Difference,
    Domain,
    Entities,
    Exists,
    Extreme,
    Intersection,
    Match,
    Quantifier,
    Rows,
    Step,
    Total,
    Value,
    Where,
    path_query,
)
from jaxkg.readings import say


def prefixed():
    """Classes in the ids alone; a city and a river of one name."""
    triples = []
    for city, state, people in (("austin", "texas", 961), ("salem", "oregon", 175)):
        triples += [
            (f"city/{city}", "state", f"state/{state}"),
            (f"city/{city}", "city_population", f"{people}000"),
            (f"city/{city}", "founded", f"18{people % 90 + 10}"),
            (f"state/{state}", "state_population", f"{people}0000"),
            (f"state/{state}", "capital", f"city/{city}"),
        ]
    triples += [
        ("state/delaware", "capital", "city/dover"),
        ("city/dover", "city_population", "38000"),
        ("river/delaware", "flows into", "state/delaware"),
        ("river/rio grande", "traverses", "state/texas"),
    ]
    names = {end: end.split("/")[1].title() for row in triples for end in row[::2] if "/" in end}
    return KnowledgeGraph.from_triples(triples, names=names)


def typed():
    """Classes as facts, units, a verb, and nodes without a name."""
    triples = [
        ("_:b1", "on", "Alien"),
        ("_:b1", "seats", "120"),
        ("_:b2", "on", "Heat"),
        ("_:b2", "seats", "80"),
        ("Rex", "has show", "_:b1"),
        ("Rex", "has show", "_:b2"),
        ("Rex", "type", "Cinema"),
        ("Ann", "type", "Person"),
        ("Bob", "type", "Person"),
        ("Ann", "works for", "Rex"),
        ("Bob", "works for", "Rex"),
        ("Bob", "knows", "Ann"),
        ("Ann", "height", "170 cm"),
        ("Bob", "height", "182 cm"),
        ("Ann", "member", "true"),
        ("Bob", "member", "false"),
    ]
    triples += [(film, "type", "Film") for film in ("Alien", "Heat")]
    return KnowledgeGraph.from_triples(triples)


AWKWARD = (
    "either Or", "A or B", "the end", "Life is what it is", "What [a] day", 'The "Q"', "true", "it",
    "1860", "3 of 4", "12 Monkeys", "Gone with the most", "and whose", "a", " spaced ", "who?",
    "Rome except Milan", "state of Rome", "works for", "of", "Ann works for", "things", "nothing",
    "in", "naïve – ünï", "🎬", "an entry (on: Heat)", "cities whose", "everything", "Dover (city)",
)  # fmt: skip
LABELS = (
    "place", "place of birth", "birth", "is", "works for", "works", "has part", "part", "sum of",
    "sum", "number", "one", "largest", "other", "3 largest", "is part of", "also played with", "of",
    "has", "or", "city whose", "place's", "owned by", "owned by or", "A", "a", "linked to", "state",
    "what", "with the most", "something", 'the "x"', "number of employees", "is of", "it", "else",
)  # fmt: skip


def awkward():
    """Names and labels that read as words of a sentence."""
    rng = np.random.default_rng(3)
    triples = [
        (AWKWARD[rng.integers(len(AWKWARD))], label, AWKWARD[rng.integers(len(AWKWARD))])
        for label in LABELS
        for _ in range(4)
    ]
    triples += [(name, "place", AWKWARD[0]) for name in AWKWARD]
    return KnowledgeGraph.from_triples(
        [*triples, ("x/1", "y", "x/2"), ("x/2", "x/y", "x/1"), ("a place", "x y", "x/1")],
        names={"x/1": "A or B", "x/2": "A or B"},
        relation_names={"y": ["place"], "x/y": ["part"]},
    )


GRAPHS = {
    "films": demo_graph,
    "cities": prefixed,
    "cinema": typed,
    "awkward": awkward,
    "values": lambda: KnowledgeGraph.from_triples(value_triples(np.random.default_rng(5))),
    "times": lambda: KnowledgeGraph.from_triples(timed_triples(np.random.default_rng(5))),
}


def plain(kg, part):
    """A query graph without what means nothing.

    Numbers have their units apart ("182 cm" in cm is 182 in cm), and a step returns where it could
    not lead to what its chain of steps began with.
    """
    if isinstance(part, Rows):
        # Columns that are told alike are one.
        part = dataclasses.replace(
            part,
            having=tuple(
                dataclasses.replace(h, column=first_like(part, h.column)) for h in part.having
            ),
            order=part.order and first_like(part, part.order),
        )
    if isinstance(part, Value) and part.kind == "number":
        number, unit = as_number(part.text)  # pyright: ignore
        return Value("number", str(number), part.unit or unit)
    if isinstance(part, tuple):
        return tuple(plain(kg, one) for one in part)
    if not dataclasses.is_dataclass(part):
        return part
    fields = {f.name: plain(kg, getattr(part, f.name)) for f in dataclasses.fields(part)}
    if isinstance(part, Step) and not part.returns:
        first, closes = part, part.closure
        while isinstance(first.source, Step):
            first = first.source
            closes = closes or first.closure
        left = {head for name in first.relations for head, _ in facts_of(kg, name)}
        right = {tail for name in part.relations for _, tail in facts_of(kg, name)}
        if closes:
            comes_back = True
        elif first is part:
            comes_back = any(
                head == tail for name in part.relations for head, tail in facts_of(kg, name)
            )
        else:
            comes_back = left & right
        fields["returns"] = not (isinstance(first.source, Entities) and comes_back)
    return type(part)(**fields)


def first_like(rows, number):
    return rows.columns.index(rows.columns[number - 1]) + 1


@functools.cache
def facts_of(kg, relation):
    name, way = relation.removeprefix("^"), -1 if relation.startswith("^") else 1
    return {(h, t)[::way] for h, r, t in map(kg.triple, range(kg.num_triples)) if r == name}


def read_back(name, count, seed):
    kg = GRAPHS[name]()
    values = Values(kg, {"values": KINDS, "times": TIMED}.get(name))
    grammar, drawn = Grammar(kg), RandomQueries(QuerySets(kg, values), np.random.default_rng(seed))
    for _ in range(count):
        query = drawn.draw()
        sentence = say(kg, query)
        assert plain(kg, grammar.read(sentence)) == plain(kg, query), sentence


def of(topic, *relations):
    return path_query((topic,), relations)


FILMS = of("Ridley Scott", "^directed_by")
CITIES = of("state/texas", "^state")
STAFF = of("Rex", "^works for")
EVERY = Step(Entities(("Person",)), ("^type",))
PEOPLE = Domain(("city_population",))
BEFORE = Value("date", "1990")
SENTENCES = {
    "films": [
        (Entities(("Alien",)), "Alien"),
        (Entities(("Alien", "12 Monkeys")), "either Alien or 12 Monkeys"),
        (Entities(("Steve McQueen (actor)",)), "Steve McQueen (Steve McQueen (actor))"),
        (of("Alien", "directed_by"), "what Alien is directed by"),
        (of("Alien", "has_genre"), "the genre of Alien"),
        (FILMS, "things that are directed by Ridley Scott"),
        (of("Alien", "directed_by", "born_in"), "what [what Alien is directed by] is born in"),
        (of("Drama", "^has_genre", "starred"), "the starred of things whose genre is Drama"),
        (
            Where(FILMS, ("release_year",), "<", BEFORE),
            "things that are directed by Ridley Scott and whose release year is before 1990",
        ),
        (
            Extreme(FILMS, ("release_year",), False),
            "the thing that is directed by Ridley Scott with the earliest release year",
        ),
        (
            Extreme(FILMS, ("starred",), True, 3, "count"),
            "the 3 things that are directed by Ridley Scott with the most starred",
        ),
        (
            path_query(("Alien",), ("starred", "^starred"), returns=False),
            "other things whose starred is the starred of Alien",
        ),
        (
            Step(Entities(("Paris",)), ("located_in",), closure="+"),
            "what Paris directly or indirectly is located in",
        ),
        (
            Step(Entities(("France",)), ("^borders",), closure="*"),
            "things whose same, direct or indirect borders is France",
        ),
        (
            Where(of("Drama", "^has_genre"), ("directed_by",), "=", "Ridley Scott"),
            "things whose genre is Drama and that are directed by Ridley Scott",
        ),
        (
            Where(of("Alien", "starred"), ("^starred",), "=", "Avatar"),
            "[the starred of Alien] that are the starred of Avatar",
        ),
        (Exists(FILMS), "are there any things that are directed by Ridley Scott?"),
        (
            Compared(of("Alien", "release_year"), "<", of("Gladiator", "release_year")),
            "is the release year of Alien before the release year of Gladiator?",
        ),
        (
            Difference(FILMS, of("Drama", "^has_genre")),
            "things that are directed by Ridley Scott except things whose genre is Drama",
        ),
        (
            Where(FILMS, ("has_genre",), "!=", "Drama"),
            "things that are directed by Ridley Scott and whose genre is not Drama",
        ),
    ],
    "times": [
        (
            Count(Step(Entities(("e0",)), ("^b",), during=Value("date", "2000"))),
            "how many during 2000 [things whose b is e0]",
        ),
    ],
    "cities": [
        (of("state/texas", "state_population"), "the state population of Texas"),
        (CITIES, "cities whose state is Texas"),
        (Count(CITIES), "how many cities whose state is Texas"),
        (
            Match(CITIES, ("city_population",), "<", ("state", "state_population")),
            "cities whose state is Texas and whose city population is less than "
            "their state's state population",
        ),
        (
            Match(PEOPLE, ("city_population",), ">", ("state_population",)),
            "every city whose city population is more than their state population",
        ),
        (
            Quantifier(CITIES, ("^capital",), Entities(("state/texas",)), "=", 1),
            "[cities whose state is Texas] for which exactly 1 of [states whose capital is it] "
            "are among [Texas]",
        ),
        (
            Quantifier(CITIES, ("state",), Entities(("state/texas",)), by="outside"),
            "[cities whose state is Texas] for which all of [the state of it] are among [Texas]",
        ),
        (
            Quantifier(CITIES, ("state",), Entities(("state/texas",)), by="missing"),
            "[cities whose state is Texas] for which none of [Texas] are missing from "
            "[the state of it]",
        ),
        (
            Extreme(CITIES, ("city_population",), True),
            "the city whose state is Texas with the largest city population",
        ),
        (
            Extreme(PEOPLE, ("city_population",), True),
            "the city with the largest city population of all",
        ),
        (
            Calculation(
                of("city/austin", "city_population"), "ratio", of("state/texas", "state_population")
            ),
            "how many times as much [the city population of Austin] is as "
            "[the state population of Texas]",
        ),
        (PEOPLE, "every city that has a city population"),
        (Count(PEOPLE), "how many cities that have a city population"),
        (
            Total(CITIES, ("city_population",)),
            "the sum of the city population of cities whose state is Texas",
        ),
        (
            Total(PEOPLE, ("city_population",), "mean"),
            "the average of the city population of every city",
        ),
        (
            Where(CITIES, ("city_population",), ">", Value("number", "5000")),
            "cities whose state is Texas and whose city population is more than 5000",
        ),
        (
            of("river/delaware", "flows into", "^state", "city_population"),
            "the city population of cities whose state is what Delaware (river) flows into",
        ),
        (of("state/delaware", "capital"), "the capital of Delaware (state)"),
    ],
    "cinema": [
        (EVERY, "all people"),
        (Count(EVERY), "how many people"),
        (Extreme(EVERY, ("height",), True), "the person with the largest height"),
        (STAFF, "people that work for Rex"),
        (
            Where(STAFF, ("height",), ">", Value("number", "1.8", "m")),
            "people that work for Rex and whose height is more than 1.8 m",
        ),
        (
            Where(STAFF, ("member",), "=", Value("boolean", "true")),
            "people that work for Rex and whose member is true",
        ),
        (
            Where(STAFF, ("knows",), ">=", Value("number", "1"), "count"),
            "people that work for Rex and with at least 1 knows",
        ),
        (
            Where(STAFF, ("knows", "height"), "=", "170 cm"),
            "people that work for Rex and whose knows's height is 170 cm",
        ),
        (
            Intersection((EVERY, of("Ann", "^knows"))),
            "all people that are also people whose knows is Ann",
        ),
        (of("_:b1", "seats"), "the seats of an entry (on: Alien, seats: 120, show of Rex)"),
        (of("Alien", "^on", "^has show"), "cinemas whose show is a thing that is on Alien"),
    ],
}


@pytest.mark.parametrize(
    ("graph", "query", "sentence"),
    [(name, *row) for name, rows in SENTENCES.items() for row in rows],
)
def test_what_is_said(graph, query, sentence):
    kg = GRAPHS[graph]()
    assert say(kg, query) == sentence
    assert plain(kg, Grammar(kg).read(sentence)) == plain(kg, query)


def test_all_of_a_class_is_said_by_the_relation_that_tells_most_of_it():
    facts = [(place, "is a", "airport") for place in ("Ely", "Ayr", "Oslo")]
    facts += [("Ely", "type", "airport"), ("Thames", "type", "river")]
    kg = KnowledgeGraph.from_triples(facts)
    every = {
        name: Step(Entities((kind,)), (f"^{name}",))
        for name, kind in (("is a", "airport"), ("type", "airport"))
    }
    assert say(kg, every["is a"]) == "all airports"
    assert say(kg, every["type"]) == "things whose type is airport"
    assert say(kg, Step(Entities(("river",)), ("^type",))) == "all rivers"


def test_a_class_in_the_plural_is_said_in_both_numbers():
    kg = KnowledgeGraph.from_triples(
        [("Nightbus", "is a", "bands"), ("Nightbus", "town", "Leeds"), ("Moth", "is a", "bands")]
        + [("Nightbus", "members", "5"), ("Moth", "members", "2")]
    )
    assert say(kg, path_query(("bands",), ("^is a",))) == "all bands"
    assert say(kg, path_query(("Leeds",), ("^town",))) == "bands whose town is Leeds"


@pytest.mark.parametrize("name", GRAPHS)
def test_a_sentence_is_read_back_as_the_query_graph(name):
    read_back(name, 150, 0)


@pytest.mark.slow
@pytest.mark.parametrize("name", GRAPHS)
def test_ten_thousand_sentences_are_read_back(name):
    read_back(name, 2000, 1)
