import asyncio
import threading

import pytest

from jaxkg.answer import Answer
from jaxkg.deadline import OutOfTime, check
from jaxkg.records import Question
from jaxkg.serve.gather import Busy, Closing, Gatherer


def question(number):
    return Question(id=str(number), text=f"question {number}")


class Answers:
    """Answers by echo; holds the thread until it is let go."""

    def __init__(self, held=False):
        self.batches = []
        self.gate = threading.Event()
        if not held:
            self.gate.set()

    def __call__(self, questions):
        assert self.gate.wait(10)
        self.batches.append([q.id for q in questions])
        if any(q.text == "fail" for q in questions):
            raise ZeroDivisionError("the system broke")
        return [Answer(question=q.text, question_id=q.id) for q in questions]


def test_everyone_gets_their_own_answer():
    async def run():
        gatherer = Gatherer(answers := Answers())
        found = await asyncio.gather(*(gatherer.ask(question(n)) for n in range(50)))
        await gatherer.close()
        return found, answers

    found, answers = asyncio.run(run())
    assert [a.question_id for a in found] == [str(n) for n in range(50)]
    assert len(answers.batches) < 50


def test_what_arrives_during_a_batch_is_the_next_one_and_no_batch_is_too_large():
    async def run():
        gatherer = Gatherer(answers := Answers(held=True), most=3)
        first = gatherer.ask(question(0))
        await asyncio.sleep(0.05)
        rest = [gatherer.ask(question(n)) for n in range(1, 6)]
        await asyncio.sleep(0)
        answers.gate.set()
        await asyncio.gather(first, *rest)
        await gatherer.close()
        return answers.batches

    assert asyncio.run(run()) == [["0"], ["1", "2", "3"], ["4", "5"]]


def test_a_full_queue_refuses_and_says_when_to_come_back():
    async def run():
        gatherer = Gatherer(answers := Answers(held=True), queue=2)
        running = gatherer.ask(question(0))
        await asyncio.sleep(0.05)
        waiting = [gatherer.ask(question(n)) for n in (1, 2)]
        await asyncio.sleep(0)
        with pytest.raises(Busy) as busy:
            gatherer.ask(question(3))
        answers.gate.set()
        await asyncio.gather(running, *waiting)
        await gatherer.close()
        return busy.value.seconds

    assert asyncio.run(run()) >= 1


def test_a_caller_that_left_is_not_answered():
    async def run():
        gatherer = Gatherer(answers := Answers(held=True))
        running = gatherer.ask(question(0))
        await asyncio.sleep(0.05)
        gone = gatherer.ask(question(1))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.sleep(0)
        answers.gate.set()
        await running
        await gatherer.close()
        return answers.batches

    assert asyncio.run(run()) == [["0"]]


def test_a_question_that_fails_fails_for_itself_alone():
    async def run():
        gatherer = Gatherer(Answers())
        asked = (question(0), Question(id="x", text="fail"), question(1))
        found = await asyncio.gather(*map(gatherer.ask, asked), return_exceptions=True)
        await gatherer.close()
        return found, gatherer.load.failures

    (one, wrong, two), failures = asyncio.run(run())
    assert (one.question_id, two.question_id, failures) == ("0", "1", 1)
    assert isinstance(wrong, ZeroDivisionError)


def test_closing_finishes_what_was_taken_and_takes_nothing_more():
    async def run():
        gatherer = Gatherer(answers := Answers(held=True))
        taken = gatherer.ask(question(0))
        await asyncio.sleep(0.05)
        closing = asyncio.create_task(gatherer.close())
        await asyncio.sleep(0)
        with pytest.raises(Closing):
            gatherer.ask(question(1))
        answers.gate.set()
        await closing
        return (await taken).question_id

    assert asyncio.run(run()) == "0"


def test_a_request_of_many_questions_takes_its_turn():
    async def run():
        gatherer = Gatherer(answers := Answers(held=True), most=16)
        running = gatherer.ask(question("first"))
        await asyncio.sleep(0.05)
        many = [gatherer.ask(question(n), "batch") for n in range(6)]
        others = [gatherer.ask(question(f"other {n}")) for n in range(3)]
        answers.gate.set()
        await asyncio.gather(running, *many, *others)
        await gatherer.close()
        return answers.batches

    _, second, *_ = asyncio.run(run())
    assert second == ["0", "other 0", "other 1", "other 2", "1"]  # two places of sixteen


def test_what_nobody_waits_for_any_more_is_stopped():
    stopped = threading.Event()

    def endless(questions):
        try:
            while True:
                check()
        except OutOfTime:
            stopped.set()
            raise

    async def run():
        gatherer = Gatherer(endless)
        mine = gatherer.ask(question(0))
        await asyncio.sleep(0.05)
        assert not stopped.is_set()
        mine.cancel()
        assert await asyncio.to_thread(stopped.wait, 10)
        await gatherer.close()

    asyncio.run(run())


def test_closing_stops_what_takes_longer_and_leaves_what_cannot_be_stopped():
    go = threading.Event()

    def stubborn(questions):
        go.wait(60)
        return []

    async def run(work):
        gatherer = Gatherer(work)
        taken, waiting = gatherer.ask(question(0)), gatherer.ask(question(1))
        await asyncio.sleep(0.05)
        later = gatherer.ask(question(2))
        await asyncio.wait_for(gatherer.close(0.05), 20)
        return [each.done() for each in (taken, waiting, later)]

    def endless(questions):
        while True:
            check()

    assert asyncio.run(run(endless)) == [True] * 3
    before = set(threading.enumerate())
    asyncio.run(run(stubborn))
    [thread] = [each for each in set(threading.enumerate()) - before if each.name == "answers"]
    assert thread.daemon
    go.set()
