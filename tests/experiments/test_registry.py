import dataclasses

import pytest

from jaxkg.adjudicate import Scripted
from jaxkg.errors import JaxkgError
from jaxkg.experiments.parts import Parts, settings_from, wishes_from
from jaxkg.experiments.registry import build_system, systems_table
from jaxkg.kg import KnowledgeGraph
from jaxkg.systems.adjudicated import AdjudicatedQA
from jaxkg.systems.llm_planned.system import LLMPlannedQA
from jaxkg.systems.pathhd import PathHD
from jaxkg.systems.planned import PlannedSettings
from jaxkg.systems.reknos import LabelScorer, LLMScorer, ReKnoS


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


def test_settings_reach_the_system_and_mark_the_run(parts):
    mine = parts("scorer=labels", "width=2")
    built = build_system("reknos", mine)
    assert isinstance(built, ReKnoS)
    assert isinstance(built.scorer, LabelScorer)
    assert built.settings.width == 2
    assert mine.wishes == {}
    assert mine.marks["scorer"] == "labels"
    assert "width=2" in mine.marks["settings"]
    other = parts("scorer=labels", "width=3")
    build_system("reknos", other)
    assert other.marks != mine.marks
    with pytest.raises(JaxkgError, match=r"planner, labels, ranker with .*, or llm with"):
        build_system("reknos", parts("scorer=llm"))
    with pytest.raises(JaxkgError, match="--set scorer=llm: no such setting here"):
        build_system("llm-planned", parts("scorer=llm", model=True))


def test_a_model_takes_its_place_in_each_system(parts):
    mine = parts("query=text", "encoder=hashing", "dimension=64", model=True)
    judged = build_system("pathhd", mine)
    assert isinstance(judged, AdjudicatedQA)
    assert isinstance(judged.inner, PathHD)
    assert judged.inner.settings.top_k == 3
    assert (judged.top_k, judged.repair) == (7, True)
    assert mine.marks["model"] == "scripted"
    inside = build_system("reknos", parts(model=True))
    assert isinstance(inside, ReKnoS)
    assert isinstance(inside.scorer, LLMScorer)
    planned = build_system("llm-planned", parts("hops=2", model=True))
    assert isinstance(planned, LLMPlannedQA)
    assert (planned.settings.hops, planned.settings.repair) == (2, True)


def test_parts_beside_share_the_graph_and_nothing_else(parts):
    mine = parts("hops=2")
    tensors = mine.tensors
    other = mine.beside(None, {})
    assert other.tensors is tensors
    assert (other.wishes, other.marks, other.traces) == ({}, {}, [])
    assert mine.wishes == {"hops": "2"}
    other.traces.append("x")
    assert mine.traces == []


def test_the_readme_has_the_table_of_systems(pytestconfig):
    assert systems_table() in (pytestconfig.rootpath / "README.md").read_text("utf-8")
