import dataclasses
import hashlib
import json
import os
import shutil
import time

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph, open_graph, read_graph, save_graph
from jaxkg.kg.files import array_folder, store
from jaxkg.kg.names import AliasTable
from jaxkg.kg.stores import edit
from jaxkg.kg.stores.arrays import ArrayStore, save_index
from jaxkg.lock import lived_in


@pytest.fixture
def graph():
    return KnowledgeGraph.from_triples(
        [("m.1", "directed_by", "m.2"), ("m.1", "sœur", "日本"), ("m.1", "directed_by", "m.2")],
        names={"m.1": "Alien", "m.2": "Ridley Scott"},
        aliases={"m.2": ["Sir Ridley", "R. S."]},
        provenance=["f:1", None, "f:3"],
        relation_names={"directed_by": ["director", "regie"]},
    )


@pytest.fixture
def saved(graph, tmp_path):
    return save_graph(graph, tmp_path / "graph")


def assert_same(a, b):
    assert a.entity_ids.tolist() == b.entity_ids.tolist()
    assert a.entity_names.tolist() == b.entity_names.tolist()
    assert a.relations == b.relations
    assert a.relation_labels == b.relation_labels
    assert dict(a.relation_aliases) == dict(b.relation_aliases)
    assert np.array_equal(a.triples, b.triples)
    assert dict(a.aliases) == dict(b.aliases)
    assert (a.provenance is None) == (b.provenance is None)
    assert list(a.provenance or ()) == list(b.provenance or ())
    assert (a.duplicates, a.skipped) == (b.duplicates, b.skipped)
    assert (a.fingerprint, a.relation_fingerprint) == (b.fingerprint, b.relation_fingerprint)


def test_everything_comes_back(graph, saved):
    for opened in (open_graph(saved), open_graph(saved, verify=True), read_graph(saved)):
        assert_same(opened, graph)
        assert opened.entity("日本") == graph.entity("日本")
        assert opened.find(*graph.triples.T).tolist() == [0, 1]


text = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(
    lambda text: text.strip() and not text.startswith("^")
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(st.lists(st.tuples(text, text, text)), st.data())
def test_any_graph_comes_back(tmp_path, facts, data):
    ids = sorted({end for h, _, t in facts for end in (h, t)})
    some = st.sampled_from(ids) if ids else st.nothing()
    graph = KnowledgeGraph.from_triples(
        facts,
        names=data.draw(st.dictionaries(some, text)),
        aliases=data.draw(st.dictionaries(some, st.lists(text))),
        provenance=data.draw(st.none() | st.just([f"line {i}" for i in range(len(facts))])),
    )
    assert_same(open_graph(save_graph(graph, tmp_path / "any"), verify=True), graph)


def test_what_a_reader_skipped_comes_back(tmp_path):
    path = tmp_path / "kb.txt"
    path.write_text("a|r|b\njunk\n")
    graph = read_graph(path, skip_bad=1)
    assert len(graph.skipped) == 1
    assert_same(open_graph(save_graph(graph, tmp_path / "graph")), graph)


def test_an_opened_graph_is_mapped_and_can_be_edited_and_saved_over_itself(graph, saved):
    opened = open_graph(saved)
    assert isinstance(opened.entity_ids.blob.base, np.memmap)
    for column in vars(open_graph(saved, packed=True).triples).values():
        assert isinstance(column.base, np.memmap)
    with pytest.raises(ValueError, match="read-only"):
        opened.triples[0, 0] = 1
    more = opened.add([("a", "b", "c")])
    save_graph(more, saved)
    assert_same(open_graph(saved, verify=True), more)
    # The one opened before still reads the files it mapped.
    assert_same(opened, graph)
    assert sorted(os.listdir(saved.parent)) == ["graph"]


def test_saving_makes_the_folders_above_and_fills_an_empty_one(graph, tmp_path):
    deep = tmp_path / "a" / "b"
    assert save_graph(graph, deep) == deep
    (tmp_path / "empty").mkdir()
    assert_same(open_graph(save_graph(graph, str(tmp_path / "empty"))), graph)


def test_what_is_not_ours_is_not_overwritten(graph, tmp_path):
    foreign = tmp_path / "thesis"
    foreign.mkdir()
    (foreign / "chapter.tex").write_text("years of work")
    with pytest.raises(JaxkgError, match=r"not a saved graph \(it holds chapter.tex.*new or empty"):
        save_graph(graph, foreign)
    (foreign / "meta.json").write_text('{"format": "other"}')
    with pytest.raises(JaxkgError, match="of something else"):
        save_graph(graph, foreign)
    assert (foreign / "chapter.tex").read_text() == "years of work"
    with pytest.raises(JaxkgError, match="is a file"):
        save_graph(graph, foreign / "chapter.tex")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (OSError(28, "No space left on device"), r"cannot be written \(No space left"),
        (OSError("18000 requested and 10208 written"), r"\(no room on the disk\? 18000 req"),
    ],
)
def test_a_failed_save_leaves_the_old_graph_and_no_litter(graph, saved, monkeypatch, error, told):
    def fail(*args, **kwargs):
        raise error

    monkeypatch.setattr(np, "save", fail)
    with pytest.raises(JaxkgError, match=told):
        save_graph(graph.add([("a", "b", "c")]), saved)
    assert sorted(os.listdir(saved.parent)) == ["graph"]
    assert_same(open_graph(saved, verify=True), graph)


