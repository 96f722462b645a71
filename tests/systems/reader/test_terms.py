"""Ontologies, whose terms are things; statements about facts; kinds of kinds."""

import pytest

from jaxkg.experiments.loading import load_graph
from jaxkg.kg import KnowledgeGraph
from jaxkg.systems.reader.system import Reader
from jaxkg.text import HashingEncoder

CONCEPT = "http://www.w3.org/2004/02/skos/core#Concept"
CLASS = "http://www.w3.org/2002/07/owl#Class"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


def reader(facts, **names):
    return Reader.build(KnowledgeGraph.from_triples(facts, names=names), HashingEncoder())


@pytest.mark.parametrize("kind", [CONCEPT, CLASS])
def test_terms_of_an_ontology_are_topics(kind):
    terms = ("Viking Age", "Iron Age", "Stone Age", "Prehistory")
    facts = [(term, TYPE, kind) for term in terms]
    facts += [("Viking Age", "broader", "Iron Age"), ("Iron Age", "broader", "Prehistory")]
    facts += [("Stone Age", "broader", "Prehistory")]
    understood = reader(facts).understand("What is the broader term of the Viking Age?")
    assert understood.readings[0].answers == ("Iron Age",)


def test_classes_of_things_are_no_topics():
    facts = [("City", TYPE, CLASS), ("Rome", TYPE, "City"), ("Oslo", TYPE, "City")]
    facts += [("Rome", "river", "Tiber"), ("Oslo", "river", "Aker")]
    asked = reader(facts).readings.asked("Which city has the river Tiber?")
    named = {asked.mentions[0].options[0].entity}
    assert [reader(facts).kg.entity_ids[row] for row in named] == ["Tiber"]


def test_a_statement_about_a_fact_is_no_answer():
    facts = [("Tom", "acted in", "Cast Away"), ("Helen", "acted in", "Cast Away")]
    for number, who in enumerate(("Tom", "Helen")):
        node = f"_:{number}"
        facts += [(node, "subject", who), (node, "predicate", "acted in")]
        facts += [(node, "object", "Cast Away"), (node, "role", f"Role {number}")]
    found = reader(facts).look("Who acted with Tom in Cast Away?").found
    ends = {reader(facts).kg.entity_ids[end] for one in found for end in one.ends.tolist()}
    assert ends
    assert not {"_:0", "_:1"} & ends


KINDS = [
    ("red", "subclass of", "colour"), ("blue", "subclass of", "colour"),
    ("colour", "subclass of", "optical quality"), ("optical quality", "subclass of", "quality"),
    ("mass", "subclass of", "quality"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("question", "answer"),
    [("Is red an optical quality?", "yes"), ("Is mass an optical quality?", "no")],
)
def test_a_kind_is_of_every_wider_kind(question, answer):
    assert reader(KINDS).understand(question).readings[0].answers == (answer,)


def test_people_are_called_by_their_names_and_not_by_their_job(tmp_path):
    lines = ["EmployeeId,LastName,FirstName,Title", "1,Weber,Olaf,Manager", "2,Silva,Cleo,Clerk"]
    path = tmp_path / "employees.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    names = {load_graph(path).name(row) for row in range(load_graph(path).num_entities)}
    assert {"Olaf Weber", "Cleo Silva"} <= names


STUDIES = [
    fact
    for name, acronym, state, closed in (
        ("Iron before surgery", "IRONCLAD", "closed", "2020-03-01"),
        ("Rest at home", "HOMEREST", "open", ""),
        ("Heparin for asthma", "BREEZE", "closed", "2021-07-09"),
    )
    for fact in (
        (name, "acronym", acronym), (name, "state", state), (name, "closed at", closed),
        (name, "type", "study"), (name, "phase", "II"),
    )
    if fact[2]
]  # fmt: skip


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("What is the acronym of Rest at home?", ("HOMEREST",)),
        ("When was Heparin for asthma closed?", ("2021-07-09",)),
        ("Which studies are closed?", ("Heparin for asthma", "Iron before surgery")),
        ("What phase is IRONCLAD in?", ("II",)),
    ],
)
def test_another_name_or_the_word_of_a_value_may_be_what_is_asked_for(question, answers):
    assert reader(STUDIES).understand(question).readings[0].answers == answers
