import json

import loopback
import numpy as np
import pytest

from jaxkg.errors import JaxkgError
from jaxkg.text.best import encoder_named
from jaxkg.text.remote import RemoteEncoder


@pytest.fixture
def server(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with loopback.LanguageServer() as running:
        yield running


def test_vectors_come_in_order_and_of_length_one(server):
    encode = RemoteEncoder("small", base_url=server.url, batch_size=2)
    texts = ["one", "two", "  ", "three", "one"]
    found = encode(texts)
    assert found.shape == (5, encode.dimension) == (5, 8)
    expected = np.asarray([loopback._vector(text, 8) for text in texts], np.float32)
    expected[2] = 0
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_a_dimension_can_be_asked_for(server):
    encode = RemoteEncoder("small", base_url=server.url, dimension=16)
    assert encode(["one"]).shape == (1, 16)
    assert encode.revision != RemoteEncoder("small", base_url=server.url).revision


def test_failures_are_one_line_without_the_key(server, monkeypatch):
    def broken(body):
        return {"object": "list", "model": "small", "data": [{"index": 0, "embedding": [1.0, 2.0]}]}

    encode = RemoteEncoder("small", base_url=server.url, dimension=2, retries=0, api_key="sk-own")
    monkeypatch.setattr(loopback, "_embeddings", broken)
    with pytest.raises(JaxkgError, match="2 texts with numbers of shape"):
        encode(["one", "two"])
    monkeypatch.setattr(loopback, "_embeddings", lambda body: {"error": json.dumps("no")})
    with pytest.raises(JaxkgError, match="small"):
        encode(["one"])
    away = RemoteEncoder(
        "small", base_url="http://127.0.0.1:9/v1", dimension=2, retries=0, api_key="sk-own"
    )
    with pytest.raises(JaxkgError, match="small at http") as caught:
        away(["one"])
    assert "sk-own" not in str(caught.value)


def test_what_is_missing_is_said(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(JaxkgError, match="OPENAI_API_KEY"):
        RemoteEncoder("small")
    with pytest.raises(JaxkgError, match="name the embedding model"):
        RemoteEncoder("", base_url="http://localhost:1/v1")


def test_a_command_takes_it_by_name(server, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    assert encoder_named("remote:small")(["one"]).shape == (1, 8)