def test_a_failed_rename_puts_the_old_graph_back(graph, saved, monkeypatch):
    # Where the system exchanges folders in one step nothing can fail between two.
    monkeypatch.setattr(array_folder, "_exchanged", lambda one, two: False)
    replace = os.replace

    def fail(source, target):
        if str(source).endswith(".new"):
            raise OSError(5, "Input/output error")
        replace(source, target)

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(JaxkgError, match="Input/output"):
        save_graph(graph.add([("a", "b", "c")]), saved)
    assert sorted(os.listdir(saved.parent)) == ["graph"]
    assert_same(open_graph(saved, verify=True), graph)


def test_what_a_killed_save_left_is_cleared_by_the_next(graph, saved):
    def left(name, seconds=3600):
        folder = saved.parent / name
        folder.mkdir()
        (folder / "triples.npy").write_bytes(b"half")
        os.utime(folder, (time.time() - seconds,) * 2)
        return folder

    letters = "0123456789abcdef" * 2
    dead = left(f".graph.{letters}.new")
    others = [
        left(f".graph.{letters[::-1]}.new", 0),
        left(f".a.graph.{letters}.new"),
        left(".graph.b.new"),
    ]
    alive = left(f".graph.{letters[1:]}0.new")
    with lived_in(alive):
        save_graph(graph, saved)
        assert not dead.exists()
        assert all(folder.exists() for folder in (*others, alive))
    save_graph(graph, saved)
    assert not alive.exists()


def test_what_is_no_saved_graph_is_told(tmp_path, saved):
    with pytest.raises(JaxkgError, match=r"no such file.*nearest: 'graph'"):
        open_graph(tmp_path / "grahp")
    (tmp_path / "empty").mkdir()
    with pytest.raises(JaxkgError, match="not a saved graph \\(it is empty\\)"):
        open_graph(tmp_path / "empty")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "kb.txt").write_text("a|r|b")
    with pytest.raises(JaxkgError, match=r"it holds kb.txt.*name a graph file"):
        read_graph(tmp_path / "data")
    with pytest.raises(JaxkgError, match=r"not a saved graph \(it is a file, no .*jaxkg kg build"):
        open_graph(tmp_path / "data" / "kb.txt")
    with pytest.raises(JaxkgError, match="a folder, but format='tsv'"):
        read_graph(tmp_path / "data", format="tsv")


def test_options_a_saved_graph_has_no_use_for(saved):
    for option in ({"names": {}}, {"columns": (0, 1, 2)}, {"provenance": True}):
        with pytest.raises(JaxkgError, match=f"{next(iter(option))} has no meaning"):
            read_graph(saved, **option)


def edit_meta(folder, **changes):
    path = folder / "meta.json"
    meta = json.loads(path.read_text()) | changes
    meta.pop("sha256", None)  # as before version 2, so that what lies behind it is seen
    path.write_text(json.dumps(meta))


def test_newer_versions_are_told(saved):
    edit_meta(saved, version=store.VERSION + 1)
    with pytest.raises(JaxkgError, match="version 4; this jaxkg reads up to 3: upgrade"):
        open_graph(saved)


@pytest.mark.parametrize(
    "changes",
    [{"files": None}, {"files": {}}, {"files": {"tail.npy": {}}}, {"skipped": None},
     {"widths": {"offsets": "int64", "relations": "uint16"}}, {"widths": None},
     {"entities": 7}, {"triples": 1}, {"relations": ["directed_by"]}, {"version": "1"},
     {"relations": ["directed_by", "soeur"]}, {"has_names": False}, {"has_provenance": 0}],
)  # fmt: skip
def test_damaged_metadata_is_told(saved, changes):
    edit_meta(saved, **changes)
    with pytest.raises(JaxkgError, match=": damaged: "):
        open_graph(saved)


