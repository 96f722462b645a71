"""What goes wrong between here and an endpoint: a clear error, or an answer marked incomplete."""

import time

import numpy as np
import pytest
from sparql_server import Fault

from jaxkg.errors import JaxkgError
from jaxkg.kg.stores import endpoint as endpoints
from jaxkg.kg.stores.around import Reach, surroundings
from jaxkg.kg.stores.endpoint import Endpoint, EndpointSettings, Spent, Unsorted
from jaxkg.kg.stores.sparql import SparqlStore

QUERY = "SELECT ?s WHERE { ?s ?p ?o } LIMIT 3"


def endpoint(url, **settings):
    return Endpoint(url, EndpointSettings(**{"keep": 0, "retries": 2, **settings}))


@pytest.mark.parametrize(
    "fault",
    [
        Fault(status=503, body=b"busy", kind="text/plain"),
        Fault(status=429, body=b"slow down", kind="text/plain", headers=(("retry-after", "0"),)),
        Fault(cut=True),
        Fault(torn=True),
    ],
    ids=["busy", "too many", "hung up", "half a reply"],
)
def test_what_passes_is_tried_again(proxy, fault):
    proxy.faults.append(fault)
    asked = endpoint(proxy.url)
    assert len(asked.select(QUERY).rows) == 3
    assert (asked.sent, len(proxy.seen)) == (2, 2)


def test_a_wait_that_is_asked_for_is_waited(proxy):
    proxy.faults.append(Fault(status=429, body=b"", headers=(("retry-after", "1"),)))
    start = time.monotonic()
    assert len(endpoint(proxy.url).select(QUERY).rows) == 3
    assert time.monotonic() - start >= 1


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (Fault(body=b"<html>hello", kind="text/html"), "is it the address of the query endpoint"),
        (Fault(status=400, body=b"Virtuoso 37000 no query"), "400: Virtuoso 37000 no query"),
        (Fault(status=429, body=b"go away", headers=(("retry-after", "90000"),)), "429: go away"),
        (Fault(status=500, body=b"broken"), r"500: broken \(tried 3 times\)"),
        (Fault(status=500, body=b"Virtuoso 42000 Error too long"), r"42000 Error too long$"),
        (Fault(status=500, body=b"Virtuoso 22023 Error SR014"), r"SR014 .tried 3 times"),
        (Fault(cut=True), r"hung up.*tried 3 times"),
        (Fault(body=b"[1, 2]"), "half a reply|not a SPARQL result"),
        (Fault(body=b'{"a": 1}'), "no SPARQL results"),
        (Fault(body=b'{"a": }'), "JSON"),
        (Fault(delay=1.0), "no whole reply in 0.3 s"),
    ],
    ids=[
        "html",
        "400",
        "long wait",
        "500",
        "for good",
        "not for good",
        "cut",
        "list",
        "other",
        "no json",
        "slow",
    ],
)
def test_what_does_not_pass_is_one_clear_error(proxy, fault, told):
    proxy.always = fault
    asked = endpoint(proxy.url, timeout=0.3 if fault.delay else 30)
    with pytest.raises(JaxkgError, match=told) as error:
        asked.select(QUERY)
    assert proxy.url in str(error.value)
    assert "\n" not in str(error.value)


def test_nobody_there():
    with pytest.raises(JaxkgError, match="cannot be reached"):
        endpoint("http://127.0.0.1:9/query", retries=0).select(QUERY)


@pytest.mark.parametrize("url", ["", "films", "ftp://a/b", "http://", "http://[::1"])
def test_no_address(url):
    with pytest.raises(JaxkgError, match="sparql:http://host:port/query"):
        Endpoint(url)


def test_passwords(proxy, monkeypatch):
    proxy.password = "a-long-password"
    with pytest.raises(JaxkgError, match=r"does not accept who asks.*JAXKG_SPARQL_USER"):
        endpoint(proxy.url).select(QUERY)
    monkeypatch.setenv("JAXKG_SPARQL_USER", "reader")
    monkeypatch.setenv("JAXKG_SPARQL_PASSWORD", "wrong-password")
    with pytest.raises(JaxkgError, match="does not accept the user or password") as error:
        endpoint(proxy.url).select(QUERY)
    assert "wrong-password" not in str(error.value)
    monkeypatch.setenv("JAXKG_SPARQL_PASSWORD", "a-long-password\n")
    assert len(endpoint(proxy.url).select(QUERY).rows) == 3
    with pytest.raises(JaxkgError, match="carries a user name"):
        Endpoint(proxy.url.replace("//", "//reader:secret-word@"))


