import asyncio
import json
import subprocess
import sys
import threading
import time
from pathlib import Path

import loopback
import pytest
from asked_texts import Chosen

from jaxkg import adjudicate
from jaxkg.adjudicate import Backoff, Message, OpenAIBackend, PriceTable, Rates, Request
from jaxkg.adjudicate.endpoint import openai as openai_backend
from jaxkg.adjudicate.reading.schema import strict_schema
from jaxkg.errors import JaxkgError


def ask_for(text, **options):
    return Request((Message("system", "be brief"), Message("user", text)), **options)


def shaped(text, **options):
    return ask_for(text, schema=strict_schema(Chosen), schema_name="Chosen", **options)


def last_turn(body):
    return body["messages"][-1]["content"]


def test_replies_come_in_the_order_of_the_requests(serve, backend_of):
    def answer(body):
        number = int(last_turn(body))
        return loopback.Behaviour(text=f"reply {number}", delay=0.002 * (20 - number))

    server = serve(answer)
    told = {}
    backend = backend_of(server, concurrency=8)
    replies = backend.complete(
        [ask_for(str(n)) for n in range(20)], on_reply=lambda n, reply: told.update({n: reply})
    )
    assert [reply.text for reply in replies] == [f"reply {n}" for n in range(20)]
    assert told == dict(enumerate(replies))
    assert list(told) != list(range(20)), "each is told when it arrives"
    assert all(reply.error is None and reply.attempts == 1 for reply in replies)


def test_tokens_seconds_and_price_are_counted(serve, backend_of):
    server = serve(lambda body: loopback.Behaviour(text="three words here", delay=0.05))
    prices = PriceTable({"loopback": Rates(1e6, 2e6)})
    reply = backend_of(server, prices=prices).complete([ask_for("one two")])[0]
    assert (reply.prompt_tokens, reply.completion_tokens, reply.estimated) == (4, 3, False)
    assert reply.price == pytest.approx(4 + 2 * 3)
    assert 0.05 <= reply.seconds < 2


@pytest.mark.parametrize("concurrency", [1, 4])
def test_no_more_requests_are_in_flight_than_allowed(serve, backend_of, concurrency):
    server = serve(delay=0.01)
    backend = backend_of(server, concurrency=concurrency)
    halves = [[ask_for(f"{half}.{n}") for n in range(12)] for half in range(2)]
    threads = [threading.Thread(target=backend.complete, args=(half,)) for half in halves]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert server.most_in_flight == concurrency
    assert server.statuses[200] == 24


def test_on_another_thread_it_leaves_the_loop_free_in_several_loops(serve, backend_of):
    turned = threading.Event()
    # Nothing is replied before the loop has taken its turns.
    backend = backend_of(serve(lambda body: "ok" if turned.wait(60) else "the loop is held"))

    async def cell(text):
        asking = asyncio.to_thread(backend.complete, [ask_for(text), ask_for(f"{text}, too")])
        call = asyncio.create_task(asking)
        for _ in range(5):
            await asyncio.sleep(0.005)
        turned.set()
        return await call

    for text in ("a", "b"):
        assert [reply.text for reply in asyncio.run(cell(text))] == ["ok", "ok"]
        turned.clear()


def test_structured_output_is_sent_where_it_is_supported(serve, backend_of):
    server = serve(lambda body: '{"indices": [1]}')
    replies = backend_of(server).complete([shaped("a"), ask_for("b")])
    by_text = {last_turn(body): body for body in server.bodies}
    sent = by_text["a"]["response_format"]
    assert sent["type"] == "json_schema"
    assert sent["json_schema"]["strict"] is True
    assert sent["json_schema"]["schema"] == strict_schema(Chosen)
    assert "response_format" not in by_text["b"]
    assert [reply.structured for reply in replies] == [True, False]


def test_an_endpoint_without_it_is_asked_once_and_remembered(serve, backend_of):
    server = serve(lambda body: '{"indices": [1]}', structured=False)
    backend = backend_of(server, concurrency=16)
    replies = backend.complete([shaped(str(n)) for n in range(50)])
    replies += backend.complete([shaped("again", form="Only numbers, please.")])
    assert all(reply.error is None and not reply.structured for reply in replies)
    assert server.statuses == {400: 1, 200: 51}
    assert [reply.attempts for reply in replies].count(2) == 1
    first, last = server.bodies[1], server.bodies[-1]
    assert json.dumps(strict_schema(Chosen), separators=(",", ":")) in last_turn(first)
    assert last_turn(last) == "again\n\nOnly numbers, please."
    assert any("takes no json_schema" in words for words in backend.dialect.learnt)


def test_an_endpoint_with_a_dialect_of_its_own(serve, backend_of):
    """As hosted reasoning models: another length field, no temperature, no seed."""

    def answer(body):
        for field, words in (
            ("max_tokens", "'max_tokens' is not supported. Use 'max_completion_tokens' instead."),
            ("temperature", "'temperature' does not support 0 with this model."),
            ("seed", "Unknown parameter: seed"),
        ):
            if field in body:
                return loopback.Behaviour(status=400, message=words)
        return "ok"

    server = serve(answer)
    backend = backend_of(server)
    replies = backend.complete([ask_for("a", max_tokens=5, seed=1)])
    assert (replies[0].error, replies[0].attempts) == (None, 4)
    replies = backend.complete([ask_for(str(n), max_tokens=5, seed=1) for n in range(5)])
    assert all(reply.attempts == 1 for reply in replies)
    assert server.bodies[-1]["max_completion_tokens"] == 5
    assert len(backend.dialect.learnt) == 3


