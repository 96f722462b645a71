"""The loopback server, and backends that are closed at the end of a test."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from jaxkg.adjudicate import Backoff, OpenAIBackend

_NAME = "loopback_server"


def _load() -> ModuleType:
    if _NAME not in sys.modules:
        spec = importlib.util.spec_from_file_location(_NAME, Path(__file__).with_name("server.py"))
        assert spec
        assert spec.loader
        module = sys.modules[_NAME] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[_NAME]


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine's own endpoint, keys and prices take no part."""
    for name in [n for n in os.environ if n.startswith(("OPENAI_", "JAXKG_"))]:
        if name != "JAXKG_DATA":
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def loopback() -> ModuleType:
    """The server's module: LanguageServer, Behaviour."""
    return _load()


@pytest.fixture
def serve(loopback: ModuleType) -> Iterator[Callable[..., Any]]:
    """Start servers that stop with the test."""
    with ExitStack() as stack:
        yield lambda *args, **kwargs: stack.enter_context(loopback.LanguageServer(*args, **kwargs))


@pytest.fixture
def backend_of() -> Iterator[Callable[..., OpenAIBackend]]:
    """Backends for a server that are closed with the test; quick to give up."""
    with ExitStack() as stack:

        def make(server: Any, **options: Any) -> OpenAIBackend:
            settings = {"timeout": 5.0, "backoff": Backoff(retries=2, first=0.01), **options}
            return stack.enter_context(OpenAIBackend("loopback", base_url=server.url, **settings))

        yield make
