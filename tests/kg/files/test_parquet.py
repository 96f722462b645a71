import gzip
import sys

import pytest
from named_facts import named_facts

from jaxkg.errors import JaxkgError
from jaxkg.kg import read_graph, save_graph

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def read(tmp_path):
    def run(table, *, rows=None, **options):
        path = tmp_path / "kb.parquet"
        pq.write_table(pa.table(table), path, row_group_size=rows)
        return read_graph(path, **options)

    return run


BASE = {"head": ["a", "c", "a"], "relation": ["r", "r", "r"], "tail": ["b", "d", "b"]}


def facts(graph):
    return [graph.triple(row) for row in range(graph.num_triples)]


def test_by_name_in_any_order(read):
    graph = read({"n": [1, 2, 3], "Object": BASE["tail"], "pred": BASE["relation"],
                  "subject": BASE["head"]})  # fmt: skip
    assert facts(graph) == [("a", "r", "b"), ("c", "r", "d")]
    assert graph.duplicates == 1


def test_three_columns_are_taken_in_order_and_more_are_a_table(read):
    assert facts(read({"x": ["a"], "y": ["r"], "z": ["b"]})) == [("a", "r", "b")]
    four = {"x": ["a"], "y": ["r"], "z": ["b"], "w": [" w "]}
    assert facts(read(four)) == [
        ("a", "is a", "x"),
        ("a", "w", "w"),
        ("a", "y", "r"),
        ("a", "z", "b"),
    ]
    with pytest.raises(JaxkgError, match=r"which columns are head.*\['x', 'y', 'z', 'w'\]"):
        read(four, provenance="w")
    assert facts(read(four, columns=("z", "y", "w"))) == [("b", "r", "w")]
    assert facts(read(four, columns=(0, 2, 1))) == [("a", "b", "r")]


def test_whole_numbers_and_dictionaries_are_names(read):
    graph = read({"head": pa.array([7, 42]), "relation": pa.array(["r", "r"]).dictionary_encode(),
                  "tail": pa.array(["b", "c"], pa.large_string())})  # fmt: skip
    assert facts(graph) == [("42", "r", "c"), ("7", "r", "b")]


def test_sources(read):
    table = BASE | {"source": ["one", None, "two"], "page": [1, 2, 3]}
    assert [read(table).source(row) for row in (0, 1)] == ["one; two", None]
    assert read(table, provenance="page").source(1) == "2"
    by_row = read(table, provenance=True, rows=1)
    assert by_row.source(1) == "kb.parquet:2"
    assert read(table, provenance=False).provenance is None


def test_progress_counts_rows(read):
    told = []
    read(BASE, on_progress=lambda *now: told.append(now))
    assert told[-1] == (3, 3)


@pytest.mark.parametrize("bad", [None, " "])
def test_nulls_and_blanks_are_bad_rows(read, bad):
    table = BASE | {"tail": ["b", bad, "b"]}
    with pytest.raises(JaxkgError, match=r"kb.parquet:2: a (null|blank name)"):
        read(table)
    graph = read(table, skip_bad=1)
    assert facts(graph) == [("a", "r", "b")]
    assert len(graph.skipped) == 1


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"columns": ("head", "relation", "nope")}, "no column 'nope'; it has"),
        ({"columns": (0, 1, 9)}, "no column 9; it has"),
        ({"provenance": "nope"}, "no column 'nope'"),
    ],
)
def test_wrong_columns_are_told(read, options, told):
    with pytest.raises(JaxkgError, match=told):
        read(BASE, **options)


def test_other_types_are_refused(read):
    with pytest.raises(JaxkgError, match="column 'tail' holds double"):
        read(BASE | {"tail": [1.5, 2.5, 3.5]})


def test_what_is_no_parquet_is_told(tmp_path):
    path = tmp_path / "kb.parquet"
    path.write_text("a|r|b\n" * 10)
    with pytest.raises(JaxkgError, match=r"kb.parquet: not a Parquet file"):
        read_graph(path)


