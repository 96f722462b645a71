"""The worked examples of planning prompts are what is read, and hold in a graph like theirs."""

import json
import re

import pytest

from jaxkg.adjudicate.calls import prompts_planning, prompts_proh, stepping
from jaxkg.adjudicate.calls.planning import WayReply
from jaxkg.adjudicate.calls.proh import Keywords, Plan
from jaxkg.adjudicate.calls.stepping import StepReply
from jaxkg.adjudicate.reading.dag import SubQuestion, checked_dag
from jaxkg.adjudicate.reading.match import Candidates
from jaxkg.adjudicate.reading.parse import parse
from jaxkg.kg import KnowledgeGraph
from jaxkg.kg.typed_schema import TypedSchema
from jaxkg.systems.llm_planned.schema import PlanSchema

SCHOOL = KnowledgeGraph.from_triples(
    [
        ("Ada Quill", "takes", "Algebra"),
        ("Ada Quill", "takes", "Optics"),
        ("Cy Bell", "takes", "Optics"),
        ("Algebra", "taught by", "Bo Marsh"),
        ("Optics", "taught by", "Bo Marsh"),
        ("Algebra", "credits", "4"),
        ("Optics", "credits", "8"),
        ("Bo Marsh", "works at", "Hill School"),
        ("Ada Quill", "type", "student"),
        ("Cy Bell", "type", "student"),
        ("Algebra", "type", "course"),
        ("Optics", "type", "course"),
        ("Bo Marsh", "type", "teacher"),
    ]
)
TOPICS = Candidates((name, name) for name in ("Ada Quill", "Bo Marsh"))
RELATIONS = Candidates((name, name) for name in SCHOOL.relations)


def test_typed_relations_of_the_examples_are_those_of_such_a_graph():
    schema = TypedSchema(SCHOOL)
    lines = {schema.line(relation) for relation in range(SCHOOL.num_relations)}
    told = set(re.findall(r"\(\w+\)-\[[\w ]+\]->\(\w+\)", prompts_planning.PLAN_SYSTEM))
    assert told - {"(teacher)-[works at]->(school)"} <= lines


def test_plans_of_the_examples_hold():
    """From some topic each way leads on, hop by hop, as its line is read."""
    replies = re.findall(r": (\{.*\})$", prompts_planning.PLAN_SYSTEM, re.MULTILINE)
    plans = [plan for reply in replies for plan in parse(reply, WayReply).plans]
    assert len(plans) == 7
    topics = [SCHOOL.entity(name) for name in ("Ada Quill", "Optics", "Bo Marsh")]
    for plan in plans:
        read = PlanSchema(SCHOOL).read([plan], topics, RELATIONS, hops=3)
        assert (len(read.plans), read.dropped, read.refused) == (1, (), ())
        assert [list(hop) for hop in read.plans[0].names(SCHOOL)] == plan


@pytest.mark.parametrize(
    ("prompt", "schema"),
    [
        (prompts_proh.PLAN_SYSTEM, Plan),
        (prompts_proh.KEYWORDS_SYSTEM, Keywords),
        (stepping._SYSTEM, StepReply),
    ],
)
def test_replies_of_the_examples_are_read(prompt, schema):
    replies = re.findall(r": (\{.*\})$", prompt, re.MULTILINE)
    assert replies
    for reply in replies:
        assert parse(reply, schema).model_dump() == json.loads(reply)


def test_the_plan_that_proh_shows_is_a_plan():
    [reply] = re.findall(r": (\{.*\})$", prompts_proh.PLAN_SYSTEM, re.MULTILINE)
    steps = json.loads(reply)["steps"]
    drafted = [SubQuestion(s["id"], s["question"], tuple(s["needs"])) for s in steps]
    dag = checked_dag(drafted, "in which town was the teacher of Ada Quill born")
    assert dag.notes == ()
    assert dag.edges == (("1", "2"),)
