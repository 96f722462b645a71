"""The service over real connections."""

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest
import uvicorn
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
