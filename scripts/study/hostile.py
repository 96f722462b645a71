"""Hostile use of an installed `jaxkg`: each case of a table is tried, and held or fell.

    python scripts/study/hostile.py
    python scripts/study/hostile.py --command "path/to/jaxkg" --only pages,rebinding

Pages of other origins, rebound names, connections that drip, batches that fill the queue, guessed
tokens, signals while work that cannot be interrupted runs, lines that are no messages, names full
of control characters. Every case says how many things it tried, how many held, and what it saw of
the first that fell. The service and the assistant's server are whole processes on loopback over
the demo graph, with a cache of their own. Minutes.
"""

from __future__ import annotations

import contextlib
import gzip
import http.client
import http.server
import json
import os
import re
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.megabytes import megabytes
from lib.record import Record, arguments
from lib.under_trial import (
    GRACE,
    JSON,
    PLAIN,
    TOKEN,
    Assistant,
    Seen,
    Service,
    Tool,
    browsed,
    served,
)

_GETS = ("/", "/page.js", "/entities?q=Alien", "/entities/Alien", "/schema", "/examples")
_GETS += ("/paths?from=Alien&to=Gladiator", "/healthz", "/readyz", "/metrics", "/openapi.json")
_POSTS = ("/ask", "/ask/batch", "/check")


CASES: dict[str, tuple[str, Callable[[Tool, Seen], None]]] = {}
SENDERS = ThreadPoolExecutor(8)
"""Of requests that nobody waits for at once."""


class _Quiet(http.server.BaseHTTPRequestHandler):
    """Answers without a log."""

    def log_message(self, format: str, *args: Any) -> None:
        pass


def _beside(running: Service, seen: Seen, what: str, seconds: float, path: str = "/ask") -> float:
    """A plain client asks beside something: it waits less than a second, and is told nothing else.

    Returns:
        95th percentile of its waits.
    """
    wait, others = running.plain(seconds, path)
    seen.expect(wait < 1, f"{what}a plain client waits {wait:.2f} s at p95")
    seen.expect(not others, f"{what}a plain client is told {others[:5]}")
    return wait


def case(name: str, faults: str) -> Callable[[Callable[[Tool, Seen], None]], Any]:
    """Add a case to the table; `faults` are the numbers of what it tries."""

    def added(run: Callable[[Tool, Seen], None]) -> Callable[[Tool, Seen], None]:
        CASES[name] = faults, run
        return run

    return added


@case("pages", "3")
def pages(tool: Tool, seen: Seen) -> None:
    """What a page of another origin can send without being asked whether it may."""
    with tool.service() as running:
        for path, body in ("/ask", PLAIN), ("/ask/batch", PLAIN), ("/check", PLAIN):
            for heads in (
                {"Origin": "http://evil.example", "Content-Type": "text/plain"},
                {"Origin": "http://evil.example", **JSON},
                {"Origin": "null", **JSON},
                {"Origin": f"http://localhost:{running.port + 1}", **JSON},
                {"Sec-Fetch-Site": "cross-site", **JSON},
                {"Sec-Fetch-Site": "same-site", **JSON},
                {"Content-Type": "text/plain"},
                {"Content-Type": "application/x-www-form-urlencoded"},
                {"Content-Type": "multipart/form-data; boundary=x"},
                {},
            ):
                status = running.status("POST", path, body, heads=heads)
                seen.expect(400 <= status < 500, f"{path} {heads}: {status}")
        for path in "/schema", "/entities?q=Alien", "/metrics":
            status = running.status("GET", path, heads={"Sec-Fetch-Site": "cross-site"})
            seen.expect(status == 403, f"{path} from another site: {status}")
        own = {"Origin": f"http://127.0.0.1:{running.port}", "Sec-Fetch-Site": "same-origin"}
        status = running.status("POST", "/ask", PLAIN, heads={**own, **JSON})
        seen.expect(status == 200, f"the service's own page: {status}")


_PAGE = """<!doctype html><title>page</title><script>
const at = "http://NAME:PORT", body = JSON.stringify({question: "who directed [Alien]?"})
const post = (mode, type) => ({method: "POST", mode, body, headers: {"Content-Type": type}})
const tries = {
  blind: () => fetch(at + "/ask", post("no-cors", "text/plain")).then(r => r.type != "opaque"),
  plain: () => fetch(at + "/ask", post("cors", "text/plain")).then(r => r.ok),
  json: () => fetch(at + "/ask", post("cors", "application/json")).then(r => r.ok),
  read: () => fetch(at + "/schema").then(r => r.text()).then(t => t.includes("directed")),
}
Promise.all(Object.entries(tries).map(async ([name, go]) => {
  try { return name + "=" + (await go()) } catch { return name + "=refused" }
})).then(said => { document.body.textContent = said.join(" ") })
</script><body>nothing</body>"""


