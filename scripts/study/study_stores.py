"""MetaQA asked through a mapped folder and through SPARQL endpoints, beside the graph in memory.

The same answers and the same citations are counted, question by question, with questions a second
and requests a question. With --whole 0 the stores give what lies around topics alone (`Reach`);
else a graph of so many facts is fetched whole. The first time nothing is fetched yet; the second
time the same questions are asked of what is kept. Needs the programs of the package `oxigraph`, in
the extra `test`; Virtuoso is asked where `virtuoso-t` is on the PATH. A planner from
`table_metaqa.py -o FOLDER`, or the reader. Five minutes, ten with Virtuoso.

    python scripts/study/study_stores.py --planner runs/metaqa
    python scripts/study/study_stores.py --system reader --questions 100 --whole 0
"""

from __future__ import annotations

import contextlib
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from jaxkg.answer import Answer
from jaxkg.experiments.loading import settings_of
from jaxkg.experiments.registry import System, build_system
from jaxkg.kg import read_graph, save_graph
from jaxkg.kg.stores.around import Reach
from jaxkg.kg.stores.arrays import save_index
from jaxkg.kg.stores.changed import open_store
from jaxkg.kg.stores.endpoint import Endpoint, EndpointSettings
from jaxkg.kg.stores.sparql import SparqlStore
from jaxkg.kg.stores.store import Store
from jaxkg.records import Question
from jaxkg.systems.parts import Parts
from jaxkg.systems.stored import INCOMPLETE

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.record import Record, arguments, numbers
from lib.seconds import Laps
from lib.sets import sets

sys.path.append(str(Path(__file__).resolve().parents[2] / "tests" / "worlds"))
from sparql_server import oxigraph, put_graph, virtuoso, write_ntriples


def told(answer: Answer) -> tuple[object, ...]:
    """What has to be the same: what is answered, and the facts that prove it."""
    cited = [[(c.head, c.relation, c.tail) for c in path.citations] for path in answer.paths]
    return answer.abstained is None, [e.entity for e in answer.entities], cited, answer.query


def asked(system: System, questions: Sequence[Question], batch: int) -> tuple[list[Answer], float]:
    """The answers, and questions a second."""
    found, laps = [], Laps()
    for first in range(0, len(questions), batch):
        found += system.answer(questions[first : first + batch])
    return found, len(questions) / laps.lap()


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__, seed=False)
    numbers(parser, questions=1000, batch=256, whole=Reach.whole, fan=Reach.fan, facts=Reach.facts)
    parser.add_argument("--system", default="planner", choices=("planner", "reader"))
    parser.add_argument("--planner", type=Path, help="folder of a planner trained for MetaQA")
    parser.add_argument("--hops", type=int, nargs="+", default=(1, 2, 3), choices=(1, 2, 3))
    parser.add_argument("--set", action="append", default=[], help="NAME=VALUE, of the system")
    parser.add_argument("--endpoint", default="", help="how it is asked, as batch=200,page=1000")
    known = ("mapped", "Oxigraph", *["Virtuoso"] * (shutil.which("virtuoso-t") is not None))
    parser.add_argument("--stores", nargs="+", default=known, choices=known)
    options = parser.parse_args(argv)
    record = Record(
        __file__, options, part=f"{options.system}-{'whole' if options.whole else 'parts'}"
    )
    world = sets("metaqa", options.data)
    reach = Reach(whole=options.whole, fan=options.fan, facts=options.facts)
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as opened:
        folder = Path(name)
        write_ntriples(world.kg, folder / "facts.nt")
        kg = read_graph(folder / "facts.nt")
        save_index(save_graph(kg, folder / "saved"), kg)
        urls = {
            "Oxigraph": opened.enter_context(oxigraph(folder / "facts.nt", folder / "oxigraph"))
        }
        if "Virtuoso" in options.stores:
            (folder / "virtuoso").mkdir()
            url = opened.enter_context(virtuoso(folder / "virtuoso"))
            urls["Virtuoso"] = put_graph(url, folder / "facts.nt", "http://films.test/graph")

        def system(store: Store | None) -> System:
            wishes = dict(wish.split("=", 1) for wish in options.set)
            parts = Parts(
                kg if store is None else store.schema,
                lambda stage, done, total: None,
                planner_folder=options.planner,
                wishes=wishes,
                store=store,
                reach=reach,
            )
            return build_system(options.system, parts)

        table = record.table(
            *("hops", "store", "equal", "of them incomplete", "unequal and not told"),
            *("questions/s first", "again", "requests a question"),
        )
        whole = system(None)
        for hop in options.hops:
            questions = world.questions(f"metaqa-{hop}", "test", limit=options.questions)
            memory, first = asked(whole, questions, options.batch)
            again = asked(whole, questions, options.batch)[1]
            table.add(hop, "memory", "", "", "", first, again, "")
            how = f"keep=0,requests=1000000{',' * bool(options.endpoint)}{options.endpoint}"
            kept = settings_of(EndpointSettings, how, "--endpoint")
            stores: dict[str, Store] = {"mapped": open_store(folder / "saved")}
            stores |= {name: SparqlStore(Endpoint(url, kept)) for name, url in urls.items()}
            for name in options.stores:
                store = stores[name]
                qa = system(store)
                found, first = asked(qa, questions, options.batch)
                endpoint = getattr(store, "endpoint", None)
                sent = endpoint.sent / len(questions) if endpoint else ""
                again = asked(qa, questions, options.batch)[1]
                same = [told(a) == told(b) for a, b in zip(memory, found)]
                cut = [any(INCOMPLETE in note for note in answer.notes) for answer in found]
                silent = sum(not (s or c) for s, c in zip(same, cut))
                equal = f"{sum(same)} of {len(questions)}"
                table.add(hop, name, equal, sum(cut), silent, first, again, sent)
                for question, s, c in zip(questions, same, cut):
                    if not (s or c) and silent <= 5:
                        record.note(f"{name}: {question.text}")
    record.save()


if __name__ == "__main__":
    main()
