"""What systems do with facts removed, names misspelt, questions reworded, relations renamed.

For every kind of damage and every level of it, the systems answer the same questions, and quality
(hits@1, F1), abstention and wrong answers are told with bootstrap 95 % intervals. "Wrong" is the
share of all questions that were answered with something else first; of an unknown topic every
answer is wrong. Gold answers are those of the undamaged graph.

| kind | level | what is done |
|---|---|---|
| facts | share | facts removed at random; nothing is trained anew |
| typos | edits | letters of the topic dropped, doubled, swapped or hit beside; topics are linked |
| paraphrase | 0 to 3 | synonyms; also function words dropped; also words moved (rules of thumb) |
| relations | share | relations get names that say nothing; planners are made from labels alone |
| unknown | 0 or 1 | the topic is a name that the graph has not; topics are linked |

Without --dataset or --kg the built-in demo graph is asked, or with --synthetic EDGES a made-up one,
for which a planner is trained. Every level has a run folder for each system, resumed where it
stopped.

    python scripts/study_robustness.py -o runs/robustness --systems planner,pathhd,reknos
    JAXKG_DATA=... python scripts/study_robustness.py -o runs/r3 --dataset metaqa-3 --planner DIR
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from jaxkg.cli.datasets import material
from jaxkg.cli.loading import keep_compiled_programs, load_graph
from jaxkg.cli.parts import Parts, wishes_from
from jaxkg.cli.running import run_questions
from jaxkg.cli.systems import build_system
from jaxkg.evaluate import Estimate, provenance, read_predictions
from jaxkg.evaluate.columns import column_estimates
from jaxkg.evaluate.curves import save_curve_plot
from jaxkg.evaluate.lines import status
from jaxkg.evaluate.perturb import (
    misspell,
    opaque_names,
    paraphrase,
    remove_facts,
    rename_paths,
    rename_relations,
    topic_span,
    unknown_topic,
)
from jaxkg.evaluate.runs import write_text
from jaxkg.evaluate.scores import score_line
from jaxkg.evaluate.synthetic import QuestionConfig, WorldConfig, make_questions, make_world
from jaxkg.evaluate.tables import markdown_table
from jaxkg.kg import KnowledgeGraph, demo_questions, entity_rows
from jaxkg.learn.fit import fit_planner
from jaxkg.learn.planner import Planner
from jaxkg.learn.synthesize import planner_from_labels
from jaxkg.records import JaxkgError, Question
from jaxkg.systems.planner_cache import planner_for
from jaxkg.tensors import tensor_graph

LEVELS: dict[str, tuple[float, ...]] = {
    "facts": (0, 0.1, 0.2, 0.3, 0.4, 0.5),
    "typos": (0, 1, 2, 3),
    "paraphrase": (0, 1, 2, 3),
    "relations": (0, 0.25, 0.5, 1),
    "unknown": (0, 1),
}
AXES = {
    "facts": "share of facts removed",
    "typos": "edits in the topic",
    "paraphrase": "strength of rewording",
    "relations": "share of relations renamed",
    "unknown": "topic unknown",
}
METRICS = ("hits_at_1", "f1", "abstained", "wrong")
PLANNED = ("planner", "pathhd", "reknos")
"""Systems that a planner serves and that are therefore made anew for renamed relations."""


@dataclasses.dataclass(frozen=True)
class Level:
    """A graph and questions, damaged."""

    kg: KnowledgeGraph
    questions: list[Question]
    link: bool


def damaged(
    kind: str, level: float, kg: KnowledgeGraph, questions: Sequence[Question], seed: int
) -> Level:
    """One level of one kind of damage."""
    shown = {id: kg.name(entity_rows(kg, id)[0]) for q in questions for id in q.topics}
    names = [shown[q.topics[0]] if q.topics else None for q in questions]
    asked = list(zip(questions, names))
    if kind == "facts":
        return Level(remove_facts(kg, level, seed=seed), list(questions), False)
    if kind == "typos":
        changed = [misspell(q, int(level), name=name, seed=seed) for q, name in asked]
        return Level(kg, changed, True)
    if kind == "paraphrase":
        changed = [paraphrase(q, int(level), name=name, seed=seed) for q, name in asked]
        return Level(kg, changed, False)
    if kind == "relations":
        new = opaque_names(kg, level, seed=seed)
        return Level(rename_relations(kg, new), [rename_paths(q, new) for q in questions], False)
    known = set(kg.entity_names) | set(kg.aliases.names)
    bare = [misspell(q, 0, name=name, seed=seed) for q, name in asked]
    if not level:
        return Level(kg, bare, True)
    return Level(kg, [unknown_topic(q, known, name=n, seed=seed) for q, n in asked], True)


def columns_of(folder: Path) -> dict[str, np.ndarray]:
    """Per-question scores of a run."""
    rows: list[dict[str, float]] = []
    for line in read_predictions(folder):
        scores = score_line(line)
        answered = status(line) == "answered"
        first = 0.0 if not line["gold"] else scores["hits_at_1"]
        row = {name: scores[name] for name in ("hits_at_1", "f1") if line["gold"]}
        row |= {"abstained": float(status(line) == "abstained"), "wrong": answered * (1 - first)}
        rows.append(row)
    return {name: np.array([row.get(name, np.nan) for row in rows]) for name in METRICS}


def estimates_of(folder: Path, seed: int) -> dict[str, Estimate]:
    columns = columns_of(folder)
    there = {name: column for name, column in columns.items() if not np.isnan(column).all()}
    return column_estimates(there, seed=seed)


def planner_of_labels(level: Level, folder: Path, seed: int) -> Planner:
    """Made from relation names alone, and kept."""
    if not (folder / "planner.json").exists():
        planner_from_labels(level.kg, tensor_graph(level.kg), seed=seed).save(folder)
    return Planner.open(folder)


def answered(
    level: Level, folder: Path, systems: Mapping[str, list[str]], planner: Planner, seed: int
) -> Iterator[tuple[str, dict[str, Estimate] | str]]:
    """Every system's estimates, or why it cannot be asked."""
    parts = Parts(level.kg, lambda stage, done, total: None, seed=seed)
    for name, settings in systems.items():
        parts = parts.beside(None, wishes_from(settings))
        parts.__dict__["planner"] = planner
        parts.marks["planner"] = dict(planner.about)
        try:
            built = build_system(name, parts)
        except JaxkgError as error:
            yield name, str(error)
            continue
        run_questions(
            folder / name, level.questions, built, parts,
            name=name, link=level.link, fresh=False, show=parts.show,
        )  # fmt: skip
        yield name, estimates_of(folder / name, seed)


