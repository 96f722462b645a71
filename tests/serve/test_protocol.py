"""What callers may leave open, lie about or damage, over real connections."""

import asyncio
import contextlib
import importlib
import logging
import re
import socket
import threading
import time
import types
import urllib.request
from pathlib import Path
from unittest import mock

import pytest

from jaxkg.answer import Answer
from jaxkg.kg import demo_graph
from jaxkg.records import RankedEntity
from jaxkg.serve import app, protocol
from jaxkg.serve.app import Limits, service
from jaxkg.serve.facts import Facts

STUDY = Path(__file__).parents[2] / "scripts" / "study"
ASK = (
    b"POST /ask HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Content-Length: 17\r\n\r\n"
)
BODY = b'{"question": "x"}'


def answer(questions):
    found = (RankedEntity("a", "a", 1.0, ()),)
    return [Answer(question=q.text, question_id=q.id, entities=found) for q in questions]


@pytest.fixture(scope="module")
def port(serving):
    return serving(service(Facts.of(demo_graph()), answer))


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.4)
    monkeypatch.setattr(protocol, "BODY_SECONDS", 0.4)
    monkeypatch.setattr(protocol, "TAKE_SECONDS", 0.4)


@pytest.fixture
def caller(port):
    with socket.create_connection(("127.0.0.1", port), timeout=20) as caller:
        yield caller


@pytest.fixture
def faults(caplog, monkeypatch):
    """What the server logs; a caller's manners are no fault of its own."""
    monkeypatch.setattr(logging.getLogger("uvicorn.error"), "handlers", [caplog.handler])
    return caplog


def told(caller):
    """Everything that comes until the other end closes."""
    found = b""
    while piece := caller.recv(1 << 16):
        found += piece
    return found


def status(caller):
    return int(caller.recv(1 << 16).split(b" ", 2)[1])