def test_manners(proxy):
    asked = endpoint(proxy.url, pause=0.2)
    start = time.monotonic()
    asked.select(QUERY)
    asked.select(QUERY + " # " + "long" * 2_000)
    assert time.monotonic() - start >= 0.2
    (get, headers), (post, _) = proxy.seen
    assert (get, post) == ("GET", "POST")
    assert "jaxkg" in headers["user-agent"]
    assert "gzip" in headers["accept-encoding"]
    assert headers["accept"] == "application/sparql-results+json"


def test_no_more_requests_than_allowed(proxy):
    asked = endpoint(proxy.url, requests=2)
    asked.select(QUERY)
    asked.select(QUERY)
    with pytest.raises(Spent, match="requests=2 allows"):
        asked.select(QUERY)
    assert len(proxy.seen) == 2


def test_replies_are_kept_but_parts_of_them_not(proxy, monkeypatch):
    proxy.faults.append(Fault(status=206))
    first = endpoint(proxy.url, keep=1).select(QUERY)
    assert not first.whole
    assert [endpoint(proxy.url, keep=1).select(QUERY).whole for _ in range(3)] == [True] * 3
    assert len(proxy.seen) == 2
    assert endpoint(proxy.url, keep=1).select(QUERY, fresh=True).whole
    assert len(proxy.seen) == 3
    then = time.time() + 2 * 3600
    monkeypatch.setattr(endpoints.time, "time", lambda: then)
    endpoint(proxy.url, keep=1).select(QUERY)
    assert len(proxy.seen) == 4


def test_a_damaged_cache_is_done_without(proxy, tmp_path):
    asked = endpoint(proxy.url, keep=1)
    asked.select(QUERY)
    [file] = (tmp_path / "cache" / "endpoints").iterdir()
    file.write_bytes(b"no database, but long enough to be taken for one" * 100)
    with pytest.warns(UserWarning, match="nothing is kept"):
        assert len(asked.select(QUERY).rows) == 3


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (Fault(status=206), "answered in part"),
        (Fault(headers=(("x-sql-state", "S1TAT"),)), "answered in part"),
        (Fault(rows=2), "that it did not send"),
    ],
)
def test_an_answer_in_part_is_marked(proxy, fault, told):
    store = SparqlStore(endpoint(proxy.url))
    assert store.closed
    topics = store.named(["Ridley Scott"])[0]
    proxy.always = fault
    found = surroundings(store, topics, Reach(hops=1))
    assert any(told in trouble for trouble in found.troubles), found.troubles
    # What came in part is asked for again.
    proxy.always = None
    again = surroundings(store, topics, Reach(hops=1))
    assert again.troubles == ()
    assert len(again.facts.rows) > 3


@pytest.mark.slow
def test_limits_of_virtuoso_are_told(served, films):
    if "default-graph-uri" not in served:
        pytest.skip("of Virtuoso alone")
    long = "SELECT (COUNT(*) AS ?n) WHERE { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }"
    assert not endpoint(f"{served}&timeout=500").select(long).whole
    every = "SELECT ?s WHERE { ?s ?p ?o } ORDER BY ?s"
    asked = endpoint(served)
    assert len(asked.select(every).rows) == 200 < films.num_triples
    with pytest.raises(Unsorted, match="SR353"):
        asked.select(f"{every} LIMIT 200 OFFSET 300")
    assert asked.sent == 2


def test_a_spent_budget_marks_the_answer(proxy):
    asked = endpoint(proxy.url, requests=4)
    store = SparqlStore(asked)
    found = surroundings(store, store.named(["Ridley Scott"])[0], Reach(hops=3))
    assert any("requests" in trouble for trouble in found.troubles)


def test_an_endpoint_that_gives_few_rows_at_a_time_is_asked_page_by_page(proxy):
    proxy.always = Fault(rows=3)
    store = SparqlStore(endpoint(proxy.url))
    assert store.schema.num_relations > 3
    topics = store.named(["Ridley Scott"])[0]
    counted = store.runs(np.array(topics))
    assert len(store.fetch(counted).rows) == int(counted.size.sum()) > 3
    assert store.troubles() == []
