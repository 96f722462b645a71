import json

import loopback
import pytest
from pydantic import BaseModel, Field

from jaxkg.adjudicate.reading.schema import strict_schema
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
