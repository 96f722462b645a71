"""What a model endpoint can do wrong, by name; `faults.py` plays it."""

from __future__ import annotations

import base64
import dataclasses
import gzip
import json
import urllib.parse
from collections.abc import Callable
from typing import Any, Literal

KEY = "sk-recognisable-0123456789"
ESCAPE = "\x1b[31mred\x1b[2J"

Kind = Literal["failed", "unread", "readable", "slow"]


@dataclasses.dataclass(frozen=True)
class Fault:
    """One fault.

    Attributes:
        name: in words.
        kind: whether nothing comes that was paid for ("failed"; "slow" where time runs out), a
            reply comes that cannot be read, or one that can.
        behaviour: what is done, from what a sound model would say: `Behaviour` of the loopback
            server.
    """

    name: str
    kind: Kind
    behaviour: Callable[[str], dict[str, Any]]

    @property
    def readable(self) -> bool:
        """Whether the reply can be read all the same."""
        return self.kind == "readable"


def forms_of(key: str) -> list[bytes]:
    """The key as it is, and as careless servers write it."""
    escaped = "".join(f"\\u{ord(char):04x}" for char in key)
    return [
        key.encode(),
        urllib.parse.quote(key, safe="").replace("-", "%2D").encode(),
        escaped.encode(),
        base64.b64encode(key.encode()).rstrip(b"="),
        key.encode("utf-16-le"),
    ]


