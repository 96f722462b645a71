"""Damaged and made-up input of seven kinds: nothing may end but in a JaxkgError of one line within
ten seconds, nothing be misread.

Graph and question files, files of other programs (the samples of the tests), saved folders, what a
model replies, `--set`, questions, and requests to the service. Half of the graph files are whole
tables of a drawn shape (columns in any order, under any of the known words, with or without a
header), whose facts are known and must be read. Prints, for each kind, how many inputs were taken,
how many were refused, and every other end. A thousand inputs take half a minute.

    python scripts/study/fuzz.py --inputs 15000 --seed 0
"""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import random
import shutil
import signal
import sys
import tempfile
import traceback
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from jaxkg.adjudicate import Scripted, adjudicate
from jaxkg.adjudicate.calls.proh import EntityWeights, FinalAnswer, Plan
from jaxkg.adjudicate.endpoint.completion import read_completion
from jaxkg.adjudicate.reading.parse import Unparsed, parse
from jaxkg.answer import Answer
from jaxkg.cli.asking import checked_question
from jaxkg.errors import JaxkgError
from jaxkg.evaluate import prediction_line
from jaxkg.evaluate.runs.lines import dump_line, parse_line
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
from jaxkg.kg.files.delimited import HEADER
from jaxkg.kg.questions.formats import split_brackets
from jaxkg.records import Citation, Question, RankedEntity, SupportingPath
from jaxkg.settings import wishes_from
from jaxkg.systems.guided import GuidedSettings
from jaxkg.systems.parts import Parts
from jaxkg.systems.pathhd import PathHDSettings
from jaxkg.systems.planned import PlannedSettings
from jaxkg.systems.proh.settings import ProhSettings
from jaxkg.systems.ranked import RankedSettings
from jaxkg.systems.reader.settings import ReaderSettings
from jaxkg.systems.reknos import ReKnoSSettings

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.megabytes import SAMPLES
from lib.record import Record, arguments

