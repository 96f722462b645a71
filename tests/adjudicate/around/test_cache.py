import asyncio
import dataclasses
import sqlite3
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import pytest
from pydantic import BaseModel

from jaxkg import adjudicate
from jaxkg.adjudicate import (
    Cache,
    Message,
    Prompted,
    Replay,
    Reply,
    Request,
    Scripted,
    ask,
    tally,
)
from jaxkg.adjudicate.around.store import ReplyStore
from jaxkg.errors import JaxkgError

ROOT = Path(adjudicate.__file__).parent.parent.parent


def ask_for(text, **options):
    return Request((Message("user", text),), **options)


def upper(request):
    return request.messages[-1].content.upper()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "replies.sqlite"


def test_a_second_run_asks_nobody_and_says_the_same(path):
    requests = [ask_for("a", question="1"), ask_for("b", question="2")]
    with Cache(Scripted(upper), path) as cache:
        first = cache.complete(requests)
        assert [reply.cached for reply in first] == [False, False]
    nobody = Scripted([])
    with Cache(nobody, path) as cache:
        second = asyncio.run(cache.acomplete(requests))
        again = cache.complete([ask_for("a", question="9", stage="other")])
    assert [dataclasses.replace(reply, cached=False) for reply in second] == first
    assert all(reply.cached for reply in second)
    assert again == second[:1], "the account is no part of the key"
    assert nobody.requests == []


def test_another_model_is_asked_again(path):
    with Cache(Scripted(upper, model="m1"), path) as cache:
        cache.complete([ask_for("a")])
    other = Scripted(upper, model="m2")
    with Cache(other, path) as cache:
        cache.complete([ask_for("a")])
    assert len(other.requests) == 1


def test_hits_and_misses_keep_their_places_and_all_are_told(path):
    with Cache(Scripted(upper), path) as cache:
        cache.complete([ask_for("b"), ask_for("d")])
        inner, told = cache.inner, {}
        replies = cache.complete(
            [ask_for(text) for text in "abcde"], on_reply=lambda n, reply: told.update({n: reply})
        )
    assert [reply.text for reply in replies] == list("ABCDE")
    assert [reply.cached for reply in replies] == [False, True, False, True, False]
    assert told == dict(enumerate(replies))
    assert [r.messages[-1].content for r in inner.requests] == ["b", "d", "a", "c", "e"]


def test_equal_requests_of_a_batch_are_sent_once(path):
    inner = Scripted(upper)
    with Cache(inner, path) as cache:
        replies = cache.complete([ask_for("a"), ask_for("b"), ask_for("a"), ask_for("a", seed=1)])
    assert [reply.text for reply in replies] == ["A", "B", "A", "A"]
    assert [reply.cached for reply in replies] == [False, False, True, False]
    assert len(inner.requests) == 3


def test_each_reply_is_stored_when_it_arrives(path):
    """The batch dies after the second reply; both were on disk before that."""
    with Cache(Scripted(["one", "two"]), path) as cache:
        with pytest.raises(JaxkgError, match="script has ended"):
            cache.complete([ask_for(text) for text in "abc"])
        stored = cache.store.get([ask_for(text).key("scripted") for text in "abc"])
    assert sorted(reply.text for reply in stored.values()) == ["one", "two"]


def test_each_reply_is_stored_before_it_is_told(path):
    with Cache(Scripted(upper), path) as cache:
        seen = []
        cache.complete([ask_for("a")], on_reply=lambda n, reply: seen.append(len(cache.store)))
    assert seen == [1]


def test_failures_are_asked_again_and_replies_never_replaced(path):
    key = ask_for("a").key("scripted")
    with Cache(Scripted([Reply(error="timeout", detail="late"), "A"]), path) as cache:
        assert cache.complete([ask_for("a")])[0].error == "timeout"
        assert cache.store.get([key])[key].error == "timeout"
        assert cache.complete([ask_for("a")])[0].text == "A"
        cache.store.put(key, "", Reply("another"))
        cache.store.put(key, "", Reply(error="server"))
        assert cache.store.get([key])[key].text == "A"


def test_what_is_held_back_is_not_stored(path):
    with Cache(Scripted(upper), path) as cache:
        cache.complete([ask_for("a")])
        replies = cache.complete([ask_for("a"), ask_for("b")], admit=lambda place: f"no {place}")
        assert [reply.detail for reply in replies] == ["no 0", "no 1"]
        assert len(cache.store) == 1


def test_admission_is_asked_with_the_place_in_the_callers_batch(path):
    with Cache(Scripted(upper), path) as cache:
        cache.complete([ask_for("a")])
        asked = []
        cache.complete([ask_for(text) for text in "baca"], admit=asked.append)
    assert sorted(asked) == [0, 1, 2, 3]


def test_more_requests_than_one_query_takes(path):
    requests = [ask_for(str(n)) for n in range(1203)]
    with Cache(Scripted(upper), path) as cache:
        cache.complete(requests)
        assert all(reply.cached for reply in cache.complete(requests))


