"""`jaxkg reproduce`: the tables of the five papers, the paper's numbers beside ours."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jaxkg.cli.blocks import ModelOptions, spread
from jaxkg.cli.models import Model, language_model
from jaxkg.experiments.comparing import Unfit, asks_model, system_built, trained_parts
from jaxkg.experiments.datasets import Dataset, dataset, material
from jaxkg.experiments.loading import keep_compiled_programs, load_graph, make_room
from jaxkg.experiments.papers import Arm, PaperTable, listed, paper, papers
from jaxkg.experiments.progress import progress_bars
from jaxkg.experiments.registry import SYSTEMS
from jaxkg.experiments.running import run_questions
from jaxkg.settings import wishes_from
from jaxkg.systems.parts import Parts

if TYPE_CHECKING:
    from jaxkg.evaluate import Report


@dataclasses.dataclass(frozen=True)
class _DrawnOptions:
    """What every row is asked, and what it is made of."""

    questions: Annotated[int, typer.Option(min=1, help="Number of questions of each set.")] = 50
    parts_in: Annotated[
        Path | None,
        typer.Option("--parts", help="Folder of trained parts, as for `jaxkg compare`."),
    ] = None
    demo: Annotated[bool, typer.Option("--demo", help="Only try the method on the demo graph.")] = (
        False
    )
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="Setting, NAME=VALUE; SYSTEM.NAME=VALUE for one system alone."),
    ] = None
    seed: Annotated[int, typer.Option(help="Random seed of intervals and symbols.")] = 0


@spread
def reproduce(
    wanted: ModelOptions,
    how: _DrawnOptions,
    method: Annotated[str | None, typer.Argument(help=f"One of {', '.join(papers())}.")] = None,
    list_all: Annotated[
        bool, typer.Option("--list", help="List tables and figures; run nothing.")
    ] = False,
    tables: Annotated[
        list[str] | None,
        typer.Option("--table", help="Number of a table, or f4 for figure 4; may be repeated."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Folder of the runs; those in it resume.")
    ] = None,
    to_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Print the tables of a method's paper: the paper's numbers, ours, and what differs.

    The seed draws the questions. The measured rows stand beside the paper's, with 95 % intervals.
    A row that lacks a model (--llm, or --replay of saved replies) or a trained part (--parts) says
    so. In all rows, a model is asked once more if its reply cannot be read. The variable JAXKG_DATA
    names the folder of the data. Recorded numbers are printed with the command that measured them.
    In a check-out, this command repeats the rows of a real model from its saved replies:

    jaxkg reproduce pathhd --table 4 --questions 30 --llm qwen2.5-coder-1.5b --replay --replies
    tests/replies/replies.sqlite.gz
    """
    if list_all or method is None:
        some = [paper(method)] if method else list(papers().values())
        found = {
            each.method: [table.to_dict() for table in each.chosen(tables or ())] for each in some
        }
        print(json.dumps(found, ensure_ascii=False, indent=1) if to_json else listed(some))
        return
    chosen = paper(method).chosen(tables or ())
    told = []
    with contextlib.ExitStack() as stack:
        folder = output or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        model = stack.enter_context(language_model(wanted))
        show = stack.enter_context(progress_bars())
        keep_compiled_programs()
        runs = _Runs(folder, model, show, how)
        for table in chosen:
            rows = [runs.row(table, arm) for arm in table.arms]
            told.append({**table.to_dict(), "rows": rows})
            if not to_json:
                print(_text(table, rows, runs.asked(table)), flush=True)
    if to_json:
        print(json.dumps(told, ensure_ascii=False, indent=1))
    if model is not None:
        print(model.meter.text(), file=sys.stderr)


