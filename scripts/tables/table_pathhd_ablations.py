"""The tables of the PathHD paper on other graphs: MetaQA, PathQuestion, WebQSP and CWQ pooled.

    operators    Table 3: what binds a path
    final        Table 4: similarity alone, or a choice among K = 3 schemas: at random, perfect, and
                 with `--local` by one call of a small model taught on training questions
    top-k        Table 5: how many schemas are kept for it
    query        Table 11: from plans, from a bundle of them, from text
    calibration  Table 12: none, the published weights, weights found on validation questions
    dimension    d from 512 to 8,192
    metric       Fig. 5: blockwise or flat cosine, and rounded tables
    zero-shot    WebQSP or CWQ with no training at all, by bandwidth of symbols and weight of two
                 hops; without each part of that, and the paper's preset
    order        the same, asked with one text for all hops or with words of its own for each, bound
                 by an operator that keeps order and by two that do not

No hosted model is reached: `final` and `top-k` state what one could gain at most, the share of
questions for which some entity of the K best schemas is right. MetaQA and PathQuestion ask with
plans of a planner trained on answers, WebQSP with nothing but relation labels; where a planner is
given for it, `query` has its rows too. A quarter of an hour a table and set on two CPU cores.

In `zero-shot` symbols that carry the meaning of their labels stand against random ones, for which
the paper's text projection (Eq. 2) is all there is (for its preset too, whose query is a plan). The
text is bound with itself for every hop, so the order of a path cannot matter there; in `order` it
can.

    python scripts/tables/table_pathhd_ablations.py --table operators --planner runs/metaqa
    python scripts/tables/table_pathhd_ablations.py --table zero-shot --sets webqsp --questions 2000
    python scripts/tables/table_pathhd_ablations.py --table zero-shot --sets cwq
    python scripts/tables/table_pathhd_ablations.py --table final --sets webqsp --local runs/choice
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from table_local_lm import gold, reasoner, tell

from jaxkg.adjudicate import adjudicate
from jaxkg.evaluate import Estimate, paired_differences
from jaxkg.experiments.measure import drawn
from jaxkg.kg import Topics, find_topics
from jaxkg.learn.lm import TrainConfig
from jaxkg.learn.planner.fit import fit_planner
from jaxkg.learn.planner.model import Planner
from jaxkg.learn.planner.train import PlannerConfig
from jaxkg.learn.supervision import answer_rows
from jaxkg.lm.backend import LocalLM
from jaxkg.records import Question
from jaxkg.score import hdc
from jaxkg.systems.pathhd import Calibration, PathHD, PathHDSettings, fit_calibration
from jaxkg.systems.pathhd.answers import right_shares
from jaxkg.text import TextEncoder
from jaxkg.text.best import encoder_kept

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.curves import save_curve_plot
from lib.lessons import bearing, offer_of_answer
from lib.measure import gain, measure_answers, share
from lib.record import Record, arguments
from lib.seconds import Laps
from lib.sets import Sets, sets

POOLED = ("webqsp", "cwq")
SETS = ("metaqa-3", "pq-3h", *POOLED)
TABLES = (
    "operators",
    "final",
    "top-k",
    "query",
    "calibration",
    "dimension",
    "metric",
    "zero-shot",
    "order",
)
KS = (1, 2, 3, 5, 16)
THREE = ("final", "zero-shot", "order")
"""Tables that tell the best of three too."""
ORDERED = ("ghrr-haar", "ghrr-diagonal", "fhrr")
"""Operators of the table `order`: the first keeps order, the others commute."""
LINES = 16
"""Lines of the K = 3 schemas' walks that the local model is shown at most."""
PUBLISHED = ((0.2, 0.1, 0.8), (0.3, 0.1, 0.8), (0.2, 0.2, 0.8))


@dataclasses.dataclass(frozen=True)
class Case:
    """A graph, its questions and how they are asked by default."""

    name: str
    world: Sets
    planner: Planner | None
    encoder: TextEncoder
    training: list[Question]
    validation: list[Question]
    test: list[Question]
    settings: PathHDSettings
    grid: list[tuple[float, float]]
    trials: dict[str, Trial] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Trial:
    """A row of a table on one set with one seed.

    Attributes:
        right: [Q, K] how right each kept schema is, best first; 0 past the last.
        kept: [Q] schemas kept.
        walks: mean number of entities of the K best, for every K.
        seconds: a question, of reading, retrieval and execution.
    """

    right: np.ndarray
    kept: np.ndarray
    walks: np.ndarray
    seconds: float


