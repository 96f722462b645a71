import dataclasses
import gzip
import os
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from asked_texts import ROOT, ask_for, upper

from jaxkg.adjudicate import Cache, Replay, Reply, Scripted
from jaxkg.adjudicate.around import store
from jaxkg.adjudicate.around.cache import Claims
from jaxkg.adjudicate.around.store import ReplyStore
from jaxkg.errors import JaxkgError


def test_a_second_run_asks_nobody_and_says_the_same(path):
    requests = [ask_for("a", question="1"), ask_for("b", question="2")]
    with Cache(Scripted(upper), path) as cache:
        first = cache.complete(requests)
        assert [reply.cached for reply in first] == [False, False]
    nobody = Scripted([])
    with Cache(nobody, path) as cache:
        second = cache.complete(requests)
        again = cache.complete([ask_for("a", question="9", stage="other")])
    assert [dataclasses.replace(reply, cached=False) for reply in second] == first
    assert all(reply.cached for reply in second)
    assert again == second[:1], "the account is no part of the key"
    assert nobody.requests == []


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


def test_failures_are_asked_again_and_replies_never_replaced(path):
    key = ask_for("a").key("scripted")
    with Cache(Scripted([Reply(error="timeout", detail="late"), "A"]), path) as cache:
        assert cache.complete([ask_for("a")])[0].error == "timeout"
        assert cache.store.get([key])[key].error == "timeout"
        assert cache.complete([ask_for("a")])[0].text == "A"
        cache.store.put(key, "", Reply("another"))
        cache.store.put(key, "", Reply(error="server"))
        assert cache.store.get([key])[key].text == "A"


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
        held = replay.complete([ask_for("a")], admit=lambda place: "no")
        assert held[0].error == "budget"
        with pytest.raises(JaxkgError, match=r"1 of 2 requests .* stage 'plan', question 'q7'"):
            replay.complete([ask_for("a"), ask_for("c", stage="plan", question="q7")])
    with pytest.raises(JaxkgError, match="no such file"):
        Replay(path.with_name("absent"), "scripted")


def test_an_archive_replays_as_the_file_it_was_packed_from(path):
    archive, again = path.with_name("packed.gz"), path.with_name("again.gz")
    with Cache(Scripted([Reply("A"), Reply(error="server")]), path) as cache:
        cache.complete([ask_for("a"), ask_for("b")])
        cache.store.note("context of scripted", "4096")
        cache.store.pack(archive)
        cache.store.pack(again)
    assert archive.read_bytes() == again.read_bytes()
    with Replay(archive, "scripted") as replay:
        replies = replay.complete([ask_for("b"), ask_for("a")])
        assert [(reply.text, reply.error) for reply in replies] == [("", "server"), ("A", None)]
        assert replay.context == 4096
        with pytest.raises(JaxkgError, match="1 of 1 requests to 'scripted' were never recorded"):
            replay.complete([ask_for("c")])
    assert archive.read_bytes() == again.read_bytes()


def test_what_is_no_archive_is_told(path, monkeypatch):
    archive = path.with_name("packed.gz")
    with Cache(Scripted(upper), path) as cache:
        cache.complete([ask_for("a")])
        cache.store.pack(archive)
    whole = archive.read_bytes()
    archive.write_bytes(whole[:-20])
    with pytest.raises(JaxkgError, match="damaged archive"):
        Replay(archive, "scripted")
    archive.write_bytes(gzip.compress(b"words"))
    with pytest.raises(JaxkgError, match="no archive of replies"):
        Replay(archive, "scripted")
    archive.write_bytes(whole)
    monkeypatch.setattr(store, "_LARGEST", 100)
    with pytest.raises(JaxkgError, match="more than 100 bytes"):
        Replay(archive, "scripted")


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


def test_a_lone_surrogate_can_be_stored(path):
    with Cache(Scripted(["\ud83d ok"]), path) as cache:
        cache.complete([ask_for("\ud800")])
        assert cache.complete([ask_for("\ud800")])[0].cached


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


def test_what_is_kept_is_its_owners(tmp_path):
    path = tmp_path / "jaxkg" / "replies" / "replies.sqlite"
    before = os.umask(0o022)
    try:
        ReplyStore(path).close()
        Claims(f"{path}.claims").close()
    finally:
        os.umask(before)
    for made in (path, Path(f"{path}.claims")):
        assert stat.S_IMODE(made.stat().st_mode) == 0o600
    for made in (path.parent, path.parent.parent):
        assert stat.S_IMODE(made.stat().st_mode) == 0o700