@case("browser", "3, 4")
def browser(tool: Tool, seen: Seen) -> None:
    """A page of another origin, then one of a rebound name, in headless Chromium.

    Requires `chromium` or `google-chrome`; nothing is tried without. The service has a model, and
    nothing may be paid.
    """
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        seen.words = "requires chromium"
        return
    calls: list[bytes] = []

    class Model(_Quiet):
        def do_POST(self) -> None:
            calls.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_error(400)

    with contextlib.ExitStack() as stack:
        model = stack.enter_context(served(Model))
        asked = ("--llm", "m", "--base-url", f"http://127.0.0.1:{model}", "--ask-model", "always")
        running = stack.enter_context(tool.service(*asked))
        # A page under the service's own port and another name, as after a rebinding, is the
        # service's own `/`: its scripts must not come.
        for name in "127.0.0.1", "evil.example":
            page = _PAGE.replace("NAME", name).replace("PORT", str(running.port)).encode()

            class Page(_Quiet):
                page = b""

                def do_GET(self) -> None:
                    self.send_response(200)
                    self.send_header("Content-Type", "text/html")
                    self.end_headers()
                    self.wfile.write(self.page)

            Page.page = page
            port = stack.enter_context(served(Page))
            said = browsed(chromium, f"http://other.example:{port}/", tool.folder / name)
            for words in "blind=", "plain=refused", "json=refused", "read=refused":
                seen.expect(words in said, f"{name}: {words} of {said[-200:]}")
        rebound = browsed(chromium, f"http://evil.example:{running.port}/schema", tool.folder / "r")
        seen.expect("directed" not in rebound, f"read as evil.example: {rebound[-200:]}")
        own = browsed(chromium, f"http://127.0.0.1:{running.port}/schema", tool.folder / "own")
        seen.expect("directed" in own, f"the service's own name: {own[-200:]}")
        seen.expect(not calls, f"{len(calls)} calls of the model")


@case("rebinding", "4")
def rebinding(tool: Tool, seen: Seen) -> None:
    """Names that are not the service's."""
    with tool.service() as running:
        for host in "evil.example", f"evil.example:{running.port}", "localhost.evil.example", "":
            for path in "/schema", "/", "/healthz":
                status = running.status("GET", path, heads={"Host": host})
                seen.expect(status in (400, 421), f"{path} as {host}: {status}")
        for host in "localhost", f"127.0.0.1:{running.port}", "[::1]:1", "LOCALHOST":
            status = running.status("GET", "/schema", heads={"Host": host})
            seen.expect(status == 200, f"as {host}: {status}")


@case("methods", "HEAD")
def methods(tool: Tool, seen: Seen) -> None:
    """HEAD is answered as GET, without a body; a method that is none, with 405."""
    with tool.service() as running:
        for path in _GETS:
            try:
                status, heads, body = running.ask("HEAD", path, seconds=5)
                right = status == running.status("GET", path) and not body
                seen.expect(right and heads["content-length"] != "0", f"HEAD {path}: {status}")
            except OSError as error:
                seen.expect(False, f"HEAD {path}: {error}")
        for path in (*_GETS, *_POSTS):
            for method in "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE":
                try:
                    status, heads, _ = running.ask(method, path, seconds=5)
                    right = status == 405 and heads.get("allow")
                    seen.expect(right, f"{method} {path}: {status}")
                except OSError as error:
                    seen.expect(False, f"{method} {path}: {error}")