def _completion(message: Any, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": 5, "completion_tokens": 5, "total_tokens": 10}
    return {"id": "1", "object": "chat.completion", "choices": [choice], "usage": usage, **more}


def _whole(text: str, **more: Any) -> bytes:
    return json.dumps(_completion({"role": "assistant", "content": text}, **more)).encode()


def _message(message: Any) -> Callable[[str], dict[str, Any]]:
    return lambda text: {"body": json.dumps(_completion(message)).encode()}


def _said(text: str) -> Callable[[str], dict[str, Any]]:
    return lambda _: {"text": text}


def _as(dress: Callable[[str], str]) -> Callable[[str], dict[str, Any]]:
    return lambda text: {"text": dress(text)}


def _body(body: bytes, **more: Any) -> Callable[[str], dict[str, Any]]:
    return lambda _: {"body": body, **more}


def _raw(raw: bytes, **more: Any) -> Callable[[str], dict[str, Any]]:
    return lambda _: {"raw": raw, **more}


def _usage(usage: Any) -> Callable[[str], dict[str, Any]]:
    return lambda text: {"text": text, "usage": usage}


def _packed(text: str) -> dict[str, Any]:
    return {"body": gzip.compress(_whole(text)), "headers": {"Content-Encoding": "gzip"}}


def _status(status: int, **more: Any) -> Callable[[str], dict[str, Any]]:
    told = f"no: {KEY} {ESCAPE} Bearer {KEY}"
    return lambda _: {"status": status, "message": told, **more}


_HTTP = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
_LIMIT = {"status": 429, "message": "slow down"}
_LONG = "9" * 5000

_FAILED: dict[str, Callable[[str], dict[str, Any]]] = {
    **{str(status): _status(status) for status in (400, 401, 402, 403, 404, 408, 409, 413, 422)},
    **{str(status): _status(status) for status in (429, 500, 501, 502, 503, 504, 529)},
    "429, quota used up": _status(429, code="insufficient_quota"),
    **{
        f"429, Retry-After {wait}": lambda _, wait=wait: {**_LIMIT, "retry_after": wait}
        for wait in ("0", "soon", "-5", "99999", "nan", "Wed, 21 Oct 2015 07:28:00 GMT")
    },
    "500, a page": _status(500, body=f"<html>{KEY}{ESCAPE}</html>".encode()),
    "400, deep brackets": _status(400, body=b"[" * 200_000),
    "400, a long number": _status(400, body=b'{"error": {"message": ' + b"9" * 5000 + b"}}"),
    "400, a list": _status(400, body=b'[{"error": 1}]'),
    "400, no text": _status(400, body=b"\xff\xfe\x00\x80"),
    "204": _raw(b"HTTP/1.1 204 No Content\r\n\r\n"),
    "301 to itself": _status(301, headers={"Location": "/v1/chat/completions"}),
    "307 to itself": _status(307, headers={"Location": "/v1/chat/completions"}),
    "307 with the key": _status(307, headers={"Location": f"http://{KEY}@127.0.0.1:1/v1"}),
    "nothing": _body(b" "),
    "a page": _body(f"<html>{KEY} {ESCAPE}</html>".encode()),
    "null": _body(b"null"),
    "a list": _body(b"[1, 2]"),
    "an empty object": _body(b"{}"),
    "no choices": _body(b'{"choices": []}'),
    "an empty choice": _body(b'{"choices": [{}]}'),
    "choices null": _body(b'{"choices": null, "usage": null}'),
    "message null": _message(None),
    "message a list": _message(["x"]),
    "content a number": _message({"content": 5}),
    "content an object": _message({"content": {"text": "x"}}),
    "content a list of numbers": _message({"content": [1, 2]}),
    "an error in a 200": _body(json.dumps({"error": {"message": f"{KEY}{ESCAPE}"}}).encode()),
    "two bodies": lambda text: {"body": _whole(text) * 2},
    "a stream": lambda text: {"body": b"data: " + _whole(text) + b"\n\ndata: [DONE]\n\n"},
    "no UTF-8": lambda text: {"body": b"\xff\xfe" + _whole(text)},
    "deep brackets": _body(b"[" * 200_000),
    "deep objects": _body(b'{"a":' * 100_000),
    "a long number": _body(b'{"choices": [{"message": {"content": ' + b"9" * 5000 + b"}}]}"),
    "17 MB": _body(b" " * ((1 << 24) + 10)),
    "a bomb": _body(gzip.compress(bytes(1 << 27)), headers={"Content-Encoding": "gzip"}),
    "damaged gzip": _body(b"\x1f\x8b nothing", headers={"Content-Encoding": "gzip"}),
    "unpacked gzip": _body(b"{}", headers={"Content-Encoding": "gzip"}),
    "cut": lambda text: {"text": text, "cut": True},
    "closed at once": _raw(b""),
    "no HTTP": _raw(b"220 mail.example.org ESMTP\r\n"),
    "half a header": _raw(b"HTTP/1.1 200 OK\r\nContent-Ty"),
    "a header of 200 kB": _raw(_HTTP + b"X: " + b"x" * 200_000 + b"\r\n\r\n{}"),
    "a cut chunk": _raw(_HTTP + b'Transfer-Encoding: chunked\r\n\r\nff\r\n{"choices"'),
    "a chunk of no length": _raw(_HTTP + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n"),
    "a negative length": _raw(_HTTP + b"Content-Length: -1\r\n\r\n{}"),
    "too long a length": _raw(_HTTP + b"Content-Length: 5000\r\n\r\n{}"),
    "declined": lambda _: {"text": None, "refusal": f"never {KEY}{ESCAPE}"},
    "filtered": lambda _: {"text": "", "finish": "content_filter"},
}
_SLOW: dict[str, Callable[[str], dict[str, Any]]] = {
    "late": lambda text: {"text": text, "delay": 2.0},
    "a dripping body": lambda text: {"text": text, "drip": 0.05},
    "dripping headers": _raw(_HTTP * 20, drip=0.05),
    "102 without end": lambda text: {"text": text, "early": 50, "drip": 0.1},
}
_UNREAD: dict[str, Callable[[str], dict[str, Any]]] = {
    "empty": _said(""),
    "blanks": _said(" \n\t" * 1000),
    "prose": _said(f"I would rather not say. {ESCAPE} {KEY}"),
    "cut at the longest": lambda text: {"text": text[: len(text) // 2], "finish": "length"},
    "thinking without end": _said("<think>" + "hm " * 500),
    "a call of a tool": _message({"content": None, "tool_calls": [{"function": {"name": "x"}}]}),
    "brackets": _said("[" * 200_000),
    "objects": _said('{"a":' * 100_000),
    "quotes": _said("'" * 100_000),
    "another object": _said('{"foo": 1}'),
    "a bare null": _said("null"),
    "a megabyte": _said("x" * 1_000_000),
    "all of it control characters": _said("\x00\x07\x1b]0;x\x07" * 10),
}
_READABLE: dict[str, Callable[[str], dict[str, Any]]] = {
    "sound": _as(str),
    "fenced": _as(lambda text: f"```json\n{text}\n```"),
    "fenced amid prose": _as(lambda text: f"Sure! {ESCAPE}\n```json\n{text}\n```\nBye {KEY}"),
    "thought first": _as(lambda text: f"<think>{{hm}} {KEY}</think>{text}"),
    "a byte order mark": lambda text: {"body": "\ufeff".encode() + _whole(text)},
    "in parts": lambda text: _message({"content": [{"type": "text", "text": text}]})(text),
    "packed": _packed,
    "no usage": _usage(False),
    "usage a list": _usage([1, 2]),
    "usage null": _usage({"prompt_tokens": None, "completion_tokens": None}),
    "usage negative": _usage({"prompt_tokens": -100, "completion_tokens": -7}),
    "usage in words": _usage({"prompt_tokens": "many", "completion_tokens": "9"}),
    "usage without end": _usage({"prompt_tokens": 10**30, "completion_tokens": 1e300}),
    "usage nested": _usage({"prompt_tokens": {"a": 1}}),
    "more than was asked": _as(lambda text: text[:-1] + f', "more": "{KEY}"}}'),
    "Latin text in another type": lambda text: {
        "body": _whole(text),
        "headers": {"Content-Type": "text/plain; charset=latin-1"},
    },
}


def _listed(kind: Kind, some: dict[str, Callable[[str], dict[str, Any]]]) -> dict[str, Fault]:
    return {name: Fault(name, kind, behaviour) for name, behaviour in some.items()}


FAULTS: dict[str, Fault] = {
    **_listed("failed", _FAILED),
    **_listed("slow", _SLOW),
    **_listed("unread", _UNREAD),
    **_listed("readable", _READABLE),
}
