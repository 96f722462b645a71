"""`jaxkg serve --llm` is killed under load and started again."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest
from loopback import LanguageServer, stored_replies

from jaxkg.kg import demo_training_questions

ASKED = 80
ANSWERED_BEFORE_THE_KILL = 30
CALLERS = 16
ENVIRONMENT = {"JAX_NUMPY_DTYPE_PROMOTION": "standard", "JAX_NUMPY_RANK_PROMOTION": "allow"}


def reply(body):
    return json.dumps({"answers": [], "supporting_paths": [1], "rationale": "So."})


def ask(port, text):
    """What the service says; None where it is not there or dies over it."""
    body = json.dumps({"question": text}).encode()
    kind = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"http://127.0.0.1:{port}/ask", body, kind)
    try:
        with urllib.request.urlopen(request, timeout=120) as found:
            return json.load(found)
    except OSError:
        return None


@pytest.mark.slow
def test_no_paid_reply_is_lost_and_no_call_repeated(tmp_path):
    with socket.socket() as some:
        some.bind(("127.0.0.1", 0))
        port = some.getsockname()[1]
    replies = tmp_path / "replies.sqlite"
    questions = sorted({question.text for question in demo_training_questions()})[:ASKED]

    def started(server):
        command = [sys.executable, "-m", "jaxkg", "serve", "--system", "planner"]
        command += ["--set", "judge=paths"]
        command += ["--port", str(port)]
        model = ["--llm", "loopback", "--base-url", server.url, "--replies", str(replies)]
        environment = {**os.environ, **ENVIRONMENT, "JAXKG_CACHE": str(tmp_path)}
        process = subprocess.Popen([*command, *model, "--concurrency", "8"], env=environment)
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                return process
            except OSError:
                assert process.poll() is None
                time.sleep(0.2)

    # The endpoint answers so many and then keeps everyone waiting, so what was answered is known.
    with (
        LanguageServer(reply, hold_after=ANSWERED_BEFORE_THE_KILL) as server,
        ThreadPoolExecutor(CALLERS) as callers,
    ):
        process = started(server)
        try:
            asking = callers.map(lambda text: ask(port, text), questions)
            deadline = time.monotonic() + 120
            while stored_replies(replies) < ANSWERED_BEFORE_THE_KILL:
                assert process.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.05)
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait(30)
        before = list(asking)
        answered = dict(server.completed)
    assert None in before
    assert sum(answered.values()) == stored_replies(replies) == ANSWERED_BEFORE_THE_KILL

    with LanguageServer(reply) as healthy, ThreadPoolExecutor(CALLERS) as callers:
        process = started(healthy)
        try:
            after = list(callers.map(lambda text: ask(port, text), questions))
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)
        assert all(after)
        assert not set(answered) & set(healthy.completed), "a paid reply was asked for again"
        assert set(healthy.completed.values()) == {1}
        assert len(answered) + len(healthy.completed) == stored_replies(replies)
    told = [found for found in after if found["usage"]["calls"] or found["entities"]]
    assert len(told) > ASKED // 2
    for found, then in zip(after, before):
        assert then is None or then["entities"] == found["entities"]