_SEEDS = {
    "kb.tsv": "head\trelation\ttail\nAlien\tdirected by\tRidley Scott\nAlien\tyear\t1979\n",
    "kb.csv": 'source,relation,target\n"Alien, the",r,"say ""hi"""\na,r,b\n',
    "semi.csv": "id;name;department;boss\nE1;Ann;Sales;\nE2;Bob;IT;E1\n",
    "kb.txt": "Alien|directed_by|Ridley Scott\nHeat|directed_by|Michael Mann\n",
    "kb.jsonl": '{"head": {"id": "a", "name": "A", "aliases": ["x"]}, "relation": "r", "tail": 3}',
    "kb.json": '[{"subject": "a", "predicate": "r", "object": true}, {"s": "a"}]',
    "kb.nt": '<http://a/x> <http://a/p> "v"@en .\n<http://a/x> <http://a/p> <http://a/y> .\n',
    "kb.ttl": '@prefix : <http://a/> .\n:x :p :y ; :q "v"^^:t .\n',
    "star.ttl": "@prefix : <http://a/> .\n:x :p :y {| :q 1 |} .\n"
    "<< :x :p << :y :q :z >> >> :r [] .\n",
    "star.nt": "<< <http://a/x> <http://a/p> <http://a/y> >> <http://a/q> "
    "<<( _:b <http://a/p> 1 )>> .\n",
    "kb.nq": "<http://a/x> <http://a/p> <http://a/y> <http://g/1> .\n",
    "kb.trig": "@prefix : <http://a/> .\n:g { :x :p :y ; :q [] }\n",
    "kb.jsonld": '{"@context": {"@vocab": "http://a/", "p": {"@type": "@id"}}, "@graph": '
    '[{"@id": "x", "p": ["y", "z"], "q": {"@value": "v", "@language": "en"}, "r": {"s": 1.5}}]}',
    "kb.graphml": '<graphml><key id="k" for="node" attr.name="name"/><graph><node id="a"><data '
    'key="k">A</data></node><edge source="a" target="b" label="r"/></graph></graphml>',
    "kb.gexf": '<gexf><graph><attributes class="node"><attribute id="0" title="t"/></attributes>'
    '<node id="a"><attvalue for="0" value="v"/></node></graph></gexf>',
}
_SECONDS = 10
_SHEETS = {
    "People": [
        ("id", "name", "boss", "since"),
        ("E1", "Ann", "E2", 2019),
        ("E2", "Bob", None, 5.5),
    ],
    "Facts": [("from", "type", "to"), ("E1", "knows", "E2"), (True, "=1+1", "#N/A")],
}
_QUESTIONS = {
    "q.txt": "who directed [Alien]?\nwho?\n",
    "qa.txt": "who directed [Alien]?\tRidley Scott|Other\n",
    "q.jsonl": '{"id": "1", "question": "who?", "answers": ["a"], "mention": [0, 3], "more": 1}\n',
    "q.csv": "id,question,answers\n1,who [x]?,a|b\n",
    "pq.txt": "what is x?\ty(y/z/)\tx#r#y#<end>#y\n",
}
_REPLIES = (
    '{"answers": ["Bob"], "supporting_paths": [1], "rationale": "So."}',
    'Sure!\n```json\n{"answers": ["Ann"], "supporting_paths": ["p2"]}\n```\nBye',
    "<think>{hm}</think>{'answers': ['Bob',], 'supporting_paths': '1-2'}",
    '{"steps": [{"id": "1", "question": "who?", "needs": []}], "weights": [{"number": 1}]}',
    "1, 2 and Bob",
)
_REQUESTS = (
    ("POST", "/ask", '{"question": "who directed [Heat]?", "id": "x", "topics": ["Heat"]}'),
    ("POST", "/ask/batch", '{"question": "a"}\n{"question": "b", "id": "2"}\n"c"\n'),
    ("POST", "/ask/batch", '["one", {"question": "two"}]'),
    ("POST", "/check", '{"head": "Heat", "relation": "directed_by", "tail": "Mann"}'),
    ("GET", "/entities?q=heat&limit=5", ""),
    ("GET", "/entities/Heat", ""),
    ("GET", "/paths?from=Heat&to=Mann&hops=2", ""),
    ("GET", "/schema", ""),
)
_PATHS = tuple(
    SupportingPath(
        f"p{n}", (Citation(n, "a", "r", f"b{n}", "A", name),), ("r",), 1.0, f"A → r → {name}"
    )
    for n, name in enumerate(["Bob", "Ann, Eve", "Bob"])
)
_WORDS = ("Alien", "Ridley Scott", "directed by", "7", "a;b", 'von "Q"', "Zoë", "x,y", "r", "type")
_PIECES = (
    *("\t", ",", ";", "|", '"', "[", "]", "{", "}", "\n", "\r", "\0", "\x1b[31m", "\ufeff"),
    *("\u202e", "\ud800", "NaN", "1e999", "9" * 5000, "[" * 300, "^", "_:", "<", "\u00e9" * 3),
)


class Hang(BaseException):
    """An input takes too long."""


