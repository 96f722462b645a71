"""ReKnoS without a language model: retrieval, answers, search space and misses.

Super-relations are scored by the likeness of label and question over one graph pooled
from all questions, walked both ways, with super-relations after names (the first two parts of
Freebase's), clustered by their labels, and without any: the paper's Table 4 and 11 and its Fig. 6.
Plain relations are also let touch more entities, which is what a super-relation does. `--grid` asks
with named super-relations by width N and length L (the paper's Table 4), `--back` with and without
the way back: some minutes a set. Every question asked stays in the denominator. A quarter of an
hour each on two CPU cores.

    python scripts/tables/table_reknos.py webqsp --hops 2
    python scripts/tables/table_reknos.py webqsp --grid 1 3
    python scripts/tables/table_reknos.py webqsp --grid 5 --limit 400
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from jaxkg.experiments.measure import drawn
from jaxkg.kg import entity_rows, find_topics
from jaxkg.learn.supervision import answer_rows
from jaxkg.records import Question
from jaxkg.systems.reknos import LabelScorer, ReKnoS, ReKnoSSettings, Solved
from jaxkg.text.best import encoder_kept

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.measure import gain, measure_answers, share
from lib.record import Record, arguments
from lib.retrieval import Distances, Retrieval, breakdown, retrieval
from lib.rows import row, shown
from lib.seconds import Laps
from lib.sets import sets

METRICS = ("hits_at_1", "hit_any", "f1", "grounded")
MISSES = ("path absent", "depth limit", "misdirection")


def retrievals(
    system: ReKnoS, questions: Sequence[Question], solved: Sequence[Solved]
) -> Iterator[Retrieval]:
    """What became of each question's retrieval."""
    kg, distances = system.kg, Distances(system.kg)
    for question, topics, each in zip(questions, find_topics(system.linker, questions), solved):
        gold = answer_rows(kg, question)
        found, limit = each.trace.extracted.tolist(), system.settings.hops
        yield retrieval(distances, topics.entities, gold, found, limit=limit)


class Rows:
    """Two tables that grow by a row for each system and question set."""

    def __init__(self, record: Record, options: argparse.Namespace) -> None:
        self.seed, self.record = options.seed, record
        self.answers = record.table("", *METRICS, "retrieval rate", "calls", "questions/s")
        walked = ("triples walked, mean", "median", "entities", "steps")
        self.searched = record.table("", *walked, *MISSES, "incomplete", "abstained")
        self.columns: dict[str, dict[str, np.ndarray]] = {}

    def add(self, name: str, system: ReKnoS, questions: Sequence[Question], directed: bool) -> None:
        system.solve(questions[:128])  # compile, and find the capacities
        laps = Laps()
        solved = system.solve(questions)
        rate = len(questions) / laps.lap()
        answers = [each.answer for each in solved]
        found = measure_answers(answers, questions, system.kg, self.seed, directed=directed)
        kinds = list(retrievals(system, questions, solved))
        retrieved = np.array([float(kind == "retrieved") for kind in kinds])
        calls = sum(answer.usage.calls for answer in answers)
        self.answers.add(name, *row(found, METRICS), share(retrieved, self.seed), calls, rate)
        traces = [each.trace for each in solved]
        triples = np.asarray([trace.triples for trace in traces])
        missed = breakdown(kinds)
        self.searched.add(
            name,
            float(triples.mean()),
            float(np.median(triples)),
            float(np.mean([len(trace.extracted) for trace in traces])),
            float(np.mean([len(trace.steps) for trace in traces])),
            *(missed[kind] for kind in MISSES),
            sum(not trace.complete for trace in traces),
            found.counts["abstained"],
        )
        hits = np.asarray(found.columns["hits_at_1"])
        self.columns[name] = {"hits_at_1": hits, "retrieved": retrieved}

    def gain(self, name: str) -> None:
        """Paired differences of the first row and this one, question by question."""
        (first, columns), *others = self.columns.items()
        for metric, values in self.columns[name].items() if others else ():
            gained = gain(columns[metric], values, self.seed)
            self.record.note(f"{metric}, {first} minus {name}: {shown(gained)}")


