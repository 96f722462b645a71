"""A server with little context and one slot: found out, and never asked for more."""

import json
import threading
import time

import loopback
import pytest
from asked_texts import Chosen

from jaxkg.adjudicate import Backoff, Cache, Message, Prompted, Replay, Request, ask
from jaxkg.adjudicate.ask import cut_to, most_tokens
from jaxkg.adjudicate.endpoint.capacity import Capacity, Width, read_capacity
from jaxkg.adjudicate.endpoint.completion import read_completion
from jaxkg.adjudicate.prompts import block

PROPS = {"default_generation_settings": {"n_ctx": 2048}, "total_slots": 3}


def prompt(lines, **options):
    user = f"Question:\n{block(['why?'], 'question')}\n\nFacts:\n{block(lines)}\n\nThe end."
    return Prompted((Message("system", "be brief"), Message("user", user)), Chosen, **options)


@pytest.mark.parametrize(
    ("url", "pages", "found"),
    [
        ("http://127.0.0.1:1/v1", {"http://127.0.0.1:1/props": PROPS}, (2048, 3)),
        ("http://gpu.lan/v1", {"http://gpu.lan/props": PROPS}, (2048, 3)),
        (
            "http://a.b/v1",
            {"/models": {"data": [{"id": "m", "max_model_len": 9000}]}},
            (9000, None),
        ),
        (
            "http://localhost:1/v1",
            {"/models": {"data": [{"id": "n"}, {"id": "m", "meta": {"n_ctx": 512}}]}},
            (512, 1),
        ),
        ("http://localhost:1/v1", {"/models": {"data": "none"}}, (4096, 1)),
        ("http://localhost:1/v1", {"/models": {"data": [{"id": "m", "n_ctx": True}]}}, (4096, 1)),
        ("http://a.b/v1", {}, (None, None)),
    ],
)
def test_context_and_slots_are_the_servers_word(url, pages, found):
    read = read_capacity(url, "m", pages.get)
    assert (read.context, read.slots) == found


def test_a_server_here_is_asked_as_much_at_a_time_as_it_has_slots(serve, backend_of):
    server = serve(delay=0.01, props=PROPS)
    backend = backend_of(server)
    backend.complete([Request((Message("user", str(n)),)) for n in range(12)])
    assert (server.most_in_flight, backend.context) == (3, 2048)
    assert backend.capacity == Capacity(2048, 3, "/props")
    silent = serve(delay=0.01)
    backend_of(silent).complete([Request((Message("user", str(n)),)) for n in range(4)])
    assert silent.most_in_flight == 1
    assert backend_of(silent, context=900).context == 900


def test_a_refusal_narrows_the_width_and_replies_widen_it_again(serve, backend_of):
    server = serve(delay=0.01)
    server.script(*[loopback.Behaviour(status=429, retry_after="0")] * 2)
    backend = backend_of(server, concurrency=8)
    backend.complete([Request((Message("user", str(n)),)) for n in range(20)])
    assert backend.width.now < backend.width.most == 8
    width = Width(4)
    for _ in range(3):
        width.narrow()
    assert width.now == 1
    for _ in range(200):
        width.replied()
    assert width.now == 4
    held = threading.Thread(target=lambda: width.__enter__())
    for _ in range(4):
        width.__enter__()
    held.start()
    held.join(0.05)
    assert held.is_alive(), "a fifth waits"
    width.__exit__()
    held.join(5)
    assert not held.is_alive()


def test_a_stream_is_one_reply(serve, backend_of):
    server = serve(lambda body: "one two  three", streams=True)
    backend = backend_of(server)
    reply = backend.complete([Request((Message("user", "count"),))])[0]
    assert (reply.text, reply.error, reply.completion_tokens) == ("one two  three", None, 3)
    assert server.bodies[0]["stream_options"] == {"include_usage": True}
    server.script(loopback.Behaviour(text="one two", cut=True))
    broken = backend.complete([Request((Message("user", "again"),))])[0]
    assert broken.error == "protocol", "half a reply is none"


