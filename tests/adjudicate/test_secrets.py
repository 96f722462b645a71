"""A recognisable key, put everywhere a key can be, is found nowhere afterwards."""

import html
import json
import logging
import traceback
import urllib.parse

import loopback
import pytest

from jaxkg.adjudicate import Backoff, Cache, Echo, Message, Meter, OpenAIBackend, Request, check
from jaxkg.errors import JaxkgError
from jaxkg.wire.redact import Secrets

KEY = "sk-recognisable-0123456789"
GATEWAY = "gateway-recognisable-9876543210"
MARK = "recognisable"


@pytest.mark.parametrize("source", ["argument", "environment"])
def test_a_key_reaches_no_log_trace_cache_key_or_exception(
    source, serve, tmp_path, monkeypatch, caplog, capsys
):
    caplog.set_level(logging.DEBUG)
    seen = []

    def careless(body):
        """Repeats the key in everything it says."""
        number = len(seen)
        seen.append(body)
        return [
            loopback.Behaviour(text=f"your key is {KEY} and {GATEWAY}"),
            loopback.Behaviour(status=401, message=f"Incorrect API key provided: {KEY}"),
            loopback.Behaviour(status=500, message=f"{GATEWAY} crashed"),
            loopback.Behaviour(body=json.dumps({"key": KEY, "header": GATEWAY}).encode()),
            loopback.Behaviour(status=400, message=f"response_format: bad, Bearer {KEY}"),
            loopback.Behaviour(text="", refusal=f"never {KEY}"),
            loopback.Behaviour(cut=True, text=KEY),
        ][number % 7]

    server = serve(careless, key=KEY)
    if source == "environment":
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
    transcripts = []
    endpoint = OpenAIBackend(
        "loopback",
        base_url=server.url,
        api_key=KEY if source == "argument" else None,
        headers={"X-Gateway": GATEWAY},
        concurrency=1,
        backoff=Backoff(retries=0),
    )
    path = tmp_path / "replies.sqlite"
    with Meter(Echo(Cache(endpoint, path), transcripts.append)) as backend:
        requests = [
            Request((Message("user", f"question {n}"),), schema={"type": "object"})
            for n in range(14)
        ]
        replies = backend.complete(requests)
        checked = check(endpoint)
        shown = [repr(endpoint), str(vars(backend)), backend.text(), str(backend.stages)]
        texts = [str(vars(endpoint.dialect)), repr(endpoint._secrets)]
        keys = [request.asked("loopback") + request.key("loopback") for request in requests]
    assert len(seen) >= 14
    assert any("[key]" in reply.text + reply.detail for reply in replies)
    everything = [
        *map(repr, replies),
        *transcripts,
        *shown,
        *texts,
        *keys,
        checked.text(),
        caplog.text,
        *capsys.readouterr(),
        *(file.read_bytes().decode("latin-1") for file in tmp_path.iterdir()),
    ]
    assert [text for text in everything if MARK in text] == []
    assert len(caplog.records) > 20, "the logs were really on"


@pytest.mark.parametrize(
    "url",
    [
        f"http://user:{KEY}@127.0.0.1:1/v1",
        f"http://{KEY}@127.0.0.1:1/v1",
        f"http://127.0.0.1:1/v1?key={KEY}",
        f"http://127.0.0.1:1/v1#{KEY}",
        f"ftp://{KEY}/v1",
        f"http://127.0.0.1:{KEY}/v1",
        f"http://[{KEY}/v1",
        KEY,
    ],
)
def test_a_key_in_the_address_is_refused_without_repeating_it(url):
    with pytest.raises(JaxkgError) as caught:
        OpenAIBackend("m", base_url=url)
    told = "".join(traceback.format_exception(caught.value))
    assert MARK not in told.replace(repr(url), "")
    assert MARK not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("source", ["argument", "environment"])
def test_a_key_read_from_a_file_works_without_its_line_end(serve, monkeypatch, source):
    server = serve(key=KEY)
    monkeypatch.setenv("OPENAI_API_KEY", f" {KEY}\r\n" if source == "environment" else "")
    given = f"{KEY}\n" if source == "argument" else None
    with OpenAIBackend("m", base_url=server.url, api_key=given) as backend:
        reply = backend.complete([Request((Message("user", "a"),))])[0]
    assert (reply.text, reply.attempts) == ("ok", 1)


@pytest.mark.parametrize(
    "key", [f"{KEY}\n{KEY}", f"{KEY}é", f"\u200b{KEY}", f"{KEY}\x00", "\ud800" * 9]
)
@pytest.mark.parametrize("place", ["key", "header"])
def test_a_key_that_no_header_takes_is_one_error_at_the_door(serve, key, place):
    server = serve()
    options = {"api_key": key} if place == "key" else {"headers": {"X-Gateway": key}}
    with pytest.raises(JaxkgError) as caught:
        OpenAIBackend("m", base_url=server.url, **options)
    assert "holds a character that no HTTP header takes" in str(caught.value)
    assert ("api_key" if place == "key" else "X-Gateway") in str(caught.value)
    assert MARK not in str(caught.value)
    assert not server.statuses


AWKWARD = "sk-a/b+c=\\d\"e'f&g-recognisable"


def forms(key):
    yield key
    for text in (key, repr(key)[1:-1], json.dumps(key)[1:-1]):
        yield text
        yield json.dumps(text)[1:-1]
        yield repr(text.encode())[2:-1]
        yield html.escape(text)
        for quote in (urllib.parse.quote, urllib.parse.quote_plus):
            yield quote(text, safe="")
            yield quote(quote(text, safe=""), safe="").lower()
    yield key.replace("/", "\\/")
    yield "".join(f"\\u{ord(char):04x}" for char in key)
    yield "".join(f"\\x{ord(char):02x}" for char in key)


@pytest.mark.parametrize("text", sorted(set(forms(AWKWARD))))
def test_a_key_is_hidden_in_every_escaped_form(text):
    assert Secrets([f"Bearer {AWKWARD}"]).hide(f"bad ({text}).") == "bad ([key])."


@pytest.mark.parametrize("segment", [KEY, "9f8e7d6c5b4a3928", "Ab3dEf6h"])
def test_a_key_in_the_path_of_the_address_is_told_nowhere(serve, segment):
    server = serve()
    url = server.url.replace("/v1", f"/{segment}/v1")
    with OpenAIBackend("m", base_url=url) as backend:
        found = check(backend)
        shown = [repr(backend), found.text()]
    assert server.statuses[404] >= 1, "the server repeats the address"
    with OpenAIBackend("m", base_url=f"http://127.0.0.1:9/{segment}/v1", backoff=Backoff(0)) as b:
        shown += [check(b).text(), repr(b.complete([Request((Message("user", "a"),))]))]
    assert "no such address /[key]/v1/chat/completions" in shown[1]
    assert [text for text in shown if segment in text] == []


def test_a_reply_that_is_shown_in_part_shows_no_part_of_a_key(serve):
    """The cut at 200 or 500 characters must not run through a key."""
    body = b"x" * 190 + KEY.encode() + b"x" * 300 + KEY.encode()
    for status in (200, 400):
        server = serve(lambda _, s=status: loopback.Behaviour(status=s, body=body))
        with OpenAIBackend("m", base_url=server.url, api_key=KEY) as backend:
            reply = backend.complete([Request((Message("user", "a"),))])[0]
        assert reply.error
        assert "sk-" not in reply.detail + reply.text
