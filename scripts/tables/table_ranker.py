"""WebQSP and CWQ over the pooled Freebase graph: the path ranker, no LLM.

Trained on the WebQSP training paths alone; 2,131 of CWQ's 3,531 test questions were made from
these very training questions. `--fed` asks WebQSP's `--part` of the ranker, of PathHD and ReKnoS
with the ranker as their scorer, and of the ranker without what those two do not have: a bonus for
names that the question mentions, and the summed weight of several paths to an entity; differences
are paired by question. Half an hour on two CPU cores, most of it for text vectors, which the user's
cache keeps for the next run.

    python scripts/tables/table_ranker.py -o runs/ranker
    python scripts/tables/table_ranker.py --ranker runs/ranker --fed --part validation
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from jaxkg.evaluate import Estimate
from jaxkg.experiments.parts import encoder_kept
from jaxkg.learn.ranker.fit import PathRanker, fit_ranker
from jaxkg.learn.ranker.train import RankerConfig
from jaxkg.records import Question
from jaxkg.systems.answering import QuestionAnswering
from jaxkg.systems.pathhd import PathHD, PathHDSettings
from jaxkg.systems.ranked import RankedPaths, RankedSettings
from jaxkg.systems.reknos import RankerScorer, ReKnoS, ReKnoSSettings
from jaxkg.text import HashingEncoder

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.measure import measure, share
from lib.record import Record, arguments
from lib.rows import row
from lib.seconds import Laps
from lib.sets import Sets, sets

METRICS = ("hits_at_1", "f1", "path_recall_at_1", "grounded")
NAMES = {"cwq": "cwq, of which it saw the WebQSP questions that it was made from"}


def path_answer_recall(qa: RankedPaths, questions: Sequence[Question], k: int) -> Estimate:
    """Share of questions one of whose k best relation paths reaches a gold answer."""
    linked = qa.link(questions)
    paths = qa.propose(linked)
    best = paths.used & (np.arange(paths.used.shape[1]) < k)
    found = qa.follow(linked, dataclasses.replace(paths, used=best))
    hit = np.zeros(len(questions))
    gold = [set(question.answers or ()) for question in questions]
    for place, node in zip(found.question.tolist(), found.node.tolist()):
        if qa.kg.name(node) in gold[place] or qa.kg.entity_ids[node] in gold[place]:
            hit[place] = 1
    return share(hit)


def fed(world: Sets, qa: RankedPaths) -> Iterator[tuple[str, QuestionAnswering]]:
    """The ranker whole, then without what the systems that it feeds do not have, then those."""
    hops = qa.ranker.hops
    yield "ranked", qa
    for name, changes in {
        "no bonus for names": {"mention": 1.0},
        "nor several paths": {"mention": 1.0, "width": 1},
    }.items():
        yield f"ranked, {name}", dataclasses.replace(qa, settings=RankedSettings(**changes))
    hyper = PathHDSettings(hops=hops)
    yield "PathHD, fed", PathHD.build(world.kg, ranked=qa, settings=hyper, **world.shared)
    groups = ReKnoSSettings(hops=hops)
    yield "ReKnoS, fed", ReKnoS.build(world.kg, RankerScorer(qa), settings=groups, **world.shared)


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__)
    parser.add_argument("-o", "--output", type=Path, help="save the ranker here")
    parser.add_argument("--ranker", type=Path, help="use this one and train none")
    parser.add_argument("--hashing", action="store_true", help="hash words instead of MiniLM")
    parser.add_argument("--fed", action="store_true", help="beside PathHD and ReKnoS, fed by it")
    parser.add_argument("--part", default="test", help="of WebQSP, for --fed")
    parser.add_argument("--epochs", type=int, default=RankerConfig().epochs)
    parser.add_argument("--members", type=int, default=1)
    parser.add_argument("--limit", type=int, help="first questions of each set only")
    options = parser.parse_args(argv)
    part = f"fed-{options.part}" if options.fed else ""
    record, world = Record(__file__, options, part=part), sets("webqsp", options.data)
    encoder = HashingEncoder(buckets=512) if options.hashing else encoder_kept("minilm")
    if options.ranker:
        ranker = PathRanker.open(options.ranker)
    else:
        training = world.questions("webqsp", "train")
        config = dataclasses.replace(RankerConfig(), epochs=options.epochs, members=options.members)
        laps = Laps()
        ranker = fit_ranker(
            world.kg,
            world.tensors,
            training,
            encoder,
            config=config,
            linker=world.linker,
            seed=options.seed,
        )
        record.note(f"training on {len(training):,} questions: {laps.lap():.0f} s")
        if options.output:
            ranker.save(options.output)
    qa = RankedPaths.build(world.kg, ranker, encoder, settings=RankedSettings(), **world.shared)
    if options.fed:
        questions = world.questions("webqsp", options.part, limit=options.limit)
        reports = {name: measure(built, questions, world.kg) for name, built in fed(world, qa)}
        table = record.table("system", *METRICS, title=f"{len(questions):,} questions")
        table.add_paired(reports, METRICS, seed=options.seed)
        return record.save()
    table = record.table(
        "system", "set", "questions", *METRICS, "answer recall at 3 relation paths", "s/question"
    )
    for name in ("webqsp", "cwq"):
        questions, laps = world.questions(name, limit=options.limit), Laps()
        found = measure(qa, questions, world.kg)
        seconds = laps.lap() / len(questions)
        recall = path_answer_recall(qa, questions, 3)
        told = NAMES.get(name, name)
        table.add("ranked", told, len(questions), *row(found, METRICS), recall, seconds)
    record.save()


if __name__ == "__main__":
    main()
