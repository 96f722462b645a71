"""Relations with the classes at their ends, and the few that a question needs."""

import numpy as np
import pytest

from jaxkg.kg import KnowledgeGraph
from jaxkg.kg.typed_schema import TypedSchema
from jaxkg.text import HashingEncoder


def lines(triples, **more):
    kg = KnowledgeGraph.from_triples(triples, **more)
    schema = TypedSchema(kg)
    return {schema.line(relation) for relation in range(kg.num_relations)}


@pytest.mark.parametrize(
    ("triples", "told"),
    [
        (
            [("a", "type", "City"), ("b", "rdf:type", "State"), ("a", "in_state", "b")],
            "(City)-[in state]->(State)",
        ),
        (
            [
                *((f"city/{name}", "in_state", "state/texas") for name in ("austin", "waco")),
                *((f"state/{name}", "borders", "state/utah") for name in ("texas", "ohio")),
            ],
            "(city)-[in state]->(state)",
        ),
        (
            [
                ("m.0a1", "people.person.nationality", "m.0a2"),
                ("m.0a2", "location.country.capital", "m.0a3"),
            ],
            "(person)-[person nationality]->(country)",
        ),
        ([("Heat", "directed_by", "Michael Mann")], "(Heat)-[directed by]->(Michael Mann)"),
        ([("Heat", "year", "1995"), ("Ali", "year", "2001")], "(Ali)-[year]->(date)"),
        ([("Heat", "votes", "1,995"), ("Ali", "votes", "12")], "(Ali)-[votes]->(number)"),
        ([("m.0abc", "part_of", "m.0xyz")], "(record)-[part of]->(record)"),
    ],
)
def test_an_end_is_told_by_class_kind_of_value_or_name_and_never_by_an_opaque_id(triples, told):
    assert told in lines(triples)


def test_relations_of_one_label_are_told_apart_by_their_own_names():
    kg = KnowledgeGraph.from_triples(
        [
            ("a", "film.film.name", "b"),
            ("a", "film.actor.name", "b"),
            ("a", "tv.actor.name", "b"),
            ("a", "people.person.nationality", "b"),
        ]
    )
    schema = TypedSchema(kg)
    by_name = dict(zip(kg.relations, schema.names))
    assert by_name == {
        "film.film.name": "film name",
        "film.actor.name": "film.actor.name",
        "tv.actor.name": "tv.actor.name",
        "people.person.nationality": "person nationality",
    }
    assert schema.told(kg.relation_code("^people.person.nationality")) == "^person nationality"


def test_classes_are_what_all_ends_of_a_relation_are():
    kg = KnowledgeGraph.from_triples(
        [
            ("austin", "in_state", "texas"),
            ("texas", "borders", "ohio"),
            ("austin", "near", "waco"),
            ("ohio", "near", "waco"),
            *((name, "type", "city") for name in ("austin", "waco")),
            *((name, "type", "state") for name in ("texas", "ohio")),
        ]
    )
    assert TypedSchema(kg).classes == {
        "city": ("in_state", "^near"),
        "state": ("borders", "^borders", "^in_state"),
    }


def test_a_class_that_a_table_tells_of_is_one():
    facts = [("Gull", "is a", "boats"), ("Tern", "is a", "boats"), ("Gull", "owner", "Ada"),
             ("Tern", "owner", "Ada"), ("Ada", "is a", "people")]  # fmt: skip
    schema = TypedSchema(KnowledgeGraph.from_triples(facts))
    assert schema.line(schema.kg.relation_code("owner")) == "(boats)-[owner]->(people)"
    assert schema.classes == {"boats": ("owner",), "people": ("^owner",)}


def many(count=60):
    words = (f"{chr(97 + i % 26)}{chr(98 + i % 7)}{chr(99 + i % 11)}o" for i in range(count))
    facts = [(f"thing {i}", f"{word} {word}s", f"end {i}") for i, word in enumerate(words)]
    return KnowledgeGraph.from_triples(
        [*facts, ("topic", "zzz", "middle"), ("middle", "directed by", "someone")]
    )


def test_a_projection_has_what_leaves_the_topic_what_comes_behind_and_what_is_like_the_question():
    kg = many()
    schema, encode = TypedSchema(kg), HashingEncoder(letters=())
    found = schema.projected("bcdos bcdo", [kg.entity("topic")], encode, most=6)
    assert len(found) == 6
    names = {kg.relations[relation] for relation in found}
    assert {"zzz", "directed by", "bcdo bcdos"} <= names
    elsewhere = schema.projected("bcdos bcdo", [], encode, most=6)
    assert "zzz" not in {kg.relations[relation] for relation in elsewhere}


def test_a_projection_keeps_to_relations_and_tokens_and_few_need_no_vectors():
    kg = many()
    schema = TypedSchema(kg)
    for tokens in (30, 100, 600):
        found = schema.projected("which", [], HashingEncoder(), most=40, most_tokens=tokens)
        cost = sum(-(-(len(schema.line(relation)) + 1) // 4) for relation in found)
        assert 0 < cost <= tokens
        assert len(found) <= 40

    def no_encoder(texts):
        raise AssertionError("all are offered")

    assert schema.projected("which", [], no_encoder, most=100, most_tokens=10_000) == tuple(
        range(kg.num_relations)
    )


def test_likeness_is_of_the_encoder_given_last():
    schema = TypedSchema(many())
    flat = schema.likeness("x", lambda texts: np.zeros((len(texts), 2), np.float32))
    assert not np.allclose(flat, schema.likeness("bcdo", HashingEncoder()))