@case("headers", "17, 26")
def headers(tool: Tool, seen: Seen) -> None:
    """The same headers on every reply; a redirect that repeats nothing of the caller's."""
    with tool.service(token=TOKEN) as running:
        asked = [("GET", "/x", {}), ("GET", "/ask", {}), ("PUT", "/schema", {}), ("GET", "/", {})]
        asked += [("GET", "/schema", {"Authorization": "x"}), ("GET", "/schema", {"Host": "x.y"})]
        asked += [("GET", "/entities/Nobody", {}), ("GET", "/ask/", {}), ("HEAD", "/", {})]
        asked += [("G T", "/", {})]
        for method, path, more in asked:
            try:
                status, heads, _ = running.ask(method, path, heads=more, seconds=5)
            except (OSError, ValueError, http.client.HTTPException):
                with running.connected() as link:
                    link.sendall(b"nonsense\r\n\r\n")
                    reply = link.recv(1 << 16).decode().lower()
                status, heads = 400, dict(re.findall(r"(?m)^([a-z-]+): (.*)\r$", reply))
            right = heads.get("x-content-type-options") == "nosniff" and "cache-control" in heads
            seen.expect(right, f"{method} {path}: {status} {heads}")
            location = heads.get("location", "/")
            seen.expect(location.startswith("/"), f"{method} {path}: Location {location}")


@case("tokens", "11, 21")
def tokens(tool: Tool, seen: Seen) -> None:
    """Forms of a header, and 5,000 guesses while a plain client asks."""
    with tool.service(token=TOKEN) as running:
        for right in f"Bearer {TOKEN}", f"bearer {TOKEN}", f"BEARER {TOKEN}":
            status = running.status("GET", "/schema", heads={"Authorization": right})
            seen.expect(status == 200, f"{right.split()[0]}: {status}")
        for wrong in TOKEN, f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer", "":
            status = running.status("GET", "/schema", heads={"Authorization": wrong})
            seen.expect(status == 401, f"{wrong[:7]}: {status}")
        ends, counts, lock = time.monotonic() + 20, {}, threading.Lock()

        def guess() -> None:
            for number in range(1250):
                if time.monotonic() > ends:
                    return
                wrong = {"Authorization": f"Bearer {number:024}"}
                status = running.status("GET", "/schema", heads=wrong)
                with lock:
                    counts[status] = counts.get(status, 0) + 1

        begun = time.monotonic()
        guessers = [threading.Thread(target=guess) for _ in range(4)]
        for each in guessers:
            each.start()
        wait = _beside(running, seen, "", 10)
        for each in guessers:
            each.join()
        rate = counts.get(401, 0) / (time.monotonic() - begun)
        seen.expect(rate < 50, f"{rate:,.0f} guesses a second: {counts}")
        logged = running.log.read_text()
        seen.expect("wrong tokens" in logged, "no line of the log")
        if not seen.fell:
            seen.words = f"{rate:,.0f} guesses a second; a plain client's p95 {wait:.2f} s"


def _drip(running: Service, count: int, seen: Seen, *, seconds: float, watched: float) -> None:
    """Connections that send a byte a second, a plain client beside them."""
    links = []
    for number in range(count):
        head = b"POST /ask" if number % 2 else b"GET /healthz"
        link = running.connected()
        link.sendall(
            head + b" HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: 100000000\r\n\r\n"
        )
        links.append(link)
    stop = threading.Event()

    def drip() -> None:
        while not stop.wait(1.0):
            for link in links:
                with contextlib.suppress(OSError):
                    link.sendall(b"x")

    thread = threading.Thread(target=drip)
    thread.start()
    try:
        _beside(running, seen, f"beside {count}: ", watched, "/healthz")
        time.sleep(max(0.0, seconds - watched))
    finally:
        stop.set()
        thread.join()
    living = 0
    for link in links:
        link.settimeout(0.05)
        with contextlib.suppress(ConnectionError):
            try:
                while link.recv(1 << 16):
                    pass
            except TimeoutError:
                living += 1
        link.close()
    seen.expect(not living, f"{living} of {count} still open after {seconds:.0f} s")


@case("dripping bodies", "6")
def dripping(tool: Tool, seen: Seen) -> None:
    """200 bodies that come a byte a second; as many again where few descriptors are allowed."""
    with tool.service() as running:
        _drip(running, 200, seen, seconds=20, watched=10)
    with tool.service(limit="-n 120") as running:
        _drip(running, 130, seen, seconds=20, watched=10)


@case("a large batch", "7")
def batch(tool: Tool, seen: Seen) -> None:
    """10,000 questions in one request, a plain client beside them."""
    with tool.service() as running:
        lines = "\n".join(
            json.dumps({"question": f"who directed [Alien]? {n}"}) for n in range(10_000)
        )
        SENDERS.submit(running.status, "POST", "/ask/batch", lines, heads=JSON, seconds=300)
        time.sleep(1)
        wait = _beside(running, seen, "", 20)
        ended = running.ended_within(GRACE)
        seen.expect(ended is not None, "alive 30 s after SIGTERM")
        if not seen.fell:
            seen.words = f"p95 {wait:.2f} s; gone {ended:.1f} s after SIGTERM"


