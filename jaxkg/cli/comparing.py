"""`jaxkg compare`: several systems on the same questions, one table, one plot."""

from __future__ import annotations

import dataclasses
import functools
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jaxkg.answer import Answer
from jaxkg.cli import options
from jaxkg.cli.blocks import ModelOptions, spread
from jaxkg.cli.models import language_model
from jaxkg.errors import JaxkgError
from jaxkg.experiments.datasets import (
    NAMES,
    Dataset,
    benchmarks,
    concerns,
    dataset,
    kinds,
    material,
)
from jaxkg.experiments.loading import keep_compiled_programs, load_graph, make_room
from jaxkg.experiments.parts import Devices, Parts, wishes_from
from jaxkg.experiments.progress import errors, progress_bars
from jaxkg.experiments.registry import SYSTEMS, TRAINED, System, build_system
from jaxkg.experiments.running import run_questions
from jaxkg.experiments.side_by_side import Memory, Outcome, as_json, write_comparison
from jaxkg.records import Question, TraceNode

if TYPE_CHECKING:
    from jaxkg.learn.planner.model import Planner

OWN = "questions"
"""What the user's own questions are called beside benchmarks."""
_WITH_LLM = "+llm"


@spread
def compare(
    systems: Annotated[
        str,
        typer.Option(
            help=f"Systems, separated by commas: {', '.join(SYSTEMS)}. NAME+llm lets the model "
            "judge or help. Differences are taken to the first."
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", help="Folder for the comparison; each system gets a run folder in it."
        ),
    ],
    wanted: ModelOptions,
    questions: Annotated[
        list[Path] | None,
        typer.Option(
            help="Files of questions with answers (default: questions of the demo graph)."
        ),
    ] = None,
    datasets: Annotated[
        str | None,
        typer.Option(
            "--dataset",
            help=f"Benchmarks, separated by commas: {', '.join(NAMES)}. A family such as metaqa or "
            "pq means all of its name.",
        ),
    ] = None,
    kg: options.Graph = None,
    names: options.Names = None,
    planners: Annotated[
        list[str] | None,
        typer.Option(
            "--planner",
            help="Folder of a trained planner, or DATASET=FOLDER; may be repeated.",
        ),
    ] = None,
    parts_in: Annotated[
        Path | None,
        typer.Option(
            "--parts",
            help=(
                "Folder of trained models in DATASET/KIND, as `jaxkg train KIND` writes them "
                "(KIND alone for your own questions). DATASET may be a family such as metaqa. "
                "--planner and --set take precedence."
            ),
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="Setting, SYSTEM.NAME=VALUE or DATASET:SYSTEM.NAME=VALUE; may be repeated.",
        ),
    ] = None,
    devices: options.Devices = "1",
    link: options.Link = False,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Ask only the first questions, so many.")
    ] = None,
    fresh: Annotated[bool, typer.Option(help="Start anew if folders exist.")] = False,
    to_json: Annotated[bool, typer.Option("--json", help="Print the comparison as JSON.")] = False,
    top_k: options.TopK = 50,
    repair: options.Repair = False,
    seed: Annotated[
        int, typer.Option(help="Random seed of the intervals, and of a planner that is made here.")
    ] = 0,
) -> None:
    """Run systems side by side: quality with paired differences, calls, tokens, seconds, memory.

    The comparison also shows what each system retrieved and visited, and where questions were lost;
    a dash means that a system does not report it.

    Writes compare.md, compare.json and, with matplotlib, compare.png (accuracy against latency).
    Each system has a run folder of its own, which resumes. Systems that miss a trained model are
    listed with what is missing; the others run. Benchmarks require a trained planner
    (`jaxkg train planner --dataset NAME`).
    """
    import jax

    from jaxkg.evaluate import provenance

    chosen, shared = _chosen(systems, wanted.llm), Devices.read(devices)
    sets = (OWN,) if datasets is None else tuple(benchmarks(datasets))
    wishes = {name: _wishes(settings or (), chosen, name, sets) for name in sets}
    trained = {name: trained_parts(parts_in, name) for name in sets}
    folders = {
        name: _planner(planners or (), name, sets) or trained[name].get("planner") for name in sets
    }
    if datasets is None:
        given = {OWN: material(None, kg, names, questions, part="test")}
    elif kg is not None or names is not None or questions:
        raise JaxkgError("--dataset brings its graph and questions; give it or your own")
    else:
        given = {name: dataset(name) for name in sets}
    files = list(dict.fromkeys(file for each in given.values() for file in each.hashed))
    about = provenance(seed=seed, data=files, command=["jaxkg", *sys.argv[1:]])
    about["unknown_data"] = [str(file) for each in given.values() for file in each.unknown]
    outcomes: dict[str, dict[str, Outcome]] = {name: {} for name in given}
    with language_model(wanted) as model, progress_bars() as show:
        keep_compiled_programs()
        if model is not None:
            show.about = model.waiting
        about["device"] = str(jax.devices()[0])
        for group in _by_graph(given):
            first = given[group[0]]
            graph = load_graph(first.graph, names=first.names)
            kind = Parts if datasets is None else _TrainedParts
            shared_parts = {
                "devices": shared,
                "passages": first.passages,
                "ask_model": wanted.ask_model,
            }
            parts = kind(graph, show, top_k=top_k, repair=repair, seed=seed, **shared_parts)
            for name in chosen:
                backend = model.backend if model is not None and asks_model(name) else None
                key, system = None, None
                for each in group:
                    folder = output / name if each == OWN else output / each / name
                    memory = Memory(folder)
                    wanted_now = (folders[each], trained[each], wishes[each][name])
                    try:
                        if system is None or key != wanted_now:
                            system = None
                            make_room()
                            parts = parts.beside(backend, dict(wishes[each][name]))
                            parts.planner_folder = folders[each]
                            parts.trained = trained[each]
                            system, key = system_built(name, parts), wanted_now
                        run_questions(
                            folder,
                            given[each].questions[:limit],
                            system,
                            parts,
                            name=name,
                            link=link,
                            fresh=fresh,
                            show=functools.partial(_show, show, f"{each}, {name}"),
                        )
                    except Unfit as error:
                        told = f"{each}: {name} is left out: {error}"
                        errors.print(told, markup=False, highlight=False, soft_wrap=True)
                        outcomes[each][name] = Outcome(lacks=str(error))
                        continue
                    outcomes[each][name] = Outcome.of_run(
                        folder, memory, directed=given[each].directed, provenance=about, seed=seed
                    )
    if not any(outcome.report for some in outcomes.values() for outcome in some.values()):
        raise JaxkgError("no system could be built, see above")
    found = as_json(outcomes, about, seed, {name: kinds(each) for name, each in given.items()})

    def tell(text: str) -> None:
        print(json.dumps(found, indent=1) if to_json else text, flush=True)
        if model is not None:
            errors.print(model.meter.text(), markup=False, highlight=False, soft_wrap=True)

    write_comparison(output, outcomes, found, seed, tell)


