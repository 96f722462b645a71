"""`jaxkg serve --llm` is killed under load and started again."""

import http.client
import json
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from lib.under_trial import JSON
from loopback import LanguageServer, stored_replies

from jaxkg.kg import demo_training_questions

ASKED = 80
ANSWERED_BEFORE_THE_KILL = 30
CALLERS = 16


def reply(body):
    return json.dumps({"answers": [], "supporting_paths": [1], "rationale": "So."})


def ask(running, text):
    """What the service says; None where it is not there or dies over it."""
    try:
        body = json.dumps({"question": text})
        status, _, said = running.ask("POST", "/ask", body, heads=JSON, seconds=120)
    except (OSError, http.client.HTTPException):
        return None
    return json.loads(said) if status == 200 else None


@pytest.mark.slow
def test_no_paid_reply_is_lost_and_no_call_repeated(tool, tmp_path):
    replies = tmp_path / "replies.sqlite"
    questions = sorted({question.text for question in demo_training_questions()})[:ASKED]

    def started(server):
        model = ("--llm", "loopback", "--base-url", server.url, "--concurrency", "8")
        kept = ("--replies", str(replies), "--set", "judge=paths")
        return tool.service("--system", "planner", *model, *kept)

    # The endpoint answers so many and then keeps everyone waiting, so what was answered is known.
    with (
        LanguageServer(reply, hold_after=ANSWERED_BEFORE_THE_KILL) as server,
        ThreadPoolExecutor(CALLERS) as callers,
    ):
        with started(server) as running:
            asking = callers.map(lambda text: ask(running, text), questions)
            deadline = time.monotonic() + 120
            while stored_replies(replies) < ANSWERED_BEFORE_THE_KILL:
                assert running.process.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.05)
        before = list(asking)
        answered = dict(server.completed)
    assert None in before
    assert sum(answered.values()) == stored_replies(replies) == ANSWERED_BEFORE_THE_KILL

    with LanguageServer(reply) as healthy, ThreadPoolExecutor(CALLERS) as callers:
        with started(healthy) as running:
            after = list(callers.map(lambda text: ask(running, text), questions))
            assert running.ended_within(60) is not None
        assert all(after)
        assert not set(answered) & set(healthy.completed), "a paid reply was asked for again"
        assert set(healthy.completed.values()) == {1}
        assert len(answered) + len(healthy.completed) == stored_replies(replies)
    told = [found for found in after if found["usage"]["calls"] or found["entities"]]
    assert len(told) > ASKED // 2
    for found, then in zip(after, before):
        assert then is None or then["entities"] == found["entities"]
