"""What an endpoint sends without end, or without sense, is bounded and told."""

import gzip
import json

import loopback
import pytest

from jaxkg.adjudicate import Backoff, Message, Request
from jaxkg.deadline import OutOfTime, TimeLimit
from jaxkg.wire.deadline import LARGEST_REPLY


def ask(backend, text="a"):
    return backend.complete([Request((Message("user", text),))])[0]


def completion(content="ok", **more):
    return json.dumps({"choices": [{"message": {"content": content}}], **more}).encode()


def test_informational_replies_do_not_stop_the_clock(serve, backend_of):
    server = serve(lambda body: loopback.Behaviour(early=200, drip=0.05))
    reply = ask(backend_of(server, timeout=0.4, backoff=Backoff(retries=0)))
    assert reply.error == "timeout"


@pytest.mark.parametrize("packed", [False, True])
def test_a_reply_has_a_largest_size(serve, backend_of, packed):
    body = completion("x" * (LARGEST_REPLY + 1))
    headers = {"Content-Encoding": "gzip"} if packed else {}
    content = gzip.compress(body * 5, 1) if packed else body
    server = serve(lambda _: loopback.Behaviour(body=content, headers=headers))
    reply = ask(backend_of(server))
    assert (reply.error, reply.attempts, reply.text) == ("protocol", 1, "")
    assert "larger than the 16,777,216 bytes" in reply.detail


def test_a_small_packed_reply_is_read(serve, backend_of):
    behaviour = loopback.Behaviour(
        body=gzip.compress(completion()), headers={"Content-Encoding": "gzip"}
    )
    assert ask(backend_of(serve(lambda _: behaviour))).text == "ok"


@pytest.mark.parametrize("coding", ["gzip, gzip", "deflate,gzip", "br", "zstd", "identity, a, b"])
def test_a_reply_packed_twice_or_strangely_is_refused_unread(serve, backend_of, coding):
    packed = gzip.compress(gzip.compress(b"0" * (1 << 24), 9), 9)
    server = serve(lambda _: loopback.Behaviour(body=packed, headers={"Content-Encoding": coding}))
    reply = ask(backend_of(server))
    assert (reply.error, reply.attempts) == ("protocol", 1)
    assert "packed" in reply.detail


def test_the_time_of_a_question_ends_that_of_its_requests(serve, backend_of):
    server = serve(lambda _: loopback.Behaviour(body=completion(), delay=5.0))
    backend = backend_of(server, timeout=60.0)
    requests = [Request((Message("user", text),)) for text in ("a", "b")]
    with pytest.raises(OutOfTime, match=r"longer than 0\.5 s"), TimeLimit(0.5):
        backend.complete(requests)


def test_redirects_are_few_and_not_tried_again(serve, backend_of):
    server = serve(
        lambda _: loopback.Behaviour(status=307, headers={"Location": "/v1/chat/completions"})
    )
    reply = ask(backend_of(server))
    assert (reply.error, reply.attempts) == ("protocol", 1)
    assert "redirect" in reply.detail.lower()
    assert server.statuses[307] <= 4


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 200_000,
        b'{"choices":' * 5000,
        b'{"choices": [{"message": {"content": ' + b"[" * 100_000 + b"}}]}",
        b'{"choices": ' + b"9" * 5000 + b"}",
        b"\xff\xfe\x00",
    ],
)
@pytest.mark.parametrize("status", [200, 400])
def test_a_body_that_is_no_completion_is_a_failure(serve, backend_of, body, status):
    server = serve(lambda _: loopback.Behaviour(body=body, status=status))
    reply = ask(backend_of(server))
    assert reply.error == ("protocol" if status == 200 else "bad_request")
    assert len(reply.detail) < 1000
    assert len(reply.text) <= 10_000


@pytest.mark.parametrize(
    "usage",
    [
        False,  # none at all
        [],
        [1, 2],
        "many",
        {"prompt_tokens": -5000, "completion_tokens": -1},
        {"prompt_tokens": 10**30, "completion_tokens": 1},
        {"prompt_tokens": True, "completion_tokens": None},
    ],
)
def test_a_usage_without_sense_is_none_and_the_reply_is_kept(serve, backend_of, usage):
    server = serve(lambda _: loopback.Behaviour(text="x" * 40, usage=usage))
    reply = ask(backend_of(server), "y" * 32)
    assert (reply.text, reply.error, reply.estimated) == ("x" * 40, None, True)
    assert (reply.prompt_tokens, reply.completion_tokens) == (8, 10)


@pytest.mark.parametrize("mark", [b"\xef\xbb\xbf", b"\n \n"])
def test_what_stands_before_the_json_costs_no_reply(serve, backend_of, mark):
    reply = ask(backend_of(serve(lambda _: loopback.Behaviour(body=mark + completion()))))
    assert (reply.text, reply.error) == ("ok", None)


def test_a_lone_surrogate_in_a_reply_becomes_a_mark(serve, backend_of):
    body = b'{"choices": [{"message": {"content": "Caf\\ud800 \\ud83d\\ude00"}}]}'
    reply = ask(backend_of(serve(lambda _: loopback.Behaviour(body=body))))
    assert reply.text == "Caf\ufffd \U0001f600"


def test_what_an_error_says_reaches_no_terminal_raw(serve, backend_of):
    server = serve(lambda _: loopback.Behaviour(status=400, message="\x1b]0;owned\x07\nbad\x1b[2J"))
    reply = ask(backend_of(server))
    assert reply.error == "bad_request"
    assert reply.detail.isprintable()
    assert "bad" in reply.detail
    refused = loopback.Behaviour(text=None, refusal="\x1b[2J no")
    assert ask(backend_of(serve(lambda _: refused))).detail.isprintable()
