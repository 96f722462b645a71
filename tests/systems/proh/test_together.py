"""Several questions under way at once: each is answered, charged and cut off as it is alone."""

import contextlib
import dataclasses
import json

import pytest
from hyper_world import QUESTION, reply

from jaxkg.adjudicate import Budget, Cache, Caps, Meter, Reply, Scripted
from jaxkg.adjudicate.backend import Wrapper
from jaxkg.records import Question
from jaxkg.systems.proh.settings import PROH, PROH_L

ONE = "who directed Alien?"
FAILS = "where was Sigourney Weaver born?"
LOST = "what is the motto of Atlantis?"
QUESTIONS = [
    Question("deep", QUESTION),
    Question("flat", ONE),
    Question("fails", FAILS),
    Question("same", QUESTION),
    Question("lost", LOST),
    Question("given", QUESTION, topics=("Ridley Scott",)),
    Question("late", ONE, topics=("Alien",)),
]


def answer(request):
    """As the world's own model; but plans of one step, answers that time out, a repair."""
    schema, prompt = request.schema_name, request.messages[1].content
    told, asked = reply(schema, prompt), prompt.partition("</question>")[0]
    if FAILS in asked and schema == "StepAnswer":
        return Reply(error="timeout", detail="no whole reply within 1 s")
    if LOST in asked and schema == "Keywords" and len(request.messages) == 2:
        return "about Atlantis, I should say"
    own = next((text for text in (ONE, FAILS, LOST) if text in asked), None)
    if own and schema == "Plan":
        told = {"steps": [{"id": "1", "question": own, "needs": []}]}
    if own and schema == "Choice" and own != ONE:
        told = {"chosen": [1] if own == FAILS else []}
    if own == ONE and schema == "FinalAnswer":
        told = {"answers": ["Ridley Scott"], "reason": "he directed it"}
    return json.dumps(told)


class Batches(Wrapper):
    """Keeps whose questions were asked together."""

    def __init__(self, inner):
        super().__init__(inner)
        self.charges: list[list[str]] = []

    def complete(self, requests, *, admit=None, on_reply=None):
        self.charges += [[request.question for request in requests]] if requests else []
        return self.inner.complete(requests, admit=admit, on_reply=on_reply)


def untimed(found):
    usage = dataclasses.replace(found.usage, seconds=0.0, stages=dict.fromkeys(found.usage.stages))
    return dataclasses.replace(found, usage=usage).to_dict()


@pytest.fixture
def run(ask_of, tmp_path):
    """Answers, the requests of each question, what the cache holds and who was asked with whom."""

    def asked(name, questions, settings, *, calls=100, script=answer):
        endpoint = Scripted(script)
        cache = Cache(endpoint, tmp_path / f"{name}.sqlite")
        batches = Batches(Meter(Budget(cache, question=Caps(calls=calls))))
        told = []
        with contextlib.closing(batches):
            answers = ask_of(batches, dataclasses.replace(settings, repair=True)).answer(
                questions, on_progress=lambda *event: told.append(event)
            )
            kept = {row[0] for row in cache.store._run("SELECT key FROM replies", ())}
        assert told == [("reason", n, len(questions)) for n in range(1, len(questions) + 1)]
        return answers, endpoint.requests, kept, batches.charges

    return asked


@pytest.mark.parametrize("settings", [PROH_L, PROH], ids=["light", "whole"])
@pytest.mark.parametrize("calls", [100, 7])
def test_questions_together_are_answered_and_charged_as_alone(run, settings, calls):
    def at_once(count):
        some = dataclasses.replace(settings, batch_size=count)
        return run(f"{count}", QUESTIONS, some, calls=calls)

    answers, requests, kept, charges = at_once(1)
    assert all(len(set(batch)) == 1 for batch in charges)
    assert [found.question_id for found in answers] == [each.id for each in QUESTIONS]
    cut = {found.question_id for found in answers if "budget" in str(found.notes)}
    if calls == 7:
        assert {"deep"} <= cut < {each.id for each in QUESTIONS}
    else:
        assert not cut
        assert [bool(found.entities) for found in answers[:5]] == [True, True, False, True, False]
        assert "timeout" in answers[2].error
    for count in (3, 16):
        together = at_once(count)
        assert [untimed(found) for found in together[0]] == [untimed(found) for found in answers]
        assert together[2] == kept
        assert sorted(r.key("") for r in together[1]) == sorted(r.key("") for r in requests)
        assert max(len(set(batch)) for batch in together[3]) == min(count, len(QUESTIONS))
        assert len(together[3]) < len(charges)


@pytest.mark.slow
def test_a_run_that_is_killed_pays_nothing_twice(run):
    whole = run("whole", QUESTIONS, PROH_L)
    for last in (1, 5, 20):
        seen = []

        def dying(request, seen=seen, last=last):
            if len(seen) == last:
                raise KeyboardInterrupt
            seen.append(request)
            return answer(request)

        with pytest.raises(KeyboardInterrupt):
            run(f"killed {last}", QUESTIONS, PROH_L, script=dying)
        again = run(f"killed {last}", QUESTIONS, PROH_L)
        assert [untimed(found) for found in again[0]] == [untimed(found) for found in whole[0]]
        assert again[2] == whole[2]
        repeated = {r.key("") for r in seen} & {r.key("") for r in again[1]}
        # A failure is asked again, as ever.
        assert all(r.question == "fails" for r in seen if r.key("") in repeated)


def test_an_outage_in_the_middle_ends_every_question_with_its_own_fault(ask_of):
    def failing(request):
        return answer(request) if len(backend.requests) <= 4 else Reply(error="connection")

    backend = Scripted(failing)
    answers = ask_of(backend).answer(QUESTIONS)
    assert all(found.error.startswith("connection") for found in answers)
    assert len(backend.requests) <= 4 + len(QUESTIONS)


def test_a_question_takes_the_seconds_of_its_own_calls(ask_of):
    def script(request):
        said = answer(request)
        assert isinstance(said, str)
        return Reply(said, seconds=1e6 * (request.question == "deep"))

    asked = [Question("deep", QUESTION), Question("flat", ONE)]
    deep, flat = ask_of(Scripted(script)).answer(asked)
    assert deep.usage.seconds >= 5e6
    assert flat.usage.seconds < 1e6
