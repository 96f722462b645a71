"""Saved models of every kind: what is written is read, by the version that wrote it."""

import dataclasses
import io
import json
import re

import jax
import numpy as np
import pytest

from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph
from jaxkg.learn.checkpoint import leaves_like, named_leaves
from jaxkg.learn.edges.model import TrainedScorer
from jaxkg.learn.embeddings.fit import TrainedEmbeddings
from jaxkg.learn.embeddings.train import EmbeddingConfig
from jaxkg.learn.folder import state_folder
from jaxkg.learn.planner.model import Planner
from jaxkg.learn.priority.model import PriorityModel
from jaxkg.learn.ranker.fit import PathRanker
from jaxkg.score.edges import EdgeSizes, init_edge_scorer
from jaxkg.score.embeddings import init_embeddings
from jaxkg.score.path_ranker import init_ranker
from jaxkg.score.planner import init_planner
from jaxkg.score.priority_params import PrioritySizes, init_priority
from jaxkg.text import NgramHasher

KG = KnowledgeGraph.from_triples([("a", "r", "b"), ("b", "s", "c"), ("c", "s", "a")])
OTHER = KnowledgeGraph.from_triples([("a", "r", "b")])
KEY = jax.random.key(0)
HASHER = NgramHasher(buckets=16)
SEEN = np.arange(16) % 3 == 0
ABOUT = {"seed": 3}


def made(kind):
    if kind == "planner":
        params = init_planner(2, hops=2, width=4, buckets=16, key=KEY)
        return Planner(params, KG.relations, HASHER, 2, SEEN, ABOUT)
    if kind == "priority":
        sizes = PrioritySizes(
            hops=2, buckets=16, width=4, state=4, features=3, text=5, heads=2, hidden=4, rounds=2
        )
        params, text = init_priority(2, sizes, key=KEY), np.ones((2, 5), np.float32)
        return PriorityModel(params, KG.relations, HASHER, sizes, SEEN, text, None, ABOUT)
    if kind == "edges":
        sizes = EdgeSizes(
            text=4, question=4, graph=2, hops=2, width=8, attention=(8, 4), classifier=(8, 4)
        )
        params = init_edge_scorer(sizes, key=KEY)
        codes, nodes = np.ones((4, 2), np.float32), np.ones((3, 2), np.float32)
        return TrainedScorer(params, sizes, KG.relations, codes, nodes, ("hashing", "1"), ABOUT)
    if kind == "ranker":
        some = {"dimension": 4, "views": 2, "width": 3, "hidden": 4, "buckets": 16, "hops": 2}
        members = tuple(init_ranker(2, **some, key=jax.random.key(n)) for n in (0, 1))
        labels = np.ones((2, 4), np.float32)
        return PathRanker(members, KG.relations, labels, HASHER, ("hashing", "1"), False, ABOUT)
    config = EmbeddingConfig(model="rotate", loss="self-adversarial", dimension=4)
    found = init_embeddings("rotate", 3, 2, dimension=4, key=KEY)
    about = {"done": 5, "best": 5, "epochs": [(5, 0.5, 0.25)]}
    return TrainedEmbeddings(found, config, tuple(KG.entity_ids), KG.relations, about)


KINDS = ["planner", "priority", "edges", "ranker", "embeddings"]


def weights(model):
    names = ("params", "members", "embeddings", "seen", "label_text", "labels", "node_graph")
    return [getattr(model, name) for name in names if hasattr(model, name)]


def assert_same(one, other):
    assert type(one) is type(other)
    assert jax.tree.structure(weights(one)) == jax.tree.structure(weights(other))
    for a, b in zip(jax.tree.leaves(weights(one)), jax.tree.leaves(weights(other)), strict=True):
        np.testing.assert_array_equal(a, b)
    assert (one.relations, one.about) == (other.relations, other.about)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_saved_is_opened(kind, tmp_path):
    model = made(kind)
    folder = model.save(tmp_path / "model")
    assert sorted(file.name for file in folder.iterdir()) == [f"{kind}.json", f"{kind}.npz"]
    opened = type(model).open(folder)
    assert_same(opened, model)
    opened.check_graph(KG)
    with pytest.raises(JaxkgError, match=r"another graph|no vector of|graph vectors of"):
        opened.check_graph(OTHER if kind != "embeddings" else KG.add([("z", "r", "a")]))
    card = json.loads((folder / f"{kind}.json").read_text("utf-8"))
    assert card["relations"] == list(KG.relations)
    for change, why in (
        ({"relations": ["s", "r"]}, "not those it was trained for"),
        ({"version": card["version"] - 1}, f"reads .* version {card['version']}: make one anew"),
        ({"version": card["version"] + 1}, f"reads .* version {card['version']}: make one anew"),
    ):
        (folder / f"{kind}.json").write_text(json.dumps(card | change))
        with pytest.raises(JaxkgError, match=why):
            type(model).open(folder)


