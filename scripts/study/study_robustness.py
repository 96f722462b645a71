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
| unknown | 1 | the topic is a name that the graph has not; topics are linked |

Without --dataset or --kg the built-in demo graph is asked. Trained parts are looked for in a
folder, KIND each, as `jaxkg train KIND` makes them; a system that lacks its part, or whose part was
trained for other relation names, is not asked, and the report says why. Every level has a run
folder for each system, resumed where it stopped. A quarter of an hour on the demo graph.

    for kind in pathmind guided "ranked --hops 3"; do jaxkg train $kind -o parts/${kind%% *}; done
    python scripts/study/study_robustness.py -o runs/robustness --parts parts \
        --systems planner,pathhd,reknos,pathmind,guided,ranked
    JAXKG_DATA=... python scripts/study/study_robustness.py -o runs/r3 --dataset metaqa-3 \
        --parts DIR
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.evaluate import Estimate, read_predictions
from jaxkg.evaluate.metrics.intervals import column_estimates
from jaxkg.evaluate.runs.lines import status
from jaxkg.evaluate.runs.scores import score_line
from jaxkg.evaluate.synthetic.world import remove_facts
from jaxkg.experiments.datasets import material
from jaxkg.experiments.loading import keep_compiled_programs, load_graph, make_room
from jaxkg.experiments.registry import ENTRIES, build
from jaxkg.experiments.running import run_questions
from jaxkg.kg import KnowledgeGraph, entity_rows
from jaxkg.learn.planner.kept import planner_for
from jaxkg.learn.planner.labels import planner_from_labels
from jaxkg.records import Question
from jaxkg.settings import wishes_from
from jaxkg.storage import write_json
from jaxkg.systems.parts import Parts
from jaxkg.tensors import tensor_graph

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.curves import save_curve_plot
from lib.damage.perturb import (
    misspell,
    opaque_names,
    paraphrase,
    rename_paths,
    rename_relations,
    topic_span,
    unknown_topic,
)
from lib.record import Record, arguments

LEVELS: dict[str, tuple[float, ...]] = {
    "facts": (0, 0.1, 0.2, 0.3, 0.4, 0.5),
    "typos": (0, 1, 2, 3),
    "paraphrase": (0, 1, 2, 3),
    "relations": (0, 0.5, 1),
    "unknown": (1,),
}
AXES = {
    "facts": "share of facts removed",
    "typos": "edits in the topic",
    "paraphrase": "strength of rewording",
    "relations": "share of relations renamed",
    "unknown": "topic unknown",
}
METRICS = {"hits_at_1": "hits@1", "abstained": "abstained", "wrong": "answered wrongly"}
"""Those of the table and the plot; F1 is in the JSON."""


@dataclasses.dataclass(frozen=True)
class Level:
    """A graph and questions, damaged; `link` where topics are to be found in the text."""

    kg: KnowledgeGraph
    questions: list[Question]
    link: bool = False


def damaged(
    kind: str, level: float, kg: KnowledgeGraph, questions: Sequence[Question], seed: int
) -> Level:
    """One level of one kind of damage."""
    named = [(q, kg.name(entity_rows(kg, q.topics[0])[0])) for q in questions]
    if kind == "facts":
        return Level(remove_facts(kg, level, seed=seed), list(questions))
    if kind == "typos":
        return Level(kg, [misspell(q, int(level), name=n, seed=seed) for q, n in named], link=True)
    if kind == "paraphrase":
        return Level(kg, [paraphrase(q, int(level), name=n, seed=seed) for q, n in named])
    if kind == "relations":
        new = opaque_names(kg, level, seed=seed)
        return Level(rename_relations(kg, new), [rename_paths(q, new) for q in questions])
    known = set(kg.entity_names) | set(kg.aliases.names)
    return Level(kg, [unknown_topic(q, known, name=n, seed=seed) for q, n in named], link=True)


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


def estimates_of(folder: Path, seed: int) -> dict[str, Estimate]:
    """Measures of a run, those that none of its questions has left out."""
    rows: list[dict[str, float]] = []
    for line in read_predictions(folder):
        scores, how = score_line(line), status(line)
        right = scores["hits_at_1"] if line["gold"] else 0.0
        row = {name: scores[name] for name in ("hits_at_1", "f1") if line["gold"]}
        rows.append(row | {"abstained": how == "abstained", "wrong": (how == "answered") - right})
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: np.array([float(row.get(name, np.nan)) for row in rows]) for name in names}
    return column_estimates(columns, seed=seed)


def answered(
    level: Level,
    folder: Path,
    systems: Mapping[str, list[str]],
    planner: Path,
    trained: Mapping[str, Path],
    seed: int,
) -> Iterator[tuple[str, dict[str, Estimate] | str]]:
    """Every system's estimates, or why it cannot be asked."""
    parts = Parts(
        level.kg, lambda stage, done, total: None,
        planner_folder=planner, trained=trained, seed=seed,
    )  # fmt: skip
    for name, settings in systems.items():
        make_room()
        parts = parts.beside(None, wishes_from(settings))
        try:
            built = build(name, parts)
        except JaxkgError as error:
            yield name, str(error)
            continue
        run_questions(
            folder / name, level.questions, built, parts,
            name=name, link=level.link, fresh=False, show=parts.show,
        )  # fmt: skip
        yield name, estimates_of(folder / name, seed)


