"""A graph sorted on disk is the graph that is read whole."""

import gzip
import importlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

from jaxkg.errors import JaxkgError
from jaxkg.kg import open_graph, read_graph, triples
from jaxkg.kg.stores.arrays import ArrayStore
from jaxkg.kg.stores.big import sort, spill
from jaxkg.kg.stores.big.build import build_big
from jaxkg.lock import FolderLock

LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
ALSO = "http://www.w3.org/2004/02/skos/core#altLabel"
NAME = "http://xmlns.com/foaf/0.1/name"
RDF = f"""
<http://a/m1> <http://a/by> <http://a/p1> .
<http://a/m1> <http://a/by> <http://a/p1> .
<http://a/m2> <http://b/by> <http://a/p%C3%A9> .
<http://a/m2> <http://a/year> "1995"^^<http://www.w3.org/2001/XMLSchema#gYear> .
<http://a/m2> <http://a/said> "oui"@fr .
<http://a/m2> <http://a/with> _:b .
<http://a/m1> <{LABEL}> "Der Eine"@de .
<http://a/m1> <{LABEL}> "One"@en .
<http://a/m1> <{LABEL}> "Uno" .
<http://a/m1> <{ALSO}> "Eins" .
<http://a/p1> <{ALSO}> "Only an alias" .
<http://a/year> <{LABEL}> "year of release"@en .
<http://a/nobody> <{LABEL}> "without facts" .
"""


def lines(rng, separator, count=400):
    ends = [f"Größe {n}" if n % 7 == 0 else f"e{n}" for n in range(40)]
    return "\n".join(
        separator.join((ends[h], f"r{r}", ends[t]))
        for h, r, t in zip(*(rng.integers(0, most, count).tolist() for most in (40, 3, 40)))
    )


def same(one, two):
    assert one.fingerprint == two.fingerprint
    assert one.relation_names == two.relation_names
    assert (one.duplicates, one.skipped) == (two.duplicates, two.skipped)
    assert dict(one.aliases) == dict(two.aliases)


@pytest.mark.parametrize("pack", [None, "gz", "zst"])
@pytest.mark.parametrize(("separator", "suffix"), [("\t", "tsv"), (",", "csv"), ("|", "txt")])
def test_lines(rng, tmp_path, separator, suffix, pack):
    text = lines(rng, separator)
    path = tmp_path / (f"facts.{suffix}" + (f".{pack}" if pack else ""))
    data = text.encode()
    if pack == "gz":
        data = gzip.compress(data)
    elif pack == "zst":
        data = pyarrow.compress(data, "zstd", asbytes=True)
    path.write_bytes(data)
    names = tmp_path / "names.tsv"
    names.write_text("e1\tEins\ne1\tUno\ne2\tZwei\nnobody\tNiemand\n", encoding="utf-8")
    whole = read_graph(path, names=names)
    build_big(path, tmp_path / "big", names=names)
    same(open_graph(tmp_path / "big"), whole)
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted({"big", "names.tsv", path.name})
    store = ArrayStore.open(tmp_path / "big")
    assert store.search(["eins"]) == [[whole.entity("e1")]]
    nodes = np.arange(whole.num_entities)
    assert all(map(np.array_equal, store.runs(nodes), ArrayStore(whole).runs(nodes)))


def test_parquet(rng, tmp_path):
    rows = [line.split("|") for line in lines(rng, "|").split("\n")]
    path = tmp_path / "facts.parquet"
    columns = dict(zip(("head", "relation", "tail"), map(list, zip(*rows))))
    parquet.write_table(pyarrow.table(columns), path)
    build_big(path, tmp_path / "big", memory="500MB")
    same(open_graph(tmp_path / "big"), read_graph(path))


@pytest.mark.parametrize(
    "heads", [[7, 8, 7], [" 7", "8", "7\u2003"], ["7", None, "8"], ["7", " ", "8"]]
)
def test_parquet_that_is_not_plain_strings(tmp_path, heads):
    path = tmp_path / "facts.parquet"
    columns = {"head": heads, "relation": ["r", "s", "r"], "tail": ["a", "b", "a"]}
    table = pyarrow.table(columns)
    parquet.write_table(table, path)
    skip = int(None in heads or " " in heads)
    build_big(path, tmp_path / "big", skip_bad=skip)
    same(open_graph(tmp_path / "big"), read_graph(path, skip_bad=skip))


def test_many_batches(rng, tmp_path, monkeypatch):
    monkeypatch.setattr(spill, "_BATCH", 50)
    monkeypatch.setattr(sort, "_ROWS", 30)
    monkeypatch.setattr(sort, "_BYTES_A_FACT", 20 << 20)
    monkeypatch.setattr(triples, "PART", 16)
    path, names = tmp_path / "facts.tsv", tmp_path / "names.tsv"
    path.write_text(lines(rng, "\t"), encoding="utf-8")
    told = (f"e{row}\tName {row % 9}\ne{row}\tAlso {row}\n" for row in range(40))
    names.write_text("".join(told), encoding="utf-8")
    whole = read_graph(path, names=names)
    build_big(path, tmp_path / "big", names=names)
    same(open_graph(tmp_path / "big"), whole)
    store, nodes = ArrayStore.open(tmp_path / "big"), np.arange(whole.num_entities)
    runs = store.runs(nodes)
    assert all(
        map(np.array_equal, store.fetch(runs), (whole.triples, np.arange(len(whole.triples))))
    )


