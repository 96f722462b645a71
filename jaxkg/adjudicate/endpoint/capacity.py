"""What an endpoint can take: how long a prompt, and how many requests at a time."""

from __future__ import annotations

import dataclasses
import ipaddress
import threading
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit, urlunsplit

SMALLEST = 4096
"""Tokens of context, where a server on this machine does not say."""
_MOST = 1 << 30
_NAMES = ("n_ctx", "max_model_len", "loaded_context_length", "context_length", "context_window")


@dataclasses.dataclass(frozen=True)
class Capacity:
    """What a server bears.

    Attributes:
        context: tokens of prompt and reply together; None where nobody knows.
        slots: requests it works on at a time; None where nobody knows.
        source: where that is from, in words.
    """

    context: int | None
    slots: int | None
    source: str


def read_capacity(base_url: str, model: str, fetch: Callable[[str], Any]) -> Capacity:
    """Ask an endpoint: `/props` of llama.cpp, then the list of models as several servers write it.

    Args:
        base_url: ends in /v1, as a rule.
        model: the model's name there.
        fetch: JSON at an address, None where there is none.

    Returns:
        What it says; 4,096 tokens and one slot of a server on this machine that says nothing.
    """
    local = is_local(base_url)
    parts = urlsplit(base_url)
    root = urlunsplit(parts._replace(path=parts.path.rstrip("/").removesuffix("/v1")))
    props = _fields(fetch(f"{root}/props"))
    context = _count(_fields(props.get("default_generation_settings")), "n_ctx")
    if context is not None:
        return Capacity(context, _count(props, "total_slots") or 1, "/props")
    listed = _fields(fetch("/models")).get("data")
    entries = [_fields(entry) for entry in listed] if isinstance(listed, list) else []
    named = [entry for entry in entries if entry.get("id") == model]
    for entry in named or (entries if len(entries) == 1 else []):
        for fields in (_fields(entry.get("meta")), entry):
            for name in _NAMES:
                if (context := _count(fields, name)) is not None:
                    return Capacity(context, 1 if local else None, "/models")
    if local:
        return Capacity(SMALLEST, 1, "assumed; the server does not say")
    return Capacity(None, None, "the server does not say")


def is_local(url: str) -> bool:
    """Whether an address is on this machine.

    >>> is_local("http://localhost:8080/v1"), is_local("http://[::1]/v1"), is_local("https://a.b")
    (True, True, False)
    """
    host = urlsplit(url).hostname or ""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    return address.is_loopback or address.is_unspecified


def _fields(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _count(fields: Mapping[str, Any], name: str) -> int | None:
    count = fields.get(name)
    if not isinstance(count, int) or isinstance(count, bool):
        return None
    return count if 0 < count < _MOST else None


_PATIENCE = 8  # replies in a row, for each request under way, before one more is tried


class Width:
    """A gate for so many at a time, narrowed by a refusal or a silence, widened again by replies.

    Attributes:
        most: requests under way at most.
        now: the same, at the moment.
    """

    def __init__(self, most: int) -> None:
        self.most = self.now = most
        self._under_way = self._good = 0
        self._changed = threading.Condition()

    def __enter__(self) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._under_way < self.now)
            self._under_way += 1

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._under_way -= 1
            self._changed.notify_all()

    def narrow(self) -> None:
        """Half as many from here on, one at least."""
        with self._changed:
            self.now, self._good = max(1, self.now // 2), 0

    def replied(self) -> None:
        """A reply came: after many in a row there is room for one more."""
        with self._changed:
            self._good += 1
            if self.now < self.most and self._good >= _PATIENCE * self.now:
                self.now, self._good = self.now + 1, 0
                self._changed.notify_all()