class _TrainedParts(Parts):
    """Parts of a benchmark: a planner made of relation labels alone is none to be compared."""

    @functools.cached_property
    def planner(self) -> Planner:
        """The planner named.

        Raises:
            JaxkgError: none is.
        """
        if self.planner_folder is None:
            raise JaxkgError(
                "no trained planner: --planner DATASET=FOLDER or --parts FOLDER, "
                "made by `jaxkg train planner --dataset DATASET`"
            )
        return super().planner


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

    def traced(self, question: Question) -> tuple[Answer, tuple[TraceNode, ...]]:
        """See `System`."""
        return self.system.traced(question)


def system_built(name: str, parts: Parts) -> System:
    """A system by name, `NAME+llm` the same.

    Raises:
        Unfit: it lacks something; it raises so later, too, where its answers do.
    """
    base = name.removesuffix(_WITH_LLM)
    if base == "proh" and (folder := parts.wishes.pop("hypergraph", None)):
        parts.hypergraph = Path(folder)
    try:
        return _Told(build_system(base, parts))
    except JaxkgError as error:
        raise Unfit(str(error)) from error


def _show(
    show: Callable[[str, int, int], None], who: str, stage: str, done: int, total: int
) -> None:
    show(f"{who}: {stage}", done, total)


def _chosen(systems: str, llm: str | None) -> list[str]:
    chosen = [name.strip() for name in systems.split(",") if name.strip()]
    if len(chosen) < 2 or len(set(chosen)) < len(chosen):
        raise JaxkgError(f"--systems {systems!r}: name at least two different ones, as in a,b")
    for name in chosen:
        if name.removesuffix(_WITH_LLM) not in SYSTEMS:
            raise JaxkgError(f"no system is called {name!r}; there are {', '.join(SYSTEMS)}")
        if asks_model(name) and llm is None:
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


def _wishes(
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


def _planner(planners: Sequence[str], dataset: str, datasets: Sequence[str]) -> Path | None:
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
