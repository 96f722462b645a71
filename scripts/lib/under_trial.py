"""An installed `jaxkg` under trial: its processes, and what a case saw of them."""

from __future__ import annotations

import contextlib
import dataclasses
import http.client
import http.server
import json
import os
import queue
import shlex
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

TOKEN = "a-token-of-twenty-four-c"


JSON = {"Content-Type": "application/json"}


PLAIN = json.dumps({"question": "who directed [Alien]?"})


GRACE = 30.0
"""Seconds from the signal to the end of a service."""


@dataclasses.dataclass
class Seen:
    """What a case tried, and how often it fell.

    Attributes:
        tried, fell: how many things.
        words: of the first that fell, or what was measured.
    """

    tried: int = 0
    fell: int = 0
    words: str = ""

    def expect(self, is_right: object, words: str) -> None:
        """One thing more; its words are kept where it is the first that fell."""
        self.tried += 1
        if not is_right:
            self.words = self.words if self.fell else words
            self.fell += 1


@dataclasses.dataclass(frozen=True)
class Tool:
    """The command under trial.

    Attributes:
        command: its words.
        folder: for its cache, and for files.
    """

    command: Sequence[str]
    folder: Path

    def popen(self, *given: str, limit: str = "", **named: Any) -> subprocess.Popen[bytes]:
        """The command, begun; `limit` is what `ulimit` is told."""
        words = [*self.command, *given]
        if limit:
            words = ["bash", "-c", f"ulimit {limit}; exec {shlex.join(words)}"]
        more = {"JAXKG_CACHE": str(self.folder / "cache"), **named.pop("environment", {})}
        process: Any = subprocess.Popen(words, env=os.environ | more, **named)
        return process

    @contextlib.contextmanager
    def service(self, *given: str, limit: str = "", token: str = "") -> Iterator[Service]:
        """A service that is ready, killed in the end where it lives still."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        log = self.folder / f"log{port}"
        environment = {"JAXKG_TOKEN": token} if token else {}
        with log.open("wb") as file:
            process = self.popen(
                *("serve", "--port", str(port), *given),
                limit=limit,
                environment=environment,
                stderr=file,
                stdout=file,
            )
        running = Service(process, port, log, token)
        try:
            for _ in range(1200):
                with contextlib.suppress(OSError):
                    if running.ask("GET", "/readyz")[0] == 200:
                        break
                if process.poll() is not None:
                    raise SystemExit(log.read_text())
                time.sleep(0.1)
            yield running
        finally:
            process.kill()
            process.wait()


@contextlib.contextmanager
def served(handler: type[http.server.BaseHTTPRequestHandler]) -> Iterator[int]:
    """Port on loopback of a server of this process."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.server_port
        finally:
            server.shutdown()


def browsed(chromium: str, address: str, profile: Path) -> str:
    """Return a page's document after its scripts ran; every name is this machine's."""
    switches = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run"
    switches += " --disable-background-networking --disable-component-update --disable-sync"
    run = subprocess.run(
        [
            *(chromium, *switches.split(), f"--user-data-dir={profile}"),
            *("--host-resolver-rules=MAP * 127.0.0.1", "--virtual-time-budget=20000"),
            *("--dump-dom", address),
        ],
        capture_output=True,
        timeout=120,
    )
    return run.stdout.decode(errors="replace")


@dataclasses.dataclass(frozen=True)
class Service:
    """A running `jaxkg serve`."""

    process: subprocess.Popen[bytes]
    port: int
    log: Path
    token: str = ""

    def ask(
        self,
        method: str,
        path: str,
        body: str | None = None,
        *,
        heads: dict[str, str] | None = None,
        seconds: float = 30.0,
    ) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body of one reply, on a connection of its own."""
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        mine = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        try:
            link.request(method, path, body, {**mine, **(heads or {})})
            reply = link.getresponse()
            found = {name.lower(): value for name, value in reply.getheaders()}
            return reply.status, found, reply.read()
        finally:
            link.close()

    def status(self, *given: Any, **named: Any) -> int:
        """Of a reply; 0 where there is none."""
        try:
            return self.ask(*given, **named)[0]
        except (OSError, http.client.HTTPException):
            return 0

    def connected(self) -> socket.socket:
        """A connection."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=10)

    def plain(self, seconds: float, path: str = "/ask") -> tuple[float, list[int]]:
        """Ask as a plain client for so long: 95th percentile of its waits, and other statuses."""
        waits, others, ends = [], [], time.monotonic() + seconds
        while time.monotonic() < ends:
            begun = time.monotonic()
            body = PLAIN if path == "/ask" else None
            status = self.status("POST" if body else "GET", path, body, heads=JSON)
            waits.append(time.monotonic() - begun)
            others += [status] if status != 200 else []
            time.sleep(0.05)
        return float(np.percentile(waits, 95)), others

    def ended_within(self, seconds: float, by: signal.Signals = signal.SIGTERM) -> float | None:
        """Seconds from a signal to the end; None where it lives on."""
        begun = time.monotonic()
        self.process.send_signal(by)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)
            return time.monotonic() - begun
        return None


class Assistant:
    """What talks to a running `jaxkg mcp` over its standard input and output."""

    def __init__(self, tool: Tool) -> None:
        pipe = subprocess.PIPE
        self.process = tool.popen("mcp", stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)
        self._replies: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()
        about = {"protocolVersion": "2025-06-18", "capabilities": {}}
        about["clientInfo"] = {"name": "hostile", "version": "0"}
        self.request(0, "initialize", about)
        self.reply(120)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._replies.put(json.loads(line) | {"raw": line})

    def line(self, line: str | bytes) -> None:
        """Send a line as it stands."""
        assert self.process.stdin is not None
        self.process.stdin.write((line.encode() if isinstance(line, str) else line) + b"\n")
        self.process.stdin.flush()

    def send(self, record: dict[str, Any]) -> None:
        """Send a message."""
        self.line(json.dumps(record))

    def request(self, id: int, method: str, params: dict[str, Any]) -> None:
        """Ask for something."""
        self.send({"jsonrpc": "2.0", "id": id, "method": method, "params": params})

    def call(self, number: int, tool: str, **given: Any) -> None:
        """Call a tool."""
        self.request(number, "tools/call", {"name": tool, "arguments": given})

    def reply(self, seconds: float) -> dict[str, Any] | None:
        """The next reply; None where none comes."""
        with contextlib.suppress(queue.Empty):
            return self._replies.get(timeout=seconds)
        return None

    def answered(self, id: int, seconds: float) -> dict[str, Any] | None:
        """The reply to one request, whatever comes before it."""
        ends = time.monotonic() + seconds
        while (left := ends - time.monotonic()) > 0:
            if (found := self.reply(left)) is not None and found.get("id") == id:
                return found
        return None
