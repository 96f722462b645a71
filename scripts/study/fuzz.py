"""Damaged and made-up files, folders, settings and questions: nothing may end but in a JaxkgError.

    python scripts/study/fuzz.py --inputs 20000 --seed 0

Prints, for each kind, how many inputs were read, how many were refused, and every other end.
7,500 inputs take minutes.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import random
import shutil
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from jaxkg.errors import JaxkgError
from jaxkg.kg import (
    KnowledgeGraph,
    Linker,
    demo_graph,
    find_topics,
    open_graph,
    read_graph,
    read_questions,
    save_graph,
)
from jaxkg.records import Question

_SEEDS = {
    "kb.tsv": "head\trelation\ttail\nAlien\tdirected by\tRidley Scott\nAlien\tyear\t1979\n",
    "kb.csv": 'source,relation,target\n"Alien, the",r,"say ""hi"""\na,r,b\n',
    "semi.csv": "id;name;department;boss\nE1;Ann;Sales;\nE2;Bob;IT;E1\n",
    "kb.txt": "Alien|directed_by|Ridley Scott\nHeat|directed_by|Michael Mann\n",
    "kb.jsonl": '{"head": {"id": "a", "name": "A", "aliases": ["x"]}, "relation": "r", "tail": 3}',
    "kb.json": '[{"subject": "a", "predicate": "r", "object": true}, {"s": "a"}]',
    "kb.nt": '<http://a/x> <http://a/p> "v"@en .\n<http://a/x> <http://a/p> <http://a/y> .\n',
    "kb.ttl": '@prefix : <http://a/> .\n:x :p :y ; :q "v"^^:t .\n',
}
_QUESTIONS = {
    "q.txt": "who directed [Alien]?\nwho?\n",
    "qa.txt": "who directed [Alien]?\tRidley Scott|Other\n",
    "q.jsonl": '{"id": "1", "question": "who?", "answers": ["a"], "mention": [0, 3], "more": 1}\n',
    "q.csv": "id,question,answers\n1,who [x]?,a|b\n",
    "pq.txt": "what is x?\ty(y/z/)\tx#r#y#<end>#y\n",
}
_PIECES = (
    *("\t", ",", ";", "|", '"', "[", "]", "{", "}", "\n", "\r", "\0", "\x1b[31m", "\ufeff"),
    *("\u202e", "\ud800", "NaN", "1e999", "9" * 5000, "[" * 300, "^", "_:", "<", "\u00e9" * 3),
)


def mutated(data: bytes, rng: random.Random) -> bytes:
    """Bytes with a few flips, cuts, copies and pieces put in."""
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(5)
        if kind == 0 and at < len(data):
            data = data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
        elif kind == 1:
            data = data[:at]
        elif kind == 2:
            data = data[:at] + data[at : at + rng.randrange(40)] * 2 + data[at:]
        elif kind == 3:
            piece = rng.choice(_PIECES).encode("utf-8", "surrogatepass")
            data = data[:at] + piece + data[at:]
        else:
            data = data[:at] + data[at + rng.randrange(1, 9) :]
    return data


class Fuzzer:
    """Inputs of every kind, from one seed."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.rng = random.Random(seed)
        self.kinds: dict[str, Callable[[], None]] = {
            "files": self.files,
            "folders": self.folders,
            "settings": self.settings,
            "questions": self.questions,
            "question files": self.question_files,
        }
        self.linker = Linker(demo_graph())
        graph = KnowledgeGraph.from_triples(
            [("a", "r", "b"), ("b", "s", "c")], names={"a": "Ann"}, aliases={"b": ["Bob"]}
        )
        self.saved = save_graph(graph, folder / "saved")
        self.fingerprint = graph.fingerprint

    def _put(self, seeds: dict[str, str]) -> Path:
        name = self.rng.choice(sorted(seeds))
        path = self.folder / name
        path.write_bytes(mutated(seeds[name].encode(), self.rng))
        return path

    def files(self) -> None:
        """A graph file."""
        graph = read_graph(self._put(_SEEDS), skip_bad=self.rng.choice([0, 3]), lines=True)
        assert graph.num_triples
        assert all(map(str.strip, graph.relations))

    def folders(self) -> None:
        """A saved graph; damage must be noticed, whatever it hits."""
        copy = self.folder / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.saved, copy)
        file = self.rng.choice(sorted(copy.iterdir()))
        before = file.read_bytes()
        file.write_bytes(mutated(before, self.rng))
        if self.rng.random() < 0.1:
            file.unlink()
        found = open_graph(copy)
        # White space of the notes is nobody's damage.
        assert found.fingerprint == self.fingerprint, "damage was not noticed"

    def settings(self) -> None:
        """`--set NAME=VALUE` of a system."""
        from jaxkg.experiments.parts import Parts, wishes_from
        from jaxkg.systems.pathhd import PathHDSettings
        from jaxkg.systems.planned import PlannedSettings
        from jaxkg.systems.ranked import RankedSettings
        from jaxkg.systems.reknos import ReKnoSSettings

        kind = self.rng.choice([PathHDSettings, PlannedSettings, RankedSettings, ReKnoSSettings])
        names = [field.name for field in dataclasses.fields(kind)] + ["frob", ""]
        values = ("0", "-1", "1", "nan", "inf", "1e400", "", "true", "None", "9" * 5000, "\ud800")
        wish = f"{self.rng.choice(names)}={self.rng.choice(values)}"
        Parts(demo_graph(), print, wishes=wishes_from([wish])).settings(kind)

    def questions(self) -> None:
        """A question typed by a person, linked to the demo graph."""
        from jaxkg.cli.asking import checked_question
        from jaxkg.kg.questions.formats import split_brackets

        text = mutated(b"who directed [Alien] and Heat?", self.rng).decode(
            "utf-8", "surrogateescape"
        )
        bare, mention = split_brackets(checked_question(text))
        find_topics(self.linker, [Question("q", bare, mention=mention)])

    def question_files(self) -> None:
        """A question file."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            questions = read_questions(self._put(_QUESTIONS))
        json.dumps([dataclasses.asdict(question) for question in questions]).encode()

    def run(self, inputs: int) -> dict[str, Counter[str]]:
        """Try that many inputs of every kind; counts by how they ended."""
        found: dict[str, Counter[str]] = {}
        for kind, try_one in self.kinds.items():
            ends = found[kind] = Counter()
            for _ in range(inputs):
                try:
                    try_one()
                    ends["taken"] += 1
                except JaxkgError:
                    ends["refused"] += 1
                except Exception as error:  # noqa: BLE001 - what is looked for
                    ends[f"{type(error).__name__}: {str(error)[:100]}"] += 1
                    if ends.total() < 50_000:
                        traceback.print_exc(limit=-3, file=sys.stderr)
        return found


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--inputs", type=int, default=2000, help="of every kind")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        found = Fuzzer(Path(folder), asked.seed).run(asked.inputs)
    for kind, ends in found.items():
        print(f"{kind:<15} " + ", ".join(f"{count:,} {end}" for end, count in ends.items()))
    if any(set(ends) - {"taken", "refused"} for ends in found.values()):
        sys.exit(1)


if __name__ == "__main__":
    main()
