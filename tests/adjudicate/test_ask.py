import dataclasses

import pytest
from asked_texts import Chosen
from pydantic import BaseModel

from jaxkg.adjudicate import Message, Outcome, Prompted, Reply, Scripted, ask, tally
from jaxkg.adjudicate.reading.schema import strict_schema


class Plan(BaseModel):
    hops: list[list[str]]


def prompt(number=0, schema=Chosen, **options):
    messages = (Message("system", "s"), Message("user", f"question {number}"))
    return Prompted(messages, schema, question=str(number), stage="plan", **options)


def asked(script, prompted, **options):
    """The outcomes, and what was sent."""
    backend = Scripted(script)
    return ask(backend, prompted, **options), backend.requests


def test_a_prompt_becomes_a_request():
    request = prompt(3, form="numbers", max_tokens=9, seed=2, temperature=0.5).request()
    assert request.messages[-1].content == "question 3"
    assert request.schema == strict_schema(Chosen)
    assert (request.schema_name, request.form) == ("Chosen", "numbers")
    assert (request.max_tokens, request.seed, request.temperature) == (9, 2, 0.5)
    assert (request.question, request.stage) == ("3", "plan")


def test_schemas_may_differ_within_a_batch():
    outcomes, requests = asked(
        ['{"indices": [1]}', '{"hops": [["a"]]}'], [prompt(0), prompt(1, Plan)]
    )
    assert [outcome.value for outcome in outcomes] == [Chosen(indices=[1]), Plan(hops=[["a"]])]
    assert len(requests) == 2
    assert not any(outcome.repaired for outcome in outcomes)


def test_one_repair_call_shows_the_reply_and_what_is_wrong():
    outcomes, requests = asked(["hm", '{"indices": [2]}'], [prompt()])
    assert outcomes[0].value == Chosen(indices=[2])
    assert outcomes[0].repaired
    repair = requests[1]
    assert repair.messages[:2] == requests[0].messages
    assert repair.messages[2] == Message("assistant", "hm")
    assert repair.messages[3].role == "user"
    assert "none of the fields indices" in repair.messages[3].content
    assert dataclasses.replace(repair, messages=()) == dataclasses.replace(requests[0], messages=())


def test_without_repair_a_prompt_costs_exactly_one_call():
    outcomes, requests = asked(["hm", '{"indices": [2]}'], [prompt(0), prompt(1)], repair=False)
    assert [outcome.error for outcome in outcomes] == ["unparsed", None]
    assert len(requests) == 2


def test_a_failed_repair_is_the_failure_that_counts():
    outcomes, _ = asked(["hm", Reply(error="timeout", detail="late")], [prompt()])
    assert (outcomes[0].error, outcomes[0].detail) == ("timeout", "late")
    assert outcomes[0].usage.calls == 2


@pytest.mark.parametrize("error", ["timeout", "authentication", "refused", "budget", "protocol"])
def test_only_what_cannot_be_read_is_repaired(error):
    outcomes, requests = asked([Reply(error=error, detail="why")], [prompt()])
    assert (outcomes[0].error, outcomes[0].detail) == (error, "why")
    assert len(requests) == 1


def test_a_cut_off_reply_gets_twice_the_room():
    cut = Reply('{"indices": [1', finish="length")
    outcomes, requests = asked([cut, '{"indices": [1]}'], [prompt(max_tokens=20)])
    assert outcomes[0].repaired
    assert [request.max_tokens for request in requests] == [20, 40]
    _, requests = asked([cut, '{"indices": [1]}'], [prompt()])
    assert [request.max_tokens for request in requests] == [None, None]


def test_a_list_that_hit_the_limit_is_not_taken_for_whole():
    outcomes, _ = asked([Reply("1, 3", finish="length")], [prompt()], repair=False)
    assert outcomes[0].error == "unparsed"
    outcomes, _ = asked([Reply("1, 3")], [prompt()], repair=False)
    assert outcomes[0].value == Chosen(indices=[1, 3])


def test_a_check_looks_beyond_the_schema():
    def offered(chosen):
        wrong = [n for n in chosen.indices if n > 3]
        return f"{wrong} were not offered" if wrong else None

    outcomes, requests = asked(['{"indices": [9]}', '{"indices": [3]}'], [prompt(check=offered)])
    assert outcomes[0].value == Chosen(indices=[3])
    assert "[9] were not offered" in requests[1].messages[-1].content
    outcomes, _ = asked(['{"indices": [9]}'] * 2, [prompt(check=offered)])
    assert outcomes[0].error == "unparsed"


def test_usage_is_of_all_replies():
    first = Reply("hm", prompt_tokens=5, completion_tokens=1, seconds=1.0, price=0.5)
    second = Reply('{"indices": []}', prompt_tokens=7, completion_tokens=2, seconds=0.5, price=1.0)
    outcomes, _ = asked([first, second], [prompt()])
    used = outcomes[0].usage
    assert (used.calls, used.prompt_tokens, used.completion_tokens) == (2, 12, 3)
    assert (used.seconds, used.price, used.stages) == (1.5, 1.5, {"plan": 1.5})


def test_tally_counts_everything_once():
    good = Outcome(Chosen(indices=[]), None, "", (Reply("x"),))
    mended = Outcome(Chosen(indices=[]), None, "", (Reply("x"), Reply("y")))
    bad = Outcome(None, "unparsed", "", (Reply("x"), Reply("y")))
    late = Outcome(None, "timeout", "", (Reply(error="timeout"),))
    assert tally([good, mended, bad, late, late]) == {
        "asked": 5,
        "read": 2,
        "repaired": 1,
        "unparsed": 1,
        "timeout": 2,
    }
