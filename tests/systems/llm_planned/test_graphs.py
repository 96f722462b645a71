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
PACINO, NIRO = "al pacino", "Robert De Niro"
FILMS = [PACINO, "<- starring"]


def asked(*replies, topics=("Al Pacino", "Robert De Niro", "Heat", "Serpico"), **settings):
    backend = Scripted([json.dumps({"lines": lines}) for lines in replies])
    settings = LLMPlannedSettings(ask="graph", **settings)
    qa = LLMQueryGraphs(LLMPlannedQA.build(KG, backend, settings=settings))
    return qa.answer([Question("q", "which film?", topics)])[0], backend


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        (FILMS, {"Heat", "Serpico"}),
        ([PACINO, "-> starring"], {"Heat", "Serpico"}),
        ([*FILMS, "and", NIRO, "<- starring"], {"Heat"}),
        ([*FILMS, f"except {NIRO}", "<- starring"], {"Serpico"}),
        ([*FILMS, "or", NIRO, "<- starring"], {"Heat", "Serpico", "Ronin"}),
        ([*FILMS, "or", NIRO, "<- starring", "largest year"], {"Ronin"}),
        ([*FILMS, "except", NIRO, "<- starring"], {"Serpico"}),
        ([*FILMS, "smallest year"], {"Serpico"}),
        ([*FILMS, "largest 2 year"], {"Heat", "Serpico"}),
        ([*FILMS, "most -> starring"], {"Heat"}),
        ([*FILMS, "fewest starring"], {"Serpico"}),
        ([*FILMS, "where year > 1990"], {"Heat"}),
        ([*FILMS, "where [year] <= 1990"], {"Serpico"}),
        ([*FILMS, "where starring = Robert De Niro"], {"Heat"}),
        ([*FILMS, "where <- starring = Robert De Niro"], {"Heat"}),
        ([*FILMS, "where count starring > 1"], {"Heat"}),
        ([*FILMS, "none of -> starring", NIRO], {"Serpico"}),
        ([*FILMS, "Only of starring", PACINO], {"Serpico"}),
        ([*FILMS, "all of starring", PACINO, "<- starring", "-> starring"], {"Heat"}),
        ([*FILMS, "exactly 1 of starring", PACINO, "<- starring", "-> starring", "count"], {"1"}),
        ([*FILMS, "at least 1 of -> starring", NIRO, "largest year"], {"Heat"}),
        (["Heat", "-> year", "years since", "Serpico", "-> year"], {"22 years"}),
        ([*FILMS, "count", "minus", NIRO, "<- starring", "where year > 1996", "count"], {"1"}),
        ([*FILMS, "count"], {"2"}),
        ([*FILMS, "exists"], {"yes"}),
        ([PACINO, "<-+ starring"], {"Heat", "Serpico"}),
        ([*FILMS, "-> starring in 1995"], {"Robert De Niro"}),
        (["Al Pacino", "<- starring", "count", "compare =", NIRO, "<- starring", "count"], None),
    ],
)  # fmt: skip
def test_one_call_says_what_is_executed_and_cited(lines, wanted):
    answer, backend = asked(lines)
    assert {entity.name for entity in answer.entities} == (wanted or {"yes"})
    assert check(KG, answer) == ()
    assert (answer.usage.calls, len(backend.requests)) == (1, 1)
    assert (answer.system, answer.question_id) == ("llm-planned", "q")
    assert answer.reading


@pytest.mark.parametrize(
    ("last", "rows"),
    [
        ("table: year; count starring", "Heat 1995 2, Serpico 1973 1"),
        ("table largest 1 year", "Heat 1995"),
        ("table per starring: count; min year", "Al Pacino 2 1973, Robert De Niro 1 1995"),
        ("table per -> starring: count; where count > 1", "Al Pacino 2"),
        (
            "table per starring: smallest year; top 1",
            "Serpico Al Pacino 1973, Heat Robert De Niro 1995",
        ),
    ],
)  # fmt: skip
def test_a_table_is_the_last_line(last, rows):
    answer, _ = asked([*FILMS, last])
    assert ", ".join(" ".join((e.name, *e.cells)) for e in answer.entities) == rows
    assert check(KG, answer) == ()


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (["Meryl"], "line 1, 'Meryl': 'Meryl' is neither a topic"),
        (["<- starring"], "line 1, '<- starring': '<- starring' is neither a topic"),
        ([PACINO, "<- loves"], "line 2, '<- loves': 'loves' is no relation"),
        ([PACINO, "starring"], "line 2, 'starring': it is no operation"),
        (["and", *FILMS], "line 1, 'and': there is nothing before it"),
        ([*FILMS, "and"], "combines with nothing"),
        ([*FILMS, "table: loves"], "'loves' is no relation"),
        ([*FILMS, "table: top 2"], "no columns"),
        ([*FILMS, "table: year", "count"], "line 4, 'count': nothing comes after"),
        ([*FILMS, "count", "largest year"], "line 4, 'largest year': nothing comes after"),
        ([*FILMS, "where count starring > many"],
         "line 3, 'where count starring > many': a count compares with a whole number"),
    ],
)  # fmt: skip
def test_what_the_graph_does_not_bear_is_refused_or_repaired(lines, told):
    answer, _ = asked(lines)
    assert told in answer.abstained
    assert not answer.entities
    repaired, backend = asked(lines, FILMS, repair=True)
    assert {entity.name for entity in repaired.entities} == {"Heat", "Serpico"}
    assert repaired.usage.calls == len(backend.requests) == 2
    assert told in backend.requests[1].messages[-1].content


