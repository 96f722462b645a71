"""Replies that cannot be read, files that are damaged or full, processes that share one or die."""

import sqlite3
import subprocess
import sys
import warnings

import pytest
from asked_texts import ROOT, Chosen, ask_for, upper

from jaxkg.adjudicate import (
    Cache,
    Message,
    Prompted,
    Replay,
    Scripted,
    ask,
    tally,
)


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
        "import os, sys; from jaxkg.adjudicate.around.cache import Claims; "
        "Claims(sys.argv[1]).take(sys.argv[2], enough=lambda: False); os._exit(9)"
    )
    key = ask_for("a").key("scripted")
    subprocess.run([sys.executable, "-c", code, f"{path}.lock", key], cwd=ROOT, check=False)
    with Cache(Scripted(upper), path) as cache:
        assert cache.complete([ask_for("a")])[0].text == "A"