@dataclasses.dataclass
class _Runs:
    """Rows of tables, each a run; graphs and runs are shared between tables."""

    folder: Path
    model: Model | None
    show: Any
    how: _DrawnOptions
    _graphs: dict[str, tuple[Dataset, Parts]] = dataclasses.field(default_factory=dict)
    _rows: dict[Any, Report | str] = dataclasses.field(default_factory=dict)

    def asked(self, table: PaperTable) -> str:
        """What the rows of a table are asked of."""
        drawn_from = "the built-in graph" if self.how.demo else table.dataset
        return f"{self.how.questions} questions of {drawn_from}, seed {self.how.seed}"

    def row(self, table: PaperTable, arm: Arm) -> dict[str, Any]:
        """A row as JSON: its metrics, or what it lacks."""
        key = (table.dataset, arm.system, arm.set)
        if key not in self._rows:
            try:
                self._rows[key] = self._run(table, arm)
            except Unfit as error:
                self._rows[key] = str(error)
        # What the built-in graph says is not to be put beside the paper's.
        found = self._rows[key]
        row = {"name": arm.name, "paper": "" if self.how.demo else arm.paper}
        if isinstance(found, str):
            return {**row, "lacks": found}
        measured = {name: found.metrics[name].to_dict() for name in table.metrics
                    if name in found.metrics}  # fmt: skip
        return {**row, "asked": found.counts["asked"], "metrics": measured}

    def _run(self, table: PaperTable, arm: Arm) -> Report:
        from jaxkg.evaluate import report_run
        from jaxkg.experiments.measure import drawn

        with_model = asks_model(arm.system)
        if with_model and self.model is None:
            raise Unfit("a language model: --llm MODEL")
        given, parts = self._graph(table.dataset)
        backend = self.model.backend if with_model and self.model else None
        trained = trained_parts(self.how.parts_in, "questions" if self.how.demo else table.dataset)
        parts = parts.beside(
            backend,
            wishes_from([*arm.set, *self._own(arm)]),
            trained=trained,
            planner_folder=trained.get("planner"),
        )
        kind = SYSTEMS[arm.system.removesuffix("+llm")].trained
        # A planner can be made from labels alone.
        if kind not in (None, "planner", *parts.trained) and "model" not in parts.wishes:
            learn, place = (f"{kind}", kind) if self.how.demo else (
                f"{kind} --dataset {table.dataset}", f"{table.dataset}/{kind}"
            )  # fmt: skip
            command = f"`jaxkg train {learn} -o PARTS/{place}`"
            raise Unfit(f"a trained part: --parts PARTS, made by {command}")
        make_room()
        system = system_built(arm.system, parts)
        name = re.sub(r"\W+", "-", " ".join((table.dataset, arm.system, *arm.set)))
        run_questions(
            self.folder / name,
            # As the scripts draw them, so that rows and kept replies are of the same questions.
            drawn(given.questions, self.how.questions, self.how.seed),
            system,
            parts,
            name=arm.system,
            link=False,
            fresh=False,
            show=lambda stage, done, total: self.show(f"{arm.name}: {stage}", done, total),
        )
        return report_run(self.folder / name, directed=given.directed, seed=self.how.seed)

    def _graph(self, name: str) -> tuple[Dataset, Parts]:
        if name not in self._graphs:
            given = (
                material(None, None, None, None, part="test") if self.how.demo else dataset(name)
            )
            kg = load_graph(given.graph, names=given.names)
            parts = Parts(kg, self.show, repair=True, seed=self.how.seed, passages=given.passages)
            self._graphs[name] = given, parts
        return self._graphs[name]

    def _own(self, arm: Arm) -> list[str]:
        """Settings that concern an arm's system."""
        settings = self.how.settings or ()
        told = [each.rpartition(".") for each in settings if "." in each.partition("=")[0]]
        system = arm.system.removesuffix("+llm")
        mine = [rest for before, _, rest in told if before == system]
        return mine + [each for each in settings if "." not in each.partition("=")[0]]


def _text(table: PaperTable, rows: list[dict[str, Any]], asked: str) -> str:
    """A table as people read it."""
    from jaxkg.evaluate.metrics.intervals import format_number, markdown_table

    lines = [f"## {table.called}: {table.title} ({table.state})", ""]
    source = f" (`{table.source}`: `{table.command}`)" if table.command else ""
    for name, said in (("paper", table.paper), ("here", table.ours and table.ours + source),
                       ("differs", table.differs), ("why", table.why)):  # fmt: skip
        lines += [f"{name}: {said}"] if said else []
    if rows:
        cells = []
        for row in rows:
            if "lacks" in row:
                said = [f"lacks {row['lacks']}", *["–"] * (len(table.metrics) - 1)]
            else:
                said = [_cell(row["metrics"].get(name), format_number) for name in table.metrics]
            cells.append([row["name"], row["paper"] or "–", *said])
        lines += ["", f"now, {asked}:", "", markdown_table(["row", "paper", *table.metrics], cells)]
    return "\n".join(lines) + "\n"


def _cell(estimate: dict[str, Any] | None, number: Any) -> str:
    if estimate is None or estimate["value"] is None:
        return "–"
    ends = [estimate[end] for end in ("low", "high")]
    interval = "" if None in ends else f" [{number(ends[0])}, {number(ends[1])}]"
    return number(estimate["value"]) + interval
