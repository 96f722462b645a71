"""What each part of the reader and each source of questions brings: trained without it, asked anew.

    python scripts/reader/ablate_reader.py -o FOLDER --record

FOLDER holds the examples that `train_reader.py examples` made, of the sources and of what is asked:
MetaQA's dev part, PathQuestion's train parts, the `choose` halves of the own graphs. Nothing is
trained on these, and no part of a benchmark that is reported elsewhere is asked. A number is the
share of questions whose best reading is right, mean and deviation over the seeds; of the wrong
readings those 60 that look best are ranked. Rows without sentence maps or second look show what is
left; half an hour on two cores with three seeds.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from jaxkg.experiments.parts import encoder_kept
from jaxkg.experiments.record import Record, arguments
from jaxkg.systems.reader.rank import rank_on_host
from jaxkg.systems.reader.second import LOOKED, SecondLook, second_views, whole_views
from jaxkg.systems.reader.training.examples import Examples, no_examples
from jaxkg.systems.reader.training.fit import fit_ranker, padded
from jaxkg.systems.reader.training.fit_second import fit_second
from jaxkg.systems.reader.views import kept_views
from jaxkg.text import TextEncoder

SOURCES = ("spoken", "grailqa", "made-up", "lcquad", "simple")
PARTS = ("vectors", "overlap", "types", "length", "turns")
HELD = ("metaqa-1", "metaqa-2", "metaqa-3", "pq-2h", "pq-3h", "pql-2h", "own")
ROWS = ("", *(f"without {part}" for part in PARTS), *(f"no {source}" for source in SOURCES))


def best_right(
    some: Examples, scores: np.ndarray, second: SecondLook | None, encoder: TextEncoder
) -> float:
    """Share of questions, those without a right reading among them, whose best one is right."""
    hits = 0
    for number, (a, b) in enumerate(zip(some.offsets[:-1], some.offsets[1:])):
        order = a + np.argsort(-scores[a:b], kind="stable")[:LOOKED]
        best = order[0]
        if second is not None:
            texts = [text for row in order for text in some.told[row]]
            vectors = encoder([some.asked[number], *texts])
            told = vectors[1:].reshape(len(order), -1, vectors.shape[1])
            asked = some.asked[number]
            own = whole_views(vectors[0], told, asked, texts, second.ask, second.tell)
            seen = second_views(own, some.views[order], scores[order])
            again = rank_on_host(second.params, (seen - second.mean) * second.scale)
            best = order[int(np.argmax(again))]
        hits += some.right[best]
    return float(hits) / (len(some.asked) + some.lost)


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__, seed=False)
    parser.add_argument("--encoder", default="minilm", choices=("minilm", "hashing"))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder of examples")
    options = parser.parse_args(argv)
    record = Record(__file__, options)
    encoder = encoder_kept(options.encoder)

    def opened(name: str) -> Examples:
        return Examples.open(options.output / f"{options.encoder}-{name}.npz")

    held = {name: opened(name) for name in HELD}
    parts = {name: opened(name) for name in SOURCES}
    table = record.table("trained", "look", *HELD)

    def measure(row: str, look: str) -> None:
        examples = no_examples()
        for name, part in parts.items():
            examples = examples + (no_examples() if row == f"no {name}" else part)
        kept = kept_views(row.removeprefix("without ") if row.startswith("without ") else "")
        found = []
        for seed in range(options.seeds):
            params, mean, scale = fit_ranker(
                *padded(examples, 64), kept=kept, seed=seed, epochs=options.epochs
            )
            second = None
            if look != "first":
                maps = look == "second" and options.encoder != "hashing"
                second = fit_second(
                    examples, encoder, kept=kept, maps=maps, seeds=(seed,), epochs=options.epochs
                )
            shares = []
            for some in held.values():
                scores = rank_on_host(params, (some.views - mean) * scale)
                shares.append(best_right(some, scores, second, encoder))
            found.append(shares)
        shown = zip(np.mean(found, axis=0), np.std(found, axis=0))
        table.add(row or "all", look, *(f"{mean:.3f} ± {spread:.3f}" for mean, spread in shown))
        print(row or "all", look, np.round(np.mean(found, axis=0), 3).tolist(), flush=True)

    for row in ROWS:
        measure(row, "first")
    measure("", "second without maps")
    measure("", "second")
    record.note(
        f"{options.seeds} seeds; questions { ({n: len(s.asked) for n, s in parts.items()}) }"
    )
    record.save()


if __name__ == "__main__":
    main()
