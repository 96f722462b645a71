from types import SimpleNamespace

import numpy as np
import pytest

from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph, demo_graph, demo_training_questions
from jaxkg.learn.planner.kept import planner_for
from jaxkg.learn.planner.model import Planner
from jaxkg.score.planner import PlannerParams
from jaxkg.text import NgramHasher


def planner_of(kg, seed=0) -> Planner:
    codes, buckets, hops = 2 * len(kg.relations), 8, 1
    sizes = ((buckets, 2), (2, 2), (hops + 1, 2, 2), (codes, 2), (2, 2), (codes + 1, 2))
    sizes = (*sizes, (codes + 1,), (2,))
    params = PlannerParams(*(np.zeros(size, np.float32) for size in sizes))
    hasher = NgramHasher(buckets=buckets)
    return Planner(params, kg.relations, hasher, hops, np.ones(buckets, bool), {"seed": seed})


@pytest.fixture
def made(tmp_path, monkeypatch):
    """An empty cache, and what was made for it."""
    monkeypatch.setenv("JAXKG_CACHE", str(tmp_path / "cache"))
    calls = []

    def fit(kg, tensors, questions, *, training, **_):
        calls.append(("fit", len(questions), training.seed))
        return planner_of(kg, training.seed), None

    def from_labels(kg, tensors, *, seed, **_):
        calls.append(("labels", len(kg.relations), seed))
        return planner_of(kg, seed)

    monkeypatch.setattr("jaxkg.learn.planner.fit.fit_planner", fit)
    monkeypatch.setattr("jaxkg.learn.planner.labels.planner_from_labels", from_labels)
    return calls


def graph(*more) -> KnowledgeGraph:
    return KnowledgeGraph.from_triples([("a", "r", "b"), *more])


def test_made_once_and_kept(made):
    kg, tensors = graph(), SimpleNamespace()
    first, second = (planner_for(kg, tensors) for _ in range(2))
    assert made == [("labels", 1, 0)]
    assert all(np.array_equal(a, b) for a, b in zip(first.params, second.params))
    assert second.about == {"seed": 0}


def test_the_demo_graphs_is_shipped_and_others_learn_from_its_questions(made):
    shipped = planner_for(demo_graph(), None)
    assert made == []
    assert shipped.about["fit"]["questions"] == len(demo_training_questions())
    assert planner_for(demo_graph(), None, seed=1).about == {"seed": 1}
    assert made == [("fit", len(demo_training_questions()), 1)]


def test_a_given_planner_is_opened_and_checked(made, tmp_path):
    kg = graph()
    planner_of(kg, 7).save(tmp_path / "mine")
    assert planner_for(kg, None, folder=tmp_path / "mine").about == {"seed": 7}
    assert made == []
    with pytest.raises(JaxkgError, match="another graph"):
        planner_for(graph(("a", "s", "b")), None, folder=tmp_path / "mine")
    with pytest.raises(JaxkgError, match="no planner in"):
        planner_for(kg, None, folder=tmp_path / "absent")
