"""Every fault of an endpoint, alone or in a batch of 50: nothing crashes, nothing paid is lost,
each is counted."""

import dataclasses
import threading
from collections import Counter

import loopback
import pytest
from asked_texts import Chosen

from jaxkg.adjudicate import (
    Backoff,
    Cache,
    Message,
    Meter,
    OpenAIBackend,
    Prompted,
    Replay,
    ask,
    tally,
)

GOOD = '{"indices": [1, 3]}'


@dataclasses.dataclass(frozen=True)
class Fault:
    """What the endpoint does, and what becomes of each question.

    `always` is its behaviour, `once` True where only the first attempt at each question meets it.
    `error` is the failure that is counted, None where there is a value; `calls` the replies it
    took, `attempts` the HTTP requests of each question; `timeout` of one, in seconds.
    """

    name: str
    always: dict
    once: bool = False
    error: str | None = None
    calls: int = 1
    attempts: int = 1
    structured: bool = True
    timeout: float = 10.0


FAULTS = [
    Fault("well", {"text": GOOD}),
    Fault("400", {"status": 400}, error="bad_request"),
    Fault("401", {"status": 401}, error="authentication"),
    Fault("403", {"status": 403}, error="permission"),
    Fault("404", {"status": 404}, error="not_found"),
    Fault("429, then well", {"status": 429, "retry_after": "0.02"}, once=True, attempts=2),
    Fault("429", {"status": 429, "retry_after": "0.01"}, error="rate_limit", attempts=3),
    Fault("500, then well", {"status": 500}, once=True, attempts=2),
    Fault("500", {"status": 500}, error="server", attempts=3),
    # What answers at last, and what asks, must be in time on a crowded machine, too.
    Fault("slow, then well", {"delay": 4.0}, once=True, attempts=2, timeout=3.0),
    Fault("slow", {"delay": 5.0}, error="timeout", attempts=2, timeout=1.0),
    Fault("connection cut, then well", {"cut": True}, once=True, attempts=2),
    Fault("connection cut", {"cut": True}, error="connection", attempts=3),
    Fault("no structured output", {"text": GOOD}, structured=False),
    Fault("fenced, with prose", {"text": f"Sure!\n```json\n{GOOD}\n```\nBye"}, structured=False),
    Fault("index list", {"text": "1, 3"}, structured=False),
    Fault("wrong JSON, then well", {"text": '{"foo": 1}'}, once=True, calls=2, attempts=2),
    Fault("wrong JSON", {"text": '{"foo": 1}'}, error="unparsed", calls=2, attempts=2),
    Fault("broken JSON", {"text": '{"indices" [1'}, error="unparsed", calls=2, attempts=2),
    Fault("prose", {"text": "I like it."}, error="unparsed", calls=2, attempts=2),
    Fault("empty", {"text": ""}, error="unparsed", calls=2, attempts=2),
    Fault(
        "reply cut off, then well",
        {"text": '{"indices": [1,', "finish": "length"},
        once=True,
        calls=2,
        attempts=2,
    ),
    Fault(
        "reply cut off",
        {"text": '{"indices": [1,', "finish": "length"},
        error="unparsed",
        calls=2,
        attempts=2,
    ),
    Fault("not JSON at all", {"body": b"<html>hello</html>"}, error="protocol"),
    Fault("JSON of something else", {"body": b'{"choices": []}'}, error="protocol"),
    Fault("refusal", {"text": None, "refusal": "no"}, error="refused"),
    Fault("filtered", {"text": "", "finish": "content_filter"}, error="refused"),
]


class PerQuestion:
    """Counts the requests for each question, however they are worded."""

    def __init__(self, fault, behaviour):
        self.fault, self.behaviour = fault, behaviour
        self.asked = Counter()
        self.delivered = 0
        self.well = False
        self._lock = threading.Lock()

    def __call__(self, body):
        question = body["messages"][0]["content"]
        with self._lock:
            self.asked[question] += 1
            faulty = not self.well and not (self.fault.once and self.asked[question] > 1)
            chosen = self.behaviour(**(self.fault.always if faulty else {"text": GOOD}))
            self.delivered += chosen.status == 200 and not chosen.cut and not chosen.delay
        return chosen


