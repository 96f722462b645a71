"""Rules of the reader: how often each fires, and what answers are right or wrong without it.

    python scripts/reader/rules.py --sample 400 --record
    python scripts/reader/rules.py --without asides,spelling

Asks the `choose` halves of the own graphs, and GeoQuery's questions of even ids where its folder is
there, once with every rule and once more without each rule that fired on the question. A rule wins
where its question counts for more with it than without it: right 2, withheld 1, wrong 0; right is
the gold set, or withheld where there is no answer. Own graphs have been learnt from and many rules
were written after their questions, so wins there say little of other graphs; that a rule brings
nothing even there says more. `--without` asks with and without all of some rules at once. 400
questions take about ten minutes on two cores.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from jaxkg.experiments.loading import load_graph
from jaxkg.kg import KnowledgeGraph
from jaxkg.systems.reader.rules import rules
from jaxkg.systems.reader.system import Reader
from jaxkg.text.best import encoder_kept

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.own import unpacked
from lib.record import Record, arguments

OWN = unpacked(Path(__file__).parents[1] / "own/graphs.tar.xz")
EACH = 24
"""Questions of one graph in a sample."""
GRADES = ("wrong", "withheld", "right")


class Asked(NamedTuple):
    """A question, and the sets of answers that are right: by ids, by names; none for withheld."""

    text: str
    gold: frozenset[str]


def own_worlds(sample: int, draw: random.Random) -> Iterator[tuple[str, Path, list[Asked]]]:
    """Own graphs, drawn by chance until they have as many questions as are wanted; 0: all."""
    files = sorted(OWN.glob("*/choose.jsonl"))
    draw.shuffle(files)
    left = sample or 1_000_000
    for file in files:
        lines = file.read_text("utf-8").splitlines()
        drawn = draw.sample(lines, min(left, len(lines), EACH if sample else len(lines)))
        left -= len(drawn)
        asked = [
            Asked(one["question"], frozenset(one["answers"])) for one in map(json.loads, drawn)
        ]
        yield "own graphs", next(file.parent.glob("facts.*")), asked
        if not left:
            return


def geo_world(data: Path, sample: int, draw: random.Random) -> Iterator[tuple[str, Path, list]]:
    """GeoQuery's questions of even ids."""
    folder = data / "geoquery"
    if folder.exists():
        lines = map(json.loads, (folder / "questions.jsonl").read_text("utf-8").splitlines())
        even = [one for one in lines if int(one["id"].split("-")[1]) % 2 == 0]
        some = draw.sample(even, min(sample, len(even))) if sample else even
        asked = [Asked(one["question"], frozenset(map(_plain, one["answers"]))) for one in some]
        yield "GeoQuery", folder / "kg.tsv", asked


def _plain(text: str) -> str:
    return text.strip().lower().removesuffix(".0")


def grade(reader: Reader, one: Asked) -> int:
    """Place in `GRADES` of what a question is answered by."""
    understood = reader.understand(one.text)
    if not understood.sure:
        return 1 if one.gold else 2
    found = reader.sets.execute(understood.readings[0].candidate.query)
    if found.words:
        said = [{found.words}]
    else:
        rows = found.rows.tolist()
        said = [{reader.kg.entity_ids[row] for row in rows}, set(map(reader.kg.name, rows))]
        said.append({_plain(name) for name in said[1]})
    return 2 if one.gold and one.gold in said else 0


def graph_of(path: Path) -> KnowledgeGraph:
    names = path.parent / "names.tsv"
    return load_graph(path, names=names) if names.exists() else load_graph(path)


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__)
    parser.add_argument("--sample", type=int, default=400, help="own questions; 0: all")
    parser.add_argument("--geo", type=int, default=60, help="questions of GeoQuery; 0: all even")
    parser.add_argument("--encoder", default="minilm", choices=("minilm", "hashing"))
    parser.add_argument("--without", default="", help="rules to leave out together")
    options = parser.parse_args(argv)
    record = Record(__file__, options, part="together" if options.without else "")
    draw, encoder = random.Random(options.seed), encoder_kept(options.encoder)
    together = frozenset(filter(None, options.without.split(",")))
    fires: dict[str, Counter[str]] = defaultdict(Counter)
    wins: dict[str, Counter[str]] = defaultdict(Counter)
    losses: dict[str, Counter[str]] = defaultdict(Counter)
    graded: dict[str, Counter[str]] = defaultdict(Counter)
    worlds = [*own_worlds(options.sample, draw), *geo_world(options.data, options.geo, draw)]
    for title, path, questions in worlds:
        reader = Reader.build(graph_of(path), encoder)
        own = reader.readings.rules
        for one in questions:
            own.fires.clear()
            with_all = grade(reader, one)
            graded[title][GRADES[with_all]] += 1
            fired = sorted(own.fires)
            for row in [options.without] if together & set(fired) else () if together else fired:
                fires[title][row] += 1
                own.without = together or frozenset([row])
                change = with_all - grade(reader, one)
                wins[title][row] += change > 0
                losses[title][row] += change < 0
                if change:
                    told = "wins" if change > 0 else "loses"
                    record.note(f"{told}: {one.text!r}, {', '.join(together & {*fired} or [row])}")
            own.without = frozenset[str]()
    titles = list(graded)
    for title in titles:
        told = ", ".join(f"{graded[title][name]} {name}" for name in reversed(GRADES))
        record.note(f"{title}, {sum(graded[title].values())} questions with every rule: {told}")
    heads = [f"{head}, {title}" for title in titles for head in ("fires", "wins", "losses")]
    table = record.table("rule", "kind", *heads)
    kinds = {options.without: "together"} if together else rules()
    for row, kind in sorted(kinds.items(), key=lambda pair: (pair[1], pair[0])):
        table.add(
            row, kind, *(some[title][row] for title in titles for some in (fires, wins, losses))
        )
    record.save()


if __name__ == "__main__":
    main()
