"""WebQSP and CWQ over the pooled Freebase graph: the path ranker, no LLM.

Trained on the WebQSP training paths alone; 2,131 of CWQ's 3,531 test questions were made from
these very training questions. Half an hour on two CPU cores, most of it for text vectors, which the
user's cache keeps for the next run.

    python scripts/tables/table_ranker.py -o runs/ranker
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from jaxkg.evaluate import Estimate
from jaxkg.learn.ranker.fit import PathRanker, fit_ranker
from jaxkg.learn.ranker.train import RankerConfig
from jaxkg.learn.supervision import Training
from jaxkg.records import Question
from jaxkg.systems.ranked import RankedPaths, RankedSettings
from jaxkg.text import HashingEncoder
from jaxkg.text.best import encoder_kept

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.measure import measure, share
from lib.record import Record, arguments
from lib.rows import row
from lib.seconds import Laps
from lib.sets import sets

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


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__)
    parser.add_argument("-o", "--output", type=Path, help="save the ranker here")
    parser.add_argument("--ranker", type=Path, help="use this one and train none")
    parser.add_argument("--hashing", action="store_true", help="hash words instead of MiniLM")
    parser.add_argument("--epochs", type=int, default=RankerConfig().epochs)
    parser.add_argument("--members", type=int, default=1)
    parser.add_argument("--limit", type=int, help="first questions of each set only")
    options = parser.parse_args(argv)
    record, world = Record(__file__, options), sets("webqsp", options.data)
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
            training=Training(options.seed, linker=world.linker),
        )
        record.note(f"training on {len(training):,} questions: {laps.lap():.0f} s")
        if options.output:
            ranker.save(options.output)
    qa = RankedPaths.build(world.kg, ranker, encoder, settings=RankedSettings(), **world.shared)
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
