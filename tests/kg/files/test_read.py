import json

import numpy as np
import pytest
from named_facts import named_facts

from jaxkg.errors import JaxkgError
from jaxkg.kg import open_graph, read_graph, save_graph
from jaxkg.kg.stats import graph_stats


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("kb.tsv", "a\tr\tb\nc\tr\td\n"),
        ("kb.csv", "a,r,b\nc,r,d\n"),
        ("kb.txt", "a|r|b\nc|r|d\n"),
        ("kb.v2.txt", "a\tr\tb\nc\tr\td\n"),
        ("kb.jsonl", '{"head":"a","relation":"r","tail":"b"}\n'
                     '{"head":"c","relation":"r","tail":"d"}\n'),
        ("kb.ndjson", '{"head":"a","relation":"r","tail":"b"}\n'
                      '{"head":"c","relation":"r","tail":"d"}\n'),
    ],
)  # fmt: skip
def test_the_format_is_told_from_the_name(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    told = []
    graph = read_graph(str(tmp_path / name), on_progress=lambda *now: told.append(now))
    assert [graph.triple(row) for row in (0, 1)] == [("a", "r", "b"), ("c", "r", "d")]
    assert told[-1] == (len(text), len(text))


def test_a_named_format_wins_over_the_name(tmp_path):
    (tmp_path / "kb.csv").write_text("a|r,r|b\n")
    assert read_graph(tmp_path / "kb.csv", format="metaqa").triple(0) == ("a", "r,r", "b")


def test_a_missing_file_is_told(tmp_path):
    (tmp_path / "kb.txt").write_text("a|r|b")
    with pytest.raises(JaxkgError, match=r"no such file; .*nearest: 'kb.txt'"):
        read_graph(tmp_path / "kb.text")


def test_metaqa_as_published(data_dir, tmp_path):
    graph = read_graph(data_dir / "metaqa" / "kb.txt")
    assert (graph.num_entities, graph.num_relations, graph.num_triples) == (43_234, 9, 133_582)
    stats = graph_stats(graph)
    assert stats["relation_counts"]["starred_actors"] == 33_718
    assert stats["duplicates"] == 0
    rows = graph.find(*graph.triples.T)
    assert np.array_equal(rows, np.arange(graph.num_triples))
    head, relation, tail = (
        graph.entity("Kismet"),
        graph.relation_code("directed_by"),
        graph.entity("William Dieterle"),
    )
    assert graph.triple(int(graph.find(head, relation, tail))) == (
        "Kismet",
        "directed_by",
        "William Dieterle",
    )
    opened = open_graph(save_graph(graph, tmp_path / "metaqa"))
    assert opened.fingerprint == graph.fingerprint
    assert opened.entity("Kismet") == head


def test_the_freebase_pool_in_one_call(data_dir):
    folder = data_dir / "freebase_webqsp_cwq"
    graph = read_graph(folder / "kg_pooled.tsv", names=folder / "mid2name.tsv", provenance=4)
    assert (graph.num_entities, graph.num_relations, graph.num_triples) == (57_571, 3_205, 101_704)
    assert graph.source(0)
    named = [graph.name(row) != one for row, one in enumerate(graph.entity_ids)]
    assert any(named)
    assert graph_stats(graph)["unnamed"] > 0
    from jaxkg.experiments.datasets import well_formed

    asked = well_formed(folder / "kg_pooled.tsv", graph)
    assert (asked.num_relations, asked.num_triples) == (3_070, 101_506)


def test_mixed_column_counts_in_published_data_are_told(data_dir):
    published = data_dir / "nary" / "JF17K" / "train.txt"
    with pytest.raises(JaxkgError, match=r"train.txt:1: 4 columns without a header.*--columns"):
        read_graph(published)
    with pytest.raises(JaxkgError, match=r"train.txt:3: 3 fields where the first line has 4"):
        read_graph(published, columns=(1, 0, 2))


def _said(user, text, **more):
    return {"type": "message", "user": user, "text": text, **more}


def test_folders_within_are_read_and_say_what_their_records_are_of(tmp_path):
    users = [
        {"id": "U1", "name": "ann", "tz": "Europe", "tz_label": ""},
        {"id": "U2", "name": "bo"},
    ]
    files = {
        "users.json": users,
        "channels.json": [{"id": "C1", "name": "sea"}, {"id": "C2", "name": "land"}],
        "sea/1.json": [_said("U1", "Hello", parts=[{"size": 3}, {"size": 5}]), _said("U2", "Yes")],
        "land/1.json": [_said("U2", "No", parts=[{"size": 4}, {"size": 6}]), _said("U1", "Why")],
        "old/users.json": [{"id": "U1", "name": "annie"}],
    }
    for name, records in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(json.dumps(records))
    heard = []
    graph = read_graph(tmp_path, on_reading=heard.append)
    facts = named_facts(graph)
    said = {head: text for head, relation, text in facts if relation == "text"}
    assert len(said) == 4  # a message is none of its user, nor the one of another folder
    of = {(said[head], relation, tail) for head, relation, tail in facts if head in said}
    assert of >= {("Hello", "folder", "sea"), ("No", "folder", "land"), ("Why", "user", "ann"),
                  ("Hello", "type", "message")}  # fmt: skip
    parts = {tail for head, relation, tail in facts if relation == "parts"}
    assert len(parts) == 4
    assert "annie" not in {tail for _, _, tail in facts}
    assert "left out: old" in heard[0]


def test_names_in_two_columns_beside_triples(folder):
    graph = folder({
        "a_names.tsv": "m1\tAida\nm2\tVerdi\n",
        "triples.tsv": "m1\tcomposer\tm2\nm1\tvenue\tm3\nm4\tcomposer\tm2\n",
        "towns.tsv": "town\tland\nEly\tUK\n",
    })  # fmt: skip
    assert graph.name(graph.entity("m2")) == "Verdi"
    assert {*graph.relations} - {"is a"} == {"composer", "venue", "land"}