def test_metadata_that_is_no_json_is_told(saved):
    (saved / "meta.json").write_text('{"format": "jaxkg-gr')
    with pytest.raises(JaxkgError, match=r"meta.json: damaged"):
        open_graph(saved)


def array_files(folder):
    return sorted(path.name for path in folder.glob("*.npy"))


def test_every_missing_truncated_or_flipped_file_is_noticed(saved, tmp_path):
    names = array_files(saved)
    assert len(names) == 12
    for name in names:
        copy = shutil.copytree(saved, tmp_path / "copy")
        (copy / name).unlink()
        with pytest.raises(JaxkgError, match=f"{name}: missing"):
            open_graph(copy)
        data = bytearray((saved / name).read_bytes())
        (copy / name).write_bytes(data[:-1])
        with pytest.raises(JaxkgError, match=f"{name}: damaged: {len(data) - 1} bytes"):
            open_graph(copy)
        data[-1] ^= 1
        (copy / name).write_bytes(data)
        with pytest.raises(JaxkgError, match=f"{name}: damaged: its SHA-256"):
            open_graph(copy)
        shutil.rmtree(copy)


@pytest.mark.parametrize(("old", "new"), [("directed_by", "produced_by"), ("regie", "Regie")])
def test_altered_notes_are_noticed(saved, old, new):
    meta = saved / "meta.json"
    assert old in meta.read_text()
    meta.write_text(meta.read_text().replace(old, new))
    with pytest.raises(JaxkgError, match=r"meta.json: damaged: its SHA-256"):
        open_graph(saved, verify=False)


def made_old(folder, graph, version):
    files = json.loads((folder / "meta.json").read_text())["files"]
    for name in ("first", "relation", "tail"):
        (folder / f"{name}.npy").unlink()
        del files[f"{name}.npy"]
    np.save(folder / "triples.npy", graph.triples)
    data = (folder / "triples.npy").read_bytes()
    files["triples.npy"] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    edit_meta(folder, version=version, files=files)


def test_folders_of_earlier_versions_open(graph, saved):
    made_old(saved, graph, 2)
    assert_same(open_graph(saved), graph)
    assert_same(open_graph(saved, packed=True), graph)
    edit.add(saved, KnowledgeGraph.from_triples([("m.3", "directed_by", "m.2")]))
    assert open_graph(saved).num_triples == 3
    (saved / "changes.jsonl").unlink()
    graph = dataclasses.replace(graph, relation_labels=())
    graph = dataclasses.replace(graph, relation_aliases=AliasTable.from_mapping({}))
    edit_meta(saved, version=1, relation_names={}, fingerprint=graph.fingerprint)
    assert_same(open_graph(saved), graph)


def test_a_store_of_an_earlier_version_is_told_and_made_anew(graph, saved):
    save_index(saved, graph)
    made_old(saved, graph, 2)
    with pytest.raises(JaxkgError, match=r"of an earlier jaxkg; .*`jaxkg kg index FOLDER`"):
        ArrayStore.open(saved)
    edit.compact(saved, indexed=True)
    assert ArrayStore.open(saved).search(["alien"]) == [[graph.entity("m.1")]]
    assert_same(open_graph(saved), graph)


def test_columns_of_different_lengths_are_told(saved):
    path = saved / "relation.npy"
    np.save(path, np.load(path)[:1])
    files = json.loads((saved / "meta.json").read_text())["files"]
    files[path.name]["bytes"] = path.stat().st_size
    edit_meta(saved, files=files)
    with pytest.raises(JaxkgError, match="graph: damaged: columns of triples"):
        open_graph(saved, verify=False)


def test_a_changed_fingerprint_is_noticed_when_verifying(saved):
    edit_meta(saved, fingerprint="0" * 64)
    with pytest.raises(JaxkgError, match="of different graphs"):
        open_graph(saved, verify=True)


def test_pickled_arrays_are_never_loaded(saved):
    path = saved / "tail.npy"
    np.save(path, np.array([[object()]]), allow_pickle=True)
    meta = json.loads((saved / "meta.json").read_text())
    meta["files"]["tail.npy"]["bytes"] = path.stat().st_size
    edit_meta(saved, files=meta["files"])
    with pytest.raises(JaxkgError, match=r"tail.npy: damaged \(.*pickle|object"):
        open_graph(saved, verify=False)