def test_what_finds_nothing_is_asked_again_once_and_then_stands():
    nothing = [*FILMS, "where year > 2010"]
    answer, backend = asked(nothing, [*FILMS, "where year > 1990"], repair=True)
    assert {entity.name for entity in answer.entities} == {"Heat"}
    assert (
        "line 3, 'where year > 2010': nothing is left" in backend.requests[1].messages[-1].content
    )
    answer, backend = asked(nothing, nothing, repair=True)
    assert (answer.error, len(backend.requests), answer.entities) == (None, 2, ())
    assert answer.reading
    answer, backend = asked(nothing)
    assert (answer.error, len(backend.requests)) == (None, 1)


def test_what_it_begins_with_and_each_line_are_chosen_from_what_there_is():
    backend = Scripted(['{"begin": "Al Pacino", "lines": ["<- starring", "largest year"]}'])
    qa = LLMQueryGraphs(LLMPlannedQA.build(KG, backend, settings=LLMPlannedSettings(ask="graph")))
    question = Question("q", "which films after 1990?", ("Al Pacino", "Robert De Niro"))
    assert [entity.entity for entity in qa.answer([question])[0].entities] == ["Heat"]
    fields = backend.requests[0].schema["properties"]
    begins, offered = fields["begin"]["enum"], fields["lines"]["items"]["anyOf"][0]["enum"]
    assert begins[:2] == ["Al Pacino", "Robert De Niro"]
    assert {"<- starring", "largest year", "where year > 1990", "and Al Pacino"} <= set(offered)
    assert not {"Al Pacino", "largest starring", "<- year"} & set(offered)


def test_a_relation_that_leads_nowhere_becomes_one_called_alike():
    facts = [("austin", "population size of city", "7"), ("texas", "population size of state", "9"),
             ("austin", "in", "texas"), ("texas", "borders", "ohio"),
             ("ohio", "population size of state", "5")]  # fmt: skip
    kg = KnowledgeGraph.from_triples(facts)

    def said(*lines, repair=False):
        backend = Scripted([json.dumps({"begin": "texas", "lines": lines})] * 2)
        settings = LLMPlannedSettings(ask="graph", repair=repair)
        qa = LLMQueryGraphs(LLMPlannedQA.build(kg, backend, settings=settings))
        return qa.answer([Question("q", "?", ("texas",))])[0], backend

    answer, _ = said("-> borders", "-> population size of city")
    assert [entity.name for entity in answer.entities] == ["5"]
    assert "texas; -> borders; -> population size of state" in answer.notes[-1]
    assert check(kg, answer) == ()
    # A line less is another question: it is told to the model, and not taken.
    answer, backend = said("-> borders", "-> in", "-> population size of state", repair=True)
    assert not answer.entities
    assert (
        "this finds something: texas; -> borders; -> population"
        in backend.requests[1].messages[-1].content
    )


def test_no_query_and_no_topic_are_abstentions():
    assert asked([])[0].abstained == "the model finds no query that answers"
    answer, backend = asked([PACINO], topics=("Nobody",))
    assert "'Nobody' is not in the graph" in (answer.abstained or "")
    assert not backend.requests


def test_a_query_can_begin_with_a_class():
    facts = [("film/a", "year", "1990"), ("film/b", "year", "1995"), ("film/b", "by", "person/c")]
    types = [("film/a", "type", "film"), ("film/b", "type", "film")]
    kg = KnowledgeGraph.from_triples([*facts, *types])
    backend = Scripted(['{"lines": ["all (film)", "largest year"]}'])
    qa = LLMQueryGraphs(LLMPlannedQA.build(kg, backend, settings=LLMPlannedSettings(ask="graph")))
    [answer] = qa.answer([Question("q", "which film is the latest?")])
    assert [entity.entity for entity in answer.entities] == ["film/b"]
    assert check(kg, answer) == ()
