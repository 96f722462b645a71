"""Query graphs said by a scripted model, on a small graph of films with years."""

import json

import pytest

from jaxkg.adjudicate import Scripted
from jaxkg.cite import check
from jaxkg.kg import KnowledgeGraph
from jaxkg.records import Question
from jaxkg.systems.llm_planned.graphs import LLMQueryGraphs
from jaxkg.systems.llm_planned.system import LLMPlannedQA, LLMPlannedSettings

FACTS = """Heat starring Al Pacino
Serpico starring Al Pacino
Heat starring Robert De Niro
Ronin starring Robert De Niro
Heat year 1995
Serpico year 1973
Ronin year 1998"""
KG = KnowledgeGraph.from_triples(
    [
        (head, relation, tail)
        for head, relation, tail in (f.split(" ", 2) for f in FACTS.splitlines())
    ]
)
PACINO = {"operator": "entities", "names": ["al pacino"]}
NIRO = {"operator": "entities", "names": ["Robert De Niro"]}
FILMS = {"operator": "step", "of": [0], "relations": ["^starring"]}


def asked(*replies, topics=("Al Pacino", "Robert De Niro"), **settings):
    backend = Scripted([json.dumps({"reasoning": "so", "parts": parts}) for parts in replies])
    settings = LLMPlannedSettings(ask="graph", **settings)
    qa = LLMQueryGraphs(LLMPlannedQA.build(KG, backend, settings=settings))
    return qa.answer([Question("q", "which film?", topics)])[0], backend


@pytest.mark.parametrize(
    ("parts", "wanted"),
    [
        ([PACINO, FILMS], {"Heat", "Serpico"}),
        ([PACINO, FILMS, NIRO, {**FILMS, "of": [2]}, {"operator": "intersection", "of": [1, 3]}],
         {"Heat"}),
        ([PACINO, FILMS, NIRO, {**FILMS, "of": [2]}, {"operator": "difference", "of": [1, 3]}],
         {"Serpico"}),
        ([PACINO, FILMS, {"operator": "extreme", "of": [1], "relations": ["year"],
                          "largest": False}], {"Serpico"}),
        ([PACINO, FILMS, {"operator": "where", "of": [1], "relations": ["year"],
                          "comparison": ">", "value": "1990"}], {"Heat"}),
        ([PACINO, FILMS, {"operator": "where", "of": [1], "relations": ["starring"],
                          "comparison": "=", "value": "Robert De Niro"}], {"Heat"}),
        ([PACINO, FILMS, {"operator": "where", "of": [1], "relations": ["starring"],
                          "comparison": ">", "value": "1", "by_count": True}], {"Heat"}),
        ([PACINO, FILMS, {"operator": "count", "of": [1]}], {"2"}),
        ([PACINO, FILMS, {"operator": "exists", "of": [1]}], {"yes"}),
    ],
)  # fmt: skip
def test_one_call_says_what_is_executed_and_cited(parts, wanted):
    answer, backend = asked(parts)
    assert {entity.name for entity in answer.entities} == wanted
    assert check(KG, answer) == ()
    assert answer.paths
    assert (answer.usage.calls, len(backend.requests)) == (1, 1)
    assert (answer.rationale, answer.system, answer.question_id) == ("so", "llm-planned", "q")
    assert answer.reading


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        ([{"operator": "entities", "names": ["Meryl"]}], "part 0, entities: 'Meryl' is no topic"),
        ([PACINO, {**FILMS, "relations": ["loves"]}], "part 1, step: 'loves' is no relation"),
        ([PACINO, {**FILMS, "of": [1]}], "part 1, step: it is made of part 1"),
        ([PACINO, {"operator": "difference", "of": [0]}], "made of 1 parts, not of 2"),
        ([PACINO, FILMS, {"operator": "where", "of": [1], "relations": ["year"],
                          "comparison": "like", "value": "1990"}], "part 2, where"),
        ([PACINO, FILMS, {"operator": "where", "of": [1], "relations": ["starring"],
                          "comparison": ">", "value": "many", "by_count": True}],
         "part 2, where: a count compares with a whole number"),
    ],
)  # fmt: skip
def test_what_the_graph_does_not_bear_is_refused_or_repaired(parts, told):
    answer, _ = asked(parts)
    assert told in answer.abstained
    assert not answer.entities
    repaired, backend = asked(parts, [PACINO, FILMS], repair=True)
    assert {entity.name for entity in repaired.entities} == {"Heat", "Serpico"}
    assert repaired.usage.calls == len(backend.requests) == 2


def test_no_query_and_no_topic_are_abstentions():
    assert asked([])[0].abstained == "the model finds no query that answers"
    answer, backend = asked([PACINO], topics=("Nobody",))
    assert "'Nobody' is not in the graph" in answer.abstained
    assert not backend.requests
