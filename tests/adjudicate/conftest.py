"""Backends that are closed at the end of a test."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from jaxkg.adjudicate import Backoff, OpenAIBackend


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine's own endpoint, keys and prices take no part."""
    for name in [n for n in os.environ if n.startswith(("OPENAI_", "JAXKG_"))]:
        if name != "JAXKG_DATA":
            monkeypatch.delenv(name)


@pytest.fixture
def backend_of() -> Iterator[Callable[..., OpenAIBackend]]:
    """Backends for a server that are closed with the test; quick to give up."""
    with ExitStack() as stack:

        def make(server: Any, **options: Any) -> OpenAIBackend:
            settings = {"timeout": 5.0, "backoff": Backoff(retries=2, first=0.01), **options}
            return stack.enter_context(OpenAIBackend("loopback", base_url=server.url, **settings))

        yield make