def report(record: Record, rows: Sequence[Mapping[str, Any]]) -> None:
    """A table for each kind of damage: one row a level, one column a system."""
    half = [
        (each["high"] - each["low"]) / 2
        for row in rows
        for name, each in row.get("metrics", {}).items()
        if name in METRICS
    ]
    told = f"{' / '.join(METRICS.values())}, shares of all questions"
    record.note(f"{told}; 95 % intervals up to ± {max(half, default=0):.2f}")
    for kind in dict.fromkeys(row["kind"] for row in rows):
        mine = [row for row in rows if row["kind"] == kind]
        systems = list(dict.fromkeys(row["system"] for row in mine))
        cells = {(row["level"], row["system"]): _cell(row) for row in mine}
        table = record.table("level", *systems, title=f"{kind}: {AXES[kind]}")
        for level in dict.fromkeys(row["level"] for row in mine):
            table.add(level, *(cells.get((level, system), "") for system in systems))
        refused = dict.fromkeys((r["system"], r["refused"]) for r in mine if "refused" in r)
        for system, reason in refused:
            record.note(f"{kind}: {system} is not asked: {reason}")


def _cell(row: Mapping[str, Any]) -> str:
    if "refused" in row:
        return "not asked"
    found = row["metrics"]
    return " / ".join(f"{found[name]['value']:.2f}" if name in found else "–" for name in METRICS)


def plot(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """A column for each kind that has levels, a row for each measure."""
    kinds = [kind for kind in dict.fromkeys(row["kind"] for row in rows) if len(LEVELS[kind]) > 1]
    panels: dict[str, dict[str, list[tuple[float, Estimate]]]] = {}
    for metric, said in METRICS.items():
        for kind in kinds:
            curves = panels.setdefault(f"{kind}: {said}", {})
            for row in (row for row in rows if row["kind"] == kind):
                if found := row.get("metrics", {}).get(metric):
                    point = row["level"], Estimate(**found)
                    curves.setdefault(row["system"], []).append(point)
    x = [AXES[kind] for _ in METRICS for kind in kinds]
    y = ["share of questions" if kind == kinds[0] else "" for _ in METRICS for kind in kinds]
    save_curve_plot(panels, path, x=x, y=y, columns=len(kinds), shares=True)


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__, data=False)
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder of the results")
    planned = [entry.name for entry in ENTRIES if entry.trained == "planner"]
    parser.add_argument("--systems", default=",".join(planned),
                        help="names with commas between")  # fmt: skip
    parser.add_argument("--set", dest="settings", action="append", default=[],
                        help="a setting, SYSTEM.NAME=VALUE, e.g. guided.width=3")  # fmt: skip
    parser.add_argument("--parts", type=Path, help="folder of trained parts; without a planner "
                        "in it, one is made")  # fmt: skip
    parser.add_argument("--kinds", nargs="+", default=list(LEVELS), choices=LEVELS)
    parser.add_argument("--dataset", help="a benchmark by name, read from JAXKG_DATA")
    parser.add_argument("--kg", type=Path)
    parser.add_argument("--names", type=Path)
    parser.add_argument("--questions", type=Path, nargs="+")
    parser.add_argument("--limit", type=int, help="first questions only")
    options = parser.parse_args(argv)
    some = () if list(options.kinds) == list(LEVELS) else options.kinds
    record = Record(__file__, options, part="-".join(filter(None, (options.dataset, *some))))
    systems: dict[str, list[str]] = {name: [] for name in options.systems.split(",")}
    for setting in options.settings:
        system, _, rest = setting.partition(".")
        if system not in systems:
            raise JaxkgError(f"--set {setting}: write it SYSTEM.NAME=VALUE")
        systems[system].append(rest)
    keep_compiled_programs()
    given = material(options.dataset, options.kg, options.names, options.questions, part="test")
    kg = load_graph(given.graph, names=given.names)
    there = options.parts.iterdir() if options.parts else ()
    trained = {folder.name: folder for folder in there if folder.is_dir()}
    if (planner := trained.get("planner")) is None:
        planner = options.output / "planner"
        planner_for(kg, tensor_graph(kg), seed=options.seed).save(planner)
    questions = usable(kg, given.questions)[: options.limit]
    record.note(
        f"{kg!r}, {len(questions):,} of {len(given.questions):,} questions (one topic, named in "
        "the text; the first ones)"
    )
    rows: list[dict[str, Any]] = []
    for kind in options.kinds:
        for strength in LEVELS[kind]:
            level = damaged(kind, strength, kg, questions, options.seed)
            folder = options.output / kind / f"{strength:g}"
            served = planner
            if kind == "relations":
                served = folder / "planner-of-labels"
                if not served.exists():
                    made = planner_from_labels(level.kg, tensor_graph(level.kg), seed=options.seed)
                    made.save(served)
            for name, found in answered(level, folder, systems, served, trained, options.seed):
                row: dict[str, Any] = {"kind": kind, "level": strength, "system": name}
                if isinstance(found, str):
                    row["refused"] = found
                else:
                    row["metrics"] = {metric: e.to_dict() for metric, e in found.items()}
                rows.append(row)
                print(kind, f"{strength:g}", name, _cell(row), flush=True)
                write_json(options.output / "robustness.json", rows)
    report(record, rows)
    record.save()
    try:
        plot(rows, options.output / "robustness.png")
    except JaxkgError as error:
        print(f"no plot: {error}")


if __name__ == "__main__":
    main()