def test_without_pyarrow_the_extra_is_named(read, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(JaxkgError, match=r"pip install 'jaxkg\[parquet\]'"):
        read(BASE)


def test_a_folder_of_partitions_is_one_table(tmp_path):
    """As engines write them: parts, columns in names, files of their own beside."""
    for relation, part, rows in (
        ("directed%20by", "part-0", {"head": ["Alien"], "tail": ["Scott"]}),
        ("007", "part-1", {"tail": ["b", "d"], "head": ["a", None]}),
    ):
        folder = tmp_path / "kb" / f"relation={relation}"
        folder.mkdir(parents=True)
        pq.write_table(pa.table(rows), folder / f"{part}.parquet")
    (tmp_path / "kb" / "_SUCCESS").touch()
    (tmp_path / "kb" / "_temporary").mkdir()
    (tmp_path / "kb" / "_temporary" / "half.parquet").write_bytes(b"half")
    graph = read_graph(tmp_path / "kb", skip_bad=1, provenance=True)
    assert facts(graph) == [("Alien", "directed by", "Scott"), ("a", "007", "b")]
    assert [graph.source(row) for row in (0, 1)] == ["part-0.parquet:1", "part-1.parquet:1"]
    assert "part-1.parquet" in graph.skipped[0]
    with pytest.raises(JaxkgError, match="a null"):
        read_graph(tmp_path / "kb")


def test_parts_of_other_columns_are_one_table_with_what_folders_tell(tmp_path):
    for year, rows in (
        ("2023", {"ride_id": [7, 8], "bike": ["A", "B"], "km": [1.5, 2.5]}),
        ("2024", {"bike": ["A"], "ride_id": [9], "km": [4.0]}),
    ):
        (tmp_path / f"year={year}").mkdir()
        pq.write_table(pa.table(rows), tmp_path / f"year={year}" / "part-0.parquet")
    found = named_facts(read_graph(tmp_path))
    assert found >= {("7", "year", "2023"), ("9", "year", "2024"), ("9", "bike", "A"),
                     ("8", "km", "2.5"), ("9", "is a", "ride")}  # fmt: skip
    pq.write_table(pa.table({"a": [1], "b": [2]}), tmp_path / "year=2024" / "part-1.parquet")
    with pytest.raises(JaxkgError, match="has the columns"):
        read_graph(tmp_path)


def test_a_damaged_part_is_told_and_an_empty_folder_is_no_table(tmp_path):
    (tmp_path / "part.parquet").write_bytes(b"half")
    with pytest.raises(JaxkgError, match="not a Parquet file"):
        read_graph(tmp_path)
    (tmp_path / "part.parquet").unlink()
    with pytest.raises(JaxkgError, match=r"(?i)graph"):
        read_graph(tmp_path)


def test_a_saved_graph_stays_one_whatever_lies_in_its_folder(read, tmp_path):
    graph = read(BASE)
    saved = save_graph(graph, tmp_path / "saved")
    (tmp_path / "kb.parquet").rename(saved / "kb.parquet")
    assert read_graph(saved).fingerprint == graph.fingerprint
    (saved / "kb.parquet").unlink()
    with pytest.raises(JaxkgError, match="no Parquet file in it"):
        read_graph(saved, format="parquet")


def test_a_packed_table_is_read(read, tmp_path):
    graph = read(BASE)
    packed = tmp_path / "packed.parquet.gz"
    packed.write_bytes(gzip.compress((tmp_path / "kb.parquet").read_bytes()))
    assert facts(read_graph(packed)) == facts(graph)


def test_a_table_of_any_kind_of_columns(read):
    heard = []
    columns = {
        "id": [1, 2],
        "name": ["Ann", "Bo"],
        "manager_id": pa.array([None, 1], pa.int64()),
        "hired": pa.array([18_262, 18_263], pa.date32()),
        "tags": [["x", "y"], []],
        "rate": [1.50, float("nan")],
        "photo": [b"x", None],
    }
    graph = read(columns, on_reading=heard.append, lines=True)
    assert named_facts(graph) - {("Ann", "is a", "kb"), ("Bo", "is a", "kb")} == {
        ("Bo", "manager_id", "Ann"), ("Ann", "hired", "2020-01-01"), ("Bo", "hired", "2020-01-02"),
        ("Ann", "tags", "x"), ("Ann", "tags", "y"), ("Ann", "rate", "1.5"),
    }  # fmt: skip
    assert "read as a table: each row is a thing, id is its id" in heard[0]
    assert {graph.source(row) for row in range(graph.num_triples)} == {
        "kb.parquet:1",
        "kb.parquet:2",
    }