def given_material(
    options: argparse.Namespace,
) -> tuple[KnowledgeGraph, list[Question], Planner, list[Path]]:
    """Graph, questions, a planner for them, and the files they were read from."""
    if options.synthetic:
        world = make_world(WorldConfig(edges=options.synthetic), seed=options.seed)
        train, test = make_questions(world, QuestionConfig(), seed=options.seed)
        folder = options.output / "planner"
        if not (folder / "planner.json").exists():
            print(f"training a planner on {len(train):,} made-up questions", flush=True)
            tensors = tensor_graph(world.graph)
            fit_planner(world.graph, tensors, train, seed=options.seed)[0].save(folder)
        return world.graph, test, Planner.open(folder), []
    if options.dataset or options.questions:
        given = material(options.dataset, options.kg, options.names, options.questions, part="test")
        kg, asked, hashed = (
            load_graph(given.graph, names=given.names),
            given.questions,
            given.hashed,
        )
    else:
        kg, asked, hashed = load_graph(None), demo_questions(), []
    planner = planner_for(kg, tensor_graph(kg), folder=options.planner, seed=options.seed)
    return kg, list(asked), planner, hashed


def usable(kg: KnowledgeGraph, questions: Sequence[Question]) -> list[Question]:
    """Questions whose one topic the graph has and the text names: others cannot be damaged."""
    kept = []
    for question in questions:
        rows = [row for topic in question.topics for row in entity_rows(kg, topic)]
        if len(rows) != 1 or not question.answers:
            continue
        try:
            topic_span(question, kg.name(rows[0]))
        except JaxkgError:
            continue
        kept.append(question)
    return kept