def test_how_likely_a_text_is_is_summed_over_a_stream():
    parts = [
        {"delta": {"content": text}, "logprobs": {"content": [
            {"token": text, "logprob": logit, "top_logprobs": [{"token": "y", "logprob": logit}]}
        ]}}
        for text, logit in (("ye", -0.5), ("s", -0.25))
    ]  # fmt: skip
    parts.append({"delta": {}, "finish_reason": "stop"})
    stream = "\n".join(f"data: {json.dumps({'choices': [part]})}" for part in parts)
    sent = {"messages": []}
    reply = read_completion(stream, sent, seconds=0.0, attempts=1, rates=None)
    assert (reply.text, reply.likelihood, reply.alternatives) == ("yes", -0.75, (("y", -0.5),))
    whole = json.dumps({"choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}]})
    told = read_completion(whole, sent, seconds=0.0, attempts=1, rates=None)
    assert told.likelihood is None


def test_a_silence_ends_a_stream_and_a_slow_one_is_waited_for(serve, backend_of):
    server = serve(streams=True)
    slow = loopback.Behaviour(text=" ".join("abcdefgh"), drip=0.2)
    silent = loopback.Behaviour(text="a b c", drip=3.0)
    backend = backend_of(server, timeout=1.0, backoff=Backoff(retries=0))
    server.script(slow)
    started = time.perf_counter()
    reply = backend.complete([Request((Message("user", "a"),))])[0]
    assert (reply.text, reply.error) == ("a b c d e f g h", None)
    assert time.perf_counter() - started > 1.0, "longer than the silence that is borne"
    server.script(silent)
    assert backend.complete([Request((Message("user", "b"),))])[0].error == "timeout"


def test_an_endpoint_that_does_not_stream_is_asked_without(serve, backend_of):
    def answer(body):
        if "stream" in body:
            return loopback.Behaviour(status=400, message="stream is not supported")
        return "ok"

    backend = backend_of(serve(answer))
    assert backend.complete([Request((Message("user", "a"),))])[0].text == "ok"
    assert backend.dialect.learnt == ["does not stream its replies"]


def test_no_prompt_is_longer_than_the_context(serve, backend_of, tmp_path):
    """A server of 2,048 tokens refuses what is longer, as llama.cpp does."""

    def answer(body):
        tokens = sum(len(turn["content"]) for turn in body["messages"]) // 4
        if tokens + body["max_tokens"] > 2048:
            words = f"request ({tokens} tokens) exceeds the available context size (2048 tokens)"
            return loopback.Behaviour(status=400, message=words)
        return '{"indices": [1]}'

    server = serve(answer, props=PROPS)
    file = tmp_path / "replies.sqlite"
    asked = [prompt([f"{n}. fact of some length {n}" for n in range(900)], max_tokens=64)]
    with Cache(backend_of(server), file) as cache:
        [outcome] = ask(cache, asked)
    assert outcome.value == Chosen(indices=[1])
    assert outcome.note.endswith(
        "lines of what was found were left out or cut, the model's context holds 2,048 tokens"
    )
    assert server.statuses == {200: 1}
    sent = server.bodies[0]["messages"][-1]["content"]
    assert "… and " in sent
    assert sent.endswith("</data>\n\nThe end.")
    with Replay(file, "loopback") as replay:
        assert ask(replay, asked)[0].value == outcome.value, "the prompt is cut as it was then"


def test_what_is_refused_all_the_same_is_cut_once_more(serve, backend_of):
    """Its tokens are shorter than anybody would think."""

    def answer(body):
        size = sum(len(turn["content"]) for turn in body["messages"])
        words = "the request exceeds the available context size"
        return loopback.Behaviour(status=400, message=words) if size > 4000 else '{"indices": []}'

    backend = backend_of(serve(answer, props=PROPS))
    [outcome] = ask(backend, [prompt(["fact " * 20] * 200, max_tokens=64)])
    assert outcome.value == Chosen(indices=[])
    assert outcome.note


@pytest.mark.parametrize("tokens", [30, 60, 200, 1000])
def test_a_cut_prompt_fits_and_says_what_is_gone(tokens):
    messages = prompt([f"line number {n}" for n in range(400)]).messages
    cut, gone = cut_to(messages, tokens + most_tokens(prompt([]).messages))
    assert most_tokens(cut) <= tokens + most_tokens(prompt([]).messages)
    shown = [line for line in cut[1].content.splitlines() if line.startswith("line")]
    assert shown == [f"line number {n}" for n in range(len(shown))]
    assert len(shown) + gone == 400
    assert f"… and {gone} more not shown" in cut[1].content


def test_one_long_line_loses_its_end_and_questions_lose_nothing():
    messages = prompt(["x" * 9000]).messages
    cut, gone = cut_to(messages, 500)
    assert gone == 1
    assert most_tokens(cut) <= 500
    assert "why?" in cut[1].content
    bare = (Message("user", "x" * 900),)
    assert cut_to(bare, 10) == (bare, 0)
    assert json.dumps(messages[0].content) == json.dumps(cut[0].content)
