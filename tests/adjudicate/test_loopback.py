"""The loopback server itself, through the client that everyone uses."""

import subprocess
import sys
import urllib.error
import urllib.request

import loopback
import openai
import pytest


@pytest.fixture
def client_of():
    clients = []

    def make(server, key="any"):
        clients.append(openai.OpenAI(base_url=server.url, api_key=key, max_retries=0))
        return clients[-1]

    yield make
    for client in clients:
        client.close()


def test_chat_completions_as_the_typed_client_reads_them(serve, client_of):
    client = client_of(serve(lambda body: body["messages"][-1]["content"].upper()))
    done = client.chat.completions.create(
        model="m", messages=[{"role": "user", "content": "hi there"}]
    )
    assert done.choices[0].message.content == "HI THERE"
    assert done.usage
    assert (done.usage.prompt_tokens, done.usage.completion_tokens) == (2, 2)


def test_embeddings_in_both_encodings(serve, client_of):
    client = client_of(serve())
    packed = client.embeddings.create(model="m", input=["a", "b", "a"], dimensions=16)
    plain = client.embeddings.create(model="m", input="a", dimensions=16, encoding_format="float")
    vectors = [entry.embedding for entry in packed.data]
    assert vectors[0] == vectors[2] != vectors[1]
    assert vectors[0] == pytest.approx(plain.data[0].embedding, abs=1e-6)
    assert sum(value * value for value in vectors[0]) == pytest.approx(1.0, abs=1e-5)


def test_models_keys_and_unknown_addresses(serve, client_of):
    server = serve(key="right-key", models=("small",))
    assert [model.id for model in client_of(server).models.list()] == ["small"]
    ask = {"messages": [{"role": "user", "content": "hi"}]}
    with pytest.raises(openai.AuthenticationError):
        client_of(server, "wrong-key").chat.completions.create(model="small", **ask)
    with pytest.raises(openai.NotFoundError):
        client_of(server, "right-key").chat.completions.create(model="large", **ask)
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(f"{server.url}/nothing", timeout=5)
    assert caught.value.code == 404
    caught.value.close()


def test_bodies_are_bounded(serve, client_of):
    with pytest.raises(openai.APIStatusError) as caught:
        client_of(serve()).chat.completions.create(
            model="m", messages=[{"role": "user", "content": "x" * (1 << 20)}]
        )
    assert caught.value.status_code == 413


def test_runs_from_a_shell_until_its_input_closes():
    command = [sys.executable, loopback.__file__, "--text", "hello"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        url = process.stdout.readline().strip()
        with urllib.request.urlopen(f"{url}/models", timeout=5) as reply:
            assert reply.status == 200
        process.communicate(timeout=10)
        assert process.returncode == 0