def test_ntriples(tmp_path, names_alone):
    path = tmp_path / "facts.nt"
    path.write_text(RDF, encoding="utf-8")
    build_big(path, tmp_path / "big")
    same(open_graph(tmp_path / "big"), read_graph(path))
    path.write_text("<http://a/1> <http://a/r> <http://a/2> .\n", encoding="utf-8")
    build_big(path, tmp_path / "big")
    same(open_graph(tmp_path / "big"), read_graph(path))


def test_nquads(tmp_path, names_alone):
    path, told = tmp_path / "facts.nq", []
    text = RDF.replace("<http://a/p1> .", "<http://a/p1> <http://g/1> .")
    text += f'<http://a/p1> <{NAME}> "Paul" .\n<http://a/m1> <{NAME}> "Une"@en <http://g/2> .\n'
    path.write_text(text, encoding="utf-8")
    build_big(path, tmp_path / "big", on_stage=told.append)
    same(open_graph(tmp_path / "big"), read_graph(path))
    assert told[:2] == ["reading", "reading its named graphs as one"]
    assert told.count(told[1]) == 1


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("kb.jsonld", '{"@id": "http://a/x"}', "kb.jsonld: jsonld is read whole, not on disk"),
        ("kb.xlsx", "PK", "kb.xlsx: excel is read whole, not on disk"),
        ("kb.ttl", "<a> <b> <c> {| <d> 1 |} .", "kb.ttl: statements about .* whole, not on disk"),
    ],
)
def test_what_is_read_whole_is_told(tmp_path, name, text, told):
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(JaxkgError, match=told):
        build_big(tmp_path / name, tmp_path / "big")
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("firms.csv", "name,town,founded,boss\nA,Bern,1999,Bo\nB,Biel,2001,Al\n"),
        ("firms.tsv", "id\ttown\tboss\n1\tBern\tBo\n2\tBiel\tAl\n"),
    ],
)
def test_a_table_is_not_taken_for_triples(tmp_path, name, text):
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(JaxkgError, match=r"looks like a table, .*without --big"):
        build_big(tmp_path / name, tmp_path / "big")
    assert [path.name for path in tmp_path.iterdir()] == [name]
    told = build_big(tmp_path / name, tmp_path / "big", format=name[-3:])
    assert told.num_triples == 3  # the first line too: it is no header of triples


@pytest.mark.parametrize(
    ("text", "told"),
    [("a\tb\n", "2 fields"), ("", "no triples|blank"), ("a\t^b\tc\n", "starts with")],
)
def test_bad_input_leaves_nothing_behind(tmp_path, text, told):
    path = tmp_path / "facts.tsv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(JaxkgError, match=told):
        build_big(path, tmp_path / "big")
    assert [p.name for p in tmp_path.iterdir()] == ["facts.tsv"]
    path.write_text("a\tb\tc\n", encoding="utf-8")
    with pytest.raises(JaxkgError, match="cannot be sorted"):
        build_big(path, tmp_path / "big", memory="a lot")


def test_without_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    path = tmp_path / "facts.tsv"
    path.write_text("a\tb\tc\n", encoding="utf-8")
    with pytest.raises(JaxkgError, match=r"jaxkg\[big\]"):
        build_big(path, tmp_path / "big")


@pytest.mark.slow
def test_the_command(tmp_path):
    path = tmp_path / "facts.tsv"
    path.write_text("a\tb\tc\n", encoding="utf-8")
    command = [sys.executable, "-m", "jaxkg", "kg", "build", str(path), "-o", str(tmp_path / "g")]
    done = subprocess.run([*command, "--big"], capture_output=True, text=True, check=True)
    assert "1 triple" in done.stdout
    assert open_graph(tmp_path / "g").num_triples == 1


def test_what_a_killed_build_left_is_taken_away_and_what_works_is_not(tmp_path):
    path = tmp_path / "facts.tsv"
    path.write_text("a\tb\tc\n", encoding="utf-8")
    stale, held, other = (
        tmp_path / name for name in (".big.1.build", ".big.2.build", ".bigger.1.build")
    )
    for folder in (stale, held, other):
        folder.mkdir()
        (folder / "facts.parquet").write_text("half")
    lock = FolderLock(held)
    build_big(path, tmp_path / "big")
    lock.close()
    assert not stale.exists()
    assert (held / "facts.parquet").exists()
    assert other.exists()


@pytest.mark.slow
def test_killed_at_any_moment_nothing_is_damaged(monkeypatch, capsys):
    scripts = Path(__file__).parents[3] / "scripts" / "study"
    monkeypatch.syspath_prepend(str(scripts))
    script = importlib.import_module("kill_stores")
    script.main(["--kills", "4", "--facts", "20000"])
    told = capsys.readouterr().out.splitlines()
    rows = [
        line
        for line in told
        if line.startswith(("| build | 4 |", "| add | 4 |", "| compact | 4 |"))
    ]
    assert [row.split()[-2] for row in rows] == ["0", "0", "0"]
