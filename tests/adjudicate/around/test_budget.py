import pytest
from asked_texts import Chosen, ask_for

from jaxkg.adjudicate import (
    Budget,
    Cache,
    Caps,
    Message,
    Prompted,
    Rates,
    Reply,
    Scripted,
    ask,
)
from jaxkg.errors import JaxkgError


def of(tokens, price=0.0):
    """Ten tokens of prompt, the rest of reply."""
    return lambda request: Reply("x", prompt_tokens=10, completion_tokens=tokens - 10, price=price)


def sent(replies):
    return [reply.error is None for reply in replies]


def test_calls_per_run_are_exact(serve, backend_of):
    server = serve(delay=0.01)
    backend = Budget(backend_of(server, concurrency=8), run=Caps(calls=5))
    replies = backend.complete([ask_for(str(n)) for n in range(20)])
    assert sum(sent(replies)) == 5 == len(server.bodies)
    held = [reply for reply in replies if reply.error]
    assert {reply.error for reply in held} == {"budget"}
    assert held[0].detail == "the budget of 5 calls per run is used up"
    assert not any(sent(backend.complete([ask_for("later")])))


def test_calls_per_question():
    backend = Budget(Scripted(of(20)), question=Caps(calls=2))
    replies = backend.complete([ask_for(str(n), question=q) for n, q in enumerate("aababbb")])
    assert sent(replies) == [True, True, True, False, True, False, False]
    assert "2 calls per question" in replies[3].detail


def test_tokens_per_run_stop_before_the_cap_is_passed():
    backend = Budget(Scripted(of(100)), run=Caps(tokens=350))
    request = ask_for("y" * 40, max_tokens=90)
    replies = [backend.complete([request])[0] for _ in range(5)]
    assert sent(replies) == [True, True, True, False, False]
    assert "350 tokens per run leaves no room" in replies[3].detail


def test_tokens_are_pledged_while_in_flight(serve, backend_of):
    """All are sent at once, before any reply says what it cost."""
    server = serve(lambda body: "w " * 50, delay=0.05)
    backend = Budget(backend_of(server, concurrency=32), run=Caps(tokens=1000))
    replies = backend.complete([ask_for("y" * 200, max_tokens=50) for _ in range(32)])
    assert sum(sent(replies)) == 8, "each may come to 200 / 3 + 4 + 50 tokens"


def test_a_repair_that_a_budget_holds_back_leaves_a_reply_unread():
    backend = Budget(Scripted(["hard to say"] * 2), run=Caps(calls=1))
    [outcome] = ask(backend, [Prompted((Message("user", "?"),), Chosen)])
    assert outcome.error == "unparsed"
    assert "not asked again: the budget of 1 calls per run is used up" in outcome.detail
    assert len(outcome.replies) == 2
    assert outcome.usage.calls == 1


def test_price_per_run_and_per_question():
    rates = Rates(prompt=1e6, completion=2e6)  # 1 and 2 a token
    script = Scripted(of(20, price=30.0), rates=rates)
    backend = Budget(script, run=Caps(price=100.0), question=Caps(price=60.0))
    request = [ask_for("y" * 12, question=q, max_tokens=10) for q in "aaabbb"]
    replies = [backend.complete([r])[0] for r in request]
    assert sent(replies) == [True, True, False, True, False, False]
    assert "60 per question" in replies[2].detail
    assert "100 per run" in replies[4].detail


def test_a_price_that_is_not_known_cannot_be_capped():
    with pytest.raises(JaxkgError, match=r"no entry for 'scripted'.*JAXKG_PRICES"):
        Budget(Scripted([]), run=Caps(price=1.0))
    with pytest.raises(JaxkgError, match=">= 0"):
        Budget(Scripted([]), run=Caps(calls=-1))


def test_failures_count_as_calls_but_cost_no_tokens():
    script = Scripted([Reply(error="timeout"), Reply(error="server"), "x"])
    backend = Budget(script, run=Caps(calls=2, tokens=400))
    replies = [backend.complete([ask_for("y" * 200)])[0] for _ in range(3)]
    assert [reply.error for reply in replies] == ["timeout", "server", "budget"]


def test_inside_a_cache_only_what_is_paid_counts_around_it_all_of_it(tmp_path):
    requests = [ask_for(str(n), question="q") for n in range(6)]
    with Cache(Scripted(of(20)), tmp_path / "replies") as cache:
        cache.complete(requests[:4])
        around = Budget(cache, run=Caps(calls=3))
        assert sent(around.complete(requests)) == [True] * 3 + [False] * 3
    with Cache(Budget(Scripted(of(20)), run=Caps(calls=1)), tmp_path / "replies") as inside:
        assert sent(inside.complete(requests)) == [True] * 5 + [False]


def test_copies_within_a_batch_cost_nothing(tmp_path):
    with Cache(Scripted(of(20)), tmp_path / "replies") as cache:
        around = Budget(cache, run=Caps(calls=2))
        assert sent(around.complete([ask_for("a")] * 5 + [ask_for("b")])) == [True] * 6
        assert not sent(around.complete([ask_for("c")]))[0]
