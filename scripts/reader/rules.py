"""Functions of the reader: on how many questions each tells something, and what goes without it.

    python scripts/reader/rules.py --off sets.unfit:_taken_in=False,reading:Readings._told_once=1
    python scripts/reader/rules.py --record

Asks the `choose` halves of the own graphs, and GeoQuery's questions of even ids where its folder is
there, once with all of the reader and once more without each function of `--off` that told
something other on the question: its value is then what stands after `=`, `[]`, `{}`, `()`,
`False`, or its argument of that number. A function wins where its question counts for more with
it than without it: right 2, withheld 1, wrong 0; right is the gold set, or withheld where there is
no answer. Own graphs have been learnt from, so wins there say little of other graphs; that
a function brings nothing even there says more. 400 questions take a minute on two cores.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import json
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from jaxkg.experiments.loading import load_graph
from jaxkg.kg import KnowledgeGraph
from jaxkg.systems.reader.system import Reader
from jaxkg.text.best import encoder_kept

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.own import GRAPHS, questions_of, unpacked
from lib.record import Record, arguments

EACH = 24
"""Questions of one graph in a sample."""
GRADES = ("wrong", "withheld", "right")


class Asked(NamedTuple):
    """A question, and the sets of answers that are right: by ids, by names; none for withheld."""

    text: str
    gold: frozenset[str]


def own_worlds(sample: int, draw: random.Random) -> Iterator[tuple[str, Path, list[Asked]]]:
    """Own graphs, drawn by chance until they have as many questions as are wanted; 0: all."""
    files = sorted(unpacked(GRAPHS).glob("*/choose.jsonl"))
    draw.shuffle(files)
    left = sample or 1_000_000
    for folder in (file.parent for file in files):
        every = questions_of(folder)
        drawn = draw.sample(every, min(left, len(every), EACH if sample else len(every)))
        left -= len(drawn)
        asked = [Asked(one["question"], frozenset(one["answers"])) for one in drawn]
        yield "own graphs", next(folder.glob("facts.*")), asked
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


class Switch:
    """A function of the reader that may be switched off.

    Args:
        named: "module:function=value", see above.
    """

    def __init__(self, named: str) -> None:
        self.name, _, value = named.partition("=")
        self.is_off = self.fired = False
        module, _, path = self.name.partition(":")
        self._without = ast.literal_eval(value)
        holder: Any = importlib.import_module(f"jaxkg.systems.reader.{module}")
        *outer, last = path.split(".")
        for part in outer:
            holder = getattr(holder, part)
        self._own = holder.__dict__[last]
        for other in [holder] if outer else list(sys.modules.values()):
            for name, value in list(vars(other).items()):
                if value is self._own:
                    setattr(other, name, functools.wraps(self._own)(lambda *a, **k: self(*a, **k)))

    def __call__(self, *args: Any, **named: Any) -> Any:
        is_place = isinstance(self._without, int) and not isinstance(self._without, bool)
        without = args[self._without] if is_place else self._without
        if self.is_off:
            return without
        found = self._own(*args, **named)
        found = list(found) if inspect.isgenerator(found) else found
        self.fired |= found is not without and str(found) != str(without)
        return found


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__)
    parser.add_argument("--sample", type=int, default=400, help="own questions; 0: all")
    parser.add_argument("--geo", type=int, default=60, help="questions of GeoQuery; 0: all even")
    parser.add_argument("--encoder", default="minilm", choices=("minilm", "hashing"))
    parser.add_argument("--off", default="", help="functions to switch off, one at a time")
    options = parser.parse_args(argv)
    record = Record(__file__, options)
    draw, encoder = random.Random(options.seed), encoder_kept(options.encoder)
    switches = list(map(Switch, filter(None, options.off.split(","))))
    counts: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    totals: dict[str, Counter[str]] = defaultdict(Counter)
    worlds = [*own_worlds(options.sample, draw), *geo_world(options.data, options.geo, draw)]
    for title, path, questions in worlds:
        reader = Reader.build(graph_of(path), encoder)
        for one in questions:
            for switch in switches:
                switch.fired = False
            with_all = grade(reader, one)
            totals[title][GRADES[with_all]] += 1
            for switch in [switch for switch in switches if switch.fired]:
                switch.is_off = True
                change = with_all - grade(reader, one)
                switch.is_off = False
                told = "wins" if change > 0 else "losses" if change else ""
                counts[title].update([("fires", switch.name), (told, switch.name)])
                if told:
                    record.note(f"{told}: {one.text!r}, {switch.name}")
    for title, told in totals.items():
        told = ", ".join(f"{told[name]} {name}" for name in reversed(GRADES))
        record.note(f"{title}, {sum(totals[title].values())} questions with all: {told}")
    heads = ("fires", "wins", "losses")
    table = record.table("function", *(f"{head}, {title}" for title in totals for head in heads))
    for switch in switches:
        table.add(switch.name, *(counts[t][head, switch.name] for t in totals for head in heads))
    record.save()


if __name__ == "__main__":
    main()
