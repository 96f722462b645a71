import json

import loopback
import pytest
from pydantic import BaseModel, Field

from jaxkg.adjudicate.calls.planning import PlanReply
from jaxkg.adjudicate.calls.super_relations import RelationScores
from jaxkg.adjudicate.reading.schema import bounded, strict_schema, unbounded
from jaxkg.errors import JaxkgError


class Inner(BaseModel):
    title: str
    weight: float = 1.0


class Outer(BaseModel):
    best: Inner = Field(description="the best one")
    others: list[Inner] = []
    note: str | None = None


def test_strict_form():
    schema = strict_schema(Outer)
    assert loopback._not_strict(schema, schema) is None
    assert schema["required"] == ["best", "others", "note"]
    assert schema["properties"]["best"]["description"] == "the best one"
    assert "title" in schema["$defs"]["Inner"]["properties"]
    assert "default" not in json.dumps(schema)


def test_the_plain_schema_would_be_refused():
    schema = Outer.model_json_schema()
    assert loopback._not_strict(schema, schema) is not None


def test_free_keys_are_told_apart():
    class Free(BaseModel):
        scores: dict[str, float]

    with pytest.raises(JaxkgError, match=r"Free\.scores: a field with free keys"):
        strict_schema(Free)


def test_offers_become_values_of_the_schema_however_deep_their_field_lies():
    plan = bounded(
        strict_schema(PlanReply),
        offered={"hops": ["a", "^a"], "alternatives.hops": ["a"]},
        most={"hops": 3, "alternatives": 2},
        without=["reasoning"],
    )
    assert loopback._not_strict(plan, plan) is None
    hops = plan["properties"]["hops"]
    assert (hops["maxItems"], hops["items"]["items"]["enum"]) == (3, ["a", "^a"])
    assert plan["properties"]["alternatives"]["maxItems"] == 2
    assert plan["required"] == ["hops", "alternatives"]
    assert "enum" not in json.dumps(strict_schema(PlanReply)), "the shared schema is not touched"
    scores = bounded(strict_schema(RelationScores), offered={"scores.n": range(1, 4)})
    assert loopback._not_strict(scores, scores) is None
    number = scores["$defs"]["ScoredRelation"]["properties"]["n"]
    assert (number["type"], number["enum"]) == ("integer", [1, 2, 3])
    assert bounded(scores, offered={"scores.n": []}) == scores
    with pytest.raises(JaxkgError, match=r"no field 'scores\.relation'"):
        bounded(scores, offered={"scores.relation": [1]})


def test_an_endpoint_without_lists_of_values_is_sent_the_form_alone():
    plan = bounded(strict_schema(PlanReply), offered={"hops": [f"r{n}" for n in range(40)]})
    assert unbounded(plan) == strict_schema(PlanReply)