def test_a_400_that_teaches_nothing_is_a_failure_at_once(serve, backend_of):
    server = serve(lambda body: loopback.Behaviour(status=400, message="context too long"))
    reply = backend_of(server).complete([shaped("a", max_tokens=3)])[0]
    assert (reply.error, reply.attempts) == ("bad_request", 1)
    assert "context too long" in reply.detail


def test_retry_after_is_kept(serve, backend_of):
    server = serve()
    server.script(loopback.Behaviour(status=429, retry_after="0.3"))
    started = time.perf_counter()
    reply = backend_of(server).complete([ask_for("a")])[0]
    assert (reply.error, reply.attempts) == (None, 2)
    assert time.perf_counter() - started >= 0.3
    assert reply.seconds >= 0.3, "waiting is part of what a reply took"


def test_a_retry_after_beyond_patience_ends_the_attempts(serve, backend_of):
    server = serve()
    server.script(loopback.Behaviour(status=429, retry_after="3600"))
    reply = backend_of(server).complete([ask_for("a")])[0]
    assert (reply.error, reply.attempts) == ("rate_limit", 1)


def test_a_reply_that_drips_is_ended_by_the_clock(serve, backend_of):
    """Bytes keep coming, so only a limit on the whole reply can end it."""
    server = serve(lambda body: loopback.Behaviour(text="x" * 200, drip=0.02))
    backend = backend_of(server, timeout=0.3, backoff=Backoff(retries=0))
    reply = backend.complete([ask_for("a")])[0]
    assert reply.error == "timeout"


def test_admission_is_asked_before_each_request(serve, backend_of):
    server = serve()
    backend = backend_of(server)
    replies = backend.complete(
        [ask_for(str(n)) for n in range(6)], admit=lambda n: "no" if n % 2 else None
    )
    assert [reply.error for reply in replies] == [None, "budget"] * 3
    assert server.completed == {"0": 1, "2": 1, "4": 1}


def test_what_on_reply_raises_ends_the_batch(serve, backend_of):
    server = serve(delay=0.01)
    backend = backend_of(server, concurrency=2)

    def full_disk(place, reply):
        raise JaxkgError("disk full")

    with pytest.raises(JaxkgError, match="disk full"):
        backend.complete([ask_for(str(n)) for n in range(50)], on_reply=full_disk)
    assert len(server.bodies) <= 4
    assert backend.complete([ask_for("next")])[0].text == "ok", "the backend is still usable"


def test_parts_and_empty_content_are_text(serve, backend_of):
    parts = {"choices": [{"message": {"content": [{"type": "text", "text": "a"}, {"text": "b"}]}}]}
    server = serve()
    server.script(
        loopback.Behaviour(body=json.dumps(parts).encode()), loopback.Behaviour(text=None)
    )
    backend = backend_of(server)
    assert backend.complete([ask_for("1")])[0].text == "ab"
    empty = backend.complete([ask_for("2")])[0]
    assert (empty.text, empty.error) == ("", None)


def test_a_lone_surrogate_is_a_failure_not_a_crash(serve, backend_of):
    replies = backend_of(serve()).complete([ask_for("\ud800"), ask_for("fine")])
    assert [reply.error for reply in replies] == ["bad_request", None]


def test_settings_come_from_the_environment(serve, monkeypatch):
    server = serve(key="sk-from-the-environment", models=("small",))
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-from-the-environment")
    monkeypatch.setenv("JAXKG_LLM_MODEL", "small")
    with OpenAIBackend() as backend:
        assert backend.complete([ask_for("a")])[0].text == "ok"
        assert backend.models() == ("small",)
    with OpenAIBackend("other", api_key="sk-wrong-key-given") as backend:
        assert backend.complete([ask_for("a")])[0].error == "authentication"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "JAXKG_LLM_MODEL"),
        ({"model": "m"}, "OPENAI_API_KEY"),
        ({"model": "m", "base_url": "localhost:8000"}, "http://host:port/v1"),
        ({"model": "m", "base_url": "http://x/v1", "concurrency": 0}, "concurrency"),
        ({"model": "m", "base_url": "http://x/v1", "timeout": 0}, "timeout"),
    ],
)
def test_what_is_missing_is_told(options, words):
    with pytest.raises(JaxkgError, match=words):
        OpenAIBackend(**options)


def test_a_closed_backend_says_so(serve, backend_of):
    backend = backend_of(serve())
    backend.close()
    backend.close()
    with pytest.raises(JaxkgError, match="closed"):
        backend.complete([ask_for("a")])


def test_the_client_is_imported_by_those_who_need_it():
    code = "import sys, jaxkg.adjudicate; assert not {'openai', 'jax'} & set(sys.modules)"
    root = Path(adjudicate.__file__).parent.parent.parent
    subprocess.run([sys.executable, "-c", code], check=True, cwd=root)


def test_a_server_that_loads_its_model_is_waited_for(serve, backend_of, monkeypatch):
    monkeypatch.setattr(openai_backend, "_LOOK_AGAIN", 0.01)
    server = serve()
    server.script(*[loopback.Behaviour(status=503, message="Loading model")] * 9)
    reply = backend_of(server, backoff=Backoff(retries=0)).complete([ask_for("a")])[0]
    assert (reply.error, reply.attempts) == (None, 10), "it is no failure, of which few are allowed"
    server.script(loopback.Behaviour(status=503, message="overloaded"))
    assert (
        backend_of(server, backoff=Backoff(retries=0)).complete([ask_for("b")])[0].error == "server"
    )
    monkeypatch.setattr(openai_backend, "_LOADING", 0.0)
    server.script(loopback.Behaviour(status=503, message="Loading model"))
    assert (
        backend_of(server, backoff=Backoff(retries=0)).complete([ask_for("c")])[0].error == "server"
    )