_LONG = {
    "many names": {"question": "who directed Alien and " * 173},
    "many topics": {"question": "who?", "topics": ["Alien"] * 7000},
    "different topics": {"question": "who?", "topics": [f"film {n}" for n in range(5000)]},
}


@case("signals under load", "2")
def signals(tool: Tool, seen: Seen) -> None:
    """SIGTERM and SIGINT while the worker is at what takes longest."""
    for name, body in _LONG.items():
        for by in signal.SIGTERM, signal.SIGINT:
            with tool.service(limit="-v 12000000") as running:
                asked = ("POST", "/ask", json.dumps(body))
                SENDERS.submit(running.status, *asked, heads=JSON, seconds=120)
                time.sleep(1.5)
                ended = running.ended_within(GRACE, by)
                seen.expect(ended is not None, f"{name}: alive 30 s after {by.name}")


@case("logged questions", "12")
def logged(tool: Tool, seen: Seen) -> None:
    """Questions are logged where that is asked for, and only there."""
    for given in ("--log-questions",), ():
        with tool.service(*given) as running:
            running.ask("POST", "/ask", PLAIN, heads=JSON)
            text = running.log.read_text()
            seen.expect(("who directed" in text) == bool(given), f"{given}: {text[-200:]}")


@case("assistant's lines", "13")
def lines(tool: Tool, seen: Seen) -> None:
    """Every line gets a result or an error, with its id where it can be read."""
    talk = Assistant(tool)
    half = '{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"find_entities",'
    half += '"arguments":{"name":"%s"}}}'
    tried: list[tuple[str | bytes, int | None]] = [
        (half % (1, r"\ud800"), 1),
        (half % (2, r"x\udc00y"), 2),
        ("no json", None),
        ('[{"jsonrpc":"2.0","id":3,"method":"ping"}]', None),
        ("[" * 100_000, None),
        ('{"a":' * 100_000, None),
        ('{"jsonrpc":"2.0","id":4}', 4),
        ('{"id":5,"method":"ping"}', 5),
        ('{"jsonrpc":"2.0","id":6,"method":"ping","params":7}', 6),
        ('{"jsonrpc":"2.0","id":null,"method":"ping"}', None),
        ('{"jsonrpc":"2.0","id":1.5,"method":"ping"}', None),
        (b'{"jsonrpc":"2.0","id":7,"method":"nothing\xff"}', 7),
        ('{"jsonrpc":"2.0","id":8,"method":"ping"}', 8),
        ("x" * 9_000_000, None),
        ('{"jsonrpc":"2.0","id":9,"method":"ping"}', 9),
    ]
    for line, id in tried:
        talk.line(line)
        reply = talk.reply(6)
        shown = line[:60]
        seen.expect(reply is not None and reply.get("id") == id, f"{shown!r}: {reply}")
    talk.process.kill()


@case("assistant's arguments", "15, 24, 25")
def given(tool: Tool, seen: Seen) -> None:
    """Long names, arguments that are none, characters that act on a terminal."""
    talk = Assistant(tool)
    long = "Alien " * 100_000
    for id, (name, asked) in enumerate(
        [
            ("find_entities", {"name": long}),
            ("entity", {"id": long}),
            ("paths", {"start": long, "end": "Alien"}),
            ("check_claim", {"head": long, "relation": "x", "tail": "y"}),
            ("ask", {"question": long}),
            ("ask", {"question": "who directed Alien?", "x": 1}),
            ("schema", {"limits": 3}),
        ],
        1,
    ):
        talk.call(id, name, **asked)
        reply = talk.answered(id, 5)
        seen.expect(reply is not None and "error" in str(reply).lower(), f"{name}: {reply}")
    talk.call(20, "entity", id="\u009b31m\u202e")
    reply = talk.answered(20, 5) or {"raw": b""}
    acts = re.search("[\u0080-\u009f\u202a-\u202e]", reply["raw"].decode())
    seen.expect(reply["raw"] and not acts, f"{reply['raw'][:200]!r}")
    talk.process.kill()


