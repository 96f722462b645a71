"""Changes of saved graphs: what is there afterwards, whatever happens on the way."""

import os
import random
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph, open_graph, save_graph
from jaxkg.kg.files.changes import CHANGES
from jaxkg.kg.stores import edit
from jaxkg.kg.stores.around import Reach, surroundings, topic_graph
from jaxkg.kg.stores.arrays import ArrayStore, save_index
from jaxkg.kg.stores.changed import open_store
from jaxkg.lock import FolderLock

FILMS = [("m1", "by", "p1"), ("m2", "by", "p1"), ("m3", "by", "p2")]


@pytest.fixture
def folder(tmp_path):
    kg = KnowledgeGraph.from_triples(FILMS, names={"m1": "Heat", "p1": "Mann"})
    save_index(save_graph(kg, tmp_path / "films"), kg)
    return tmp_path / "films"


def facts(kg):
    return {kg.triple(row) for row in range(kg.num_triples)}


def graph(triples, **more):
    return KnowledgeGraph.from_triples(triples, **more)


def test_added_and_removed(folder):
    new = graph(
        [("m4", "by", "p3"), ("m1", "by", "p1")],
        names={"m4": "Ali", "p1": "Michael Mann"},
        aliases={"p1": ["Mike"]},
        provenance=["new.tsv:1", "new.tsv:2"],
    )
    assert edit.add(folder, new) == (1, 1, ())
    assert edit.remove(folder, graph([("m2", "by", "p1")])) == (1, 0, ())
    now = open_graph(folder)
    assert facts(now) == {("m1", "by", "p1"), ("m3", "by", "p2"), ("m4", "by", "p3")}
    assert [now.name(now.entity(id)) for id in ("m1", "m4", "p1")] == [
        "Heat",
        "Ali",
        "Michael Mann",
    ]
    assert now.aliases[now.entity("p1")] == ("Mike",)
    assert now.source(int(now.find(now.entity("m4"), 0, now.entity("p3")))) == "new.tsv:1"
    # Back again, and once more: a fact is there or it is not.
    assert edit.add(folder, graph([("m2", "by", "p1")])).facts == 1
    assert edit.add(folder, graph([("m2", "by", "p1")])) == (0, 1, ())
    assert edit.remove(folder, graph([("m4", "by", "p3")])).facts == 1
    assert facts(open_graph(folder)) == set(FILMS)


def test_what_is_not_there_is_not_removed(folder):
    with pytest.raises(JaxkgError, match="nothing was removed"):
        edit.remove(folder, graph([("m1", "by", "p1"), ("m1", "by", "p9")]))
    assert not (folder / CHANGES).exists()
    assert facts(open_graph(folder)) == set(FILMS)


def test_relations_that_come_and_go_are_told(folder):
    before = open_graph(folder).relation_fingerprint
    assert edit.add(folder, graph([("m1", "year", "1995")])).relations == ("year",)
    assert open_graph(folder).relation_fingerprint != before
    assert edit.remove(folder, graph([("m1", "year", "1995")])).relations == ("year",)
    assert open_graph(folder).relation_fingerprint == before


def test_compacted(folder):
    edit.add(folder, graph([("m4", "by", "p3")], names={"m4": "Ali"}))
    changed = open_graph(folder)
    edit.compact(folder)
    assert not (folder / CHANGES).exists()
    assert open_graph(folder).fingerprint == changed.fingerprint
    assert open_store(folder).search(["ali"]) == [[changed.entity("m4")]]
    assert os.listdir(folder.parent) == ["films"]


def test_one_writer_at_a_time(folder):
    lock = FolderLock(folder)
    try:
        for change in (edit.add, edit.remove):
            with pytest.raises(JaxkgError, match="another process is writing"):
                change(folder, graph([("m1", "by", "p1")]))
        with pytest.raises(JaxkgError, match="another process is writing"):
            edit.compact(folder)
    finally:
        lock.close()


@pytest.mark.parametrize("lost", [1, 2, 30])
def test_an_unfinished_line_was_never_written(folder, lost):
    edit.add(folder, graph([("m4", "by", "p3")]))
    edit.add(folder, graph([("m5", "by", "p3")]))
    file = folder / CHANGES
    file.write_bytes(file.read_bytes()[:-lost])
    assert facts(open_graph(folder)) == {*FILMS, ("m4", "by", "p3")}
    edit.add(folder, graph([("m6", "by", "p3")]))
    assert facts(open_graph(folder)) == {*FILMS, ("m4", "by", "p3"), ("m6", "by", "p3")}