def replies(port):
    """Replies of /schema so far."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as reply:
        found = re.search(r'route="/schema",status="200"} (\d+)', reply.read().decode())
    return int(found[1]) if found else 0


class TestEnds:
    def test_who_says_nothing_is_not_waited_for(self, caller):
        assert told(caller) == b""

    def test_half_a_head_is_not_waited_for(self, caller):
        caller.sendall(ASK[:20])
        assert told(caller) == b""

    def test_nor_is_half_of_the_second_request(self, caller):
        caller.sendall(ASK + BODY)
        assert status(caller) == 200
        caller.sendall(ASK[:20])
        assert told(caller) == b""

    def test_half_a_body_is_told_and_the_connection_ends(self, caller):
        caller.sendall(ASK + BODY[:5])
        assert told(caller).startswith(b"HTTP/1.1 408")

    @pytest.mark.parametrize("path", [b"/healthz", b"/nothing", b"/schema"])
    def test_a_body_that_drips_is_not_waited_for_whatever_reads_it(self, caller, path):
        caller.sendall(
            b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999999\r\n\r\n"
        )
        ends = time.monotonic() + 20
        with contextlib.suppress(OSError):
            while time.monotonic() < ends:
                caller.sendall(b"x")
                time.sleep(0.05)
        assert time.monotonic() < ends

    def test_a_body_that_comes_fast_enough_is_waited_for(self, caller, monkeypatch):
        monkeypatch.setattr(protocol, "BODY_RATE", 100)
        body = b'{"question": "x"' + b" " * 300 + b"}"
        caller.sendall(ASK.replace(b"17", b"%d" % len(body)))
        for start in range(0, len(body), 30):
            caller.sendall(body[start : start + 30])
            time.sleep(0.1)
        assert status(caller) == 200

    def test_a_body_is_not_waited_for_longer_than_so(self, caller, monkeypatch):
        monkeypatch.setattr(protocol, "LONGEST_BODY_SECONDS", 0.5)
        monkeypatch.setattr(protocol, "BODY_RATE", 1)
        caller.sendall(ASK.replace(b"17", b"9999"))
        with contextlib.suppress(OSError):
            for _ in range(40):
                caller.sendall(b" " * 10)
                time.sleep(0.05)
        assert told(caller).startswith(b"HTTP/1.1 408")

    def test_of_too_many_connections_the_one_that_waits_longest_goes(self, port, monkeypatch):
        monkeypatch.setattr(protocol, "HEAD_SECONDS", 60)
        monkeypatch.setattr(protocol, "MOST_OF_ONE", 3)
        with contextlib.ExitStack() as stack:
            callers = []
            for _ in range(5):
                link = socket.create_connection(("127.0.0.1", port), timeout=20)
                callers.append(stack.enter_context(link))
                time.sleep(0.05)
            for gone in callers[:2]:
                with contextlib.suppress(ConnectionError):
                    assert gone.recv(1) == b""
            for link in callers[2:]:
                link.sendall(ASK + BODY)
                assert status(link) == 200

    def test_a_head_that_is_asked_for_alone_comes(self, caller):
        for _ in range(2):
            caller.sendall(b"HEAD /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            reply = caller.recv(1 << 16)
            assert reply.startswith(b"HTTP/1.1 200")
            assert reply.endswith(b"\r\n\r\n")

    def test_what_is_no_request_gets_the_same_headers(self, caller):
        caller.sendall(b"nonsense\r\n\r\n")
        reply = told(caller)
        assert reply.startswith(b"HTTP/1.1 400")
        assert b"nosniff" in reply

    def test_a_head_without_end_is_refused(self, caller):
        caller.sendall(b"GET / HTTP/1.1\r\n")
        lines = (b"X: " + b"y" * 1000 + b"\r\n") * 10_000
        with pytest.raises(OSError):
            caller.sendall(lines)

    def test_a_long_head_is_refused_in_words(self, caller):
        caller.sendall(b"GET / HTTP/1.1\r\nX: " + b"y" * (protocol.LONGEST_HEAD + 1))
        assert b"too long" in told(caller)

    def test_a_head_within_the_bound_is_read(self, caller):
        caller.sendall(
            b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 60_000 + b"\r\n\r\n"
        )
        assert status(caller) == 200

    @pytest.mark.slow
    def test_who_does_not_read_is_left(self, port, faults):
        with socket.socket() as caller:
            caller.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            caller.connect(("127.0.0.1", port))
            caller.sendall(b"GET /schema HTTP/1.1\r\nHost: localhost\r\n\r\n" * 3000)
            before = -1
            while before < (before := replies(port)):
                time.sleep(1.5)
            caller.settimeout(20)
            assert 0 < told(caller).count(b"HTTP/1.1 200") < 3000
        assert faults.records == []

    def test_an_idle_connection_that_asked_is_kept(self, caller):
        caller.sendall(ASK + BODY)
        assert status(caller) == 200
        time.sleep(0.9)
        caller.sendall(ASK + BODY)
        assert status(caller) == 200

    def test_no_header_makes_a_caller_another_one(self, serving):
        limits = Limits(per_second=0.001, burst=1)
        port = serving(service(Facts.of(demo_graph()), answer, limits=limits))
        request = b"GET /schema HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 10.0.0.%d\r\n\r\n"
        codes = []
        for number in range(2):
            with socket.create_connection(("127.0.0.1", port), timeout=20) as caller:
                caller.sendall(request % number)
                codes.append(status(caller))
        assert codes == [200, 429]

    def test_two_requests_in_one_go_are_both_answered(self, caller):
        caller.sendall((ASK + BODY) * 2)
        found = b""
        while found.count(b"HTTP/1.1 200") < 2:
            found += caller.recv(1 << 16)

    def test_who_half_closes_behind_a_question_is_answered_or_left(self, caller):
        caller.sendall(ASK + BODY)
        caller.shutdown(socket.SHUT_WR)
        assert told(caller)[:12] in (b"HTTP/1.1 200", b"")


def cycle_of(transport, method="GET", *, response_started=True):
    return types.SimpleNamespace(
        transport=transport, scope={"method": method}, response_started=response_started
    )


def test_a_reply_goes_out_at_once_and_in_its_order():
    transport = mock.Mock()
    cycle = cycle_of(transport, response_started=False)
    joining = protocol._Joining(cycle)
    joining.write(b"go on")
    cycle.response_started = True
    for piece in (b"head", b"body", b"more"):
        joining.write(piece)
    joining.close()
    assert transport.method_calls == [
        mock.call.write(b"go on"),
        mock.call.writelines((b"head", b"body")),
        mock.call.write(b"more"),
        mock.call.close(),
    ]


def test_a_head_without_a_body_goes_out_before_the_end():
    transport = mock.Mock()
    joining = protocol._Joining(cycle_of(transport))
    joining.write(b"head")
    joining.close()
    assert transport.method_calls == [mock.call.write(b"head"), mock.call.close()]


def test_what_is_asked_by_who_has_left_is_not_looked_for(serving, monkeypatch):
    monkeypatch.setattr(app, "_SOON", 0.05)
    asked, go = [], threading.Event()

    def slow(questions):
        asked.extend(question.text for question in questions)
        go.wait(20)
        return answer(questions)

    port = serving(service(Facts.of(demo_graph()), slow))
    with contextlib.ExitStack() as stack:
        first, gone, last = (
            stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20))
            for _ in range(3)
        )
        first.sendall(ASK + BODY)
        while not asked:
            time.sleep(0.01)
        gone.sendall(ASK + BODY.replace(b"x", b"y"))
        time.sleep(0.2)
        gone.close()
        last.sendall(ASK + BODY.replace(b"x", b"z"))
        time.sleep(0.2)
        go.set()
        assert [status(first), status(last)] == [200, 200]
    assert asked == ["x", "z"]


@pytest.mark.slow
def test_malformed_requests_end_in_what_they_deserve(port, faults, monkeypatch):
    monkeypatch.syspath_prepend(str(STUDY))
    fuzzer = importlib.import_module("fuzz_serve").Fuzzer(port, seed=5, dawdlers=0.002)
    asyncio.run(fuzzer.run(300))
    assert fuzzer.bad == {}
    assert faults.records == []
    assert sum(ends.total() for ends in fuzzer.ends.values()) == 300
    assert fuzzer.ends["bodies"]["200"]
    assert fuzzer.ends["bodies"]["400"]
