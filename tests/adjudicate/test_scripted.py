import pytest
from asked_texts import ask_for

from jaxkg.adjudicate import Rates, Reply, Scripted
from jaxkg.errors import JaxkgError


def test_in_order_then_an_error_that_says_who_asked():
    backend = Scripted(["a", Reply("b", prompt_tokens=3)])
    replies = backend.complete([ask_for("1"), ask_for("2")])
    assert [reply.text for reply in replies] == ["a", "b"]
    assert replies[1].prompt_tokens == 3
    with pytest.raises(JaxkgError, match="stage 'plan', question 'q'"):
        backend.complete([ask_for("3", stage="plan", question="q")])


def test_tokens_are_estimated_and_priced():
    backend = Scripted(lambda request: "y" * 8, rates=Rates(1e6, 2e6))
    reply = backend.complete([ask_for("x" * 20)])[0]
    assert (reply.prompt_tokens, reply.completion_tokens, reply.estimated) == (5, 2, True)
    assert reply.price == 9


def test_hooks_are_called():
    told = []
    backend = Scripted(["a"])
    replies = backend.complete(
        [ask_for("1"), ask_for("2")],
        admit=lambda place: None if place else "no",
        on_reply=lambda *pair: told.append(pair),
    )
    assert [reply.error for reply in replies] == ["budget", None]
    assert told == list(enumerate(replies))
    assert len(backend.requests) == 1