def test_damage_is_told(folder):
    edit.add(folder, graph([("m4", "by", "p3")]))
    edit.add(folder, graph([("m5", "by", "p3")]))
    file = folder / CHANGES
    whole = file.read_bytes()
    file.write_bytes(whole.replace(b'"m4"', b'"m7"'))
    with pytest.raises(JaxkgError, match=r"changes\.jsonl:2: damaged"):
        open_graph(folder)
    file.write_bytes(whole)
    save_graph(graph([("a", "b", "c")]), folder.parent / "other")
    (folder.parent / "other" / CHANGES).write_bytes(whole)
    with pytest.raises(JaxkgError, match="to another graph"):
        open_graph(folder.parent / "other")


ENDS = st.integers(0, 6)
SOME = st.sets(st.tuples(ENDS, st.integers(0, 2), ENDS), min_size=1, max_size=12)


@settings(max_examples=20)
@given(SOME, st.lists(st.tuples(st.booleans(), SOME), max_size=4))
def test_a_changed_store_is_the_changed_graph(tmp_path_factory, triples, steps):
    def named(some):
        return [(f"e{h}", f"r{r}", f"e{t}") for h, r, t in some]

    folder = tmp_path_factory.mktemp("changed") / "graph"
    kg = graph(named(triples), names={"e1": "Eins"})
    save_index(save_graph(kg, folder), kg)
    now = set(named(triples))
    for adding, some in steps:
        mine = set(named(some)) if adding else set(named(some)) & now
        if not mine or (not adding and mine == now):
            continue
        if adding:
            edit.add(folder, graph(mine, names={"e6": "Sechs"}))
        else:
            edit.remove(folder, graph(mine))
        now = now | mine if adding else now - mine
    whole = open_graph(folder)
    assert facts(whole) == now
    store, plain = open_store(folder), ArrayStore(whole)
    for id in whole.entity_ids:
        found = [
            topic_graph(
                some, surroundings(some, some.named([id])[0], Reach(hops=2)), whole_schema=False
            )
            for some in (store, plain)
        ]
        assert facts(found[0]) == facts(found[1])
        assert found[0].fingerprint == found[1].fingerprint
    names = ["eins", "sechs", "e3"]
    told = [
        [sorted(some.described(np.array(rows, int)).ids) for rows in some.search(names)]
        for some in (store, plain)
    ]
    # A name that was removed with its last fact may still lead to an entity without facts.
    assert all(set(two) <= set(one) for one, two in zip(*told))
    asked = [*named(triples), ("e0", "r0", "e9")]
    assert store.holds(asked) == [fact in now for fact in asked]
    assert store.stats()["triples"] == len(now)


CHANGER = """
import sys
from jaxkg.kg import KnowledgeGraph
from jaxkg.kg.stores import edit
for number in range(10**6):
    edit.add(sys.argv[1], KnowledgeGraph.from_triples([(f"n{number}", "by", "p1")]))
    print(number, flush=True)
    if number % 3 == 2:
        edit.compact(sys.argv[1])
"""


@pytest.mark.slow
def test_killed_at_any_moment_the_folder_is_whole(tmp_path):
    """At most the last call is lost, and nothing is ever damaged."""
    rng = random.Random(0)
    for round in range(25):
        folder = tmp_path / f"graph{round}"
        kg = graph(FILMS)
        save_index(save_graph(kg, folder), kg)
        process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(CHANGER), str(folder)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(rng.uniform(0, 0.3))
        os.kill(process.pid, signal.SIGKILL)
        done = [int(line) for line in process.stdout.read().split()]
        process.wait()
        process.stdout.close()
        told = {("n0", "by", "p1"), *((f"n{n}", "by", "p1") for n in done)}
        now = facts(open_graph(folder))
        assert {*FILMS, *told} <= now
        assert len(now) <= len(FILMS) + len(told) + 1
        store = open_store(folder)
        assert facts(topic_graph(store, surroundings(store, store.named(["p1"])[0]))) == now - {
            FILMS[2]
        }
        edit.add(folder, graph([("after", "by", "p1")]))
        edit.compact(folder)
        assert ("after", "by", "p1") in facts(open_graph(folder))
