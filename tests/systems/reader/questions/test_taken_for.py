"""What words of a question are not taken for: values, statements, other sorts, ties."""

import pytest
from readers import readings_of
from row_facts import facts_of, table_facts

from jaxkg.kg import KnowledgeGraph
from jaxkg.records import Question
from jaxkg.systems.reader.reading import Readings
from jaxkg.systems.reader.sets.unfit import contradicted
from jaxkg.systems.reader.settings import ReaderSettings
from jaxkg.systems.reader.system import Reader
from jaxkg.text.best import best_encoder


def names(readings, asked):
    return {readings.kg.name(mention.options[0].entity) for mention in asked.mentions}


@pytest.fixture(scope="module")
def house():
    facts = []
    for at, room in enumerate(("Kitchen", "Hall", "Kitchen")):
        facts += [(f"lamp {at}", "is a", "devices"), (f"lamp {at}", "area", room)]
    facts += [("link 1", "type", "device"), ("link 1", "of", "lamp 1"), ("lamp 1", "tag", "A7")]
    return readings_of(facts)


@pytest.mark.parametrize(("question", "named"), [
    ("Which devices are in the Kitchen?", {"Kitchen"}),
    ("Who has device A7?", {"A7"}),
])  # fmt: skip
def test_a_class_is_no_value_that_is_called_so(house, question, named):
    assert names(house, house.asked(question)) == named


def test_a_statement_is_named_by_nobody():
    facts = [
        ("Robert Scott", "sailed on", "Discovery"), ("Ann Lee", "sailed on", "Fram"),
        ("_:s", "subject", "Robert Scott"), ("_:s", "predicate", "sailed on"),
        ("_:s", "object", "Discovery"), ("_:s", "role", "leader"),
    ]  # fmt: skip
    graph = KnowledgeGraph.from_triples(facts, names={"_:s": "Robert Scott sailed on Discovery"})
    found = Readings(graph, None, ReaderSettings())
    assert names(found, found.asked("What did scott do?")) == {"Robert Scott"}


def test_a_which_leads_to_what_its_relation_leads_to():
    rows = "Ann person Stock 7\nBo person Sales 9\nCy person Stock 4"
    found = readings_of(table_facts(rows, "is a", "dept", "hours", cut=" "))
    asked = found.asked("Which department has the most hours?")
    by = {c.last: contradicted(asked, c, found.find) for c in found.of(asked)
          if c.shape == "extreme" and not c.result}  # fmt: skip
    assert by[found.kg.relation_code("dept")] is False
    assert by[-1] is True  # a person


@pytest.mark.parametrize(("question", "wanting"), [
    ("Who wrote with both Ann and Bo?", False), ("Which articles are by Ann and Bo?", True),
])  # fmt: skip
def test_who_wrote_with_two_is_no_article(question, wanting):
    facts = [(a, "author", p) for a, p in ("xA", "xC", "yB", "yC")]
    facts += [(a, "is a", "article") for a in "xy"] + [(p, "is a", "person") for p in "ABC"]
    graph = KnowledgeGraph.from_triples(facts, names={"A": "Ann", "B": "Bo", "C": "Cy"})
    found = Readings(graph, None, ReaderSettings())
    asked = found.asked(question)
    assert bool(found.wanting.joins(asked, found.find.all(asked))) == wanting


def test_a_no_is_no_rival_of_the_same_no_as_a_value():
    rows = (("borrower", "Town Hall", "No"), ("borrower", "Guild Hall", "Yes"))
    facts = facts_of(rows, "is a", "institution", "climate control", head="b")
    encoder, _ = best_encoder()
    if encoder.name == "hashing":
        pytest.skip("MiniLM is not installed")
    reader = Reader.build(KnowledgeGraph.from_triples(facts), encoder)
    [answer] = reader.answer([Question("q", "Does Town Hall have climate control?")])
    assert [entity.name for entity in answer.entities] == ["no"]


def test_a_bound_on_the_rows_of_a_topic_holds_or_not():
    rows = [("North", "790"), ("North", "810"), ("South", "600")]
    facts = facts_of(rows, "house", "co2")
    facts += [("North", "is a", "house"), ("South", "is a", "house")]
    found = readings_of(facts)
    for house, told in (("North", "yes"), ("South", "no")):
        asked = found.asked(f"Was the co2 in {house} above 800?")
        assert next(c for c in found.of(asked) if c.result).result == told


def test_zero_and_one_are_no_measure():
    rows = (("0", "5"), ("1", "7"), ("0", "6"))
    found = readings_of(facts_of(rows, "tsunami", "strength", head="q"))
    asked = found.asked("Which is the largest?")
    measures = {c.measure for c in found.of(asked) if c.shape == "extreme"}
    assert found.kg.relation_code("strength") in measures
    assert found.kg.relation_code("tsunami") not in measures


def test_a_definition_is_no_cell():
    facts = [("platelet", "develops from", "giant cell")]
    for cell in ("platelet", "giant cell"):
        facts.append((cell, "definition", f"A {cell} of the marrow that is of use to the blood"))
    found = readings_of(facts)
    definition = found.kg.relation_code("definition")
    lasts = {c.last for c in found.of(found.asked("What cell does a platelet develop from?"))}
    assert definition not in lasts
    named = {c.last for c in found.of(found.asked("What definition has the giant cell?"))}
    assert definition in named
