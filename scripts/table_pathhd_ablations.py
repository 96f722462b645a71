"""The tables of the PathHD paper on other graphs: MetaQA 3-hop, PathQuestion 3-hop, WebQSP pooled.

    operators    Table 3: what binds a path
    final        Table 4: similarity alone, or a language model that decides among K schemas
    top-k        Table 5: how many schemas are kept for it
    query        Table 11: from plans, from a bundle of them, from text
    calibration  Table 12: none, the published weights, weights found on validation questions
    dimension    d from 512 to 8,192
    metric       Fig. 5: blockwise or flat cosine, and rounded tables

No language model is reached: `final` and `top-k` state what one could gain at most, the share of
questions for which some entity of the K best schemas is right. MetaQA and PathQuestion ask with
plans of a planner trained on answers, WebQSP with nothing but relation labels; where a planner is
given for it, `query` has its rows too.

    python scripts/table_pathhd_ablations.py --table operators --planner runs/metaqa --out results
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from jaxkg.evaluate.metrics.intervals import Estimate, ratio_estimates
from jaxkg.kg import (
    KnowledgeGraph,
    Linker,
    Topics,
    entity_rows,
    find_topics,
    read_graph,
    read_questions,
    split_questions,
)
from jaxkg.learn.planner.fit import fit_planner
from jaxkg.learn.planner.model import Planner
from jaxkg.learn.planner.train import PlannerConfig
from jaxkg.records import Question
from jaxkg.score import hdc
from jaxkg.systems.pathhd import Calibration, PathHD, PathHDSettings, fit_calibration
from jaxkg.tensors import TensorGraph, tensor_graph
from jaxkg.text.hashing import Encoder, HashingEncoder

SETS = ("metaqa-3", "pq-3h", "webqsp")
KS = (1, 2, 3, 5, 16)
PUBLISHED = ((0.2, 0.1, 0.8), (0.3, 0.1, 0.8), (0.2, 0.2, 0.8))


@dataclasses.dataclass(frozen=True)
class Case:
    """A graph, its questions and how they are asked by default."""

    name: str
    kg: KnowledgeGraph
    tensors: TensorGraph
    linker: Linker
    planner: Planner | None
    encoder: Encoder
    training: list[Question]
    validation: list[Question]
    test: list[Question]
    settings: PathHDSettings
    trials: dict[str, Trial] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Trial:
    """A row of a table on one set with one seed.

    Attributes:
        share: [Q, K] how right each kept schema is, best first.
        walks: mean number of entities of the K best, for every K.
        seconds: a question, of reading, retrieval and execution.
    """

    share: np.ndarray
    walks: np.ndarray
    seconds: float


def some(questions: Sequence[Question], count: int, seed: int = 0) -> list[Question]:
    """At most `count` of them, drawn at random, in order."""
    drawn = np.random.default_rng(seed).permutation(len(questions))[:count]
    return [questions[i] for i in sorted(drawn.tolist())]


def load(name: str, options: argparse.Namespace) -> Case:
    """Read a set; train its planner where none was given."""
    data = Path(options.data)
    planner: Planner | None = None
    if name == "metaqa-3":
        kg = read_graph(data / "metaqa" / "kb.txt")
        tensors = tensor_graph(kg)
        training = [
            q
            for hop in (1, 2, 3)
            for q in read_questions(data / "metaqa" / f"{hop}-hop" / "qa_dev.txt")
        ]
        test = read_questions(data / "metaqa" / "3-hop" / "qa_test.txt")
        if options.planner:
            planner = Planner.open(options.planner)
        else:
            planner, _ = fit_planner(kg, tensors, training)
        validation = training = training[-14_274:]
    elif name == "pq-3h":
        kg = read_graph(data / "pathquestion" / "3H-kb.txt")
        tensors = tensor_graph(kg)
        questions = read_questions(data / "pathquestion" / "PQ-3H.txt")
        training, validation, test = split_questions(questions, seed=0)
        planner, _ = fit_planner(kg, tensors, training, config=PlannerConfig(epochs=12))
    else:
        folder = data / "freebase_webqsp_cwq"
        kg = read_graph(folder / "kg_pooled.tsv")
        tensors = tensor_graph(kg)
        training = read_questions(folder / "webqsp_train_paths.jsonl")
        validation = read_questions(folder / "webqsp_validation_paths.jsonl")
        test = read_questions(folder / "webqsp_test.jsonl")
        if options.webqsp_planner:
            planner = Planner.open(options.webqsp_planner)
    encoder: Encoder = HashingEncoder()
    if options.encoder == "minilm":
        from jaxkg.text.minilm import MiniLM

        encoder = MiniLM.open()
    settings = PathHDSettings(query="bundle", dimension=options.dimension, threshold=0.0)
    if name == "webqsp":
        settings = dataclasses.replace(settings, query="text", hops=2)
    return Case(
        name=name,
        kg=kg,
        tensors=tensors,
        linker=Linker(kg),
        planner=planner,
        encoder=encoder,
        training=some(training, options.questions),
        validation=some(validation, options.questions, seed=1),
        test=some(test, options.questions),
        settings=settings,
    )


def run(case: Case, seed: int, calibration: Calibration | str | None, **changes: Any) -> Trial:
    """Build, ask and judge."""
    keep = KS[-1]
    settings = dataclasses.replace(case.settings, **changes)
    # Several tables have the same row.
    known = f"{seed} {settings}" if calibration is None else ""
    if known in case.trials:
        return case.trials[known]
    qa = PathHD.build(
        case.kg,
        case.planner,
        encoder=case.encoder,
        tensors=case.tensors,
        linker=case.linker,
        settings=settings,
        seed=seed,
    )
    if isinstance(calibration, str):
        fitted = fit_calibration(qa, case.training, case.validation, scaled=calibration == "scaled")
        print(f"  {case.name}, seed {seed}: found {fitted}", flush=True)
        calibration = fitted
    elif calibration is not None:
        counted = fit_calibration(qa, case.training, case.validation, candidates=1)
        calibration = dataclasses.replace(
            counted, alpha=calibration.alpha, beta=calibration.beta, decay=calibration.decay
        )
    qa = dataclasses.replace(qa, calibration=calibration)
    topics = find_topics(case.linker, case.test)
    answered(qa, case.test[:256], topics[:256], keep)  # compile
    begin = time.perf_counter()
    best = answered(qa, case.test, topics, keep)
    seconds = (time.perf_counter() - begin) / len(case.test)
    gold = [
        {row for answer in question.answers or () for row in entity_rows(case.kg, answer)}
        for question in case.test
    ]
    order = np.argsort(~best.used, axis=1, kind="stable")[:, :keep]
    share = np.take_along_axis(best.hits(gold, qa.named), order, axis=1)
    walks = np.cumsum(np.take_along_axis(best.entities, order, axis=1), axis=1).mean(axis=0)
    trial = Trial(share, walks, seconds)
    if known:
        case.trials[known] = trial
    return trial


def answered(qa: PathHD, questions: Sequence[Question], topics: Sequence[Topics], keep: int):
    found = qa.retrieve(qa.read(questions, topics), topics)
    return qa.ground(found, topics, count=keep)


def rows_of(table: str, case: Case) -> Iterator[tuple[str, Calibration | str | None, dict]]:
    """(label, calibration, changed settings) of every row of a table."""
    planned = case.planner is not None and case.name != "webqsp"
    if table == "operators":
        for name in hdc.OPERATORS:
            algebra = hdc.operator(name, 64)
            # Schemas of two hops are too many to list on the pooled graph, and only exact
            # unbinding can grow them.
            if algebra.isometric or case.name != "webqsp":
                yield name, None, {"operator": name}
    elif table in ("final", "top-k"):
        yield "", None, {}
    elif table == "query":
        kinds = ("plan", "bundle") if case.planner is not None else ()
        for kind in (*kinds, "text", "projection"):
            yield kind, None, {"query": kind}
        yield "projection, random symbols", None, {"query": "projection", "symbols": "random"}
    elif table == "calibration":
        yield "none", None, {}
        for alpha, beta, decay in PUBLISHED:
            label = f"published ({alpha}, {beta}, {decay})"
            yield label, Calibration(alpha=alpha, beta=beta, decay=decay), {}
        yield "found on validation", "plain", {}
        yield "found on validation, IDF scaled", "scaled", {}
    elif table == "dimension":
        for dimension in (512, 1024, 2048, 4096, *((8192,) if planned else ())):
            yield f"{dimension:,}", None, {"dimension": dimension}
    else:
        yield "blockwise", None, {}
        yield "flat", None, {"metric": "flat"}
        for precision in ("bfloat16", "int8") if planned else ():
            yield f"blockwise, {precision}", None, {"precision": precision}


def mean_of(values: Sequence[np.ndarray]) -> Estimate:
    """Mean over seeds of each question, then over questions, with a bootstrap interval."""
    column = np.mean(values, axis=0)[:, None]
    return ratio_estimates(column, np.ones_like(column))[0]


def cell(estimate: Estimate, per_seed: Sequence[float]) -> str:
    spread = f"; seeds ±{np.std(per_seed):.4f}" if len(per_seed) > 1 else ""
    return f"{estimate.value:.4f} ({estimate.low:.4f}–{estimate.high:.4f}{spread})"


def measure(table: str, case: Case, seeds: int) -> list[dict[str, Any]]:
    """Rows of one table on one set."""
    rows = []
    for label, calibration, changes in rows_of(table, case):
        trials = [run(case, seed, calibration, **dict(changes)) for seed in range(seeds)]
        kept = KS if table == "top-k" else (1, 3) if table == "final" else (1,)
        for k in kept:
            any_of = [(t.share[:, :k].max(axis=1) > 0).astype(float) for t in trials]
            values = [t.share[:, 0] for t in trials] if k == 1 else any_of
            name = label
            if table == "top-k":
                name = f"K = {k}" + (" (no prune)" if k == KS[-1] else "")
            elif table == "final":
                name = "similarity alone" if k == 1 else "perfect choice among K = 3 schemas"
            row = {
                "row": name,
                "set": case.name,
                "estimate": mean_of(values),
                "seeds": [float(np.mean(v)) for v in values],
                "walks": float(np.mean([t.walks[k - 1] for t in trials])),
                "microseconds": 1e6 * float(np.mean([t.seconds for t in trials])),
            }
            rows.append(row)
            print(f"  {case.name}: {name}: {cell(row['estimate'], row['seeds'])}", flush=True)
    return rows


def markdown(rows: Sequence[dict[str, Any]], names: Sequence[str], table: str) -> str:
    """One line a row, one column a set."""
    counted = table in ("final", "top-k")
    lines = [f"| {table} | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    for label in dict.fromkeys(row["row"] for row in rows):
        cells = []
        for name in names:
            found = [row for row in rows if row["row"] == label and row["set"] == name]
            text = cell(found[0]["estimate"], found[0]["seeds"]) if found else "not applicable"
            if counted and found:
                text += f", {found[0]['walks']:,.0f} entities offered"
            cells.append(text)
        lines.append(f"| {label} | {' | '.join(cells)} |")
    return "\n".join(lines)


def plot(rows: Sequence[dict[str, Any]], names: Sequence[str], table: str, target: Path) -> None:
    from matplotlib.figure import Figure

    labels = list(dict.fromkeys(row["row"] for row in rows))
    figure = Figure(figsize=(2 + 1.1 * len(labels), 4), layout="constrained")
    axes = figure.add_subplot()
    for index, name in enumerate(names):
        mine = [row for row in rows if row["set"] == name]
        places = [
            labels.index(row["row"]) + 0.8 * (index - (len(names) - 1) / 2) / len(names)
            for row in mine
        ]
        estimates = [row["estimate"] for row in mine]
        errors = [
            [max(0.0, e.value - e.low) for e in estimates],
            [max(0.0, e.high - e.value) for e in estimates],
        ]
        values = [e.value for e in estimates]
        axes.bar(places, values, 0.8 / len(names), yerr=errors, capsize=2, label=name)
    axes.set_xticks(range(len(labels)), labels, rotation=20, ha="right")
    axes.set(ylabel="hits_at_1, 95 % interval", ylim=(0, 1.05), title=f"PathHD: {table}")
    axes.legend()
    draft = target.with_suffix(".tmp.png")
    figure.savefig(draft, dpi=150)
    os.replace(draft, target)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    tables = ("operators", "final", "top-k", "query", "calibration", "dimension", "metric")
    parser.add_argument("--table", nargs="+", default=list(tables), choices=tables)
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    parser.add_argument("--questions", type=int, default=400, help="of each part of each set")
    parser.add_argument("--seeds", type=int, default=3, help="of the hypervectors")
    parser.add_argument("--dimension", type=int, default=1024)
    parser.add_argument("--encoder", default="minilm", choices=("minilm", "hashing"))
    parser.add_argument("--planner", type=Path, help="folder of a trained MetaQA planner")
    parser.add_argument("--webqsp-planner", type=Path, help="folder of a trained WebQSP planner")
    parser.add_argument("--out", type=Path, default=Path("results"))
    parser.add_argument("--data", type=Path, default=os.environ.get("JAXKG_DATA", "../shared/data"))
    options = parser.parse_args(argv)
    print(
        f"device {jax.devices()[0]}, jax {jax.__version__}, {os.cpu_count()} cores; at most "
        f"{options.questions} test questions a set, {options.seeds} seeds, "
        f"d = {options.dimension:,} where it is not the row's"
    )
    options.out.mkdir(parents=True, exist_ok=True)
    rows: dict[str, list[dict[str, Any]]] = {table: [] for table in options.table}
    for name in options.sets:
        case = load(name, options)
        for table in options.table:
            rows[table] += measure(table, case, options.seeds)
            # Kept as it goes, so that a run that is cut off loses little.
            write(rows[table], table, options)


def write(rows: Sequence[dict[str, Any]], table: str, options: argparse.Namespace) -> None:
    """Print a table; keep it as Markdown, JSON and a plot."""
    names = list(dict.fromkeys(row["set"] for row in rows))
    text = markdown(rows, names, table)
    print(f"\n{text}\n", flush=True)
    target = options.out / f"pathhd_{table}.md"
    draft = target.with_suffix(".md.tmp")
    draft.write_text(text + "\n", encoding="utf-8")
    os.replace(draft, target)
    plain = [{**row, "estimate": dataclasses.asdict(row["estimate"])} for row in rows]
    (options.out / f"pathhd_{table}.json").write_text(json.dumps(plain, indent=1) + "\n")
    plot(rows, names, table, target.with_suffix(".png"))


if __name__ == "__main__":
    main()
