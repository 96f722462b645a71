import re

import loopback
import pytest

from jaxkg.adjudicate import Backoff, OpenAIBackend, PriceTable, Rates, check


def answer(body):
    asked = body["messages"][-1]["content"]
    if "France" in asked:
        return '{"code": "K7"}'
    return '{"is_city": true}' if "Paris" in asked else "one two three"


def test_a_good_endpoint(serve, backend_of):
    server = serve(answer, delay=0.02)
    prices = PriceTable({"loopback": Rates(0.5, 1.5)})
    found = check(backend_of(server, prices=prices))
    assert found.ok
    text = found.text()
    assert f"{server.url}, model loopback: answers, 0.0" in text
    read, written = re.search(r"Speed: (\d+) tokens a second read, ([\d.]+) written", text).groups()
    assert float(read) > float(written) > 0
    assert "Structured output: supported; the model keeps to a list of allowed values." in text
    assert (
        "Context: 4,096 tokens (assumed; the server does not say), slots: 1; requests at a time: 1."
    ) in text
    assert "Log-probabilities: no." in text
    assert " s  llm-planned, 4.4 calls" in text
    assert "A reply in a given form: readable." in text
    assert "Price: 0.5 + 1.5 USD per million tokens." in text
    assert len(server.bodies) == 5


def test_an_endpoint_without_structured_output_and_counts(serve, backend_of):
    def uncounted(body):
        return loopback.Behaviour(text=answer(body), usage=False)

    found = check(backend_of(serve(uncounted, structured=False)))
    assert found.ok
    assert "A question takes" not in found.text()
    assert "not supported; schemas are sent as instructions" in found.text()
    assert "no token counts" in found.text()
    assert "Price: unknown" in found.text()


def test_an_endpoint_whose_replies_cannot_be_read(serve, backend_of):
    found = check(backend_of(serve(lambda body: "I'd say so")))
    assert not found.ok
    assert "NOT readable, it has none of the fields is_city" in found.text()


@pytest.mark.parametrize(
    ("behaviour", "kind", "advice"),
    [
        ({"status": 401}, "authentication", "Set OPENAI_API_KEY"),
        ({"status": 403}, "permission", "another key"),
        ({"status": 429, "retry_after": "500"}, "rate_limit", "Wait"),
        ({"status": 500}, "server", "log"),
        ({"delay": 2.0}, "timeout", "Is the model loading?"),
        ({"body": b"<html>"}, "protocol", "/v1"),
        ({"status": 400}, "bad_request", "shortest request"),
        ({"text": "", "refusal": "no"}, "refused", "declines"),
    ],
)
def test_failures_in_plain_words(serve, backend_of, behaviour, kind, advice):
    server = serve(lambda body: loopback.Behaviour(**behaviour))
    found = check(backend_of(server, timeout=0.3, backoff=Backoff(retries=0)))
    assert not found.ok
    assert f"does not answer ({kind})" in found.text()
    assert advice in found.text()


def test_an_unknown_model_is_told_with_those_there_are(serve, backend_of):
    found = check(backend_of(serve(models=("small", "large"))))
    assert "does not know this model" in found.text()
    assert "Models there: small, large" in found.text()


def test_nobody_there():
    with OpenAIBackend(
        "m", base_url="http://127.0.0.1:9/v1", backoff=Backoff(retries=0)
    ) as backend:
        found = check(backend)
    assert "Is the server running?" in found.text()
