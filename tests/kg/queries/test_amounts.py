"""Things that are but a number with its unit are numbers."""

import pytest

from jaxkg.cite import check
from jaxkg.kg import KnowledgeGraph, read_graph
from jaxkg.kg.queries.amounts import amount_names, amount_of, starts_of
from jaxkg.kg.queries.sets import QuerySets
from jaxkg.kg.queries.values import Values
from jaxkg.query import Entities, Extreme, Step, Total, Value, Where
from jaxkg.systems.reader.settings import ReaderSettings
from jaxkg.systems.reader.system import Reader
from jaxkg.text.hashing import HashingEncoder

_PRICES = {"Lamp": "19.5", "Chair": "42", "Desk": "310", "Vase": "7.25"}
_TURTLE = """
@prefix : <http://shop.test/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""


def priced(unit="EUR", extra=()):
    facts = [*extra]
    for thing, price in _PRICES.items():
        facts += [(thing, "is a", "item"), (thing, "price", f"_:{thing}")]
        facts += [(f"_:{thing}", "amount", price), (f"_:{thing}", "currency", unit)]
        facts += [(f"_:{thing}", "is a", "money")]
    return KnowledgeGraph.from_triples(facts)


def test_amounts_compare_as_their_numbers():
    kg = priced()
    values, sets = Values(kg), QuerySets(kg)
    assert values.relation_kinds["price"] == "number"
    assert values.units["price"] == ("EUR",)
    assert values.unit(values.row("_:Desk")) == "EUR"
    items = Step(Entities(("item",)), ("^is a",), returns=True)
    dearest = sets.execute(Extreme(items, ("price",), largest=True))
    assert [kg.name(row) for row in dearest.rows] == ["Desk"]
    cheap = sets.execute(Where(items, ("price",), "<", Value("number", "20", unit="EUR")))
    assert sorted(kg.name(row) for row in cheap.rows) == ["Lamp", "Vase"]
    assert float(sets.execute(Total(items, ("price",), "sum")).number) == 378.75


@pytest.mark.parametrize(
    "extra",
    [
        [("Rug", "price", "on request")],
        [("Rug", "price", "_:Desk")],
        [("_:Desk", "valid until", "2026-05-01")],
        [("_:Desk", "amount", "311")],
        [("_:Desk", "currency", "JPY")],
        [("EUR", "country", "Malta")],
    ],
)
def test_what_says_more_than_a_number_and_its_unit_is_a_thing(extra):
    kg = priced(extra=extra)
    assert "price" not in Values(kg).relation_kinds
    numbers = {kg.relation_code("amount")}
    assert amount_of(kg, kg.relation_code("price"), numbers, starts_of(kg)) is None


def test_a_number_with_another_fact_that_is_no_unit_is_a_thing():
    facts = []
    for line, count in enumerate(["3", "5", "2"]):
        facts += [(f"O{line}", "line", f"_:{line}"), (f"_:{line}", "quantity", count)]
        facts += [(f"_:{line}", "product", "Lamp")]
    assert "line" not in Values(KnowledgeGraph.from_triples(facts)).relation_kinds


def test_names_tell_the_unit_where_its_relation_does_not():
    facts, names = [], {}
    for thing, price in _PRICES.items():
        facts += [(thing, "price", f"p{thing}"), (f"p{thing}", "amount", price)]
        facts.append((f"p{thing}", "in", "EUR"))
        names[f"p{thing}"] = f"{price} EUR"
    assert Values(KnowledgeGraph.from_triples(facts, names=names)).units["price"] == ("EUR",)
    assert "price" not in Values(KnowledgeGraph.from_triples(facts)).relation_kinds


def test_amounts_can_be_overruled():
    assert "price" not in Values(priced(), {"price": None}).relation_kinds


def test_a_reader_reads_no_number_beside_the_amount_that_it_is_of():
    kg = priced()
    reader = Reader.build(kg, HashingEncoder(), settings=ReaderSettings(threshold=0.0))
    for question in (
        "Which money has the largest amount?",
        "What is the amount of the price of Desk?",
    ):
        assert all("amount" not in str(entry.query) for entry in reader.look(question).found)
    assert [entity.name for entity in reader.ask("Which item has the highest price?").entities] == [
        "Desk"
    ]


def test_amounts_without_names_are_called_by_number_and_unit(tmp_path):
    pytest.importorskip("pyoxigraph")
    lines = [
        f':{thing} a :Item ; rdfs:label "{thing}" ; :mass [ :value {price} ; :unit :kg ] .'
        for thing, price in _PRICES.items()
    ]
    path = tmp_path / "items.ttl"
    path.write_text(_TURTLE + "\n".join(lines))
    kg = read_graph(path)
    assert amount_names(kg) == {}
    reader = Reader.build(kg, HashingEncoder(), settings=ReaderSettings(threshold=0.0))
    answer = reader.ask("What is the mass of Chair?")
    assert check(kg, answer) == ()
    assert [entity.name for entity in answer.entities] == ["42 kg"]
    answer = reader.ask("Which item has the largest mass?")
    assert check(kg, answer) == ()
    assert [entity.name for entity in answer.entities] == ["Desk"]
