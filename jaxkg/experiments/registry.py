"""The systems that `--system NAME` can mean, each a function that builds one when it is wanted.

To add one: write its builder below and give it a line in `SYSTEMS`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

from jaxkg.answer import Answer
from jaxkg.errors import JaxkgError
from jaxkg.experiments.parts import Parts
from jaxkg.records import Question

if TYPE_CHECKING:
    from jaxkg.systems.ranked import RankedPaths


class System(Protocol):
    """What every system can do."""

    def answer(self, questions: Sequence[Question], *, use_given: bool = True) -> list[Answer]:
        """An answer, or an abstention with its reason, for each question in order."""
        ...


@dataclasses.dataclass(frozen=True)
class Entry:
    """A system by name.

    Attributes:
        build: makes it.
        model: what it does with a language model: it is asked "inside" the search, it judges what
            was found "after" it, or there is no search without it ("needed").
        about: one line for the help.
    """

    build: Callable[[Parts], Any]
    model: Literal["after", "inside", "needed"]
    about: str


def _planner(parts: Parts) -> System:
    from jaxkg.systems.planned import PlannedQA, PlannedSettings

    # A model that judges is given all good plans to judge, not one.
    mode = "best" if parts.backend is None else "union"
    settings = parts.settings(PlannedSettings, mode=mode)
    return PlannedQA.build(
        parts.kg, parts.planner, tensors=parts.tensors, linker=parts.linker, settings=settings
    )


def _llm_planned(parts: Parts) -> System:
    from jaxkg.systems.llm_planned.system import LLMPlannedQA, LLMPlannedSettings

    assert parts.backend is not None
    settings = parts.settings(LLMPlannedSettings, repair=parts.repair)
    return LLMPlannedQA.build(
        parts.kg,
        parts.backend,
        tensors=parts.tensors,
        linker=parts.linker,
        settings=settings,
        on_trace=parts.traces.append,
    )


def _reknos(parts: Parts) -> System:
    from jaxkg.systems.reknos import (
        LabelScorer,
        LLMScorer,
        PlannerScorer,
        RankerScorer,
        ReKnoS,
        ReKnoSSettings,
    )

    named = parts.wishes.pop("scorer", "planner" if parts.backend is None else "llm")
    if named == "planner":
        scorer = PlannerScorer(parts.planner)
    elif named == "labels":
        scorer = LabelScorer(parts.kg.relations)
    elif named == "llm" and parts.backend is not None:
        scorer = LLMScorer(parts.backend, repair=parts.repair)
    elif named == "ranker":
        scorer = RankerScorer(_ranked_paths(parts, "reknos with scorer=ranker"))
    else:
        raise JaxkgError(
            "the scorer of reknos is planner, labels, ranker with model=FOLDER, or llm with --llm "
            f"MODEL; not {named!r}"
        )
    parts.marks["scorer"] = named
    return ReKnoS.build(
        parts.kg,
        scorer,
        tensors=parts.tensors,
        linker=parts.linker,
        settings=parts.settings(ReKnoSSettings),
    )


def _pathhd(parts: Parts) -> System:
    from jaxkg.systems.pathhd import PathHD, PathHDSettings

    untrained = parts.wishes.get("query") in ("text", "projection", "ranked")
    ranked = None
    if parts.wishes.get("query") == "ranked":
        ranked = _ranked_paths(parts, "pathhd with query=ranked")
    encoder = parts.encoder if untrained else None
    # The paper's model is offered three schemas; without one, an answer is the best schema's.
    top_k = 1 if parts.backend is None else 3
    settings = parts.settings(PathHDSettings, top_k=top_k)
    return PathHD.build(
        parts.kg,
        None if untrained else parts.planner,
        ranked=ranked,
        encoder=encoder,
        tensors=parts.tensors,
        linker=parts.linker,
        settings=settings,
        refiner=parts.backend,
        seed=parts.seed,
    )


def _pathmind(parts: Parts) -> System:
    from jaxkg.learn.priority.model import PriorityModel
    from jaxkg.systems.pathmind.system import PathMind, PathMindSettings

    model = PriorityModel.open(parts.folder("pathmind", "pathmind"))
    parts.marks["priorities"] = dict(model.about)
    # Most read hashed words; one trained on an encoder's vectors must be given it.
    if trained := model.about.get("encoder"):
        hashed = trained[0] == "hashing"
        parts.wishes.setdefault("encoder", "hashing" if hashed else "minilm")
    encoder = parts.encoder if "encoder" in parts.wishes else None
    built = PathMind.build(
        parts.kg,
        model,
        encoder=encoder,
        tensors=parts.tensors,
        linker=parts.linker,
        settings=parts.settings(PathMindSettings),
    )
    return built if parts.backend is None else _Retrieving(built.retrieve)


@dataclasses.dataclass(frozen=True)
class _Retrieving:
    """A system whose retrieval, not whose own answer, is given to the model that judges."""

    retrieve: Callable[..., list[Answer]]

    def answer(
        self,
        questions: Sequence[Question],
        *,
        use_given: bool = True,
        on_progress: Callable[[str, int, int], None] | None = None,
    ) -> list[Answer]:
        return self.retrieve(questions, use_given=use_given, on_progress=on_progress)


def _guided(parts: Parts) -> System:
    from jaxkg.learn.edges.model import TrainedScorer
    from jaxkg.systems.guided import GuidedSearch, GuidedSettings

    scorer = TrainedScorer.open(parts.folder("guided", "guided"))
    parts.marks["scorer"] = dict(scorer.about)
    return GuidedSearch.build(
        parts.kg,
        scorer,
        parts.encoder,
        tensors=parts.tensors,
        linker=parts.linker,
        settings=parts.settings(GuidedSettings),
    )


def _ranked(parts: Parts) -> System:
    from jaxkg.systems.ranked import RankedSettings

    ranked = _ranked_paths(parts, "ranked")
    return dataclasses.replace(ranked, settings=parts.settings(RankedSettings))


def _ranked_paths(parts: Parts, system: str) -> RankedPaths:
    """A path ranker at work, with settings of its own."""
    from jaxkg.learn.ranker.fit import PathRanker
    from jaxkg.systems.ranked import RankedPaths

    ranker = PathRanker.open(parts.folder("ranked", system))
    parts.marks["ranker"] = dict(ranker.about)
    return RankedPaths.build(
        parts.kg, ranker, parts.encoder, tensors=parts.tensors, linker=parts.linker
    )


def _proh(parts: Parts) -> System:
    from jaxkg.kg.hypergraph.store import open_hypergraph
    from jaxkg.systems.proh.settings import PROH, PROH_L, ProhSettings
    from jaxkg.systems.proh.system import ProhQA

    variants = {"proh": PROH, "proh-l": PROH_L}
    if (named := parts.wishes.pop("variant", "proh-l")) not in variants:
        raise JaxkgError(f"the variant of proh is {' or '.join(variants)}, not {named!r}")
    graph = parts.kg if parts.hypergraph is None else open_hypergraph(parts.hypergraph)
    encoder = parts.encoder
    settings = parts.settings(ProhSettings, **vars(variants[named]))
    built = ProhQA.build(graph, encoder, backend=parts.backend, settings=settings)
    parts.asked = built.graph
    return built


def _reader(parts: Parts) -> System:
    from jaxkg.systems.reader.settings import ReaderSettings
    from jaxkg.systems.reader.system import Reader

    advice = ()
    if "encoder" not in parts.wishes and (why := _no_weights()):
        parts.wishes["encoder"] = "hashing"
        advice = (f"read by letters alone, which understands fewer words: {why}",)
    encoder = parts.encoder
    settings = parts.settings(ReaderSettings)
    built = Reader.build(parts.kg, encoder, settings=settings, advice=advice)
    parts.marks["weights"] = built.weights.version
    return built


def _no_weights() -> str:
    """Why there is no sentence encoder on this machine; empty where there is one."""
    from jaxkg.text.weights import find_weights

    try:
        find_weights(download=False)
    except JaxkgError as error:
        return str(error)
    return ""


def default_system(parts: Parts) -> str:
    """What answers where no system is named: nothing is trained before a first answer.

    The planner where there is one for the graph, where a setting is the planner's, or where a
    model judges what was found; else the reader.
    """
    from jaxkg.learn.planner.kept import has_planner

    planners = {"mode", "threshold"} & parts.wishes.keys()
    given = parts.planner_folder or parts.backend or parts.hypergraph or planners
    return "planner" if given or has_planner(parts.kg, seed=parts.seed) else "reader"


SYSTEMS: dict[str, Entry] = {
    "planner": Entry(_planner, "after", "a learned planner, executed exactly; no model needed"),
    "reader": Entry(_reader, "after", "any graph, any words, with shipped weights"),
    "llm-planned": Entry(_llm_planned, "needed", "a language model plans in one call"),
    "pathhd": Entry(_pathhd, "after", "hypervector path retrieval"),
    "pathmind": Entry(_pathmind, "after", "prioritised paths, --set model=FOLDER"),
    "guided": Entry(_guided, "after", "a learned edge scorer, --set model=FOLDER"),
    "ranked": Entry(_ranked, "after", "learned ranks of relation paths, --set model=FOLDER"),
    "reknos": Entry(_reknos, "inside", "super-relations, scored by planner, labels or model"),
    "proh": Entry(_proh, "inside", "plans over --hypergraph DIR, or over the graph's facts"),
}

HELP = "What answers: " + "; ".join(f"{name}, {entry.about}" for name, entry in SYSTEMS.items())


def build_system(name: str, parts: Parts) -> System:
    """Build a system by name.

    A language model that a system has no use for inside judges its paths, one call a question.

    Raises:
        JaxkgError: no such system, or it lacks what it needs.
    """
    entry = SYSTEMS.get(name)
    if entry is None:
        raise JaxkgError(f"no system is called {name!r}; there are {', '.join(SYSTEMS)}")
    if entry.model == "needed" and parts.backend is None:
        raise JaxkgError(f"--system {name} needs a language model: --llm MODEL")
    if name != "proh" and parts.hypergraph is not None:
        raise JaxkgError(f"--hypergraph is asked by --system proh, not by {name!r}")
    built = entry.build(parts)
    parts.marks["system"] = name
    if parts.backend is not None:
        parts.marks |= {"model": parts.backend.model, "repair": parts.repair}
        if entry.model == "after":
            from jaxkg.systems.adjudicated import AdjudicatedQA

            parts.marks["top_k"] = parts.top_k
            return AdjudicatedQA(built, parts.backend, top_k=parts.top_k, repair=parts.repair)
    return built


def faults(system: System, parts: Parts, answer: Answer) -> tuple[str, ...]:
    """What does not hold of an answer's citations; the graph is read again."""
    check = getattr(system, "check", None)
    if check is not None:
        return check(answer)
    from jaxkg.cite import check as check_graph

    return check_graph(parts.kg, answer)