def prompts(size):
    return [
        Prompted((Message("user", f"question {n}"),), Chosen, question=str(n), stage="test")
        for n in range(size)
    ]


def matrix():
    """Every fault of one call; of fifty, those that end when met again, and a few more."""
    together = ("well", "429", "connection cut", "no structured output", "prose", "refusal")
    for fault in FAULTS:
        yield pytest.param(fault, 1, id=f"{fault.name}-single")
        if fault.once or fault.name in together:
            marks = pytest.mark.slow if "slow" in fault.name else ()
            yield pytest.param(fault, 50, marks=marks, id=f"{fault.name}-batch")


@pytest.mark.parametrize(("fault", "size"), [*matrix()])
def test_failure_matrix(fault, size, serve, tmp_path):
    endpoint = PerQuestion(fault, loopback.Behaviour)
    server = serve(endpoint, structured=fault.structured)
    path = tmp_path / "replies.sqlite"

    def connected(timeout):
        return Meter(
            Cache(
                OpenAIBackend(
                    "loopback",
                    base_url=server.url,
                    concurrency=25,
                    timeout=timeout,
                    backoff=Backoff(retries=2, first=0.01),
                ),
                path,
            )
        )

    with connected(fault.timeout) as backend:
        outcomes = ask(backend, prompts(size))
        assert len(outcomes) == size
        assert [outcome.error for outcome in outcomes] == [fault.error] * size
        values = [outcome.value for outcome in outcomes]
        assert values == [None if fault.error else Chosen(indices=[1, 3])] * size
        assert [len(outcome.replies) for outcome in outcomes] == [fault.calls] * size
        # Counted: by the outcomes, and by the meter.
        counts = tally(outcomes)
        assert counts["asked"] == size
        assert counts["read"] == (0 if fault.error else size)
        assert fault.error is None or counts[fault.error] == size
        assert counts["repaired"] == (size if fault.once and fault.calls == 2 else 0)
        total = backend.total
        assert total.calls == fault.calls * size
        learning = 0 if fault.structured else 1
        assert total.attempts == sum(endpoint.asked.values()) + learning
        assert total.attempts == fault.attempts * size + learning
        unread = {"unparsed": 0, None: 0}.get(fault.error, size)
        assert sum(total.failures.values()) == unread
        # Nothing that was paid for is lost.
        store = backend.inner.store
        kept = store.get([p.request().key("loopback") for p in prompts(size)])
        assert len(kept) == size
        answered = len(store) - sum(reply.error == "timeout" for reply in kept.values())
        if "connection" not in fault.name and endpoint.delivered:
            assert answered == endpoint.delivered
            assert all(reply.text for reply in kept.values()) or fault.name in (
                "empty",
                "refusal",
                "filtered",
            )

    # The same report again from the file alone, failures included.
    with Replay(path, "loopback") as replay:
        assert tally(ask(replay, prompts(size))) == counts

    # Started again, an endpoint that has recovered is asked what failed, and only that; also on a
    # machine that is crowded.
    endpoint.well = True
    endpoint.asked.clear()
    with connected(10.0) as backend:
        again = tally(ask(backend, prompts(size)))
    repaid = 0 if fault.error in (None, "unparsed") else size
    assert sum(endpoint.asked.values()) == repaid
    assert again["read"] == (0 if fault.error == "unparsed" else size)


def test_one_bad_reply_among_many_leaves_the_others_alone(serve, backend_of):
    kinds = [
        {"text": GOOD},
        {"status": 400},
        {"text": "prose"},
        {"cut": True},
        {"body": b"?"},
    ]

    def answer(body):
        number = int(body["messages"][0]["content"].split()[1])
        return loopback.Behaviour(**kinds[number % 5])

    outcomes = ask(backend_of(serve(answer)), prompts(50))
    expected = [None, "bad_request", "unparsed", "connection", "protocol"] * 10
    assert [outcome.error for outcome in outcomes] == expected


def test_nobody_listens(tmp_path):
    with OpenAIBackend(
        "m", base_url="http://127.0.0.1:9/v1", backoff=Backoff(retries=1, first=0.01)
    ) as backend:
        outcomes = ask(backend, prompts(3))
    assert [(o.error, o.replies[0].attempts) for o in outcomes] == [("connection", 2)] * 3
    assert "127.0.0.1:9" in outcomes[0].detail