def _hang(*_: Any) -> None:
    raise Hang


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
        self.seed, self.rng = seed, random.Random(seed)
        self.kinds: dict[str, Callable[[], None]] = {
            "files": self.files,
            "formats": self.formats,
            "folders": self.folders,
            "replies": self.replies,
            "settings": self.settings,
            "questions": self.questions,
            "requests": self.requests,
        }
        self.linker = Linker(demo_graph())
        graph = KnowledgeGraph.from_triples(
            [("a", "r", "b"), ("b", "s", "c")], names={"a": "Ann"}, aliases={"b": ["Bob"]}
        )
        self.saved = save_graph(graph, folder / "saved")
        self.fingerprint = graph.fingerprint

        self.parts = _parts()
        self.client = _client()

    def _put(self, seeds: dict[str, str]) -> Path:
        name = self.rng.choice(sorted(seeds))
        path = self.folder / name
        path.write_bytes(mutated(seeds[name].encode(), self.rng))
        return path

    def _workbook(self) -> Path:
        """A workbook of which one part, or the whole file, is damaged."""
        path = self.folder / "kb.xlsx"
        parts, out = dict(self.parts), io.BytesIO()
        name = self.rng.choice([*sorted(parts), ""])
        if name:
            parts[name] = mutated(parts[name], self.rng)
        with zipfile.ZipFile(out, "w") as archive:
            for part, data in parts.items():
                archive.writestr(part, data)
        path.write_bytes(out.getvalue() if name else mutated(out.getvalue(), self.rng))
        return path

    def files(self) -> None:
        """A file of a graph or of questions."""
        kind = self.rng.randrange(4)
        if kind == 0:
            return self.question_files()
        if kind < 3:
            return self.tables()
        path = self._workbook() if self.rng.random() < 0.2 else self._put(_SEEDS)
        graph = read_graph(path, skip_bad=self.rng.choice([0, 3]), lines=True)
        assert graph.num_triples
        assert all(map(str.strip, graph.relations))

    def formats(self) -> None:
        """A file of another program, or one file of such a folder."""
        sample = self.rng.choice(sorted(SAMPLES.iterdir()))
        target = self.folder / "foreign" / sample.name
        shutil.rmtree(target.parent, ignore_errors=True)
        target.parent.mkdir()
        (shutil.copytree if sample.is_dir() else shutil.copy)(sample, target)
        files = [file for file in target.parent.rglob("*") if file.is_file()]
        file = self.rng.choice(sorted(files))
        file.write_bytes(mutated(file.read_bytes(), self.rng))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            read_graph(target, on_reading=lambda told: None, lines=True)

    def tables(self) -> None:
        """A whole table of facts, in any of the known shapes: it is read as what it says."""
        rng = self.rng
        facts = [tuple(rng.choice(_WORDS) for _ in range(3)) for _ in range(rng.randint(1, 4))]
        order = rng.sample(range(3), 3)
        header = [rng.choice(HEADER[column]) for column in order]
        separator = rng.choice(",;\t")
        out = io.StringIO()
        if separator == "\t":
            out.writelines("\t".join(row[c] for c in order) + "\n" for row in facts)
            text = "\t".join(header) + "\n" + out.getvalue()
        else:
            writer = csv.writer(out, delimiter=separator, lineterminator=rng.choice(["\n", "\r\n"]))
            writer.writerows([header, *([row[c] for c in order] for row in facts)])
            text = out.getvalue()
        path = self.folder / ("whole.tsv" if separator == "\t" else "whole.csv")
        text = text.upper() if rng.random() < 0.1 else text
        path.write_bytes((rng.choice(["", "\ufeff"]) + text).encode())
        wanted = {tuple(c.upper() for c in fact) if text.isupper() else fact for fact in facts}
        graph = read_graph(path)
        read = {
            (graph.entity_ids[h], graph.relations[r], graph.entity_ids[t])
            for h, r, t in graph.triples.tolist()
        }
        assert read == wanted, f"misread: {text!r}"

    def replies(self) -> None:
        """What a model says, or the endpoint around it."""
        text = self.rng.choice(_REPLIES)
        if self.rng.random() < 0.8:
            text = mutated(text.encode(), self.rng).decode("utf-8", "surrogateescape")
        if self.rng.random() < 0.4:
            sent = {"messages": [{"content": "?"}]}
            message = {"role": "assistant", "content": text}
            body = {"choices": [{"message": message}], "usage": {"prompt_tokens": 3}}
            spoilt = mutated(json.dumps(body).encode(), self.rng).decode("utf-8", "replace")
            reply = read_completion(spoilt, sent, seconds=0.0, attempts=1, rates=None)
            assert reply.prompt_tokens >= 0
            json.dumps(vars(reply)).encode()
            text = reply.text
        answer = Answer("who?", "q", paths=_PATHS)
        [decided] = adjudicate(Scripted([text]), [answer])
        assert {entity.entity for entity in decided.entities} <= {"b0", "b1", "b2"}
        assert Answer.from_json(decided.to_json()).entities == decided.entities
        line = prediction_line(Question("q", "who?"), decided)
        assert parse_line(dump_line(line), "here")["answers"] == line["answers"]
        try:
            parse(text, self.rng.choice([EntityWeights, FinalAnswer, Plan]))
        except Unparsed as error:
            raise JaxkgError("unread") from error

    def requests(self) -> None:
        """A request to the service: an answer, or a short error that is the caller's."""
        how, path, body = self.rng.choice(_REQUESTS)
        content = body.encode()
        if body and self.rng.random() < 0.7:
            content = mutated(content, self.rng)
        if self.rng.random() < 0.3:
            path = mutated(path.encode(), self.rng).decode("utf-8", "replace")
            path = "/" + path.translate(dict.fromkeys([*range(33), 127])).lstrip("/")
        reply = self.client.request(
            how,
            f"http://127.0.0.1{path}",
            content=content,
            headers={"Content-Type": "application/json"} if body else {},
        )
        assert reply.status_code < 500, (how, path, content, reply.text)
        if reply.status_code >= 400:
            assert len(reply.text) < 1000, reply.text
            raise JaxkgError(f"status {reply.status_code}")

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
        kinds = (GuidedSettings, PathHDSettings, PlannedSettings, ProhSettings, RankedSettings)
        kind = self.rng.choice([*kinds, ReaderSettings, ReKnoSSettings])
        names = [field.name for field in dataclasses.fields(kind)] + ["frob", ""]
        values = ("0", "-1", "1", "nan", "inf", "1e400", "", "true", "None", "9" * 5000, "\ud800")
        wish = f"{self.rng.choice(names)}={self.rng.choice(values)}"
        Parts(demo_graph(), print, wishes=wishes_from([wish])).settings(kind)

    def questions(self) -> None:
        """A question typed by a person, linked to the demo graph."""
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
        signal.signal(signal.SIGALRM, _hang)
        for kind, try_one in self.kinds.items():
            # Each kind draws its own: another number of one changes nothing of the others.
            self.rng.seed(f"{self.seed} {kind}")
            ends = found[kind] = Counter()
            for _ in range(inputs):
                signal.alarm(_SECONDS)
                try:
                    try_one()
                    ends["taken"] += 1
                except JaxkgError as error:
                    ends["several lines" if "\n" in str(error) else "refused"] += 1
                except Hang:
                    ends["a hang"] += 1
                except Exception as error:  # noqa: BLE001 - what is looked for
                    ends[f"{type(error).__name__}: {str(error)[:100]}"] += 1
                    if ends.total() < 50_000:
                        traceback.print_exc(limit=-3, file=sys.stderr)
                finally:
                    signal.alarm(0)
        return found


