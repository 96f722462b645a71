"""Lines of questioning side by side: who is asked what, when and with whom."""

from __future__ import annotations

import json

import pytest
from pydantic import BaseModel

from jaxkg.adjudicate import Budget, Cache, Caps, Message, Meter, Prompted, Reply, Scripted
from jaxkg.adjudicate.backend import Wrapper
from jaxkg.adjudicate.rounds import Steps, in_rounds
from jaxkg.errors import JaxkgError


class Said(BaseModel):
    word: str


class Batches(Wrapper):
    """Keeps what was asked together, repairs as batches of their own."""

    def __init__(self, inner):
        super().__init__(inner)
        self.words: list[list[str]] = []

    def complete(self, requests, *, admit=None, on_reply=None):
        if requests:
            self.words.append([request.messages[0].content for request in requests])
        return self.inner.complete(requests, admit=admit, on_reply=on_reply)


def echo(request):
    return json.dumps({"word": request.messages[0].content.upper()})


def prompted(word: str, charge: str = "") -> Prompted[Said]:
    return Prompted((Message("user", word),), Said, question=charge)


def line(*rounds: str, charge: str = "") -> Steps[list[str | None]]:
    """Asks the words of each string together, and the next once they are answered."""
    told: list[str | None] = []
    for words in rounds:
        outcomes = yield [prompted(word, charge) for word in words.split()]
        told += [each.value.word if each.value else each.error for each in outcomes]
    return told


def test_lines_go_together_keep_their_order_and_end_when_they_end():
    backend = Batches(Scripted(echo))
    lines = [line("a", "b", "c"), line("d e"), line("f", "g"), line("h"), line()]
    ended = list(in_rounds(backend, lines, at_once=2))
    # The first goes alone until it has a reply; then never more than two.
    assert backend.words == [["a"], ["b", "d", "e"], ["c", "f"], ["g", "h"]]
    assert ended == [(1, ["D", "E"]), (0, ["A", "B", "C"]), (2, ["F", "G"]), (3, ["H"]), (4, [])]
    assert list(in_rounds(backend, [], at_once=2)) == []


def test_an_outage_is_met_by_one_line_at_a_time():
    backend = Batches(Scripted(lambda request: Reply(error="connection", detail="no")))
    told = dict(in_rounds(backend, [line("a"), line("b"), line("c")], at_once=3))
    assert backend.words == [["a"], ["b"], ["c"]]
    assert told == {place: ["connection"] for place in range(3)}


def test_who_asks_the_same_is_charged_and_fails_alone(tmp_path):
    """In one batch the cache would give both what becomes of the first."""

    def run(name, at_once):
        faults = [Reply(error="timeout", detail="late")]

        def answer(request):
            same = request.messages[0].content == "same"
            return faults.pop() if same and faults else echo(request)

        lines = [
            line("one", charge="q0"),
            line("two three", "same", charge="spent"),
            line("four", "same", charge="fails"),
            line("five", "same", charge="reads"),
        ]
        with Cache(Scripted(answer), tmp_path / name) as cache:
            meter = Meter(Budget(cache, question=Caps(calls=2)))
            told = dict(in_rounds(meter, lines, at_once=at_once))
            total = meter.total
        return told, total.calls, total.paid, dict(total.failures)

    together = run("together", 4)
    assert together == run("alone", 1)
    told, *_ = together
    assert [told[place][-1] for place in (1, 2, 3)] == ["budget", "timeout", "SAME"]


def test_what_a_line_raises_is_raised():
    def raising() -> Steps[list[str | None]]:
        yield [prompted("b")]
        raise JaxkgError("too wide")

    told = in_rounds(Scripted(echo), [line("a", "c"), raising()], at_once=2)
    with pytest.raises(JaxkgError, match="too wide"):
        list(told)