def report(rows: Sequence[dict[str, Any]], about: str) -> str:
    parts = ["# Robustness", about]
    for kind in dict.fromkeys(row["kind"] for row in rows):
        table = []
        for row in (row for row in rows if row["kind"] == kind):
            found = row.get("metrics", {})
            cells = [_cell(found[name]) if name in found else "–" for name in METRICS]
            table.append([f"{row['level']:g}", row["system"], *cells])
        said = {row["refused"] for row in rows if row["kind"] == kind and "refused" in row}
        parts += [f"## {AXES[kind]}", markdown_table(["level", "system", *METRICS], table)]
        parts += [f"Not asked: {reason}" for reason in sorted(said)]
    return "\n\n".join(parts) + "\n"


def _cell(estimate: Mapping[str, float]) -> str:
    return f"{estimate['value']:.3f} ({estimate['low']:.3f}–{estimate['high']:.3f})"


def plot(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Quality, and below it wrong answers, against the damage."""
    panels: dict[str, dict[str, list[tuple[float, Estimate]]]] = {}
    titles: dict[str, tuple[str, str]] = {}
    for metric in ("hits_at_1", "wrong"):
        for row in rows:
            found = row.get("metrics", {}).get(metric)
            if found is None or row["kind"] == "unknown":
                continue
            title = f"{row['kind']}: {metric}"
            titles[title] = AXES[row["kind"]], metric
            curve = panels.setdefault(title, {}).setdefault(row["system"], [])
            curve.append((row["level"], Estimate(**found)))
    if panels:
        x, y = zip(*(titles[title] for title in panels))
        save_curve_plot(panels, path, x=x, y=y)


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder of the results")
    parser.add_argument("--systems", default=",".join(PLANNED), help="names with commas between")
    parser.add_argument("--set", dest="settings", action="append", default=[],
                        help="a setting, SYSTEM.NAME=VALUE, e.g. guided.model=DIR")  # fmt: skip
    parser.add_argument("--kinds", nargs="+", default=list(LEVELS), choices=LEVELS)
    parser.add_argument("--dataset", help="a benchmark by name, read from JAXKG_DATA")
    parser.add_argument("--kg", type=Path)
    parser.add_argument("--names", type=Path)
    parser.add_argument("--questions", type=Path, nargs="+")
    parser.add_argument("--planner", type=Path, help="folder of a trained planner")
    parser.add_argument("--synthetic", type=int, metavar="EDGES", help="a made-up graph instead")
    parser.add_argument("--limit", type=int, help="first questions only")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)
    options.output.mkdir(parents=True, exist_ok=True)
    systems: dict[str, list[str]] = {name: [] for name in options.systems.split(",")}
    for setting in options.settings:
        system, _, rest = setting.partition(".")
        if system not in systems:
            raise JaxkgError(f"--set {setting}: write it SYSTEM.NAME=VALUE")
        systems[system].append(rest)
    keep_compiled_programs()
    kg, asked, planner, hashed = given_material(options)
    questions = usable(kg, asked)[: options.limit]
    about = (
        f"{kg!r}, {len(questions):,} of {len(asked):,} questions (one topic, named in the text; "
        f"the first ones), seed {options.seed}, {jax.devices()[0].device_kind}."
    )
    print(about, flush=True)
    known = provenance(
        device=str(jax.devices()[0]), seed=options.seed, data=hashed, command=sys.argv
    )
    rows: list[dict[str, Any]] = []
    for kind in options.kinds:
        for strength in LEVELS[kind]:
            level = damaged(kind, strength, kg, questions, options.seed)
            folder = options.output / kind / f"{strength:g}"
            served, those = planner, systems
            if kind == "relations":
                those = {name: some for name, some in systems.items() if name in PLANNED}
                served = planner_of_labels(level, folder / "planner-of-labels", options.seed)
            for name, found in answered(level, folder, those, served, options.seed):
                row: dict[str, Any] = {"kind": kind, "level": strength, "system": name}
                if isinstance(found, str):
                    row["refused"] = found
                else:
                    row["metrics"] = {metric: e.to_dict() for metric, e in found.items()}
                rows.append(row)
                told = {name: e["value"] for name, e in row.get("metrics", {}).items()}
                print(kind, strength, name, json.dumps(told or row), flush=True)
                kept = json.dumps({"about": about, "rows": rows, "provenance": known}, indent=1)
                write_text(options.output / "robustness.json", kept + "\n")
                write_text(options.output / "robustness.md", report(rows, about))
    try:
        plot(rows, options.output / "robustness.png")
    except JaxkgError as error:
        print(f"no plot: {error}")


if __name__ == "__main__":
    main()
