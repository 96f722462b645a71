import importlib.metadata

import pytest

from jaxkg.cli.app import main
from jaxkg.errors import JaxkgError
from jaxkg.kg import FORMATS, read_graph
from jaxkg.kg.files import formats
from jaxkg.kg.files.protocol import NO, Format, Head, Intake, Sniff, named

TRIPLE = [("Ann", "sails", "Gull")]


def facts(graph):
    return [graph.triple(row) for row in range(graph.num_triples)]


class Point:
    """An entry point of another package."""

    def __init__(self, thing, name="chess"):
        self.thing, self.name, self.value = thing, name, "chessgraph:PGN"

    def load(self):
        return self.thing


@pytest.fixture
def added(monkeypatch):
    """Add formats as packages do: `added(Format(...))`."""

    def run(*things):
        points = [Point(thing) for thing in things]
        monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: points)
        formats.registry.cache_clear()

    yield run
    formats.registry.cache_clear()


def read_moves(path, intake):
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        white, _, black = line.partition(" - ")
        if not black:
            intake.leave_out("lines without two players")
            continue
        intake.name(white, white.title(), [white.upper()])
        intake.sort(white, "player")
        intake.qualified(white, "plays", black, {"round": [str(number)]}, f"{path.name}:{number}")
    intake.tell("taken as a tournament")


CHESS = Format("chess", "games", named(".pgn", score=0.9), read_moves)


def test_a_package_adds_a_format(added, tmp_path):
    added(CHESS)
    (tmp_path / "cup.pgn").write_text("ann - bo\n?\n")
    heard = []
    graph = read_graph(tmp_path / "cup.pgn", on_reading=heard.append)
    statement = "_:plays_1"
    assert set(facts(graph)) == {
        ("ann", "plays", "bo"),
        ("ann", "is a", "player"),
        (statement, "subject", "ann"),
        (statement, "predicate", "plays"),
        (statement, "object", "bo"),
        (statement, "round", "1"),
    }
    assert graph.name(graph.entity("ann")) == "Ann"
    assert graph.name(graph.entity(statement)) == "Ann plays bo"
    assert graph.source(0)
    assert "taken as a tournament" in heard[0]
    assert "1 lines without two players left out" in heard[0]
    with pytest.raises(JaxkgError, match="columns has no meaning for format 'chess'"):
        read_graph(tmp_path / "cup.pgn", columns=("a", "b", "c"))


@pytest.mark.parametrize(
    ("thing", "why"),
    [(dict, "not a Format"), (Format("csv", "", named(".x"), read_moves), "'csv' already")],
)
def test_a_wrong_entry_point_is_told(added, tmp_path, thing, why):
    (tmp_path / "kb.tsv").write_text("a\tr\tb\n")
    added(thing)
    with pytest.raises(JaxkgError, match=f"jaxkg.formats: .*{why}"):
        read_graph(tmp_path / "kb.tsv")


def test_the_surest_format_reads_and_a_near_one_is_told(added, tmp_path):
    (tmp_path / "kb.tsv").write_text("Ann\tsails\tGull\n")
    heard = []
    added(Format("rival", "", lambda head: Sniff(0.65, "it smells of it"), read_moves))
    assert facts(read_graph(tmp_path / "kb.tsv", on_reading=heard.append)) == TRIPLE
    assert "read as 'tsv' (its name ends in '.tsv')" in heard[0]
    assert "'rival' (it smells of it)" in heard[0]
    heard.clear()
    added(Format("surer", "", lambda head: Sniff(0.9, "it is"), read_moves))
    with pytest.raises(JaxkgError, match=r"read as surer; .*1 lines without two players"):
        read_graph(tmp_path / "kb.tsv", on_reading=heard.append)
    assert heard == []


@pytest.mark.parametrize(
    ("name", "data", "format"),
    [
        ("kb.csv", b"SQLite format 3\x00", "sqlite"),
        ("kb", b"PAR1", "parquet"),
        ("kb.xml", b"<?xml version='1.0'?>\n<graphml xmlns='x'>", "graphml"),
        ("kb.xml", b"<rdf:RDF>", "rdfxml"),
        ("kb.json", b'{"@context": {}}', "jsonld"),
        ("kb.json", b'{"context": {}}', "jsonl"),
        ("kb.TSV.gz", b"a", "tsv"),
        ("kb", b"\n\na\tb\tc|d|e\n", "tsv"),
        ("kb", b"a|b|c\n", "metaqa"),
    ],
)
def test_a_file_is_told_by_its_name_and_its_beginning(tmp_path, name, data, format):
    (tmp_path / name).write_bytes(data)
    assert formats.format_of(tmp_path / name, None, "utf-8").format.name == format


def test_a_file_of_no_known_format_is_told(tmp_path):
    (tmp_path / "notes").write_text("\n  Dear diary\n")
    with pytest.raises(JaxkgError, match=r"notes:2: neither .* 'Dear diary' .* metaqa, tsv"):
        read_graph(tmp_path / "notes")


def test_every_format_keeps_off_what_is_another_s():
    noise = Head("notes", b"Dear diary", encoding="utf-8")
    empty = Head("folder", entries=("notes.doc",))
    for format in formats.BUILT_IN:
        assert format.sniff(noise) == NO
        assert format.sniff(empty).score <= 0.3
        assert format.about


def test_the_command_lists_them(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["formats"])
    out = capsys.readouterr().out
    assert [line.split()[0] for line in out.splitlines()] == list(FORMATS)
    assert "extra 'rdf'" in next(line for line in out.splitlines() if line.startswith("turtle"))


def test_a_statement_of_nothing_is_a_plain_fact():
    intake = Intake()
    assert intake.qualified("a", "knows", "b", {"since": []}) == ""
    assert len(intake.encoder) == 1