def _parts() -> dict[str, bytes]:
    """What a workbook is packed of, by name."""
    from openpyxl import Workbook

    book, out = Workbook(), io.BytesIO()
    for title, rows in _SHEETS.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(out)
    with zipfile.ZipFile(out) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _client() -> Any:
    """A caller of a service over two facts."""
    from starlette.testclient import TestClient

    from jaxkg.serve.app import service
    from jaxkg.serve.facts import Facts

    def answer(questions: Sequence[Question]) -> list[Answer]:
        found = (RankedEntity("Mann", "Mann", 1.0, ()),)
        return [Answer(q.text, q.id, entities=found) for q in questions]

    graph = KnowledgeGraph.from_triples(
        [("Heat", "directed_by", "Mann"), ("Alien", "directed_by", "Scott")]
    )
    return TestClient(service(Facts.of(graph), answer), raise_server_exceptions=False)


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__, data=False)
    parser.add_argument("--inputs", type=int, default=2000, help="of every kind")
    asked = parser.parse_args(argv)
    record = Record(__file__, asked)
    table = record.table("kind", "inputs", "taken", "refused", "other ends")
    with tempfile.TemporaryDirectory() as folder:
        fuzzer = Fuzzer(Path(folder), asked.seed)
        with fuzzer.client:
            found = fuzzer.run(asked.inputs)
    bad = 0
    for kind, ends in found.items():
        other = {end: count for end, count in ends.items() if end not in ("taken", "refused")}
        table.add(kind, ends.total(), ends["taken"], ends["refused"], sum(other.values()))
        for end, count in other.items():
            record.note(f"{kind}: {count:,} x {end}")
        bad += sum(other.values())
    record.save()
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
