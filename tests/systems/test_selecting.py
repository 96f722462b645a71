"""A model writes a SELECT for what the reader withholds, or for every question."""

import json
import re
from typing import Any

import pytest

from jaxkg.adjudicate import Scripted
from jaxkg.adjudicate.calls import selecting
from jaxkg.adjudicate.calls.selecting import SelectReply
from jaxkg.adjudicate.reading.parse import parse
from jaxkg.adjudicate.requests import Reply
from jaxkg.cite import selects
from jaxkg.errors import JaxkgError
from jaxkg.experiments.registry import build_system, faults
from jaxkg.kg import KnowledgeGraph
from jaxkg.kg.queries.select import SelectReader
from jaxkg.kg.queries.sets import QuerySets
from jaxkg.kg.relational import Relational
from jaxkg.records import Question
from jaxkg.settings import wishes_from
from jaxkg.systems.parts import Parts

LOANS = [
    ("L1", "Ada Quill", "Orion lamp", "2024-01-09", "2024-01-12"),
    ("L2", "Ada Quill", "Film camera", "2024-02-01", "2024-01-30"),
    ("L3", "Bo Marsh", "Orion lamp", "2024-02-05", ""),
]
DEVICES = ("Orion lamp", "Film camera", "Fox stand")
KG = KnowledgeGraph.from_triples(
    [
        (loan, relation, value)
        for loan, *cells in LOANS
        for relation, value in zip(("student", "device", "due", "back"), cells)
        if value
    ]
    + [(loan, "is a", "loan") for loan, *_ in LOANS]
    + [("Orion lamp", "price", "40"), ("Film camera", "price", "95"), ("Fox stand", "price", "15")]
    + [(device, "shelf", "B2") for device in DEVICES]
    + [(device, "is a", "device") for device in DEVICES]
    + [("Ada Quill", "town", "Ely"), ("Bo Marsh", "town", "Rye")]
    + [("Ada Quill", "born", "1999-04-01"), ("Bo Marsh", "born", "2001-07-02")]
    + [("Ada Quill", "enrolled", "2022-09-01"), ("Bo Marsh", "enrolled", "2020-09-01")]
    + [(student, "is a", "student") for student in ("Ada Quill", "Bo Marsh")]
)
STRANGE = Question("strange", "Zorbed quix before flimming?")
"""Nothing of it is a word of the graph."""


def build(name, says, *wishes, ask: Any = "unsure"):
    backend = Scripted(says)
    wished = wishes_from(["encoder=hashing", *wishes])
    parts = Parts(KG, lambda *step: None, backend, wishes=wished, ask_model=ask)
    system: Any = build_system(name, parts)
    return system, parts, backend


def writes(sql, likelihood: float | None = -1.0):
    return lambda request: Reply(json.dumps({"sql": sql}), likelihood=likelihood)


@pytest.mark.parametrize(
    ("name", "wishes"), [("reader", ()), ("llm-planned", ("ask=sql",))], ids=str
)
def test_what_the_model_writes_is_executed_and_cited(name, wishes):
    system, parts, backend = build(
        name, writes("SELECT student FROM loan WHERE back > due"), *wishes
    )
    answer = system.ask(STRANGE)
    assert [entity.name for entity in answer.entities] == ["Ada Quill"]
    assert {path.sentence for path in answer.paths} >= {"L1, student: Ada Quill"}
    assert "the model wrote SELECT student FROM loan WHERE back > due" in answer.notes
    assert answer.usage.calls == 1
    assert name != "reader" or answer.plan[0].probability > 0.57
    assert faults(system, parts, answer) == ()
    told = backend.requests[-1].messages[-1].content
    assert "CREATE TABLE loan ( -- 3 rows" in told
    assert "device_price REAL" in told
    pattern = (backend.requests[-1].schema or {})["properties"]["sql"]["pattern"]
    assert re.fullmatch(pattern, "SELECT student FROM loan WHERE back > due")
    assert not re.fullmatch(pattern, "SELECT wings FROM loan")


@pytest.mark.parametrize(
    ("sql", "likelihood", "why"),
    [
        ("", -1.0, "the model wrote nothing"),
        ("SELECT student FROM loan WHERE back > due", -50.0, "but is not sure of it"),
        ("SELECT student FROM loan WHERE device_price > 1000", -1.0, "which finds nothing"),
        ("SELECT student FROM loan WHERE device LIKE '%x%'", -1.0, "which finds nothing"),
        ("SELECT wings FROM loan", -1.0, "nothing that can be read (unparsed: loan has no column"),
        ("SELECT SUM(student) FROM loan", -1.0, "nothing that can be read (unparsed:"),
    ],
)
def test_an_answer_stays_withheld_where_that_is_no_answer(sql, likelihood, why):
    system, _, backend = build("reader", writes(sql, likelihood))
    answer = system.ask(STRANGE)
    assert answer.abstained
    assert not answer.entities
    assert why in answer.notes[-1]
    unsure = [other for other in answer.readings if other.preview == ("Ada Quill",)]
    assert len(unsure) == ("is not sure" in why)
    assert not unsure or unsure[0].confidence < 0.01
    assert len(backend.requests) == answer.usage.calls == 1


@pytest.mark.parametrize(("error", "failed"), [("timeout", True), ("budget", False)])
def test_a_call_that_fails_leaves_the_answer_withheld_and_is_told(error, failed):
    reply = Reply(error=error, detail="too slow")
    system, _, _ = build("reader", lambda request: reply, "judge.prompts=list")
    answer = system.ask(STRANGE)
    assert answer.abstained
    assert (answer.error == f"{error}: too slow") == failed
    assert f"({error}: too slow)" in answer.notes[-1]


