"""The archive of the project's own graphs: one function reads it, the examples are of it."""

from pathlib import Path

import pytest
from lib.own import unpacked

from jaxkg.errors import JaxkgError
from jaxkg.experiments.loading import load_graph

OWN = Path(__file__).parents[2] / "scripts" / "own"


def files_of(folder):
    return {str(file.relative_to(folder)): file for file in folder.rglob("*") if file.is_file()}


def test_the_examples_are_graphs_of_the_archive():
    graphs = unpacked(OWN / "graphs.tar.xz")
    assert len(list(graphs.glob("*/choose.jsonl"))) == 175
    examples = sorted((OWN / "examples").iterdir())
    assert len(examples) == 6
    for example in examples:
        mine, packed = files_of(example), files_of(graphs / example.name)
        assert mine.keys() == packed.keys()
        assert all(mine[name].read_bytes() == packed[name].read_bytes() for name in mine)
        assert load_graph(next(example.glob("facts.*"))).num_triples > 100


def test_it_is_unpacked_once_and_a_folder_is_taken_as_it_is():
    first = unpacked(OWN / "graphs.tar.xz")
    before = (first / "clinic" / "choose.jsonl").stat()
    assert unpacked(OWN / "graphs.tar.xz") == first
    assert (first / "clinic" / "choose.jsonl").stat().st_ino == before.st_ino
    assert unpacked(OWN / "examples") == OWN / "examples"


@pytest.mark.parametrize("content", [None, b"no archive", b""])
def test_what_is_no_archive_is_told(tmp_path, content):
    path = tmp_path / "graphs.tar.xz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(JaxkgError, match="archive"):
        unpacked(path)
