"""The service over real connections, and the command as a process."""

import contextlib
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import uvicorn
from lib.under_trial import Tool
from starlette.applications import Starlette

from jaxkg.serve.protocol import SETTINGS


@contextlib.contextmanager
def _running(app: Starlette) -> Iterator[int]:
    with socket.socket() as some:
        some.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(app, **SETTINGS))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [some]})
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield some.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join(10)


@pytest.fixture(scope="module")
def serving() -> Iterator[Callable[[Starlette], int]]:
    """Serves an application on loopback until the module's tests are over; its port."""
    with contextlib.ExitStack() as stack:
        yield lambda app: stack.enter_context(_running(app))


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tool:
    """The command as users have it, with a cache of its own."""
    monkeypatch.setenv("JAX_NUMPY_DTYPE_PROMOTION", "standard")
    monkeypatch.setenv("JAX_NUMPY_RANK_PROMOTION", "allow")
    return Tool([sys.executable, "-m", "jaxkg"], tmp_path)
