import dataclasses
import importlib.metadata
from types import SimpleNamespace
from typing import ClassVar

import pytest

from jaxkg.adjudicate import Scripted
from jaxkg.errors import JaxkgError
from jaxkg.experiments.comparing import chosen_systems
from jaxkg.experiments.registry import ENTRIES, SYSTEMS, Entry, build, build_system
from jaxkg.kg import KnowledgeGraph
from jaxkg.learn.edges.train import EdgeConfig
from jaxkg.learn.priority.train import PriorityConfig
from jaxkg.settings import Checked, Count, settings_from, settings_made, wishes_from
from jaxkg.systems.adjudicated import AdjudicatedQA
from jaxkg.systems.guided import GuidedSettings
from jaxkg.systems.llm_planned.system import LLMPlannedQA
from jaxkg.systems.offered import OfferedQA
from jaxkg.systems.parts import Parts
from jaxkg.systems.pathhd import PathHD, PathHDSettings
from jaxkg.systems.pathmind.system import PathMindSettings
from jaxkg.systems.planned import PlannedSettings
from jaxkg.systems.proh.retrieval import RetrievalSettings
from jaxkg.systems.proh.settings import ProhSettings
from jaxkg.systems.proh.system import ProhQA
from jaxkg.systems.reknos import LabelScorer, LLMScorer, ReKnoS, ReKnoSSettings


@dataclasses.dataclass
class Odd:
    flag: bool = False
    share: float = 0.0
    name: str | None = None
    many: tuple[int, ...] = ()


def test_settings_are_read_as_what_they_are():
    wishes = wishes_from(["batch-size = 4", "share=0.25"], mode="union", threshold=0.5)
    assert settings_from(PlannedSettings, wishes) == {
        "batch_size": 4,
        "share": 0.25,
        "mode": "union",
        "threshold": 0.5,
    }
    assert settings_from(Odd, {"flag": "True", "name": "x"}) == {"flag": True, "name": "x"}
    assert settings_from(Odd, {"name": "default"}) == {"name": None}


@pytest.mark.parametrize(
    ("wishes", "why"),
    [
        ({"flag": "yes"}, "it is true or false"),
        ({"share": "much"}, "--set share=much: it is a number"),
        ({"many": "1,2"}, "from Python only"),
        ({"else": "1"}, "--set else=1: no such setting here; there are flag, share, name, many"),
    ],
)
def test_what_cannot_be_set_is_told(wishes, why):
    with pytest.raises(JaxkgError, match=why):
        settings_from(Odd, wishes)


@pytest.fixture
def parts():
    kg = KnowledgeGraph.from_triples([("Heat", "directed by", "Mann"), ("Mann", "born in", "Bonn")])

    def build(*settings, model=False):
        backend = Scripted([]) if model else None
        wishes = wishes_from(settings)
        return Parts(kg, lambda *_: None, backend=backend, wishes=wishes, top_k=7, repair=True)

    return build


@dataclasses.dataclass(frozen=True)
class Inner(Checked):
    width: Count = 4
    depth: Count = 3


@dataclasses.dataclass(frozen=True)
class Outer(Checked):
    share: float = 0.5
    inner: Inner = Inner()

    presets: ClassVar = {"paper": {"share": 1.0, "inner": Inner(depth=9)}}


def test_a_preset_is_a_set_of_values_and_what_is_written_goes_before_it():
    assert settings_made(Outer, {"preset": "paper"}, share=0.7) == Outer(1.0, Inner(depth=9))
    assert settings_made(Outer, {"preset": "paper", "share": "0.2"}).share == 0.2
    with pytest.raises(JaxkgError, match="preset=press: no such preset of Outer; there is paper"):
        settings_made(Outer, {"preset": "press"})
    with pytest.raises(JaxkgError, match="no such preset of Inner; there is none"):
        settings_made(Inner, {"preset": "paper"})


PAPERS = (
    GuidedSettings,
    EdgeConfig,
    PathMindSettings,
    PriorityConfig,
    PathHDSettings,
    ReKnoSSettings,
    ProhSettings,
    RetrievalSettings,
)


@pytest.mark.parametrize("kind", PAPERS)
def test_every_method_has_the_settings_of_its_paper(kind):
    made = settings_made(kind, {"preset": "paper"})
    assert made != kind()


