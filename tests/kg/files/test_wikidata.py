"""Entities as Wikidata's dumps write them."""

import json

import pytest
from named_facts import named_facts

from jaxkg.kg import read_graph


def snak(relation, value):
    return {"snaktype": "value", "property": relation, "datavalue": {"value": value}}


def statement(relation, value, rank="normal", **qualifiers):
    said = {name: [snak(name, one)] for name, one in qualifiers.items()}
    return {"mainsnak": snak(relation, value), "rank": rank, "qualifiers": said}


def labels(**texts):
    return {code: {"language": code, "value": text} for code, text in texts.items()}


ENTITIES = [
    {"id": "Q1", "type": "item", "labels": labels(de="Anna", en="Ann"),
     "aliases": {"en": [{"language": "en", "value": "Annie"}]},
     "descriptions": labels(en="a sailor"),
     "claims": {
         "P1": [statement("P1", {"id": "Q2"},
                          P3={"time": "+1987-00-00T00:00:00Z", "precision": 9})],
         "P2": [statement("P2", {"amount": "+30", "unit": "1"}, "preferred"),
                statement("P2", {"amount": "+20", "unit": "1"},
                          P3={"time": "+2010-05-00T00:00:00Z", "precision": 10}),
                statement("P2", {"amount": "+99", "unit": "1"}, "deprecated")],
         "P4": [{"mainsnak": {"snaktype": "somevalue", "property": "P4"}, "rank": "normal"}],
     }},
    {"id": "Q2", "type": "item", "labels": labels(en="Rovers"), "claims": {}},
    {"id": "P1", "type": "property", "labels": labels(en="member of")},
    {"id": "P2", "type": "property", "labels": labels(en="strength")},
    {"id": "P3", "type": "property", "labels": labels(en="start time")},
]  # fmt: skip


def dump(entities):
    return "[\n" + ",\n".join(map(json.dumps, entities)) + "\n]\n"


@pytest.mark.parametrize(
    "text",
    [
        dump(ENTITIES),
        "\n".join(map(json.dumps, ENTITIES)),
        json.dumps({"entities": {one["id"]: one for one in ENTITIES}, "success": 1}, indent=1),
    ],
)
def test_statements_ranks_and_qualifiers(tmp_path, text):
    (tmp_path / "kb.json").write_text(text)
    heard = []
    graph = read_graph(tmp_path / "kb.json", on_reading=heard.append)
    facts = named_facts(graph)
    former = "Ann strength 20"
    assert {f for f in facts if f[0] in ("Ann", former)} == {
        ("Ann", "P1", "Rovers"), ("Ann", "P2", "30"), ("Ann", "description", "a sailor"),
        (former, "subject", "Ann"), (former, "predicate", "strength"), (former, "object", "20"),
        (former, "P3", "2010-05"),
    }  # fmt: skip
    assert ("Ann member of Rovers", "P3", "1987") in facts
    assert graph.relation_labels[graph.relation_code("P1")] == "member of"
    assert set(graph.aliases[graph.entity("Q1")]) == {"Anna", "Annie"}
    assert "1 deprecated statements left out" in heard[0]
    assert "1 statements that a value is unknown, or none left out" in heard[0]


def test_the_name_is_in_the_language_that_is_asked_for(tmp_path):
    (tmp_path / "kb.json").write_text(dump(ENTITIES))
    graph = read_graph(tmp_path / "kb.json", language="de")
    assert graph.name(graph.entity("Q1")) == "Anna"
    assert "Ann" in graph.aliases[graph.entity("Q1")]
