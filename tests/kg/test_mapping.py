"""What is understood is written, edited and taken."""

import tomllib
from collections import Counter

import pytest

from jaxkg.errors import JaxkgError
from jaxkg.kg import open_graph, read_graph, save_graph
from jaxkg.kg.mapping import apply_mapping, describe, read_mapping

TABLE = "id,name,owner,built,note\n1,Gull,Ada,1910,\x7f \"x\" = 'y'\n2,Tern,Bo,1920,[z]\n"


@pytest.fixture
def boats(tmp_path):
    path = tmp_path / "boats.csv"
    path.write_text(TABLE.replace('"x"', "x"))
    return path


def facts(kg):
    return {(kg.name(h), kg.relation_labels[r], kg.name(t)) for h, r, t in kg.triples.tolist()}


def test_what_is_written_is_read_as_the_same_graph(boats):
    kg = read_graph(boats)
    text = describe(kg, "boats.csv", Counter({'rows with "quotes"': 3}))
    told = tomllib.loads(text)
    assert told["things"]["boats"]["count"] == 2
    assert told["relations"]["built"]["to"] == "date"
    assert told["relations"]["owner"]["example"] == "Gull owner Ada"
    assert told["left_out"] == {'rows with "quotes"': 3}
    path = boats.with_name("boats.graph.toml")
    path.write_text(text)
    heard = []
    assert facts(read_graph(boats, on_reading=heard.append)) == facts(kg)
    assert any("boats.graph.toml has it" in line for line in heard)


def test_what_is_edited_is_taken(boats, tmp_path):
    named = tmp_path / "mine.toml"
    named.write_text(
        '[relations.owner]\nsays = "is owned by"\nsays_back = "owns"\nalso = ["belongs to"]\n'
        "[relations.built]\nignored = true\n[relations.note]\nreversed = true\nsymmetric = true\n"
        '[names]\n"boat 1" = "The Gull"\n'
    )
    kg = read_graph(boats, mapping=named)
    assert ("The Gull", "is owned by", "Ada") in facts(kg)
    assert "built" not in kg.relations
    assert "1910" not in kg.entity_names.tolist()
    assert ("[z]", "note", "Tern") in facts(kg)
    assert kg.relation_names["owner"] == ["is owned by", "belongs to"]
    assert kg.meanings == {"owner": {"says_back": "owns"}, "note": {"symmetric": True}}
    assert read_graph(boats).meanings == {}
    save_graph(kg, tmp_path / "saved")
    assert open_graph(tmp_path / "saved").meanings == kg.meanings
    assert open_graph(tmp_path / "saved").fingerprint == kg.fingerprint
    assert tomllib.loads(describe(kg, "x"))["relations"]["owner"]["says_back"] == "owns"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[relations", "not TOML"),
        ("x = 1", "what is 'x'"),
        ("relations = 3", "has tables"),
        ("[relations.owner]\nsays = 3", "relation 'owner': says = 3 is not understood"),
        ('[relations.owner]\nsay = "x"', "say = 'x' is not understood; there are says, says_back"),
        ('[relations.owner]\nignored = "yes"', "true or false"),
        ("[relations.ownr]\nignored = true", "the graph has no relation 'ownr'; nearest: 'owner'"),
        ('[names]\n"boat 9" = "x"', "no id 'boat 9'"),
        ('[names]\n"boat 1" = " "', "blank or not a text"),
    ],
)
def test_a_mapping_that_is_not_understood(boats, tmp_path, text, why):
    (tmp_path / "m.toml").write_text(text)
    with pytest.raises(JaxkgError) as told:
        read_graph(boats, mapping=tmp_path / "m.toml")
    assert why in str(told.value)
    assert "\n" not in str(told.value)


def test_a_mapping_leaves_some_fact(boats, tmp_path):
    relations = read_graph(boats).relations
    text = "".join(f'[relations."{name}"]\nignored = true\n' for name in relations)
    (tmp_path / "m.toml").write_text(text)
    with pytest.raises(JaxkgError, match="leaves no fact"):
        apply_mapping(read_graph(boats), read_mapping(tmp_path / "m.toml"))


def test_a_folder_has_its_own(tmp_path):
    (tmp_path / "a.csv").write_text("id,name,x\n1,Ann,3\n")
    (tmp_path / "graph.toml").write_text('[relations.x]\nsays = "is worth"\n')
    heard = []
    assert "is worth" in read_graph(tmp_path, on_reading=heard.append).relation_labels
    assert "left out" not in heard[0]