def test_settings_reach_the_system_and_mark_the_run(parts):
    mine = parts("scorer=labels", "width=2")
    built, marks, _ = build("reknos", mine)
    assert isinstance(built, ReKnoS)
    assert isinstance(built.scorer, LabelScorer)
    assert built.settings.width == 2
    assert marks["scorer"] == "labels"
    assert "width=2" in marks["settings"]
    assert build("reknos", mine).marks == marks
    other = parts("scorer=labels", "width=3")
    assert build("reknos", other).marks != marks
    with pytest.raises(JaxkgError, match="planner, labels, or llm with"):
        build_system("reknos", parts("scorer=llm"))
    with pytest.raises(JaxkgError, match="--set scorer=llm: no such setting here"):
        build_system("llm-planned", parts("scorer=llm", model=True))


def test_a_model_takes_its_place_in_each_system(parts):
    mine = parts("query=text", "encoder=hashing", "dimension=64", "judge=paths", model=True)
    judged, marks, _ = build("pathhd", mine)
    assert isinstance(judged, AdjudicatedQA)
    assert isinstance(judged.inner, PathHD)
    assert judged.inner.settings.top_k == 3
    assert (judged.top_k, judged.repair) == (7, True)
    assert marks["model"] == "scripted"
    offering = build_system("reknos", parts("judge.offered=4", model=True))
    assert isinstance(offering, OfferedQA)
    assert (offering.settings.offered, offering.repair) == (4, True)
    inside = offering.inner
    assert isinstance(inside, ReKnoS)
    assert isinstance(inside.scorer, LLMScorer)
    planned = build_system("llm-planned", parts("hops=2", model=True)).inner
    assert isinstance(planned, LLMPlannedQA)
    assert (planned.settings.hops, planned.settings.repair) == (2, True)


def test_parts_beside_share_the_graph_and_nothing_else(parts):
    mine = parts("hops=2")
    tensors = mine.tensors
    other = mine.beside(None, {})
    assert other.tensors is tensors
    assert (other.wishes, other.traces) == ({}, [])
    assert mine.wishes == {"hops": "2"}
    other.traces.append("x")
    assert mine.traces == []


def test_the_page_of_methods_has_the_table_of_systems(pytestconfig):
    page = pytestconfig.rootpath / "docs" / "methods" / "index.md"
    rows = [f"| `{entry.name}` | {entry.about} | {entry.needs} |" for entry in ENTRIES]
    table = "\n".join(["| system | what it does | needs |", "|---|---|---|", *rows])
    assert table in page.read_text("utf-8")


def test_a_model_that_does_not_score_judges_what_the_search_found(parts):
    built = build_system("reknos", parts("scorer=labels", "judge=paths", model=True))
    assert isinstance(built, AdjudicatedQA)
    assert isinstance(built.inner, ReKnoS)
    scored = build_system("reknos", parts("criteria=true", "always_score=false", model=True)).inner
    assert isinstance(scored, ReKnoS)
    assert isinstance(scored.scorer, LLMScorer)
    assert (scored.scorer.criteria, scored.scorer.always_score) == (True, False)


def test_settings_of_planning_are_refused_where_nothing_is_planned(parts):
    alone = build_system("proh", parts("encoder=hashing", "targets=7", "beam.depth=2"))
    assert isinstance(alone, ProhQA)
    assert alone.retriever.settings.targets == 7
    assert alone.retriever.settings.beam.depth == 2
    with pytest.raises(JaxkgError, match="plan_depth=5: no such setting here; there are beam"):
        build_system("proh", parts("encoder=hashing", "plan_depth=5"))
    planning = build_system("proh", parts("encoder=hashing", "beam.depth=2", model=True))
    assert isinstance(planning, ProhQA)
    assert planning.settings.beam.depth == 2


def test_a_package_adds_a_system(monkeypatch):
    points = [SimpleNamespace(name="o", load=lambda: Entry("overlap", lambda parts: "built"))]
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: points)
    monkeypatch.setitem(SYSTEMS, "overlap", SYSTEMS["planner"])  # taken out again after the test
    del SYSTEMS["overlap"]
    assert chosen_systems("planner,overlap", None) == ["planner", "overlap"]
    kg = KnowledgeGraph.from_triples([("a", "r", "b")])
    assert build_system("overlap", Parts(kg, lambda *_: None)) == "built"
    with pytest.raises(JaxkgError, match=r"no system is called 'other'; there are .*overlap"):
        chosen_systems("planner,other", None)
    points[0].load = lambda: "no entry"
    with pytest.raises(JaxkgError, match=r"entry point 'o' .*: not an Entry"):
        chosen_systems("planner,other", None)
