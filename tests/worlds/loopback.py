"""A language model endpoint on loopback: speaks the OpenAI protocol, and misbehaves on request.

In a test: `with LanguageServer(answer) as server: ... server.url`, or the fixture `serve`.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import struct
import sys
import threading
from collections import Counter, deque
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

LARGEST_BODY = 1 << 20
LONGEST_DELAY = 10.0
MOST_RECORDED = 10_000


@dataclasses.dataclass(frozen=True)
class Behaviour:
    """How one request is answered."""

    text: str | None = "ok"
    status: int = 200
    message: str = "something is wrong"
    code: str | None = None
    retry_after: str | None = None
    delay: float = 0.0
    cut: bool = False
    drip: float = 0.0
    body: bytes | None = None
    finish: str = "stop"
    refusal: str | None = None
    usage: bool | Any = True  # False leaves it out, anything else but True stands in its place
    headers: dict[str, str] = dataclasses.field(default_factory=dict)
    early: int = 0  # replies "102 Processing" before the reply, `drip` seconds apart
    raw: bytes | None = None  # all that is sent, status line included, before the line is cut


class LanguageServer:
    """Serves chat completions, embeddings and the list of models on 127.0.0.1.

    Args:
        answer: text (or a whole behaviour) for a request's body, when nothing is scripted.
        structured: False refuses `response_format` with a 400, as servers without it do.
        key: the only key that is accepted; None takes any.
        models: the only models that exist; None takes any.
        delay: seconds before each answer.
        props: what `/props` says, as llama.cpp has it; None has none.
        streams: replies come in parts where that is asked for, else whole.
        hold_after: completions after which further requests wait for the end.
    """

    def __init__(
        self,
        answer: Callable[[dict[str, Any]], str | Behaviour] = lambda body: "ok",
        *,
        structured: bool = True,
        key: str | None = None,
        models: tuple[str, ...] | None = None,
        delay: float = 0.0,
        props: dict[str, Any] | None = None,
        streams: bool = False,
        hold_after: int | None = None,
    ) -> None:
        self.answer = answer
        self.structured = structured
        self.key = key
        self.models = models
        self.delay = delay
        self.props = props
        self.streams = streams
        self.hold_after = hold_after
        self.bodies: deque[dict[str, Any]] = deque(maxlen=MOST_RECORDED)
        self.statuses: Counter[int] = Counter()
        self.completed: Counter[str] = Counter()  # last turn of each request answered in full
        self.in_flight = self.most_in_flight = 0
        self.lock = threading.Lock()
        self.stopping = threading.Event()
        self._script: deque[Behaviour] = deque()
        self._http = _Server(("127.0.0.1", 0), _Handler)
        self._http.owner = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def script(self, *behaviours: Behaviour) -> None:
        """Answer the next requests so, in order of arrival."""
        with self.lock:
            self._script.extend(behaviours)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def behave(self, body: dict[str, Any], authorization: str | None) -> Behaviour:
        """What to do with a chat request."""
        with self.lock:
            held = self.hold_after is not None and self.hold_after <= 0
            if self.hold_after is not None:
                self.hold_after -= 1
        if held:
            self.stopping.wait(LONGEST_DELAY)
        if self.key is not None and authorization != f"Bearer {self.key}":
            # Repeats the key, as careless servers do.
            return Behaviour(status=401, message=f"Incorrect API key provided: {authorization}")
        if self.models is not None and body.get("model") not in self.models:
            return Behaviour(status=404, message=f"The model {body.get('model')!r} does not exist")
        with self.lock:
            if self._script:
                return self._script.popleft()
        if trouble := self._format_trouble(body.get("response_format")):
            return Behaviour(status=400, message=trouble)
        answer = self.answer(body)
        return answer if isinstance(answer, Behaviour) else Behaviour(text=answer)

    def _format_trouble(self, wanted: Any) -> str | None:
        if wanted is None:
            return None
        if not self.structured:
            return "response_format: this server takes no json_schema"
        try:
            return _not_strict(wanted["json_schema"]["schema"], wanted["json_schema"]["schema"])
        except (KeyError, TypeError):
            return "response_format: malformed json_schema"


def _not_strict(schema: Any, root: dict[str, Any]) -> str | None:
    """Why strict mode refuses a schema, by the hosted service's rules."""
    if isinstance(schema, list):
        return next(filter(None, (_not_strict(item, root) for item in schema)), None)
    if not isinstance(schema, dict):
        return None
    if "default" in schema or ("$ref" in schema and len(schema) > 1):
        return "response_format: default and words beside $ref are not permitted"
    if schema.get("type") == "object":
        properties = schema.get("properties", {})
        if schema.get("additionalProperties") is not False:
            return "response_format: additionalProperties must be false"
        if sorted(schema.get("required", [])) != sorted(properties):
            return "response_format: every property must be required"
    inner = [
        *schema.get("properties", {}).values(),
        *schema.get("$defs", {}).values(),
        *schema.get("anyOf", []),
        schema.get("items"),
    ]
    return _not_strict(inner, root)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    owner: LanguageServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True
    timeout = 30
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        models = self.server.owner.models or ("loopback",)
        if self.path == "/props" and self.server.owner.props is not None:
            self._send(200, self.server.owner.props)
        elif self.path == "/v1/models":
            self._send(200, {"object": "list", "data": [{"id": name} for name in models]})
        else:
            self._send(404, {"error": {"message": f"no such address {self.path}"}})

    def do_POST(self) -> None:
        owner = self.server.owner
        length = int(self.headers.get("Content-Length") or 0)
        if length > LARGEST_BODY:
            self.close_connection = True
            self._send(413, {"error": {"message": f"body above {LARGEST_BODY} bytes"}})
            return
        try:
            body = json.loads(self.rfile.read(length))
        except ValueError:
            self._send(400, {"error": {"message": "the body is not JSON"}})
            return
        if self.path == "/v1/embeddings":
            self._send(200, _embeddings(body))
        elif self.path == "/v1/chat/completions":
            with owner.lock:
                owner.bodies.append(body)
                owner.in_flight += 1
                owner.most_in_flight = max(owner.most_in_flight, owner.in_flight)
            try:
                behaviour = owner.behave(body, self.headers.get("Authorization"))
                self._complete(body, behaviour)
            finally:
                with owner.lock:
                    owner.in_flight -= 1
        else:
            self._send(404, {"error": {"message": f"no such address {self.path}"}})

    def _complete(self, body: dict[str, Any], behaviour: Behaviour) -> None:
        owner = self.server.owner
        wait = min(max(behaviour.delay, owner.delay), LONGEST_DELAY)
        if wait and owner.stopping.wait(wait):
            self.close_connection = True
            return
        if behaviour.raw is not None:
            self._write(behaviour.raw, behaviour.drip)
            self.close_connection = True
            return
        if behaviour.status != 200:
            error = {"message": behaviour.message, "code": behaviour.code}
            extra = {"Retry-After": behaviour.retry_after} if behaviour.retry_after else {}
            content = behaviour.body or json.dumps({"error": error}).encode()
            self._send(behaviour.status, content, {**extra, **behaviour.headers})
            return
        for _ in range(behaviour.early):
            self.wfile.write(b"HTTP/1.1 102 Processing\r\n\r\n")
            self.wfile.flush()
            if owner.stopping.wait(min(behaviour.drip, LONGEST_DELAY)):
                self.close_connection = True
                return
        content = behaviour.body or json.dumps(_completion(body, behaviour)).encode()
        with owner.lock:
            if not behaviour.cut:
                owner.completed[body["messages"][-1]["content"]] += 1
        if owner.streams and body.get("stream") and behaviour.body is None:
            self._stream(_completion(body, behaviour), behaviour)
            return
        drip = 0.0 if behaviour.early else behaviour.drip
        self._send(200, content, behaviour.headers, cut=behaviour.cut, drip=drip)

    def _send(
        self,
        status: int,
        content: bytes | dict[str, Any],
        headers: dict[str, str] | None = None,
        *,
        cut: bool = False,
        drip: float = 0.0,
    ) -> None:
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        if self.command == "POST":
            with self.server.owner.lock:
                self.server.owner.statuses[status] += 1
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self._write(data[: len(data) // 2] if cut else data, drip)
        self.close_connection = self.close_connection or cut

    def _stream(self, whole: dict[str, Any], behaviour: Behaviour) -> None:
        """A completion in parts, `drip` seconds apart; `cut` leaves out its end."""
        with self.server.owner.lock:
            self.server.owner.statuses[200] += 1
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        message = whole["choices"][0]["message"]
        words = (message["content"] or "").split(" ")
        deltas = [{"content": word + " " * (n < len(words) - 1)} for n, word in enumerate(words)]
        parts = [{"choices": [{"delta": delta, "finish_reason": None}]} for delta in deltas]
        parts.append({"choices": [{"delta": {}, "finish_reason": behaviour.finish}]})
        parts.append({"choices": [], "usage": whole.get("usage")})
        for part in parts[: -2 if behaviour.cut else None]:
            self.wfile.write(f"data: {json.dumps(part)}\n\n".encode())
            self.wfile.flush()
            if behaviour.drip and self.server.owner.stopping.wait(behaviour.drip):
                return
        if not behaviour.cut:
            self.wfile.write(b"data: [DONE]\n\n")

    def _write(self, data: bytes, drip: float) -> None:
        parts = [bytes([byte]) for byte in data] if drip else [data]
        for part in parts:
            self.wfile.write(part)
            self.wfile.flush()
            if drip and self.server.owner.stopping.wait(min(drip, LONGEST_DELAY)):
                return


def _completion(body: dict[str, Any], behaviour: Behaviour) -> dict[str, Any]:
    message = {"role": "assistant", "content": behaviour.text, "refusal": behaviour.refusal}
    answer: dict[str, Any] = {
        "id": "chatcmpl-loopback",
        "object": "chat.completion",
        "created": 0,
        "model": body.get("model"),
        "choices": [{"index": 0, "message": message, "finish_reason": behaviour.finish}],
    }
    if behaviour.usage is not True:
        if behaviour.usage is not False:
            answer["usage"] = behaviour.usage
    else:
        prompt = sum(len(turn["content"].split()) for turn in body["messages"])
        completion = len((behaviour.text or "").split())
        answer["usage"] = {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
        }
    return answer


def _embeddings(body: dict[str, Any]) -> dict[str, Any]:
    """A unit vector per text, the same for the same text."""
    texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
    size = min(int(body.get("dimensions") or 8), 1024)
    data = []
    for index, text in enumerate(texts):
        vector = _vector(str(text), size)
        packed = base64.b64encode(struct.pack(f"<{size}f", *vector)).decode()
        shown = packed if body.get("encoding_format") == "base64" else vector
        data.append({"object": "embedding", "index": index, "embedding": shown})
    usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
    return {"object": "list", "model": body.get("model"), "data": data, "usage": usage}


def _vector(text: str, size: int) -> list[float]:
    raw = hashlib.shake_256(text.encode()).digest(size)
    values = [byte - 127.5 for byte in raw]
    norm = sum(value * value for value in values) ** 0.5
    return [value / norm for value in values]


def stored_replies(file: Path) -> int:
    """How many replies a file holds, which may not be there yet."""
    from jaxkg.adjudicate.around.store import ReplyStore

    if not file.exists():
        return 0
    store = ReplyStore(file)
    try:
        return len(store)
    finally:
        store.close()