def load(name: str, options: argparse.Namespace) -> Case:
    """Read a set; train its planner where none was given."""
    world = sets({"metaqa-3": "metaqa", "cwq": "webqsp"}.get(name, name), options.data)
    planner: Planner | None = None
    settings = PathHDSettings(query="bundle", dimension=options.dimension, threshold=0.0)
    if name == "metaqa-3":
        training = world.every("dev")
        if options.planner:
            planner = Planner.open(options.planner)
        else:
            planner, _ = fit_planner(world.kg, world.tensors, training)
        validation = training = training[-14_274:]
    else:
        aside = "dev" if name == "cwq" else "validation"
        training, validation = (world.questions(name, part) for part in ("train", aside))
    if name == "pq-3h":
        config = PlannerConfig(epochs=12)
        planner, _ = fit_planner(world.kg, world.tensors, training, config=config)
    if name in POOLED:
        settings = dataclasses.replace(settings, query="text", hops=2)
        if options.webqsp_planner:
            planner = Planner.open(options.webqsp_planner)
    return Case(
        name=name,
        world=world,
        planner=planner,
        encoder=encoder_kept(options.encoder),
        training=drawn(training, options.questions, 0),
        validation=drawn(validation, options.questions, 1),
        test=drawn(world.questions(name, options.split), options.questions, 0),
        settings=settings,
        grid=[(bandwidth, two) for bandwidth in options.bandwidth for two in options.two_hops],
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
        case.world.kg,
        case.planner,
        encoder=case.encoder,
        settings=settings,
        seed=seed,
        **case.world.shared,
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
    if calibration is not None:
        qa = dataclasses.replace(qa, calibration=calibration)
    topics = find_topics(case.world.linker, case.test)
    if not seed:
        answered(qa, case.test[:256], topics[:256], keep)  # compile
    laps = Laps()
    best = answered(qa, case.test, topics, keep)
    seconds = laps.lap() / len(case.test)
    gold = [set(answer_rows(case.world.kg, question)) for question in case.test]
    order = np.argsort(~best.used, axis=1, kind="stable")[:, :keep]
    right = np.take_along_axis(right_shares(best, gold, qa.named), order, axis=1)
    sizes = np.maximum(best.sizes, 0)
    walks = np.cumsum(np.take_along_axis(sizes, order, axis=1), axis=1).mean(axis=0)
    trial = Trial(right, best.used.sum(axis=1), walks, seconds)
    if known:
        case.trials[known] = trial
    return trial


def answered(qa: PathHD, questions: Sequence[Question], topics: Sequence[Topics], keep: int):
    found = qa.retrieve(qa.read(questions, topics), topics)
    return qa.ground(found, topics, count=keep)


def rows_of(table: str, case: Case) -> Iterator[tuple[str, Calibration | str | None, dict]]:
    """(label, calibration, changed settings) of every row of a table."""
    planned = case.planner is not None and case.name not in POOLED
    if table == "operators":
        for name in hdc.OPERATORS:
            algebra = hdc.operator(name, 64)
            # Schemas of two hops are too many to list on the pooled graph, and only exact
            # unbinding can grow them.
            if algebra.isometric or case.name not in POOLED:
                yield name, None, {"operator": name}
    elif table in ("final", "top-k"):
        yield "", None, {}
    elif table == "query":
        kinds = ("plan", "bundle") if case.planner is not None else ()
        for kind in (*kinds, "text", "projection"):
            yield kind, None, {"query": kind}
        yield "projection, random symbols", None, {"query": "projection", "symbols": "random"}
    elif table == "zero-shot" and case.name in POOLED:
        for bandwidth, two in case.grid:
            label = f"labels, bandwidth {bandwidth:g}, two hops {two:g}"
            yield label, None, {"bandwidth": bandwidth, "length_weight": (1.0, two)}
        yield "labels, the text projected", None, {"query": "projection"}
        yield "random symbols", None, {"query": "projection", "symbols": "random"}
        paper = {**PathHDSettings.presets["paper"], "query": "projection"}
        yield "paper's preset, the text projected", None, paper
    elif table == "order" and case.name in POOLED:
        for query in ("ordered", "text"):
            for operator in ORDERED:
                for width in dict.fromkeys(bandwidth for bandwidth, _ in case.grid):
                    changes = {"query": query, "operator": operator, "bandwidth": width}
                    yield f"{query}, {operator}, bandwidth {width:g}", None, changes
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
    elif table == "metric":
        yield "blockwise", None, {}
        yield "flat", None, {"metric": "flat"}
        for precision in ("bfloat16", "int8") if planned else ():
            yield f"blockwise, {precision}", None, {"precision": precision}


def measure(table: str, case: Case, seeds: int) -> Iterator[tuple[str, Estimate, list[Any]]]:
    """Label, hits and further cells of the rows of one table on one set.

    A question counts as the mean over the seeds. Of `order` and `zero-shot` the first row stands
    against each other too, question by question.
    """
    first: np.ndarray | None = None
    for label, calibration, changes in rows_of(table, case):
        trials = [run(case, seed, calibration, **dict(changes)) for seed in range(seeds)]
        for k in KS if table == "top-k" else (1, 3) if table in THREE else (1,):
            any_of = [(t.right[:, :k].max(axis=1) > 0).astype(float) for t in trials]
            values = [t.right[:, 0] for t in trials] if k == 1 else any_of
            name = label
            if table in ("order", "zero-shot") and k == 1:
                hits = np.mean(values, axis=0)
                if first is None:
                    first = hits
                else:
                    yield f"first row − {label}", gain(first, hits), []
            if table == "top-k":
                name = f"K = {k}" + (" (no prune)" if k == KS[-1] else "")
            elif table in ("zero-shot", "order") and k == 3:
                name = f"{label}, any of 3"
            elif table == "final":
                name = "similarity alone" if k == 1 else "perfect choice among K = 3 schemas"
                if k > 1:
                    by_chance = [t.right[:, :k].sum(axis=1) / t.kept.clip(1, k) for t in trials]
                    yield (
                        f"random choice among K = {k} schemas",
                        share(np.mean(by_chance, axis=0)),
                        [],
                    )
            spread = float(np.std([np.mean(v) for v in values]))
            offered = float(np.mean([t.walks[k - 1] for t in trials]))
            micros = 1e6 * float(np.mean([t.seconds for t in trials]))
            yield name, share(np.mean(values, axis=0)), [spread, offered, micros]


def chosen_by_model(case: Case, folder: Path) -> Iterator[tuple[str, Estimate, list[Any]]]:
    """Hits of one call of a small model, and what it adds to the similarity; one seed.

    It learns to name the lines that bear an answer from the training questions that have one among
    the walks of their three schemas, and must name one.
    """
    kg = case.world.kg
    settings = dataclasses.replace(case.settings, top_k=3)
    qa = PathHD.build(
        kg, case.planner, encoder=case.encoder, settings=settings, **case.world.shared
    )
    known = case.world.questions(case.name, "train")
    shown = [
        (question, answer)
        for question, answer in zip(known, qa.answer(known))
        if (offer := offer_of_answer(answer, top_k=LINES)) and bearing(offer, gold(kg, question))
    ]
    sizes = argparse.Namespace(output=folder, length=1024, vocab=2048, width=128, layers=2, seed=0)
    config = TrainConfig(epochs=4, length=sizes.length, every=20)
    taught = reasoner(kg, shown, config, sizes, tell, top_k=LINES)
    alone = qa.answer(case.test)
    with LocalLM(taught.language, batch_size=64) as backend:
        chosen = adjudicate(backend, alone, top_k=LINES)
    one, two = (measure_answers(answers, case.test, kg) for answers in (chosen, alone))
    yield f"one call of a local model taught on {len(shown):,}", one.metrics["hits_at_1"], []
    gained = paired_differences(one, two, seed=0)["hits_at_1"]
    yield "local model − similarity alone, asked as a system", gained, []


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__, seed=False)
    parser.add_argument("--table", nargs="+", default=list(TABLES), choices=TABLES)
    parser.add_argument("--sets", nargs="+", default=list(SETS[:3]), choices=SETS)
    parser.add_argument("--questions", type=int, default=400, help="of each part of each set")
    parser.add_argument("--split", default="test", choices=("train", "validation", "test"))
    parser.add_argument("--bandwidth", type=float, nargs="+", default=[0.7], help="zero-shot")
    parser.add_argument("--two-hops", type=float, nargs="+", default=[1.4], help="zero-shot")
    parser.add_argument("--seeds", type=int, default=3, help="of the hypervectors")
    parser.add_argument("--dimension", type=int, default=1024)
    parser.add_argument("--encoder", default="minilm", choices=("minilm", "hashing"))
    parser.add_argument("--planner", type=Path, help="folder of a trained MetaQA planner")
    parser.add_argument("--webqsp-planner", type=Path, help="folder of a trained WebQSP planner")
    parser.add_argument("--local", type=Path, help="folder of the local model of `final`")
    parser.add_argument("--plot", type=Path, help="draw the tables, a panel each, to this file")
    options = parser.parse_args(argv)
    part = options.table[0] if len(options.table) == 1 else ""
    if options.sets == ["cwq"]:
        part = f"{part}-cwq".strip("-")
    record = Record(__file__, options, part=part)
    record.note(
        f"at most {options.questions} test questions a set, {options.seeds} seeds, "
        f"d = {options.dimension:,} where it is not the row's"
    )
    heads = ("hits_at_1", "± of seeds", "entities offered", "µs/question")
    kept = {table: record.table("set", "row", *heads, title=table) for table in options.table}
    panels: dict[str, dict[str, list[tuple[float, Estimate]]]] = {}
    for name in options.sets:
        case = load(name, options)
        for table in options.table:
            curve = panels.setdefault(table, {}).setdefault(name, [])
            rows = measure(table, case, options.seeds)
            if table == "final" and options.local and name in POOLED:
                rows = itertools.chain(rows, chosen_by_model(case, options.local))
            for label, found, cells in rows:
                kept[table].add(name, label, found, *cells)
                curve.append((len(curve), found))
            record.save()  # as it goes, so that a run that is cut off loses little
    if options.plot:
        save_curve_plot(panels, options.plot, x="row of the table", y="hits_at_1", shares=True)


if __name__ == "__main__":
    main()