@case("assistant that leaves", "14")
def leaves(tool: Tool, seen: Seen) -> None:
    """What is cancelled stops, and does not keep the next question; the end of input is the end."""
    for name, asked in _LONG.items():
        talk = Assistant(tool)
        talk.call(1, "ask", **asked)
        time.sleep(1)
        cancelled = {"requestId": 1, "reason": "changed my mind"}
        talk.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled})
        talk.call(2, "ask", question="who directed Alien?")
        seen.expect(talk.answered(2, 8), f"{name}: no answer 8 s after it was cancelled")
        talk.call(3, "ask", **asked)
        time.sleep(0.5)
        assert talk.process.stdin is not None
        talk.process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            talk.process.wait(8)
        seen.expect(talk.process.poll() is not None, f"{name}: alive 8 s after the end of input")
        talk.process.kill()


@case("terminal", "16, 18")
def terminal(tool: Tool, seen: Seen) -> None:
    """A closed standard output, and file names that act on a terminal."""
    shell = shlex.join([*tool.command, "ask", "who directed [Alien]?"])
    run = subprocess.run(["bash", "-c", f"{shell} >&-"], capture_output=True, text=True)
    lines = [line for line in run.stderr.splitlines() if not line.startswith("jaxkg: working")]
    seen.expect(not lines, f"closed standard output: {run.returncode} {lines[-3:]}")
    for name in "\x1b[31mx.tsv", "\u009b31mx.tsv", "\u202ex.tsv":
        path = tool.folder / name
        path.write_text("one field\n")
        for graph in path, tool.folder / f"{name}.absent":
            run = subprocess.run(
                [*tool.command, "kg", "build", graph, "-o", tool.folder / "built"],
                capture_output=True,
                text=True,
            )
            acts = re.search("[\x1b\u0080-\u009f\u202a-\u202e]", run.stderr)
            seen.expect(run.returncode == 2 and not acts, f"{run.stderr!r}")


@case("kept replies", "20")
def kept(tool: Tool, seen: Seen) -> None:
    """What a model was asked and replied is its owner's."""
    replies = tool.folder / "fresh" / "replies.sqlite"
    model = ["--llm", "m", "--base-url", "http://127.0.0.1:9", "--replies", str(replies)]
    always = ["--ask-model", "always"]
    subprocess.run(
        [*tool.command, "ask", "who directed [Alien]?", *model, "--timeout", "2", *always],
        capture_output=True,
        env=os.environ | {"JAXKG_CACHE": str(tool.folder / "own")},
    )
    for path in (*replies.parent.glob("*"), replies.parent, tool.folder / "own"):
        if path.exists():
            mode = stat.S_IMODE(path.stat().st_mode)
            seen.expect(not mode & 0o077, f"{path.name}: {mode:o}")
    seen.expect(replies.exists(), "no file of replies was made")


_ABOVE_IDLE = 300
"""Megabytes that one question may take beside what the service holds."""


def _peak(process: subprocess.Popen[bytes]) -> int:
    """Megabytes that a process held at most so far."""
    told = Path(f"/proc/{process.pid}/status").read_text()
    return int(told.partition("VmHWM:")[2].split()[0]) // 1024


@case("questions", "1")
def questions(tool: Tool, seen: Seen) -> None:
    """Questions full of names, numbers and topics: a reply to each, and little memory."""
    with tool.service(limit="-v 8000000") as running:
        running.ask("POST", "/ask", PLAIN, heads=JSON, seconds=120)
        names = running.ask("GET", "/entities?q=a&limit=200")[2]
        known = [one["name"] for one in json.loads(names)["entities"]]
        idle, most = _peak(running.process), 0.0
        for question, topics in (
            ("who directed Alien and " * 173, []),
            ("who directed " + " and ".join(known), []),
            ("which films are by " + " or ".join(known), []),
            ("which films are not by " + " or ".join(known), []),
            ("1 " * 1990, []),
            ("\U0001f600" * 1500, []),
            ("who?", ["Alien"] * 5000),
            ("who?", known),
        ):
            body = json.dumps({"question": question[:3990], "topics": topics})
            reply = SENDERS.submit(running.status, "POST", "/ask", body, heads=JSON, seconds=90)
            shown = f"{question[:30]!r}, {len(topics)} topics"
            most = max(most, _beside(running, seen, f"{shown}: ", 2))
            status = reply.result()
            seen.expect(status == 200 or 400 <= status < 500, f"{shown}: {status}")
            above = _peak(running.process) - idle
            seen.expect(above <= _ABOVE_IDLE, f"{shown}: {above} MB above idle")
        seen.words = seen.words or f"a plain client's p95 {most:.2f} s at most"