def test_a_withheld_reading_that_answers_the_same_makes_a_select_likelier():
    question = Question("unsure", "Orion lamp cost")
    chances = []
    for sql in ("SELECT price FROM device WHERE name = 'Orion lamp'", "SELECT born FROM student"):
        wishes = ("threshold=0.999", "judge.likely=0")
        system, _, _ = build("reader", writes(sql, -3.0), *wishes)
        before = system.inner.ask(question)
        assert before.abstained
        chances.append(system.ask(question).plan[0].probability)
    [same] = [each for each in before.readings if each.preview == ("40",)]
    assert same.confidence > 0.01
    assert chances[0] > chances[1] == pytest.approx(0.160, abs=0.001)


@pytest.mark.parametrize(
    ("sql", "answers"),
    [
        ("SELECT town FROM student WHERE name = 'Bo Marsh'", False),
        ("SELECT student FROM loan WHERE back > due", True),
        ("SELECT COUNT(*) FROM loan WHERE student = 'Bo Marsh'", True),
        ("SELECT device FROM loan ORDER BY due ASC LIMIT 1", True),
    ],
)
def test_what_only_looks_up_a_column_is_offered_and_not_answered(sql, answers):
    system, _, _ = build("reader", writes(sql, -1.0))
    answer = system.ask(STRANGE)
    assert bool(answer.entities) == answers
    assert answers or answer.readings


def test_where_no_likelihood_is_told_a_select_is_as_likely_as_usual():
    sql = "SELECT student FROM loan WHERE back > due"
    system, _, _ = build("reader", writes(sql, None))
    answer = system.ask(STRANGE)
    assert [entity.name for entity in answer.entities] == ["Ada Quill"]
    assert answer.plan[0].probability == pytest.approx(0.574, abs=0.001)


def test_the_model_chooses_a_reading_only_where_it_does_not_write_or_is_always_asked():
    asked = "What is the price of the Orion lamp?"
    for wishes, ask, question in (((), "unsure", STRANGE), ((), "always", asked)):
        system, _, backend = build("reader", writes(""), *wishes, ask=ask)
        assert ask == "always" or system.inner.settings.certain == 0, "it is always certain"
        system.ask(question)
        stages = [request.stage for request in backend.requests]
        assert ("choose" in stages) == (ask == "always")
        assert ("select" in stages) == (ask == "unsure")


def test_nothing_is_written_for_what_is_answered_or_where_it_is_not_wished():
    system, _, backend = build("reader", writes("SELECT due FROM loan"))
    answer = system.ask("What is the price of the Orion lamp?")
    assert [entity.name for entity in answer.entities] == ["40"]
    assert backend.requests == []
    assert "reader" not in vars(system.writer.selects), "no tables are made for what is answered"
    silent, _, asked = build("reader", writes("SELECT due FROM loan"), "judge.write=false")
    assert silent.ask(STRANGE).abstained
    assert asked.requests == []
    never, _, none = build("reader", writes("SELECT due FROM loan"), ask="never")
    assert never.ask(STRANGE).abstained
    assert none.requests == []


def test_graphs_of_too_many_relations_are_no_tables(monkeypatch):
    monkeypatch.setattr(selects, "MOST_RELATIONS", KG.num_relations - 1)
    system, _, backend = build("reader", writes("SELECT due FROM loan"))
    assert system.ask(STRANGE).abstained
    asks, _, _ = build("llm-planned", writes("SELECT due FROM loan"), "ask=sql")
    with pytest.raises(JaxkgError, match="ask=sql: 10 relations make no tables; leave it out"):
        asks.ask(STRANGE)
    assert backend.requests == []


def test_names_of_the_question_are_told_with_their_columns():
    system, _, backend = build("llm-planned", writes(""), "ask=sql")
    answer = system.ask("what did Ada Quill borrow")
    assert (
        "'Ada Quill' is in student.name and loan.student"
        in backend.requests[-1].messages[-1].content
    )
    assert answer.abstained == "the model writes no SELECT"


def test_a_reply_is_asked_for_again_where_repair_is_wished():
    replies = iter(['{"sql": "SELECT wings FROM loan"}', '{"sql": "SELECT town FROM student"}'])
    system, _, backend = build("llm-planned", lambda _: next(replies), "ask=sql", "repair=true")
    assert {entity.name for entity in system.ask(STRANGE).entities} == {"Ely", "Rye"}
    assert "loan has no column 'wings'" in backend.requests[-1].messages[-1].content


def test_the_examples_of_the_prompt_are_read_over_such_a_graph():
    sets = QuerySets(KG)
    reader = SelectReader(Relational(sets))
    examples = selecting._EXAMPLES + selecting._FREE_EXAMPLE
    replies = re.findall(r": (\{.*\})$", examples, re.MULTILINE)
    said = [parse(reply, SelectReply).sql for reply in replies]
    results = [sets.execute(reader.read(sql)) for sql in said if sql]
    assert len(said) == 13
    assert said[-3:-1] == ["", ""]
    told = [result.words or sorted(KG.name(row) for row in result.rows) for result in results]
    assert told[:3] == [["40"], ["Ada Quill"], ["Film camera", "Orion lamp"]]
    assert told[3:7] == ["1", ["Film camera"], ["Ada Quill"], ["Bo Marsh"]]
    assert (told[7], results[8].kind, told[9]) == ("25", "table", "yes")
