"""The whole method against an endpoint that misbehaves: a cited answer, or a marked abstention."""

import itertools
import json

import loopback
import pytest
from hyper_world import QUESTION, encoder, reply, world

from jaxkg.adjudicate import Budget, Caps, Meter
from jaxkg.systems.proh.build import build_hypergraph
from jaxkg.systems.proh.index import hyper_index
from jaxkg.systems.proh.settings import PROH_L
from jaxkg.systems.proh.system import ProhQA

FAULTS = {
    "prose": {"text": "I would rather not say."},
    "fence": None,  # a sound reply in a code fence, with words around it
    "half": {"text": '{"chosen": [1,', "finish": "length"},
    "empty": {"text": ""},
    "refusal": {"text": None, "refusal": "I cannot help with that."},
    "no completion": {"body": b"<html>busy</html>"},
    "cut": {"cut": True},
    "late": {"delay": 0.25},
    "server error": {"status": 500},
    "rate limit": {"status": 429},
    "unauthorised": {"status": 401},
    "bad request": {"status": 400},
}


def spoken(body):
    schema = body["response_format"]["json_schema"]["name"]
    return json.dumps(reply(schema, body["messages"][1]["content"]))


@pytest.fixture(scope="module")
def index():
    return hyper_index(world(), encoder())


@pytest.mark.parametrize(
    ("fault", "when"),
    [(fault, "always") for fault in FAULTS]
    + [(fault, "every third") for fault in ("half", "refusal", "server error")],
)
def test_every_fault_ends_in_a_cited_answer_or_a_marked_abstention(
    serve, backend_of, index, fault, when
):
    number = itertools.count()

    def answer(body):
        if when == "every third" and next(number) % 3:
            return spoken(body)
        if FAULTS[fault] is None:
            return f"Sure!\n```json\n{spoken(body)}\n```\nThat is all."
        return loopback.Behaviour(**FAULTS[fault])

    server = serve(answer)
    meter = Meter(backend_of(server, timeout=0.1 if fault == "late" else 5.0))
    qa = ProhQA.build(index.graph, index.encode, backend=meter, settings=PROH_L, index=index)
    found, trace = qa.trace(QUESTION)
    assert qa.check(found) == ()
    assert found.entities or found.abstained
    assert found.usage.calls == sum(spent["calls"] for spent in trace["modules"].values()) > 0
    if fault == "fence":
        assert [e.name for e in found.entities] == ["South Shields"]
    elif when == "always":
        assert found.error
        assert not found.entities


def test_a_corpus_is_read_and_a_run_cut_short_says_what_is_unread(serve, backend_of):
    def answer(body):
        return json.dumps(
            {"facts": [{"fact": "Ann met Bob.", "entities": [
                {"name": "Ann", "description": "a person"}, {"name": "Bob", "description": ""}]}]}
        )  # fmt: skip

    documents = [("Ann", "Ann met Bob."), ("Bob", "He met her."), ("Eve", "So did Eve.")]
    backend = Budget(backend_of(serve(answer)), run=Caps(calls=2))
    built = build_hypergraph(documents, backend=backend, batch_size=1)
    assert built.counts == {"asked": 3, "read": 2, "repaired": 0, "budget": 1}
    assert built.unread == ("2",)
    graph = built.graph
    assert [graph.tell(row) for row in graph.rows_of_kind("fact").tolist()] == ["Ann met Bob."] * 2
    assert graph.descriptions[graph.entity("ann")] == "a person"
    assert graph.hyperedge(1).chunk == "0"
