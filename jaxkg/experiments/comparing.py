"""Several systems on the same questions: what is compared, how it runs, what each run comes to."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jaxkg.answer import Answer
from jaxkg.errors import JaxkgError
from jaxkg.experiments.datasets import Dataset, concerns
from jaxkg.experiments.loading import load_graph, make_room
from jaxkg.experiments.progress import errors
from jaxkg.experiments.registry import SYSTEMS, TRAINED, System, build, find_entry
from jaxkg.experiments.running import run_questions
from jaxkg.experiments.side_by_side import Memory, Outcome
from jaxkg.records import Question
from jaxkg.settings import wishes_from
from jaxkg.systems.parts import AskModel, Built, Devices, Parts

if TYPE_CHECKING:
    from jaxkg.adjudicate import Backend

OWN = "questions"
"""What the user's own questions are called beside benchmarks."""
_WITH_LLM = "+llm"


@dataclasses.dataclass(frozen=True)
class Comparison:
    """What is compared.

    Attributes:
        given: question sets by name.
        systems: names, `NAME+llm` among them; differences are taken to the first.
        models: names of language models; of several, a system that asks one has a column a model,
            `NAME@MODEL`.
        wishes: settings by question set and system.
        trained: folders of trained models by question set and kind.
        planners: folders of planners by question set.
        benchmarks: whether a planner made of relation labels alone is none to be compared.
        devices: that share the work.
        ask_model, top_k, repair, seed: see `Parts`.
        link: whether topics are linked though they are given.
        limit: of questions; None asks all.
        fresh: whether runs start anew.
    """

    given: Mapping[str, Dataset]
    systems: tuple[str, ...]
    wishes: Mapping[str, Mapping[str, dict[str, str]]]
    trained: Mapping[str, dict[str, Path]]
    planners: Mapping[str, Path | None]
    models: tuple[str, ...] = ()
    benchmarks: bool = False
    devices: Devices = dataclasses.field(default_factory=Devices)
    ask_model: AskModel = "unsure"
    top_k: int = 50
    repair: bool = False
    link: bool = False
    limit: int | None = None
    fresh: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        names = [column for column, _, _ in self.columns()]
        if len(names) < 2 or len(set(names)) < len(names):
            raise JaxkgError(
                f"a comparison requires two different systems or models, not "
                f"{', '.join(names) or 'none'}: write --systems a,b or --llm a,b"
            )

    def columns(self) -> list[tuple[str, str, str | None]]:
        """(name of the column, system, model) of all that is run."""
        found: list[tuple[str, str, str | None]] = []
        for name in self.systems:
            if not asks_model(name):
                found.append((name, name, None))
            elif len(self.models) == 1:
                found.append((name, name, self.models[0]))
            else:
                # Without its address, and where it lies or whose it is.
                short = [model.partition("@http")[0].rpartition("/")[2] for model in self.models]
                found += [(f"{name}@{s}", name, m) for s, m in zip(short, self.models)]
        return found

    def parts(self, some: Dataset, show: Callable[[str, int, int], None]) -> Parts:
        """Parts of a question set's graph."""
        return Parts(
            load_graph(some.graph, names=some.names),
            show,
            top_k=self.top_k,
            repair=self.repair,
            seed=self.seed,
            requires_planner=self.benchmarks,
            devices=self.devices,
            passages=some.passages,
            ask_model=self.ask_model,
        )


def run_systems(
    plan: Comparison,
    output: Path,
    backends: Mapping[str, Backend],
    about: dict[str, Any],
    show: Callable[[str, int, int], None],
) -> dict[str, dict[str, Outcome]]:
    """Run every system on every question set, each in a run folder of its own, which resumes.

    Args:
        plan: what is compared.
        output: folder of the run folders.
        backends: the language models by name.
        about: provenance, kept with each run's report.
        show: told of (stage, done, total).

    Returns:
        Outcomes by question set and system; of a system that misses something, what.
    """
    outcomes: dict[str, dict[str, Outcome]] = {name: {} for name in plan.given}
    for group in _by_graph(plan.given):
        parts = plan.parts(plan.given[group[0]], show)
        for column, name, model in plan.columns():
            judge = None if model is None else backends[model]
            key, system = None, None
            for each in group:
                folder = output / column if each == OWN else output / each / column
                memory = Memory(folder)
                wanted = (plan.planners[each], plan.trained[each], plan.wishes[each][name])
                try:
                    if system is None or key != wanted:
                        system = None
                        make_room()
                        parts = parts.beside(
                            judge,
                            plan.wishes[each][name],
                            planner_folder=plan.planners[each],
                            trained=plan.trained[each],
                        )
                        system, key = system_built(name, parts), wanted
                    run_questions(
                        folder,
                        plan.given[each].questions[: plan.limit],
                        system,
                        parts,
                        name=name,
                        link=plan.link,
                        fresh=plan.fresh,
                        show=functools.partial(_shown, show, f"{each}, {column}"),
                    )
                except Unfit as error:
                    errors.print(f"{each}: {column} is left out: {error}")
                    outcomes[each][column] = Outcome(lacks=str(error))
                    continue
                outcomes[each][column] = Outcome.of_run(
                    folder,
                    memory,
                    directed=plan.given[each].directed,
                    provenance=about,
                    seed=plan.seed,
                )
    return outcomes