def npz(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def test_states_of_entities_tie_a_model_to_its_graph():
    tied = dataclasses.replace(made("priority"), graph=KG.fingerprint)
    tied.check_graph(KG)
    with pytest.raises(JaxkgError, match="entities of another graph"):
        tied.check_graph(KG.add([("c", "r", "b")]))


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_such_model_or_damaged_is_refused(kind, tmp_path):
    model = made(kind)

    def refused(why):
        with pytest.raises(JaxkgError, match=why):
            type(model).open(tmp_path / "model")

    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(JaxkgError, match="holds other files"):
        model.save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    refused(rf"{kind}\.json is missing")
    folder = model.save(tmp_path / "model")
    arrays, card = folder / f"{kind}.npz", folder / f"{kind}.json"
    raw, text = arrays.read_bytes(), card.read_text("utf-8")
    middle = raw[: len(raw) // 2] + bytes(64) + raw[len(raw) // 2 + 64 :]
    odd = npz(some=np.zeros(3)), npz(some=np.asarray([{}], object))  # never unpickled
    for damaged in (b"", b"PK??", raw[: len(raw) // 2], middle, *odd):
        arrays.write_bytes(damaged)
        refused("is damaged")
    arrays.unlink()
    refused(rf"{kind}\.npz is missing")
    arrays.write_bytes(raw)
    for damaged in ("", "{", "[1, 2]", "null", json.dumps({"format": json.loads(text)["format"]})):
        card.write_text(damaged)
        refused(f"{re.escape(str(folder))} is damaged")
    card.write_text(json.dumps(json.loads(text) | {"format": "another"}))
    refused("another.*reads jaxkg-")


def test_leaves_by_name():
    tree = {"b": (np.zeros(2), np.ones(3, np.int32)), "a": [jax.numpy.ones(1, "bfloat16")]}
    assert list(named_leaves(tree)) == ["a/0", "b/0", "b/1"]
    back = leaves_like(named_leaves(tree), tree)
    assert jax.tree.structure(back) == jax.tree.structure(tree)
    assert back["a"][0].dtype == "bfloat16"
    for odd, why in (
        ({**tree, "c": np.zeros(1)}, "disagree: c"),
        ({"a": tree["a"]}, "disagree: b/0, b/1"),
        ({**tree, "b": (np.zeros(2), np.ones(3))}, "b/1 is float64"),
        ({**tree, "b": (np.zeros(3), tree["b"][1])}, r"b/0 is float64\[3\], not float64\[2\]"),
    ):
        with pytest.raises(ValueError, match=why):
            leaves_like(named_leaves(odd), tree)


@pytest.mark.parametrize("at", ["replace", "json"])
def test_a_folder_whose_writer_was_killed_is_gone_on_with(tmp_path, monkeypatch, at):
    """A killed process writes nothing more, and takes away nothing that it has begun."""

    def killed(*_):
        raise SystemExit(9)

    target = tmp_path / "model"
    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.unlink", lambda *_, **__: None)
        what = "jaxkg.learn.folder.write_json" if at == "json" else "os.replace"
        patch.setattr(what, killed)
        with pytest.raises(SystemExit):
            made("planner").save(target)
    assert [file.name for file in target.iterdir()]
    assert state_folder(target, "planner.json") == target / "training"
    made("planner").save(target)
    assert Planner.open(target).relations == KG.relations
    (target / "notes.txt").write_text("mine")
    (target / "planner.json").unlink()
    with pytest.raises(JaxkgError, match="holds other files"):
        state_folder(target, "planner.json")
