import loopback
import pytest

from jaxkg.adjudicate import Backoff, OpenAIBackend, PriceTable, Rates, check


def answer(body):
    asked = body["messages"][-1]["content"]
    return '{"is_city": true}' if "Paris" in asked else "ready"


def test_a_good_endpoint(serve, backend_of):
    server = serve(answer, delay=0.02)
    prices = PriceTable({"loopback": Rates(0.5, 1.5)})
    found = check(backend_of(server, prices=prices))
    assert (found.ok, found.answers, found.structured, found.readable) == (True,) * 4
    assert 0.02 <= found.seconds < 2
    assert found.tokens_per_second
    assert found.tokens_per_second > 0
    text = found.text()
    assert f"{server.url}, model loopback: answers, 0.0" in text
    assert "Structured output: supported." in text
    assert "A reply with a schema: readable." in text
    assert "Price: 0.5 + 1.5 USD per million tokens." in text
    assert len(server.bodies) == 2


def test_an_endpoint_without_structured_output_and_counts(serve, backend_of):
    def uncounted(body):
        return loopback.Behaviour(text=answer(body), usage=False)

    found = check(backend_of(serve(uncounted, structured=False)))
    assert (found.ok, found.structured, found.tokens_per_second) == (True, False, None)
    assert "not supported; schemas are sent as instructions" in found.text()
    assert "no token counts" in found.text()
    assert "Price: unknown" in found.text()


def test_an_endpoint_whose_replies_cannot_be_read(serve, backend_of):
    found = check(backend_of(serve(lambda body: "I'd say so")))
    assert found.answers
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
    assert "It offers: small, large" in found.text()


def test_nobody_there():
    with OpenAIBackend(
        "m", base_url="http://127.0.0.1:9/v1", backoff=Backoff(retries=0)
    ) as backend:
        found = check(backend)
    assert "Is the server running?" in found.text()
