"""A graph of Freebase's shape, made up: built, opened, asked and changed without being held whole.

Builds with `kg build --big`, opens, links names, fetches two hops around entities drawn at random
(the first time, and again), asks the reader in a process of its own and again within one, adds
10,000 facts, and asks a smaller graph of the same kind through Oxigraph on loopback, fetched whole
and in parts. Beside the seconds on the clock stand those of this process's own CPU time, which
count where others use the machine. Room for 100 bytes a triple. Ten minutes for 10 million triples.

    python scripts/bench/bench_stores.py --triples 10000000
    python scripts/bench/bench_stores.py --triples 126000000 --folder /big
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from large_graph import entity_name, relation_name, write_graph

from jaxkg.experiments.programs import peak_memory, peak_memory_of
from jaxkg.experiments.registry import build_system
from jaxkg.kg import KnowledgeGraph, open_graph, read_graph
from jaxkg.kg.stores import edit
from jaxkg.kg.stores.around import Reach, surroundings, topic_graph
from jaxkg.kg.stores.changed import open_store
from jaxkg.kg.stores.endpoint import Endpoint, EndpointSettings
from jaxkg.kg.stores.sparql import SparqlStore
from jaxkg.kg.stores.store import Store
from jaxkg.records import Question
from jaxkg.systems.parts import Parts

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.record import Record, arguments, numbers
from lib.rows import Table

sys.path.append(str(Path(__file__).resolve().parents[2] / "tests" / "worlds"))
from sparql_server import oxigraph, write_ntriples

PARTS = Reach(whole=0)


def timed(run: Callable[[], Any]) -> tuple[Any, float, float]:
    """The result of a call, its seconds on the clock and of CPU time."""
    wall, cpu = time.perf_counter(), time.process_time()
    found = run()
    return found, time.perf_counter() - wall, time.process_time() - cpu


def command(words: Sequence[str], **environment: str) -> tuple[str, float, float, float]:
    """What a command prints, its seconds, its CPU seconds and its largest resident GB.

    The system's own account of a child's memory begins with what its parent holds.
    """
    begun, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    most = 0
    with (
        tempfile.TemporaryFile("w+") as printed,
        subprocess.Popen(
            [sys.executable, "-m", "jaxkg", "--quiet", *words],
            stdout=printed,
            env={**os.environ, **environment},
        ) as process,
    ):
        while process.poll() is None:
            most = max(most, peak_memory_of(process.pid))
            time.sleep(0.01)
        seconds = time.perf_counter() - begun
        printed.seek(0)
        said = printed.read()
    if process.returncode:
        raise SystemExit(f"jaxkg {' '.join(words)} ended with {process.returncode}: {said}")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    return said, seconds, cpu, most / 2**30


def questions(kg: KnowledgeGraph, count: int, seed: int) -> list[Question]:
    """A fact's head and relation each, in words."""
    rows = np.random.default_rng(seed).integers(0, kg.num_triples, count)
    return [
        Question(f"q{at}", f"What is the {kg.relation_labels[code].split()[-1]} of {kg.name(h)}?")
        for at, (h, code, _) in enumerate(kg.triples[rows].tolist())
    ]


def system(store: Store, reach: Reach = PARTS) -> Any:
    """The reader over a store."""
    return build_system("reader", Parts(store.schema, lambda *told: None, store=store, reach=reach))


def looked_at(record: Table, folder: Path, draws: int, seed: int) -> None:
    """Opening, linking, and what lies around."""
    _, wall, cpu = timed(lambda: open_store(folder))
    record.add("open", wall, cpu, "2 s")
    store = open_store(folder)
    kg = open_graph(folder, verify=False, packed=True)
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, kg.num_entities, draws).tolist()
    names = [entity_name(int(kg.entity_ids[row].removeprefix("m."))) for row in rows]
    seconds = [timed(lambda name=name: store.search([name])) for name in names]
    assert all(row in found[0][0] for row, found in zip(rows, seconds))
    for share, word in ((50, "median"), (95, "of 95 %")):
        at = [float(np.percentile([run[k] for run in seconds], share)) for k in (1, 2)]
        record.add(f"link a name, {word}", *at, "0.02 s")
    reach = Reach(hops=2, whole=0)

    def around(row: int) -> int:
        return topic_graph(store, surroundings(store, [row], reach), whole_schema=False).num_triples

    for word, asked in (("first", "0.3 s"), ("again", "0.05 s")):
        runs = [timed(lambda row=row: around(row)) for row in rows]
        for share, part in ((50, "median"), (95, "of 95 %")):
            at = [float(np.percentile([run[k] for run in runs], share)) for k in (1, 2)]
            record.add(f"two hops {word}, {part}", *at, asked)