def test_replay_answers_from_the_file_alone(path):
    with Cache(Scripted([Reply("A", prompt_tokens=7), Reply(error="server")]), path) as cache:
        cache.complete([ask_for("a"), ask_for("b")])
    with Replay(path, "scripted") as replay:
        told = []
        replies = replay.complete([ask_for("b"), ask_for("a")], on_reply=lambda *x: told.append(x))
        assert [(reply.text, reply.error) for reply in replies] == [("", "server"), ("A", None)]
        assert replies[1].prompt_tokens == 7
        assert told == list(enumerate(replies))
        assert asyncio.run(replay.acomplete([ask_for("a")])) == replies[1:]
        held = replay.complete([ask_for("a")], admit=lambda place: "no")
        assert held[0].error == "budget"
        with pytest.raises(JaxkgError, match=r"1 of 2 requests .* stage 'plan', question 'q7'"):
            replay.complete([ask_for("a"), ask_for("c", stage="plan", question="q7")])
    with pytest.raises(JaxkgError, match="no such file"):
        Replay(path.with_name("absent"), "scripted")


def test_files_that_are_something_else_are_told(tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("not a database, but long enough to have a header " * 10)
    with pytest.raises(JaxkgError, match=r"notes\.txt"):
        ReplyStore(text)
    newer = tmp_path / "newer.sqlite"
    with sqlite3.connect(newer) as database:
        database.execute("PRAGMA user_version = 9")
    database.close()
    with pytest.raises(JaxkgError, match="format 9, wanted 1"):
        ReplyStore(newer)
    foreign = tmp_path / "foreign.sqlite"
    with sqlite3.connect(foreign) as database:
        database.execute("CREATE TABLE mine (x)")
    database.close()
    with pytest.raises(JaxkgError, match="not a file of recorded replies"):
        ReplyStore(foreign)
    with pytest.raises(JaxkgError, match="cannot open"):
        ReplyStore(tmp_path)


def test_a_closed_file_is_told(path):
    store = ReplyStore(path)
    store.close()
    store.close()
    with pytest.raises(JaxkgError, match=r"replies\.sqlite"):
        store.put("k", "a", Reply("x"))


def test_a_lone_surrogate_can_be_stored(path):
    with Cache(Scripted(["\ud83d ok"]), path) as cache:
        cache.complete([ask_for("\ud800")])
        assert cache.complete([ask_for("\ud800")])[0].cached


def test_threads_share_a_cache(path):
    with Cache(Scripted(upper), path) as cache:

        def work(name):
            for n in range(50):
                cache.complete([ask_for(f"{name}{n}")])

        threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(cache.store) == 200


WRITER = """
import sys
from jaxkg.adjudicate import Cache, Message, Request, Scripted
path, name = sys.argv[1:]
sys.stdin.readline()
with Cache(Scripted(lambda request: name), path) as cache:
    for n in range(150):
        cache.complete([Request((Message("user", f"shared {n}"),))])
        cache.complete([Request((Message("user", f"{name} {n}"),))])
"""


def test_several_processes_write_one_file_at_once(path):
    path.parent.mkdir()
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), name],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        for name in "abcd"
    ]
    for writer in writers:
        assert writer.stdin
        writer.stdin.write("go\n")
        writer.stdin.flush()
    results = [(writer.communicate(timeout=60)[1], writer.returncode) for writer in writers]
    assert results == [("", 0)] * 4
    store = ReplyStore(path)
    assert len(store) == 150 + 4 * 150
    own = [ask_for(f"b {n}").key("scripted") for n in range(150)]
    assert {reply.text for reply in store.get(own).values()} == {"b"}
    store.close()
    with sqlite3.connect(path) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    database.close()


class Chosen(BaseModel):
    indices: list[int]


def prompted(text):
    return Prompted((Message("user", text),), Chosen)


def test_what_cannot_be_read_is_asked_again_where_that_is_wished(path):
    """And only that, once, and what is readable then is what stays."""
    good, bad = '{"indices": [1]}', "hard to say"
    with Cache(Scripted([good, bad]), path) as cache:
        assert tally(ask(cache, [prompted("a"), prompted("b")], repair=False))["read"] == 1
    with Cache(Scripted([]), path) as cache:
        assert tally(ask(cache, [prompted("a"), prompted("b")], repair=False))["read"] == 1
    inner = Scripted([bad, good])
    for asked, read in ((1, 1), (2, 2), (2, 2)):
        with Cache(inner, path, retry=True) as cache:
            for _ in range(2):
                outcomes = ask(cache, [prompted("a"), prompted("b")], repair=False)
                assert tally(outcomes)["read"] == read
        assert len(inner.requests) == asked
    with Replay(path, "scripted") as replay:
        assert tally(ask(replay, [prompted("b")], repair=False))["read"] == 1