class Unfit(JaxkgError):
    """What a system lacks, or says that cannot answer what it is asked."""


@dataclasses.dataclass(frozen=True)
class _Told:
    """A system whose own complaints are told from those about its run folder."""

    system: System

    def __getattr__(self, name: str) -> Any:
        return getattr(self.system, name)

    def answer(self, questions: Sequence[Question], *, use_given: bool = True) -> list[Answer]:
        """See `System`."""
        try:
            return self.system.answer(questions, use_given=use_given)
        except JaxkgError as error:
            raise Unfit(str(error)) from error


def system_built(name: str, parts: Parts) -> Built:
    """A system by name, `NAME+llm` the same.

    Raises:
        Unfit: it lacks something; it raises so later, too, where its answers do.
    """
    base = name.removesuffix(_WITH_LLM)
    if base == "proh" and (folder := parts.wishes.get("hypergraph")):
        wishes = {name: text for name, text in parts.wishes.items() if name != "hypergraph"}
        parts = dataclasses.replace(parts, wishes=wishes, hypergraph=Path(folder))
    try:
        built = build(base, parts)
        return built._replace(system=_Told(built.system))
    except JaxkgError as error:
        raise Unfit(str(error)) from error


def chosen_systems(systems: str, models: Sequence[str]) -> list[str]:
    """Names of systems, from a list with commas.

    Raises:
        JaxkgError: one is unknown, or lacks the language model.
    """
    chosen = [name.strip() for name in systems.split(",") if name.strip()]
    for name in chosen:
        find_entry(name.removesuffix(_WITH_LLM))
        if asks_model(name) and not models:
            raise JaxkgError(f"{name} needs a language model: --llm MODEL")
    return chosen


def asks_model(name: str) -> bool:
    """Whether a system, `NAME+llm` among them, is given a language model."""
    return name.endswith(_WITH_LLM) or SYSTEMS[name].model == "needed"


def _by_graph(given: Mapping[str, Dataset]) -> list[list[str]]:
    """Question sets of one graph together, so that it is read and every system built once."""
    groups: dict[Any, list[str]] = {}
    for name, some in given.items():
        groups.setdefault((some.graph, some.names, some.passages), []).append(name)
    return list(groups.values())


def wishes_of(
    settings: Sequence[str], chosen: Sequence[str], dataset: str, datasets: Sequence[str]
) -> dict[str, dict[str, str]]:
    """Settings of every system for one question set; what names it more closely counts."""
    wishes: dict[str, dict[str, str]] = {name: {} for name in chosen}
    told: list[tuple[str, str, str]] = []
    for setting in settings:
        before, dot, rest = setting.partition(".")
        word, colon, system = before.rpartition(":")
        if not dot or system not in wishes:
            raise JaxkgError(
                f"--set {setting}: write it SYSTEM.NAME=VALUE, SYSTEM one of {', '.join(chosen)}"
            )
        if colon:
            _check_dataset(word, datasets, f"--set {setting}")
        if not colon or concerns(word, dataset):
            told.append((word, system, rest))
    for _, system, rest in sorted(told, key=lambda each: len(each[0])):
        wishes[system] |= wishes_from([rest])
    return wishes


def planner_of(planners: Sequence[str], dataset: str, datasets: Sequence[str]) -> Path | None:
    """Folder of the planner for one question set; what names it more closely counts."""
    told: list[tuple[str, str]] = []
    for given in planners:
        word, equals, folder = given.partition("=")
        if not equals or Path(given).exists():
            told.append(("", given))
            continue
        _check_dataset(word, datasets, f"--planner {given}")
        if concerns(word, dataset):
            told.append((word, folder))
    return Path(max(told, key=lambda each: len(each[0]))[1]) if told else None


def trained_parts(folder: Path | None, dataset: str) -> dict[str, Path]:
    """Folders of the parts trained for one question set, else for its family, by kind.

    Raises:
        JaxkgError: there is no such folder.
    """
    if folder is None:
        return {}
    if not folder.is_dir():
        raise JaxkgError(f"--parts {folder}: no such folder")
    family = dataset.partition("-")[0]
    places = [folder] if dataset == OWN else [folder / family, folder / dataset]
    return {kind: place / kind for place in places for kind in TRAINED if (place / kind).is_dir()}


def _check_dataset(word: str, datasets: Sequence[str], where: str) -> None:
    if not any(concerns(word, name) for name in datasets):
        raise JaxkgError(f"{where}: {word!r} is not one of {', '.join(datasets)}")


def _shown(
    show: Callable[[str, int, int], None], who: str, stage: str, done: int, total: int
) -> None:
    show(f"{who}: {stage}", done, total)
