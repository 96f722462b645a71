"""A real SPARQL endpoint on loopback, and a proxy before it that misbehaves on request."""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import gzip
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections import deque
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from jaxkg.kg import KnowledgeGraph
from jaxkg.kg.stores.patterns import quoted

LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
BASE = "http://films.test/"


def write_ntriples(kg: KnowledgeGraph, path: Path, base: str = BASE) -> None:
    """A graph of names as N-Triples: entities e0, e1 ... with labels."""
    lines = [f"<{base}e{row}> <{LABEL}> {quoted(kg.name(row))} ." for row in range(kg.num_entities)]
    lines += [f"<{base}e{h}> <{base}{kg.relations[r]}> <{base}e{t}> ." for h, r, t in kg.triples]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


@contextlib.contextmanager
def oxigraph(file: Path, folder: Path) -> Iterator[str]:
    """Serve a file on loopback; yields the address of its query endpoint."""
    beside = Path(sys.executable).with_name("oxigraph")
    program = str(beside) if beside.exists() else shutil.which("oxigraph")
    assert program, "the package `oxigraph` is in the extra `test`"
    load = [program, "load", "--location", str(folder), "--file", str(file)]
    subprocess.run(load, check=True, capture_output=True, timeout=60)
    port = _free_port()
    serve = [program, "serve-read-only", "--location", str(folder), "--bind", f"127.0.0.1:{port}"]
    with _running(serve, f"http://127.0.0.1:{port}/query") as url:
        yield url


@contextlib.contextmanager
def virtuoso(folder: Path, rows: int = 10_000, ordered: int = 10_000) -> Iterator[str]:
    """Serve nothing yet on loopback; yields the address of its query endpoint.

    Args:
        folder: for its database.
        rows: of a result, at most; further ones are left out.
        ordered: rows that it sorts to give some of them; more are refused.
    """
    port, sql = _free_port(), _free_port()
    (folder / "virtuoso.ini").write_text(
        f"[Database]\nDatabaseFile = {folder}/v.db\nErrorLogFile = {folder}/v.log\n"
        f"LockFile = {folder}/v.lck\nTransactionFile = {folder}/v.trx\n"
        f"xa_persistent_file = {folder}/v.pxa\n[TempDatabase]\n"
        f"DatabaseFile = {folder}/t.db\nTransactionFile = {folder}/t.trx\n[Parameters]\n"
        f"ServerPort = 127.0.0.1:{sql}\nServerThreads = 10\nNumberOfBuffers = 20000\n"
        f"CheckpointInterval = 0\nMaxSortedTopRows = {ordered}\n[HTTPServer]\n"
        f"ServerPort = 127.0.0.1:{port}\nServerRoot = {folder}\n"
        f"[SPARQL]\nResultSetMaxRows = {rows}\n"
    )
    serve = ["virtuoso-t", "+foreground", "+configfile", str(folder / "virtuoso.ini")]
    with _running(serve, f"http://127.0.0.1:{port}/sparql") as url:
        yield url


def put_graph(url: str, file: Path, graph: str) -> str:
    """Load a file into a graph of Virtuoso; the address at which that graph is asked."""
    import httpx

    where = {"graph-uri": graph}
    login = httpx.DigestAuth("dba", "dba")
    kind = {"content-type": "text/turtle"}
    data = file.read_bytes()
    put = httpx.put(
        f"{url}-graph-crud-auth", params=where, content=data, headers=kind, auth=login, timeout=600
    )
    put.raise_for_status()
    return f"{url}?default-graph-uri={graph}"


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@contextlib.contextmanager
def _running(command: list[str], url: str) -> Iterator[str]:
    """A server, once it answers at its address."""
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(2400):
            try:
                urllib.request.urlopen(f"{url}?query=ASK%7B%7D", timeout=5).close()
                break
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                assert server.poll() is None, f"{command[0]} ended"
                time.sleep(0.05)
        yield url
    finally:
        server.kill()
        server.wait(timeout=10)


@dataclasses.dataclass(frozen=True)
class Fault:
    """How one request goes wrong; what is not said is as the real endpoint has it."""

    status: int | None = None
    body: bytes | None = None
    kind: str | None = None
    cut: bool = False  # half of the body, then the connection ends
    torn: bool = False  # half of the body as if it were all
    delay: float = 0.0
    rows: int | None = None  # the first so many rows
    headers: tuple[tuple[str, str], ...] = ()


class Proxy:
    """Passes queries on to an endpoint, as the next fault has it.

    Attributes:
        faults: what goes wrong with the next requests, in order.
        always: what goes wrong with all others; None for nothing.
        password: that of the user "reader", where one is asked for.
        seen: (method, headers) of every request.
    """

    def __init__(self, target: str) -> None:
        self.target = target
        self.faults: deque[Fault] = deque()
        self.always: Fault | None = None
        self.password: str | None = None
        self.seen: list[tuple[str, dict[str, str]]] = []
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                proxy._handle(self, None)

            def do_POST(self) -> None:
                proxy._handle(self, self.rfile.read(int(self.headers["content-length"])))

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/query"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handle(self, handler: BaseHTTPRequestHandler, body: bytes | None) -> None:
        self.seen.append((handler.command, {k.lower(): v for k, v in handler.headers.items()}))
        fault = self.faults.popleft() if self.faults else self.always or Fault()
        login = base64.b64encode(f"reader:{self.password}".encode()).decode()
        if self.password and handler.headers.get("authorization") != f"Basic {login}":
            fault = Fault(status=401, body=b"who are you?", kind="text/plain")
        time.sleep(fault.delay)
        status, kind, reply = 200, "application/sparql-results+json", b""
        if fault.body is None:
            status, kind, reply = self._asked(handler, body)
        if fault.rows is not None and status == 200:
            reply = _first_rows(reply, fault.rows)
        reply = fault.body if fault.body is not None else reply
        half = reply[: len(reply) // 2]
        if fault.torn:
            reply = half
        packed = "gzip" in handler.headers.get("accept-encoding", "")
        sent = gzip.compress(reply) if packed else reply
        handler.send_response(fault.status or status)
        handler.send_header("content-type", fault.kind or kind)
        handler.send_header("content-length", str(len(sent)))
        for name, value in (*fault.headers, *([("content-encoding", "gzip")] if packed else [])):
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(sent[: len(sent) // 2] if fault.cut else sent)
        handler.close_connection = True

    def _asked(self, handler: BaseHTTPRequestHandler, body: bytes | None) -> tuple[int, str, bytes]:
        asked = handler.path.removeprefix("/query")
        address = self.target + (asked.replace("?", "&", 1) if "?" in self.target else asked)
        headers = {"accept": handler.headers.get("accept", "*/*")}
        if body is not None:
            headers["content-type"] = handler.headers["content-type"]
        request = urllib.request.Request(address, data=body, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=30) as reply:
                return reply.status, reply.headers["content-type"], reply.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, "text/plain", error.read()


def _first_rows(reply: bytes, most: int) -> bytes:
    import json

    found = json.loads(reply)
    if "results" in found:
        found["results"]["bindings"] = found["results"]["bindings"][:most]
    return json.dumps(found).encode()