@case("long names and questions", "8")
def long_names(tool: Tool, seen: Seen) -> None:
    """An answer, or one line, of graphs with names of a million letters."""
    path = tool.folder / "long.tsv"
    for name in "L" * 80_000, "L" * 1_000_000, "La " * 30_000:
        path.write_text(f"A\tr\t{name}\nA\tq\tB\n")
        run = tool.popen(
            *("ask", "what is the q of [A]?", "--kg", str(path)),
            limit="-v 4000000",
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        told, _ = run.communicate(timeout=120)
        right = run.returncode == 0 and len(told) < 20_000
        seen.expect(right, f"{len(name):,}: {run.returncode}, {len(told):,} bytes")
    run = tool.popen("ask", "a" * 10_000, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    _, error = run.communicate(timeout=120)
    one = run.returncode == 2 and len(error.strip().splitlines()) == 1
    seen.expect(one, f"10,000 characters: {run.returncode} {error[-200:]!r}")


@case("a megabyte", "5, 10, 22, 23")
def megabyte(tool: Tool, seen: Seen) -> None:
    """Every format, at most a megabyte of it: a graph or one clear line, and a gigabyte at most."""
    most = 0
    for number, (name, data) in enumerate(megabytes()):
        path = tool.folder / name
        path.write_bytes(data)
        run = tool.popen(
            *("kg", "build", str(path), "-o", str(tool.folder / f"graph{number}")),
            stdout=subprocess.DEVNULL,
            stderr=(log := (tool.folder / "log").open("w+b")),
        )
        timer = threading.Timer(120, run.kill)
        timer.start()
        _, status, usage = os.wait4(run.pid, 0)
        timer.cancel()
        run.returncode = os.waitstatus_to_exitcode(status)
        log.seek(0)
        error = log.read().decode(errors="replace").strip()
        log.close()
        most = max(most, usage.ru_maxrss >> 10)
        right = run.returncode == 0 or (run.returncode == 2 and "Traceback" not in error)
        seen.expect(right, f"{name}: {run.returncode} {error[-200:]!r}")
        lines = [line for line in error.splitlines() if line.startswith("error")]
        seen.expect(run.returncode == 0 or len(lines) <= 1, f"{name}: {len(lines)} lines")
        seen.expect(usage.ru_maxrss < 1 << 20, f"{name}: {usage.ru_maxrss >> 10} MB")
        path.unlink()
    if not seen.fell:
        seen.words = f"{most} MB at most"


@case("packed replies of a model", "9")
def packed(tool: Tool, seen: Seen) -> None:
    """A reply packed twice, small on the way and huge here."""
    body = gzip.compress(gzip.compress(bytes(1 << 28), 9), 9)

    class Model(_Quiet):
        def do_POST(self) -> None:
            self.send_response(200)
            self.send_header("Content-Encoding", "gzip, gzip")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with served(Model) as port:
        address = f"http://127.0.0.1:{port}"
        begun = time.monotonic()
        run = tool.popen(
            *("ask", "who directed [Alien]?", "--llm", "m", "--base-url", address),
            *("--timeout", "4", "--no-cache", "--ask-model", "always"),
            limit="-v 6000000",
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        _, error = run.communicate(timeout=300)
        words = f"{run.returncode}, {time.monotonic() - begun:.0f} s, {error[-200:]!r}"
        seen.expect(run.returncode == 2 and b"packed" in error, words)


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__, data=False, seed=False)
    parser.add_argument("--command", default=f"{sys.executable} -m jaxkg", help="that is tried")
    parser.add_argument("--only", default="", help="cases, with commas between; all without")
    options = parser.parse_args(argv)
    names = [name for name in map(str.strip, options.only.split(",")) if name] or list(CASES)
    if unknown := set(names) - set(CASES):
        parser.error(f"no such case: {', '.join(unknown)}; there are {', '.join(CASES)}")
    record = Record(__file__, options)
    table = record.table("case", "faults", "tried", "held", "seconds", "seen")
    fell = 0
    for name in names:
        faults, run = CASES[name]
        seen, begun = Seen(), time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            run(Tool(shlex.split(options.command), Path(folder)), seen)
        fell += seen.fell
        seconds = time.monotonic() - begun
        held = f"{seen.tried - seen.fell}"
        table.add(name, faults, seen.tried, int(held), round(seconds), seen.words[:300])
    record.note(f"{fell} fell" if fell else "all held")
    record.save()
    sys.exit(bool(fell))


if __name__ == "__main__":
    main()
