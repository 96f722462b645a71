"""Malformed requests against a running `jaxkg serve`: no 5xx, no crash, answers throughout.

    python scripts/study/fuzz_serve.py --requests 20000 --seed 0

Bytes over real connections on loopback, 32 at a time: damaged JSON, damaged heads, encodings, sizes
that lie, addresses, senders that dawdle, connections half closed or torn, replies nobody reads.
After every hundred a plain question is asked, and must be answered. For each kind: how many ended
in which status, in a closed connection without a word, or in none of these within half a minute.
Minutes.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import random
import socket
import struct
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from fuzz import mutated

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.record import Record, arguments
from lib.under_trial import Tool

PATIENCE = 30.0
"""Seconds within which every connection has to end."""
_AT_ONCE = 32
_BETWEEN = 100
_QUESTION = b'{"question": "who directed [Alien]?"}'
_JSON = b"Content-Type: application/json"
_BODIES = (
    ("/ask", _QUESTION),
    ("/ask", b'{"question": "x", "topics": ["Alien"], "id": "1"}'),
    ("/ask/batch", b'{"question": "x"}\n{"question": "y"}\n'),
    ("/ask/batch", b'["one", {"question": "two"}]'),
    ("/check", b'{"head": "Alien", "relation": "directed_by", "tail": "x"}'),
)
_ADDRESSES = (
    *("/", "/page.js", "/entities?q=Alien&limit=3", "/entities/Alien", "/entities/%3Cb%3E"),
    *("/paths?from=Alien&to=Gladiator&hops=2", "/schema?limit=2", "/healthz", "/metrics"),
)
_ODD = (
    *("%", "%00", "%ff", "%2e%2e/", "../", "//", "?", "&", "=", "#", ";", "\\", "*", "é", "\u202e"),
    *(
        "limit=-1",
        "limit=1e9",
        "limit=" + "9" * 400,
        "hops=5",
        "q=",
        "from=",
        "to=%ff%fe",
        "a" * 900,
    ),
)
_HEADS = (
    *(b"Content-Length: -1", b"Content-Length: 1e3", b"Content-Length: 99999999999999999999"),
    *(b"Transfer-Encoding: chunked", b"Transfer-Encoding: gzip, chunked", b"Expect: 100-continue"),
    *(b"Expect: nothing", b"Connection: close", b"Connection: upgrade\r\nUpgrade: websocket"),
    *(b"Upgrade: h2c\r\nConnection: upgrade", b"Host: \xff\xfe", b"Host: a\r\nHost: b", b": empty"),
    *(
        b"Authorization: Bearer " + b"x" * 3000,
        b"Authorization: \xff",
        b"Cookie: " + b"a=b; " * 900,
    ),
    *(b"X: " + b"y" * 100_000, b"Range: bytes=0-1", b"Content-Encoding: gzip", b" folded: yes"),
    *(b"Content-Type: text/xml; charset=utf-7", b"\x00: \x00", b"A" * 70_000 + b": b"),
)
_OPENINGS = (
    *(b"GET / HTTP/9.9\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"GET /healthz\r\n\r\n"),
    *(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200), b"\x00" * 500, b"\r\n" * 50),
    *(
        b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"CONNECT x:1 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ),
    *(
        b"GET http://x/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"HEAD /schema HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ),
    *(
        b"TRACE / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /" + b"a" * 80_000 + b" HTTP/1.1\r\n\r\n",
    ),
)


class Fuzzer:
    """Requests from one seed against one port.

    Attributes:
        ends: of each kind, how often a connection ended how.
        bad: what must not be: statuses from 500 on, silence, plain questions not answered.
    """

    def __init__(self, port: int, seed: int, *, dawdlers: float = 0.01) -> None:
        self.port = port
        self.rng = random.Random(seed)
        self.ends: dict[str, Counter[str]] = {}
        self.bad: Counter[str] = Counter()
        self.kinds: dict[str, tuple[float, Callable[[], list[bytes]]]] = {
            "bodies": (4.0, self.bodies),
            "heads": (3.0, self.heads),
            "whole": (3.0, self.whole),
            "encodings": (1.0, self.encodings),
            "sizes": (1.0, self.sizes),
            "addresses": (2.0, self.addresses),
            "half closed": (1.0, self.whole),
            "torn": (1.0, self.whole),
            "unread": (0.3, self.unread),
            "slow": (15.0 * dawdlers, self.slow),
        }

    def request(self, body: bytes, *heads: bytes, path: str = "/ask", length: int = -1) -> bytes:
        """A request as it should be, but for what is put into it."""
        size = len(body) if length < 0 else length
        lines = [
            f"POST {path} HTTP/1.1".encode(),
            b"Host: localhost",
            _JSON,
            b"Content-Length: %d" % size,
            *heads,
        ]
        return b"\r\n".join(lines) + b"\r\n\r\n" + body

    def bodies(self) -> list[bytes]:
        """Damaged JSON."""
        path, body = self.rng.choice(_BODIES)
        return [self.request(mutated(body, self.rng), path=path)]

    def heads(self) -> list[bytes]:
        """Odd headers, several of them, before a good body."""
        heads = self.rng.sample(_HEADS, self.rng.randint(1, 3))
        return [self.request(_QUESTION, *heads)]

    def whole(self) -> list[bytes]:
        """All of a request damaged, its first line too, or something that is no request."""
        if self.rng.random() < 0.2:
            return [self.rng.choice(_OPENINGS)]
        path, body = self.rng.choice(_BODIES)
        return [mutated(self.request(body, path=path), self.rng)]

    def encodings(self) -> list[bytes]:
        """A good question in bytes that are not UTF-8."""
        text = '{"question": "Wer führte bei Alien Regie?"}'
        written = self.rng.choice(
            [text.encode(code) for code in ("utf-16", "utf-32", "latin-1", "utf-7", "utf-8-sig")]
            + [gzip.compress(text.encode()), text.encode().replace(b"\xc3", b"\xed\xa0\x80")]
        )
        return [self.request(written, b"Content-Type: application/json; charset=x")]

    def sizes(self) -> list[bytes]:
        """Lengths that lie, chunks that do, bodies too large."""
        body = self.rng.choice([_QUESTION, b"x" * 70_000, b"[" * 60_000, b"[" + b'"x",' * 20_000])
        if self.rng.random() < 0.5:
            length = self.rng.choice([0, 1, len(body) - 1, len(body) + 1, 10**9, 10**19])
            return [self.request(body, length=length)]
        size = self.rng.choice([b"%x" % len(body), b"-1", b"fffffffff", b"0x10", b"zz", b"1" * 400])
        chunk = size + self.rng.choice([b"\r\n", b"\n", b";ext=1\r\n"]) + body + b"\r\n0\r\n\r\n"
        head = b"POST /ask HTTP/1.1\r\nHost: localhost\r\n%s\r\n" % _JSON
        return [head + b"Transfer-Encoding: chunked\r\n\r\n" + chunk]

    def addresses(self) -> list[bytes]:
        """Paths and queries."""
        address = self.rng.choice(_ADDRESSES)
        for _ in range(self.rng.randint(0, 4)):
            at = self.rng.randrange(1, len(address) + 1)
            address = address[:at] + self.rng.choice(_ODD) + address[at:]
        method = self.rng.choice(["GET", "GET", "GET", "HEAD", "PUT", "DELETE", "G\x00T", "get"])
        return [f"{method} {address} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()]

    def unread(self) -> list[bytes]:
        """A hundred requests in one go."""
        return [b"GET /schema HTTP/1.1\r\nHost: localhost\r\n\r\n" * 100]

    def slow(self) -> list[bytes]:
        """A piece at a time, longer than anyone waits."""
        whole = self.request(_QUESTION)
        at = self.rng.choice([4, 30, len(whole) - 10, len(whole) - 1])
        return [whole[:at], *(whole[n : n + 1] for n in range(at, min(at + 4, len(whole) - 1)))]

    async def run(self, count: int) -> None:
        """So many requests, and a plain question after every hundred."""
        names, weights = zip(*((name, weight) for name, (weight, _) in self.kinds.items()))
        drawn = self.rng.choices(names, weights, k=count)
        made = [(name, self.kinds[name][1]()) for name in drawn]
        room = asyncio.Semaphore(_AT_ONCE)

        async def one(number: int, name: str, pieces: list[bytes]) -> None:
            async with room:
                end = await self._ended(name, pieces)
                self.ends.setdefault(name, Counter())[end] += 1
                if end == "silence" or end.startswith("5"):
                    self.bad[f"{name}: {end}: {pieces[0][:300]!r}"] += 1
                if number % _BETWEEN == 0:
                    await self._plain()

        await asyncio.gather(*(one(n, name, pieces) for n, (name, pieces) in enumerate(made)))
        await self._plain()

    async def _plain(self) -> None:
        """A question that must be answered."""
        end = await self._ended("plain", [self.request(_QUESTION, b"Connection: close")])
        if end != "200":
            self.bad[f"a plain question ended in {end}"] += 1

    async def _ended(self, name: str, pieces: list[bytes]) -> str:
        """How a connection ended: its first status, closed without one, or not at all."""
        try:
            async with asyncio.timeout(PATIENCE):
                return await self._sent(name, pieces)
        except TimeoutError:
            return "silence"
        except OSError:
            return "closed"

    async def _sent(self, name: str, pieces: list[bytes]) -> str:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            for number, piece in enumerate(pieces):
                await asyncio.sleep(3.0 if number else 0.0)
                writer.write(piece)
                await writer.drain()
            if name == "torn":
                torn = writer.get_extra_info("socket")
                torn.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return "left"
            if name == "unread":
                await asyncio.sleep(0.5)
                return "left"
            if name != "slow" and (name == "half closed" or b"POST" not in pieces[0][:4]):
                writer.write_eof()
            elif name in ("heads", "whole", "sizes", "addresses"):
                # What waits for more of a request waits no longer than for this.
                asyncio.get_running_loop().call_later(1.0, _finished, writer)
            while (line := await reader.readline()).startswith(b"HTTP/1.1 100"):
                await reader.readuntil(b"\r\n")
            return line.split(b" ", 2)[1].decode() if line.startswith(b"HTTP/") else "closed"
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()


def _finished(writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError, RuntimeError):
        if not writer.is_closing():
            writer.write_eof()


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__, data=False)
    parser.add_argument("--requests", type=int, default=20_000)
    options = parser.parse_args(argv)
    record = Record(__file__, options)
    command = [sys.executable, "-m", "jaxkg"]
    with tempfile.TemporaryDirectory() as folder, Tool(command, Path(folder)).service() as running:
        fuzzer = Fuzzer(running.port, options.seed)
        asyncio.run(fuzzer.run(options.requests))
        statuses = sorted({end for ends in fuzzer.ends.values() for end in ends})
        table = record.table("kind", "requests", *statuses)
        for name, ends in fuzzer.ends.items():
            table.add(name, ends.total(), *(ends[status] or None for status in statuses))
        alive = running.process.poll() is None
        metrics = running.ask("GET", "/metrics")[2].decode()
    counted = [line for line in metrics.splitlines() if 'status="5' in line]
    record.note(f"{sum(fuzzer.bad.values())} faults; the service {'lives' if alive else 'IS GONE'}")
    record.note(f"5xx by its own count: {json.dumps(counted)}")
    for what, times in fuzzer.bad.most_common(20):
        record.note(f"{times} x {what}")
    record.save()
    sys.exit(bool(fuzzer.bad or counted or not alive))


if __name__ == "__main__":
    main()
