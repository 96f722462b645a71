"""`jaxkg serve` under load: questions a second, waiting times, memory, errors.

    python scripts/tables/table_metaqa.py -o runs/metaqa
    python scripts/bench/bench_serve.py --planner runs/metaqa

MetaQA's 3-hop test questions, typed without brackets, over loopback from this process: many callers
that each wait for their answer before they ask again, then one alone, then as many of a service
that answers one question at a time. Every reply must be an answer or say why there is none. Memory
is the service's, from a tenth of the time on. CPU time is the service's alone, so it says something
on a busy machine too. Three minutes. With `--minutes 10` the many callers alone, for so long, and
memory minute by minute, which is recorded apart.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import dataclasses
import itertools
import json
import os
import resource
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from jaxkg.experiments.datasets import FAMILIES

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.record import Record, arguments, numbers
from lib.sets import sets

_TICKS = os.sysconf("SC_CLK_TCK")


class Caller(asyncio.Protocol):
    """One client: asks, waits for the whole reply, asks again."""

    def __init__(self, load: Load) -> None:
        self.load = load
        self.transport: asyncio.Transport | None = None
        self.gone = asyncio.get_running_loop().create_future()
        self._reply, self._length, self._asked = bytearray(), -1, 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self._ask()

    def _ask(self) -> None:
        assert self.transport is not None
        if time.perf_counter() >= self.load.until:
            self.transport.close()
            return
        self._asked = time.perf_counter()
        self.transport.write(next(self.load.requests))

    def data_received(self, data: bytes) -> None:
        self._reply += data
        if self._length < 0:
            if (end := self._reply.find(b"\r\n\r\n")) < 0:
                return
            head = bytes(self._reply[:end]).lower()
            at = head.index(b"content-length:") + 15
            self._length = end + 4 + int(head[at:].split(b"\r\n", 1)[0])
        if len(self._reply) < self._length:
            return
        self.load.waited.append(time.perf_counter() - self._asked)
        self.load.bytes += self._length
        if not self._reply.startswith(b"HTTP/1.1 200"):
            self.load.errors += 1
        elif self.load.own is not None:
            body = json.loads(self._reply.split(b"\r\n\r\n", 1)[1])
            self.load.own.append(body["usage"]["seconds"])
        self._reply, self._length = bytearray(), -1
        self._ask()

    def connection_lost(self, exc: Exception | None) -> None:
        if exc is not None or self._reply:
            self.load.errors += 1
        self.gone.set_result(None)


@dataclasses.dataclass
class Load:
    """What was asked, and how it went.

    Attributes:
        requests: never ends.
        until: no question is asked after it, on the clock of `time.perf_counter`.
        own: seconds that the system says each answer took it; None does not read replies.
    """

    requests: Iterator[bytes]
    until: float
    own: list[float] | None = None
    waited: list[float] = dataclasses.field(default_factory=list)
    errors: int = 0
    bytes: int = 0

    def milliseconds(self, percent: float) -> float:
        """A percentile of the waiting times."""
        return 1000 * float(np.percentile(self.waited, percent))


@dataclasses.dataclass(frozen=True)
class Service:
    """A running `jaxkg serve`."""

    process: subprocess.Popen[bytes]
    port: int

    def cpu(self) -> float:
        """Seconds of CPU time it took so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def mib(self) -> float:
        """Memory it has in use."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * resource.getpagesize() / 2**20

    async def asked(
        self, bodies: Sequence[bytes], clients: int, seconds: float, *, own: bool = False
    ) -> tuple[Load, list[float]]:
        """Ask for so long; the load, and memory every second or so."""
        requests = itertools.cycle([_request(body) for body in bodies])
        load = Load(requests, time.perf_counter() + seconds, [] if own else None)
        loop = asyncio.get_running_loop()
        callers = [
            (await loop.create_connection(lambda: Caller(load), "127.0.0.1", self.port))[1]
            for _ in range(clients)
        ]
        memory = []
        while not all(caller.gone.done() for caller in callers):
            memory.append(self.mib())
            await asyncio.wait([caller.gone for caller in callers], timeout=1.0)
        return load, memory


def _request(body: bytes) -> bytes:
    head = b"POST /ask HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return head + b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


@contextlib.contextmanager
def service(kg: Path, planner: Path, *more: str) -> Iterator[Service]:
    """A service of its own, warm; stopped at the end."""
    with socket.socket() as some:
        some.bind(("127.0.0.1", 0))
        port = some.getsockname()[1]
    command = [sys.executable, "-m", "jaxkg", "serve", "--system", "planner", "--kg", str(kg)]
    process = subprocess.Popen([*command, "--planner", str(planner), "--port", str(port), *more])
    try:
        for _ in range(600):
            time.sleep(0.5)
            if process.poll() is not None:
                raise SystemExit("the service ended")
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz").close()
                break
        yield Service(process, port)
    finally:
        process.terminate()
        process.wait(60)


def measured(
    running: Service, bodies: Sequence[bytes], clients: int, options: argparse.Namespace
) -> tuple[list[float], list[float]]:
    """Warm up, then ask: the cells of a row, and memory."""
    asyncio.run(running.asked(bodies, clients, options.warm))
    before = running.cpu()
    load, memory = asyncio.run(running.asked(bodies, clients, options.seconds))
    each = 1000 * (running.cpu() - before) / len(load.waited)
    rate = len(load.waited) / options.seconds
    cells = [rate, load.milliseconds(50), load.milliseconds(95), load.milliseconds(99), each]
    return [*cells, load.bytes / len(load.waited) / 1024, float(load.errors)], memory


def watched(running: Service, bodies: Sequence[bytes], options: argparse.Namespace) -> Record:
    """Minute by minute: how it goes, and the memory at the end of each."""
    record = Record(__file__, options, part="minutes")
    table = record.table("minute", "questions/s", "p95 ms", "MiB", "errors")
    asyncio.run(running.asked(bodies, options.clients, options.warm))
    memory, errors = [running.mib()], 0
    table.add("warm", None, None, memory[0], None)
    for minute in range(1, options.minutes + 1):
        load, _ = asyncio.run(running.asked(bodies, options.clients, 60.0))
        memory.append(running.mib())
        errors += load.errors
        rate = len(load.waited) / 60.0
        table.add(str(minute), rate, load.milliseconds(95), memory[-1], load.errors)
    record.note(
        f"memory from {memory[0]:,.0f} to {memory[-1]:,.0f} MiB "
        f"({memory[-1] / memory[0] - 1:+.1%}; first minute to last "
        f"{memory[-1] / memory[1] - 1:+.1%}), {errors} errors"
    )
    return record


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__, seed=False)
    parser.add_argument("--planner", type=Path, required=True, help="trained on MetaQA")
    numbers(parser, clients=64, seconds=60.0, warm=10.0, alone=10.0)
    numbers(parser, minutes=0)
    options = parser.parse_args(argv)
    world = sets("metaqa", options.data)
    bodies = [json.dumps({"question": q.text}).encode() for q in world.questions("metaqa-3")]
    kg = options.data / FAMILIES["metaqa"][0]
    if options.minutes:
        with service(kg, options.planner) as running:
            record = watched(running, bodies, options)
        record.note(f"load of the machine: {os.getloadavg()[0]:.1f}")
        record.save()
        return
    record = Record(__file__, options)
    table = record.table(
        "handling", "questions/s", "p50 ms", "p95 ms", "p99 ms", "CPU ms", "KiB", "errors"
    )
    with service(kg, options.planner) as running:
        cells, memory = measured(running, bodies, options.clients, options)
        table.add("in batches", *cells)
        alone, _ = asyncio.run(running.asked(bodies, 1, options.alone, own=True))
    with service(kg, options.planner, "--batch", "1") as running:
        single, _ = measured(running, bodies, options.clients, options)
        table.add("one at a time", *single)
    record.note(f"batches answer {cells[0] / single[0]:.2f} times as many")
    over = 1000 * float(np.median(np.subtract(alone.waited, alone.own or [])))
    record.note(
        f"one client: p50 {alone.milliseconds(50):.2f} ms, {over:.2f} ms of it outside the system; "
        f"{alone.errors} errors"
    )
    steady = memory[len(memory) // 10 :]
    record.note(
        f"memory from {steady[0]:,.0f} to {steady[-1]:,.0f} MiB, {min(steady):,.0f} to "
        f"{max(steady):,.0f} on the way, over {len(steady):,} readings"
    )
    record.note(f"load of the machine: {os.getloadavg()[0]:.1f}")
    record.save()


if __name__ == "__main__":
    main()
