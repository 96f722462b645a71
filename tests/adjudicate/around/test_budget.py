import loopback
import pytest
from pydantic import BaseModel

from jaxkg.adjudicate import (
    Budget,
    Cache,
    Caps,
    Message,
    Prompted,
    Rates,
    Reply,
    Request,
    Scripted,
    ask,
)
from jaxkg.errors import JaxkgError


def ask_for(text, question="", **options):
    return Request((Message("user", text),), question=question, **options)


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


def test_the_first_wave_is_pledged_though_no_reply_says_how_long_they_are(serve, backend_of):
    """The endpoint counts five times the tokens that the prompt's length suggests."""
    usage = {"prompt_tokens": 500, "completion_tokens": 400}
    server = serve(lambda body: loopback.Behaviour(usage=usage), delay=0.05)
    backend = Budget(backend_of(server, concurrency=16), run=Caps(tokens=10_000))
    replies = backend.complete([ask_for(f"{n}" + "y" * 290) for n in range(64)])
    spent = sum(reply.prompt_tokens + reply.completion_tokens for reply in replies)
    assert 5_000 < spent <= 16 * 900, "one wave, before a reply says how long they are"
    assert backend.complete([ask_for("y" * 30)])[0].error == "budget"


def test_a_prompt_is_pledged_with_its_schema_and_as_the_endpoint_counts():
    script = Scripted(
        lambda request: Reply("x", prompt_tokens=3 * len(request.messages[0].content))
    )
    backend = Budget(script, run=Caps(tokens=2000))
    schema = {"type": "object", "description": "z" * 3000}
    assert backend.complete([ask_for("a", schema=schema)])[0].error is None, "the first may err"
    assert backend.complete([ask_for("a", schema={**schema, "x": "z" * 6000})])[0].error == "budget"
    assert backend.complete([ask_for("y" * 100)])[0].error is None
    assert backend.complete([ask_for("y" * 700)])[0].error == "budget", "2,100 as it counts"


def test_a_repair_that_a_budget_holds_back_leaves_a_reply_unread():
    class Chosen(BaseModel):
        indices: list[int]

    backend = Budget(Scripted(["hard to say"] * 2), run=Caps(calls=1))
    [outcome] = ask(backend, [Prompted((Message("user", "?"),), Chosen)])
    assert outcome.error == "unparsed"
    assert "not asked again: the budget of 1 calls per run is used up" in outcome.detail
    assert len(outcome.replies) == 2
    assert outcome.usage.calls == 1


def test_a_pledge_is_replaced_by_what_was_spent():
    backend = Budget(Scripted(of(20)), run=Caps(tokens=1100))
    request = ask_for("y" * 40, max_tokens=1000)
    replies = [backend.complete([request])[0] for _ in range(10)]
    assert sum(sent(replies)) == 5, "1010 must fit beside 20 for each before"


def test_without_a_longest_reply_the_mean_so_far_is_pledged():
    backend = Budget(Scripted(of(110)), run=Caps(tokens=300))
    replies = [backend.complete([ask_for("y" * 40)])[0] for _ in range(4)]
    assert sent(replies) == [True, True, False, False]


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
    with pytest.raises(JaxkgError, match=r"no entry for 'scripted'.*prices\.toml"):
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


def test_of_two_budgets_the_narrower_holds_and_the_wider_loses_nothing():
    inner = Budget(Scripted(of(20)), run=Caps(calls=2))
    outer = Budget(inner, run=Caps(calls=3))
    replies = outer.complete([ask_for(str(n)) for n in range(6)])
    assert sum(sent(replies)) == 2
    assert {r.detail for r in replies if r.error} == {"the budget of 2 calls per run is used up"}
    assert outer._run.calls == 2
    assert outer._run.tokens == 40
