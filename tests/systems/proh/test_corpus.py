"""Documents of a corpus: which file names say what a text is about."""

import pytest

from jaxkg.systems.proh.build import build_hypergraph, read_corpus


def names_of(graph):
    return {graph.name(row) for row in range(graph.num_entities)}


@pytest.mark.parametrize(
    ("file", "title"),
    [
        ("Ridley_Scott.txt", "Ridley Scott"),
        ("ridley scott.md", "ridley scott"),
        ("notes_2023.txt", "notes_2023.txt"),
        ("Scott_2023.txt", "Scott_2023.txt"),
        ("___.txt", "___.txt"),
    ],
)
def test_a_file_is_titled_by_what_it_is_about_or_by_its_name(tmp_path, file, title):
    (tmp_path / file).write_text("Ridley Scott directed Alien.", encoding="utf-8")
    assert read_corpus(tmp_path) == [(title, "Ridley Scott directed Alien.")]


def test_a_file_name_is_cited_and_is_no_entity(tmp_path):
    (tmp_path / "doc7.md").write_text("Roy Holt bought the Brook Mill.", encoding="utf-8")
    (tmp_path / "Ada_Penn.txt").write_text("Ada Penn built the Brook Mill.", encoding="utf-8")
    graph = build_hypergraph(read_corpus(tmp_path)).graph
    assert names_of(graph) == {"Roy Holt", "Brook Mill", "Ada Penn"}
    assert set(graph.chunk_titles) == {"doc7.md", "Ada Penn"}
