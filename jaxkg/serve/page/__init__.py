"""The page at `/`: three files of this folder, under a policy that lets nothing else in."""

from __future__ import annotations

import functools
from importlib import resources

from starlette.requests import Request
from starlette.responses import Response

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' "
    "data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@functools.cache
def _file(name: str) -> bytes:
    return (resources.files("jaxkg.serve.page") / name).read_bytes()


def _served(name: str, kind: str) -> Response:
    headers = {"Content-Security-Policy": _POLICY, "Referrer-Policy": "no-referrer"}
    return Response(_file(name), media_type=kind, headers=headers)


async def index(request: Request) -> Response:
    """The page."""
    return _served("index.html", "text/html")


async def script(request: Request) -> Response:
    """What it does."""
    return _served("page.js", "text/javascript")


async def style(request: Request) -> Response:
    """How it looks."""
    return _served("page.css", "text/css")
