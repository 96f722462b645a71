"""PathHD with no training at all: questions compared with relation labels, WebQSP, pooled graph.

Symbols that carry the meaning of their labels against random ones, for which the paper's text
projection (Eq. 2) is all there is. Bandwidth and length weights were chosen on 500 training
questions; test scores had been seen beside theirs in an earlier scan, so the choice is not blind.
The text is bound with itself for every hop, so the order of a path cannot matter here. Five minutes
on two CPU cores.

    python scripts/table_pathhd_zero_shot.py --encoder minilm
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jaxkg.experiments.measure import share
from jaxkg.experiments.parts import encoder_named
from jaxkg.experiments.record import Record, arguments
from jaxkg.experiments.seconds import Laps
from jaxkg.experiments.sets import sets
from jaxkg.kg import entity_rows, find_topics
from jaxkg.systems.pathhd import PathHD, PathHDSettings


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__, seed=False)
    parser.add_argument("--encoder", default="minilm", choices=("minilm", "hashing"))
    parser.add_argument("--split", default="test", choices=("train", "validation", "test"))
    parser.add_argument("--limit", type=int, help="questions, drawn with seed 0; all without")
    parser.add_argument("--seeds", type=int, default=1, help="of the hypervectors")
    parser.add_argument("--dimension", type=int, default=PathHDSettings.dimension)
    parser.add_argument("--bandwidth", type=float, nargs="+", default=[0.7])
    parser.add_argument("--two-hops", type=float, nargs="+", help="length weight of two hops")
    options = parser.parse_args(argv)
    record, world = Record(__file__, options), sets("webqsp", options.data)
    questions = world.questions("webqsp", options.split)
    if options.limit:
        drawn = np.random.default_rng(0).permutation(len(questions))[: options.limit]
        questions = [questions[i] for i in sorted(drawn.tolist())]
    topics = find_topics(world.linker, questions)
    gold = [
        {row for answer in question.answers or () for row in entity_rows(world.kg, answer)}
        for question in questions
    ]
    encoder = encoder_named(options.encoder)
    record.note(
        f"{options.split}, {len(questions):,} questions; {options.encoder}, "
        f"d = {options.dimension:,}"
    )
    table = record.table(
        "symbols", "bandwidth", "two hops", "seed", "hits_at_1", "any of 3", "questions/s"
    )
    weights = options.two_hops or [PathHDSettings.length_weight[1]]
    trials = [("labels", b, w) for b in options.bandwidth for w in weights]
    for symbols, bandwidth, two in [*trials, ("random", None, 1.0)]:
        for seed in range(options.seeds):
            settings = PathHDSettings(
                query="text" if symbols == "labels" else "projection",
                symbols=symbols,
                dimension=options.dimension,
                bandwidth=bandwidth,
                length_weight=(1.0, two),
                hops=2,
            )
            qa = PathHD.build(
                world.kg,
                encoder=encoder,
                tensors=world.tensors,
                linker=world.linker,
                settings=settings,
                seed=seed,
            )
            laps = Laps()
            best = qa.ground(qa.retrieve(qa.read(questions, topics), topics), topics, count=3)
            rate = len(questions) / laps.lap()
            order = np.argsort(~best.used, axis=1, kind="stable")[:, :3]
            three = np.take_along_axis(best.hits(gold, qa.named), order, axis=1)
            any_of_3 = share(three.max(axis=1) > 0)
            table.add(symbols, bandwidth, two, seed, share(three[:, 0]), any_of_3, rate)
    record.save()


if __name__ == "__main__":
    main()
