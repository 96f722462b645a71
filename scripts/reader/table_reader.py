"""The reader, with the weights it ships with: right, wrong and withheld, and hits@1 on benchmarks.

    python scripts/reader/table_reader.py --half once --part eight --only pharma port
    python scripts/reader/table_reader.py --left-out FOLDER/minilm-told.npz
    python scripts/reader/table_reader.py --benchmarks --sample 300
    python scripts/reader/table_reader.py --benchmarks --without types
    python scripts/reader/table_reader.py --inverses 2000

The half `choose` of the own graphs is learnt from, so what is right of it says nothing of graphs to
come: `--left-out` says that, of each graph by rankers that learnt from the others alone. The half
`once` is learnt from by none; it was asked of the latest graphs after everything else. Errors on
MetaQA's dev and PathQuestion's train parts were read before training questions were made: no
zero-shot scores.
A list is right when it is the gold set; a question without an answer when it is withheld.
A half takes about a minute on two cores, the benchmarks some minutes.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from training.inverse import inverse_questions

from jaxkg.experiments.loading import load_graph
from jaxkg.kg import KnowledgeGraph
from jaxkg.systems.reader.ranking import CUES
from jaxkg.systems.reader.settings import ReaderSettings
from jaxkg.systems.reader.system import Reader, Understood
from jaxkg.systems.reader.weights import ReaderWeights, shipped_weights
from jaxkg.text.best import encoder_kept

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.own import GRAPHS, questions_of, unpacked
from lib.record import Record, arguments
from lib.sets import sets

FIRST = ("clinic", "library", "recipes", "shop", "transit", "university")
FURTHER = ("family", "geo", "league", "museum", "projects", "software")
LATER = ("bands", "cinema", "court", "hotel", "plant", "species")
BENCHMARKS = ("metaqa-1", "metaqa-2", "metaqa-3", "pq-2h", "pq-3h", "pql-2h", "webqsp")


def names_of(reader: Reader, understood: Understood) -> tuple[set[str], set[str]]:
    """Ids, and names, of what the best reading comes to when it is executed, as an answer is."""
    if not understood.readings:
        return set(), set()
    found = reader.sets.execute(understood.readings[0].candidate.query)
    if found.words:
        return {found.words}, {found.words}
    rows = found.rows.tolist()
    return {reader.kg.entity_ids[row] for row in rows}, set(map(reader.kg.name, rows))


def calibration_error(confidence: np.ndarray, right: np.ndarray) -> float:
    """Expected calibration error, ten bins of equal width."""
    bins = np.clip((confidence * 10).astype(int), 0, 9)
    gaps = [
        abs(confidence[bins == b].mean() - right[bins == b].mean()) * (bins == b).mean()
        for b in range(10)
        if (bins == b).any()
    ]
    return float(sum(gaps))


def own_folders(half: str, only: Sequence[str]) -> dict[str, list[Path]]:
    """Folders of graphs, in the order they came."""
    titles = ("own graphs", "further own graphs", "later own graphs", "latest own graphs")
    known = (FIRST, FURTHER, LATER)
    groups: dict[str, list[Path]] = {title: [] for title in titles}
    for folder in sorted(path.parent for path in unpacked(GRAPHS).glob(f"*/{half}.jsonl")):
        if not only or folder.name in only:
            place = next((n for n, names in enumerate(known) if folder.name in names), len(known))
            groups[titles[place]].append(folder)
    return {title: folders for title, folders in groups.items() if folders}


def table_own(record: Record, reader_of, half: str, title: str, folders: Sequence[Path]) -> None:
    """Right, wrong and withheld by graph and by kind."""
    by_kind: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(3, int))
    by_graph: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(3, int))
    sure, good, seconds = [], [], []
    for folder in folders:
        kg = load_graph(next(folder.glob("facts.*")))
        reader = reader_of(kg)
        for one in questions_of(folder, half):
            began = time.perf_counter()
            understood = reader.understand(one["question"])
            seconds.append(time.perf_counter() - began)
            gold = set(one["answers"])
            right = bool(gold) and gold in names_of(reader, understood)
            place = (0 if not gold else 2) if not understood.sure else (0 if right else 1)
            by_kind[one["kind"]][place] += 1
            by_graph[folder.name][place] += 1
            if understood.readings:
                sure.append(understood.confidence)
                good.append(right if understood.wanting is None else not gold)
    for name, rows in (("kind", by_kind), ("graph", by_graph)):
        table = record.table(name, "right", "wrong", "withheld", title=title)
        for key in sorted(rows):
            table.add(key, *rows[key].tolist())
        total = np.sum(list(rows.values()), axis=0)
        table.add("all", *total.tolist())
        table.add("share", *(round(float(x), 3) for x in total / total.sum()))
    error = calibration_error(np.array(sure), np.array(good))
    record.note(
        f"{title}, {half}: calibration error {error:.3f}; "
        f"{np.median(seconds) * 1e3:.0f} ms a question"
    )


def left_out(record: Record, told: Path, weights: ReaderWeights) -> None:
    """Own graphs' `choose` halves, each read by rankers that learnt from other graphs alone.

    Args:
        record: of the tables.
        told: what `train_reader.py fit` kept. The confidence learnt from other graphs.
        weights: that it was fitted for.
    """
    with np.load(told) as file:
        right, names, sure = file["right"], file["names"], file["sure"]
        wanting = file["cues"][:, CUES.index("wanting")] > 0
    for title, found in own_folders("choose", ()).items():
        folders = [folder for folder in found if f"own-{folder.name}" in names]
        table = record.table("graph", "questions", "right", "wrong", "best right", title=title)
        graphs = [names == f"own-{folder.name}" for folder in folders]
        whole = np.any(graphs, axis=0)
        for name, some in zip([*(f.name for f in folders), "all"], [*graphs, whole]):
            given, none = sure[some] >= weights.threshold, wanting[some]
            fine = right[some] & (given | none)  # withheld is right where there is no answer
            shares = float(fine.mean()), float((~right[some] & given & ~none).mean())
            best = float(right[some].mean())
            table.add(name, int(some.sum()), *(round(x, 3) for x in (*shares, best)))
        error = calibration_error(sure[whole], right[whole])
        record.note(f"{title}, rankers of other graphs: calibration error {error:.3f}")


def inverses(record: Record, reader_of, count: int) -> None:
    """Of questions in made-up words: right, wrong, and answered by the inverse relation."""
    forms: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(4, int))
    for kg, asked in inverse_questions(count):
        reader = reader_of(kg)
        for form, text, gold, other in asked:
            understood = reader.understand(text)
            ids = names_of(reader, understood)[0] if understood.sure else set()
            place = 0 if ids == gold else 1 if ids == other else 2 if ids else 3
            forms[form][place] += 1
    table = record.table(
        "form", "right", "inverse", "other", "withheld", title="made-up verbs, shares"
    )
    for form, row in (*forms.items(), ("all", np.sum(list(forms.values()), axis=0))):
        table.add(form, *(round(float(x), 3) for x in row / row.sum()))


def benchmarks(record: Record, reader_of, data: Path, sample: int, only: Sequence[str]) -> None:
    """hits@1 of the best reading, nothing withheld; MetaQA's topics are linked from the text."""
    table = record.table(
        "set", "topics", "questions", "hits@1", "exact", "right", "wrong", "ECE", "ms"
    )
    readers: dict[str, Reader] = {}
    for name in BENCHMARKS:
        if only and name not in only:
            continue
        world = sets(name.split("-")[0] if name.startswith("metaqa") else name, data)
        family = str(sorted(world.files))
        if family not in readers:
            readers = {family: reader_of(world.kg)}
        reader = readers[family]
        part = "all" if name.startswith("pq") else "test"
        questions = world.questions(name, part)
        drawn = np.random.default_rng(0).permutation(len(questions))
        if sample:
            questions = [questions[i] for i in sorted(drawn[:sample].tolist())]
        linked = name.startswith("metaqa")
        hits, exact, out, began = 0.0, 0, np.zeros(2, int), time.perf_counter()
        share, good = [], []
        for question in questions:
            understood = reader.understand(question.text, () if linked else question.topics)
            ids, names = names_of(reader, understood)
            gold = set(question.answers or ())
            # The first of a set is as good as any other: its share of right ones counts.
            hits += max(len(some & gold) / len(some) if some else 0.0 for some in (ids, names))
            right = gold in (ids, names)
            exact += right
            share.append(understood.confidence)
            good.append(right and understood.wanting is None)
            if understood.sure:
                out[0 if right else 1] += 1
        count = len(questions)
        spent = (time.perf_counter() - began) / count * 1e3
        table.add(
            name, "linked" if linked else "given", count,
            round(hits / count, 3), round(exact / count, 3),
            *(round(float(x) / count, 3) for x in out),
            round(calibration_error(np.array(share), np.array(good)), 3), round(spent),
        )  # fmt: skip
        record.save()


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__, seed=False)
    parser.add_argument("--half", choices=("choose", "once"))
    parser.add_argument("--left-out", type=Path, help="FOLDER/ENCODER-told.npz of the training")
    parser.add_argument("--benchmarks", action="store_true")
    parser.add_argument("--inverses", type=int, default=0, help="questions in made-up words")
    parser.add_argument("--sample", type=int, default=500, help="questions a benchmark; 0: all")
    parser.add_argument("--only", nargs="*", default=[], help="graphs or benchmarks")
    parser.add_argument("--part", help="a name for the tables of some graphs alone")
    parser.add_argument("--encoder", default="minilm", choices=("minilm", "hashing"))
    parser.add_argument("--without", default="", help="vectors, overlap, types, length")
    parser.add_argument("--weights", type=Path, help="others than those shipped")
    options = parser.parse_args(argv)
    encoder = "" if options.encoder == "minilm" else options.encoder
    kind = "left-out" if options.left_out else options.half or "benchmarks"
    kind = "inverses" if options.inverses else kind
    part = "-".join(filter(None, (kind, options.part, encoder, options.without)))
    record = Record(__file__, options, part=part)
    weights = (
        ReaderWeights.open(options.weights) if options.weights else shipped_weights(options.encoder)
    )
    encoder = encoder_kept(options.encoder)
    record.note(f"weights {weights.version}, {options.encoder}, without {options.without or '-'}")

    def reader_of(kg: KnowledgeGraph) -> Reader:
        settings = ReaderSettings(without=options.without)
        return Reader.build(kg, encoder, weights=weights, settings=settings)

    if options.left_out:
        left_out(record, options.left_out, weights)
    if options.half:
        for title, folders in own_folders(options.half, options.only).items():
            table_own(record, reader_of, options.half, title, folders)
    if options.inverses:
        inverses(record, reader_of, options.inverses)
    if options.benchmarks:
        benchmarks(record, reader_of, options.data, options.sample, options.only)
    record.save()


if __name__ == "__main__":
    main()
