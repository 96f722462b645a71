"""A byte of a saved graph's files changed: told in a line, whatever is asked of it."""

import contextlib

import numpy as np
import pytest

from jaxkg.cli import main
from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph, save_graph
from jaxkg.kg.files import array_folder
from jaxkg.kg.stores.arrays import ArrayStore, save_index
from jaxkg.kg.stores.edit import verify
from jaxkg.serve.stored import StoredFacts

FACTS = [(f"film {n}", ("by", "in")[n % 2], f"person {n % 7}") for n in range(60)]
FILES = (
    *("relation", "tail", "first", "entity_ids.blob", "entity_ids.offsets"),
    *("index/back", "index/back_relation", "index/back_first", "index/owners", "index/keys"),
)


@pytest.fixture
def folder(tmp_path):
    kg = KnowledgeGraph.from_triples(FACTS)
    saved = save_graph(kg, tmp_path / "films")
    save_index(saved, kg)
    return saved


def flipped(folder, name, place):
    """The highest bit of a byte of an array's data turned, counted from the end."""
    file = folder / f"{name}.npy"
    data = bytearray(file.read_bytes())
    data[-place] ^= 0x80
    file.write_bytes(data)


@pytest.mark.parametrize("name", FILES)
def test_a_small_folder_is_verified_when_it_is_opened(folder, name):
    flipped(folder, name, 5)
    with pytest.raises(JaxkgError, match=rf"{name}\.npy: damaged"):
        ArrayStore.open(folder)
    with pytest.raises(JaxkgError, match=rf"{name}\.npy: damaged"):
        verify(folder)


@pytest.mark.parametrize("place", range(1, 60, 9))
@pytest.mark.parametrize("name", FILES)
def test_of_a_large_one_a_number_out_of_range_is_told(folder, name, place, monkeypatch):
    monkeypatch.setattr(array_folder, "SMALL", 0)
    flipped(folder, name, place)
    with contextlib.suppress(JaxkgError):
        store = ArrayStore.open(folder)
        facts = StoredFacts(store)
        for text in ("film 1", "person 3", "persom 3"):
            facts.entities(text)
        store.fetch(store.runs(np.arange(store.kg.num_entities)))
        store.everything()
        store.some(10)
        facts.entity("person 3")


def test_which_file_it_is_and_what_reads_every_file_are_told(folder, monkeypatch, capsys):
    monkeypatch.setattr(array_folder, "SMALL", 0)
    flipped(folder, "tail", 1)
    with pytest.raises(JaxkgError, match=r"tail\.npy has a number past .*stats .* --verify"):
        ArrayStore.open(folder).everything()
    with pytest.raises(SystemExit):
        main(["kg", "stats", f"mapped:{folder}", "--verify"])
    assert "tail.npy: damaged: its SHA-256" in capsys.readouterr().err
