"""The page at `/`: four files of this folder, under a policy that lets nothing else in."""

from __future__ import annotations

import functools
from importlib import resources

from starlette.requests import Request
from starlette.responses import Response

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' "
    "data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

FILES = {
    "/": ("index.html", "text/html"),
    "/page.css": ("page.css", "text/css"),
    "/page.js": ("page.js", "text/javascript"),
    "/graph.js": ("graph.js", "text/javascript"),
}
"""Route to file and media type."""


@functools.cache
def _file(name: str) -> bytes:
    return (resources.files("jaxkg.serve.page") / name).read_bytes()


async def served(request: Request) -> Response:
    """The file that stands at the request's route."""
    name, kind = FILES[request.url.path]
    headers = {"Content-Security-Policy": _POLICY, "Referrer-Policy": "no-referrer"}
    return Response(_file(name), media_type=kind, headers=headers)
