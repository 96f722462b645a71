"""Small files that become huge ones are refused in one line; what is packed and sound is read."""

import gzip
import zipfile

import pytest

from jaxkg.errors import JaxkgError
from jaxkg.kg import read_graph

FACT = b"a\tr\tb\n"


def test_packed_zeros_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("jaxkg.kg.files.textfile._FREE", 1 << 18)
    small = tmp_path / "zeros.tsv.gz"
    small.write_bytes(gzip.compress(FACT * (1 << 18)))
    assert small.stat().st_size < 1 << 12
    with pytest.raises(JaxkgError, match=r"zeros.tsv.gz: .* packed bytes .* more than 50 times"):
        read_graph(small)


def test_layers_of_packing_are_unpacked_up_to_the_third(tmp_path):
    data = FACT
    for layer in range(1, 5):
        data = gzip.compress(data)
        path = tmp_path / f"{layer}.tsv.gz"
        path.write_bytes(data)
        if layer < 4:
            assert read_graph(path).num_triples == 1
        else:
            with pytest.raises(JaxkgError, match="packed more than 3 times"):
                read_graph(path)


def test_a_zip_of_one_file_is_read_and_of_more_refused(tmp_path):
    path = tmp_path / "kb.tsv.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("kb.tsv", FACT)
    assert read_graph(path).num_triples == 1
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("more.tsv", FACT)
    with pytest.raises(JaxkgError, match="a zip archive of 2 files; unpack it into a folder"):
        read_graph(path)
    path.write_bytes(b"PK\x03\x04 no zip")
    with pytest.raises(JaxkgError, match="no zip archive"):
        read_graph(path)


@pytest.mark.parametrize("name", ["long.tsv", "long.csv", "long.jsonl"])
def test_one_endless_line_is_refused(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"x" * ((1 << 24) + 1000))
    with pytest.raises(JaxkgError, match=r"long.*:1: a line of more than 16,777,216 characters"):
        read_graph(path)