@pytest.mark.parametrize(
    "row",
    [
        "[" * 100_000,
        '{"text": "x", "cost": 1}',
        '{"text": ',
        '{"text": 5}',
        '{"prompt_tokens": -100000}',
        '{"completion_tokens": ' + "9" * 5000 + "}",
        "[]",
        "",
    ],
)
def test_a_row_that_is_damaged_is_asked_again_and_replaced(path, row):
    with Cache(Scripted(upper), path) as cache:
        cache.complete([ask_for("a"), ask_for("b")])
    with sqlite3.connect(path) as database:
        database.execute(
            "UPDATE replies SET reply = ? WHERE key = ?", (row, ask_for("a").key("scripted"))
        )
    database.close()
    inner = Scripted(upper)
    for _ in range(2):
        with Cache(inner, path) as cache:
            assert [r.text for r in cache.complete([ask_for("a"), ask_for("b")])] == ["A", "B"]
    assert len(inner.requests) == 1


def test_a_lone_surrogate_that_an_older_release_stored_becomes_a_mark(path):
    store = ReplyStore(path)
    store.put("k", "a", Reply("Caf\ud800"))
    assert store.get(["k"])["k"].text == "Caf\ufffd"
    store.close()


@pytest.mark.parametrize("where", [100, 5000, -3000])
def test_a_damaged_file_is_put_aside_and_what_can_be_read_of_it_is_kept(path, where):
    requests = [ask_for(f"{n} " + "y" * 500) for n in range(50)]
    with Cache(Scripted(upper), path) as cache:
        cache.complete(requests)
    content = bytearray(path.read_bytes())
    content[where : where + 2000] = b"\x5a" * 2000
    path.write_bytes(content)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for _ in range(2):
            inner = Scripted(upper)
            with Cache(inner, path) as cache:
                assert [r.text for r in cache.complete(requests)] == list(map(upper, requests))
    assert len(inner.requests) == 0, "the second time all is there again"
    assert len(told) <= 1
    assert all("damaged" in str(each.message) for each in told)
    with Replay(path, "scripted") as replay:
        assert len(replay.complete(requests)) == 50


def test_a_file_cut_short_is_put_aside(path):
    with Cache(Scripted(upper), path) as cache:
        cache.complete([ask_for(f"{n} " + "y" * 500) for n in range(50)])
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.warns(UserWarning, match=r"damaged.*replies\.sqlite\.damaged1"):
        cache = Cache(Scripted(upper), path)
    with cache:
        assert cache.complete([ask_for("a")])[0].text == "A"
        assert cache.complete([ask_for("a")])[0].cached
    assert path.with_name("replies.sqlite.damaged1").stat().st_size == 5000


@pytest.mark.parametrize("when", ["at the start", "later"])
def test_a_disk_that_takes_nothing_costs_no_reply(path, when, monkeypatch):
    if when == "at the start":
        path.parent.parent.joinpath("folder").write_text("no folder")
        with pytest.warns(UserWarning, match="neither read from it nor kept") as told:
            cache = Cache(Scripted(upper), path)
    else:
        cache = Cache(Scripted(upper), path)
        cache.store._run("PRAGMA max_page_count = 3", ())
        monkeypatch.setattr(Scripted, "close", lambda self: None)
    with cache, warnings.catch_warnings(record=True) as later:
        warnings.simplefilter("always")
        texts = [f"{n}" + "y" * 5000 for n in range(20)]
        replies = cache.complete([ask_for(text) for text in texts])
    assert [reply.text for reply in replies] == [text.upper() for text in texts]
    assert len(later) == (0 if when == "at the start" else 1)
    if when == "later":
        assert "full" in str(later[0].message)
    else:
        assert len(told) == 1


SLOW = """
import sys, time
from jaxkg.adjudicate import Cache, Message, Request, Scripted
path, order = sys.argv[1:]
def slow(request):
    time.sleep(0.02)
    print(request.messages[-1].content, flush=True)
    return "x"
sys.stdin.readline()
with Cache(Scripted(slow, model="m", rates=None), path) as cache:
    texts = [str(n) for n in range(40)][:: int(order)]
    replies = cache.complete([Request((Message("user", text),)) for text in texts])
assert [reply.text for reply in replies] == ["x"] * 40
"""


def test_two_processes_with_one_file_pay_once_for_each_question(path):
    path.parent.mkdir()
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", SLOW, str(path), order],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        for order in ("1", "1", "-1")
    ]
    for run in runs:
        assert run.stdin
        run.stdin.write("go\n")
        run.stdin.flush()
    paid = [text for run in runs for text in run.communicate(timeout=60)[0].split()]
    assert [run.returncode for run in runs] == [0] * 3
    assert sorted(paid) == sorted(str(n) for n in range(40))


def test_a_process_that_died_keeps_nobody_waiting(path):
    path.parent.mkdir()
    code = (
        "import os, sys; from jaxkg.adjudicate.around.claims import Claims; "
        "Claims(sys.argv[1]).take(sys.argv[2], enough=lambda: False); os._exit(9)"
    )
    key = ask_for("a").key("scripted")
    subprocess.run([sys.executable, "-c", code, f"{path}.lock", key], cwd=ROOT, check=False)
    with Cache(Scripted(upper), path) as cache:
        assert cache.complete([ask_for("a")])[0].text == "A"