class Arm(NamedTuple):
    """One way to search."""

    groups: str
    width: int
    keep: int
    backward: bool = True
    shorter: bool = True
    hops: int | None = None

    def __str__(self) -> str:
        called = "plain relations" if self.groups == "none" else f"{self.groups} super-relations"
        ways = "" if self.backward else ", no way back"
        ways += "" if self.shorter else ", answers at full length only"
        length = "" if self.hops is None else f", L = {self.hops}"
        return f"{called}, N = {self.width}, K = {self.keep}{length}{ways}"


ARMS = (
    Arm("none", 3, 3),
    Arm("named", 3, 3),
    Arm("clustered", 3, 3),
    Arm("none", 8, 9),
    Arm("none", 16, 27),
    Arm("named", 3, 3, backward=False),
    Arm("named", 3, 3, shorter=False),
)
"""The paper's question first: with and without super-relations at one N. Then plain relations that
may touch as many entities, the search without alternatives at earlier steps, and answers that end
at the last step alone."""
BACK = (Arm("named", 3, 3), Arm("named", 3, 3, backward=False))
"""With and without alternatives at earlier steps."""


def pooled(name: str, rows: Rows, options: argparse.Namespace) -> None:
    """Label similarity over the pooled graph: what super-relations bring."""
    world = sets("webqsp", options.data, names=True)
    kg, questions = world.kg, world.questions(name, options.split)
    if options.split != "test":
        # Only what the pooled graph can answer at all tells settings apart.
        questions = [
            q for q in questions if any(entity_rows(kg, t) for t in q.topics) and answer_rows(kg, q)
        ]
    questions = drawn(questions, options.limit, options.seed)
    scorer, encoder = LabelScorer(kg.relations), encoder_kept(options.encoder)
    length = "" if options.grid else f", L = {options.hops}"
    rows.record.note(f"{len(questions):,} questions of {name}{length}")
    # The paper's Table 4; its default comes first, which the others are compared with.
    grid = [Arm("named", n, 3, hops=length) for length in options.grid or () for n in (1, 3, 5)]
    grid = [Arm("named", 3, 3, hops=3), *grid]
    for arm in dict.fromkeys(grid if options.grid else BACK if options.back else ARMS):
        settings = ReKnoSSettings(
            groups=arm.groups,  # pyright: ignore[reportArgumentType]  one of the four
            width=arm.width,
            keep=arm.keep,
            backward=arm.backward,
            shorter=arm.shorter,
            hops=arm.hops or options.hops,
            threshold=0.0,
            batch_size=32,
        )
        system = ReKnoS.build(kg, scorer, encoder=encoder, settings=settings, **world.shared)
        name = f"{arm} ({len(system.groups):,})"
        rows.add(name, system, questions, directed=False)
        rows.gain(name)
        rows.record.save()


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__)
    parser.add_argument("dataset", choices=("webqsp", "cwq"))
    parser.add_argument("--split", default="test", help="test, train or validation")
    parser.add_argument("--hops", type=int, default=3, help="L")
    parser.add_argument("--grid", type=int, nargs="+", metavar="L", help="N x L, by lengths")
    parser.add_argument("--back", action="store_true", help="the way back alone")
    parser.add_argument("--limit", type=int, help="so many questions, of WebQSP and CWQ drawn")
    parser.add_argument("--encoder", default="minilm", help="of the labels that are clustered")
    options = parser.parse_args(argv)
    kind = "-grid" * bool(options.grid) + "-back" * options.back
    kind += f"-{options.grid[0]}" if options.grid and len(options.grid) == 1 else ""
    record = Record(__file__, options, part=options.dataset + kind)
    rows = Rows(record, options)
    pooled(options.dataset, rows, options)
    record.save()


if __name__ == "__main__":
    main()