def asked(record: Table, folder: Path, cache: Path, seed: int) -> None:
    """The reader: in a process of its own, and again within one."""
    kg = open_graph(folder, verify=False, packed=True)
    some = questions(kg, 21, seed)
    for word in ("first answer, nothing kept", "the same in a later process"):
        words = ["ask", some[0].text, "--kg", f"mapped:{folder}"]
        said, wall, cpu, memory = command(words, JAXKG_CACHE=str(cache))
        assert "Paths" in said
        record.add(word, wall, cpu, "12 s, 3 GB", memory)
    qa = system(open_store(folder))
    qa.ask(some[0])
    runs = [timed(lambda question=question: qa.ask(question)) for question in some[1:]]
    for share, part in ((50, "median"), (95, "of 95 %")):
        at = [float(np.percentile([run[k] for run in runs], share)) for k in (1, 2)]
        record.add(f"further question in a process, {part}", *at, "0.5 s")


def added(record: Table, folder: Path, count: int) -> None:
    """Facts are added, and seen by the next answer."""
    relation = relation_name(7)
    facts = [(f"new{at}", relation, f"m.{at:08d}") for at in range(count)]
    names = {f"new{at}": f"Newcomer Number {at}" for at in range(count)}
    more = KnowledgeGraph.from_triples(facts, names=names)
    done, wall, cpu = timed(lambda: edit.add(folder, more))
    record.add(f"{done.facts:,} facts added", wall, cpu, "1 s")
    store, wall, cpu = timed(lambda: open_store(folder))
    record.add("open after that", wall, cpu, "2 s")
    text = f"What is the {relation.split('.')[-1]} of Newcomer Number 3?"
    answer = system(store).ask(text)
    assert [entity.entity for entity in answer.entities] == ["m.00000003"], answer
    (folder / "changes.jsonl").unlink()


def through_an_endpoint(table: Table, home: Path, triples: int, count: int, seed: int) -> None:
    """A smaller graph of the same kind behind Oxigraph, asked in one batch, and once more."""
    (home / "small").mkdir()
    source, names = write_graph(home / "small", triples, 200, seed)
    write_ntriples(read_graph(source, names=names), home / "small.nt")
    kg = read_graph(home / "small.nt")
    some = questions(kg, count, seed)
    with oxigraph(home / "small.nt", home / "oxigraph") as url:
        for word, reach in (("whole", Reach(whole=10**6)), ("in parts", PARTS)):
            endpoint = Endpoint(url, EndpointSettings(keep=0, requests=10**6))
            qa = system(SparqlStore(endpoint), reach)
            found, first, _ = timed(lambda qa=qa: qa.answer(some))
            sent = endpoint.sent / count
            again = timed(lambda qa=qa: qa.answer(some))[1]
            answered = sum(bool(answer.entities) for answer in found)
            more = (endpoint.sent - sent * count) / count
            table.add(word, kg.num_triples, answered, count / first, count / again, sent, more)


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__, data=False)
    numbers(parser, triples=10_000_000, relations=10_000, additions=10_000, draws=100)
    numbers(parser, endpoint=100_000, questions=64)
    parser.add_argument(
        "--folder", type=Path, help="work here; keep graph and source for next time"
    )
    options = parser.parse_args(argv)
    record = Record(__file__, options)
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        home = Path(name)
        folder = (options.folder or home) / "graph"
        table = record.table("what", "seconds", "of CPU", "asked for", "resident GB")
        if not folder.exists():
            place = options.folder or home
            source, names = place / "facts.parquet", place / "names.tsv"
            if not names.exists():
                write_graph(place, options.triples, options.relations, options.seed)
            words = ["kg", "build", str(source), "--names", str(names), "-o", str(folder), "--big"]
            _, wall, cpu, memory = command(words)
            table.add(f"build, {options.triples:,} triples", wall, cpu, "", memory)
        looked_at(table, folder, options.draws, options.seed)
        asked(table, folder, home / "cache", options.seed)
        added(table, folder, options.additions)
        kg = open_graph(folder, verify=False, packed=True)
        sizes = {path: path.stat().st_size for path in folder.rglob("*") if path.is_file()}
        columns = ("first", "relation", "tail", "back", "back_relation", "back_first")
        facts = sum(n for p, n in sizes.items() if p.stem in columns)
        each = [size / kg.num_triples for size in (facts, sum(sizes.values()) - facts)]
        record.note(
            f"{kg!r}: {each[0]:.1f} bytes a triple, both directions, and {each[1]:.1f} of names "
            "and where to look them up (asked for: 16, names apart)"
        )
        title = f"{options.questions} questions in one batch through an endpoint, by the reader"
        titles = ("fetched", "triples", "answered", "questions/s first", "again")
        through = record.table(*titles, "requests a question", "again", title=title)
        through_an_endpoint(through, home, options.endpoint, options.questions, options.seed)
    record.note(
        f"peak memory of this process {peak_memory() / 2**30:.2f} GB; load {os.getloadavg()[0]:.0f}"
    )
    record.save()


if __name__ == "__main__":
    main()
