import pytest
from asked_texts import ask_for

from jaxkg.adjudicate import Backoff, Caps, PriceTable, Rates, connect
from jaxkg.errors import JaxkgError


def test_everything_together(serve, tmp_path):
    server = serve()
    settings = {
        "base_url": server.url,
        "cache": tmp_path / "replies.sqlite",
        "prices": PriceTable({"loopback": Rates(1.0, 1.0)}),
        "backoff": Backoff(retries=0),
    }
    requests = [ask_for(f"{q}{n}", question=q) for q in "ab" for n in range(3)]
    for cap, expected, calls in ((3, 3, 3), (3, 4, 4), (None, 4, 4)):
        with connect(
            "loopback", run=Caps(calls=cap, price=1.0), question=Caps(calls=2), **settings
        ) as backend:
            replies = backend.complete(requests)
            assert sum(reply.error is None for reply in replies) == expected
            assert backend.total.failures["budget"] == 6 - expected
        assert server.statuses[200] == calls


def test_what_cannot_be_built_closes_what_was_opened(tmp_path):
    with pytest.raises(JaxkgError, match="cannot cap the price"):
        connect("m", base_url="http://127.0.0.1:9/v1", run=Caps(price=1.0))
    with pytest.raises(JaxkgError, match="cannot open"):
        connect("m", base_url="http://127.0.0.1:9/v1", cache=tmp_path)
