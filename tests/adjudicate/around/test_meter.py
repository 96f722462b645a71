from asked_texts import ask_for

from jaxkg.adjudicate import Cache, Meter, Rates, Reply, Scripted
from jaxkg.adjudicate.around.meter import usage
from jaxkg.answer import Answer
from jaxkg.evaluate import evaluate, prediction_line
from jaxkg.records import Question


def priced(text, **fields):
    values = {"prompt_tokens": 10, "completion_tokens": 5, "seconds": 0.5, "price": 0.25}
    return Reply(text, **{**values, **fields})


def test_counts_by_stage_paid_and_cached_apart(tmp_path):
    script = Scripted(
        [priced("a"), priced("b", attempts=3), Reply(error="timeout", attempts=5, seconds=2.0)],
        rates=Rates(1.0, 1.0),
    )
    with Meter(Cache(script, tmp_path / "replies")) as meter:
        meter.complete(
            [ask_for("1", stage="plan"), ask_for("2", stage="search"), ask_for("3", stage="search")]
        )
        meter.complete([ask_for("1", stage="plan")])
        told = []
        meter.complete([ask_for("2", stage="plan")], on_reply=lambda *x: told.append(x))
        assert len(told) == 1
        plan, search, total = meter.stages["plan"], meter.stages["search"], meter.total
    assert (plan.asked, plan.calls, plan.paid, plan.cached) == (3, 3, 1, 2)
    assert (plan.price, plan.paid_price) == (0.75, 0.25)
    assert (search.asked, search.paid, search.attempts) == (2, 1, 8)
    assert search.failures == {"timeout": 1}
    assert (total.prompt_tokens, total.completion_tokens, total.seconds) == (40, 20, 4.0)
    assert total.attempts == 9
    assert total.failures == {"timeout": 1}
    text = meter.text()
    assert "5 calls (2 paid now, 2 from the cache)" in text
    assert "1.0000 USD, 0.5000 of it paid now" in text
    assert "failed: 1 timeout" in text


def test_an_unknown_price_is_told():
    meter = Meter(Scripted([priced("a", price=None, estimated=True)]))
    meter.complete([ask_for("1")])
    assert "price unknown" in meter.text()
    assert "1 replies estimated" in meter.text()


def test_an_unknown_price_is_not_zero():
    unknown = usage([priced("a"), Reply("b", price=None)], stage="plan")
    assert unknown.price is None
    assert (unknown + usage([priced("a")], stage="plan")).price is None
    answer = Answer("?", abstained="no", usage=unknown)
    assert "price unknown" in str(answer)
    assert Answer.from_json(answer.to_json()).usage.price is None
    line = prediction_line(Question("q", "?"), answer)
    assert line["usage"]["price"] is None
    assert "price" not in evaluate([line], resamples=10).metrics
