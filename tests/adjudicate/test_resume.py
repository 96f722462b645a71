"""A run of 200 questions is killed in the middle and started again."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from loopback import stored_replies

from jaxkg import adjudicate

ROOT = Path(adjudicate.__file__).parent.parent.parent
QUESTIONS = 200
ANSWERED_BEFORE_THE_KILL = 80

RUN = """
import json, sys
from pydantic import BaseModel
from jaxkg.adjudicate import Message, Prompted, ask, connect, tally

class Chosen(BaseModel):
    indices: list[int]

url, cache, report = sys.argv[1:]
prompts = [
    Prompted((Message("user", f"question {n}"),), Chosen, question=str(n), stage="run")
    for n in range(200)
]
with connect("loopback", base_url=url, cache=cache, concurrency=8, timeout=60) as backend:
    outcomes = ask(backend, prompts)
    total = backend.total
with open(report, "w") as file:
    json.dump({
        "values": [outcome.value and outcome.value.indices for outcome in outcomes],
        "errors": [outcome.error for outcome in outcomes],
        "calls": [outcome.usage.calls for outcome in outcomes],
        "tokens": [outcome.usage.prompt_tokens for outcome in outcomes],
        "tally": tally(outcomes),
        "total": [total.calls, total.prompt_tokens, total.completion_tokens],
    }, file)
"""


def start(server, cache, report):
    arguments = [server.url, str(cache), str(report)]
    return subprocess.Popen([sys.executable, "-c", RUN, *arguments], cwd=ROOT)


def answer(body):
    """A fifth of the first replies needs a repair, a tenth cannot be read at all."""
    number = int(body["messages"][0]["content"].split()[1])
    repair = len(body["messages"]) > 1
    if number % 10 == 0 or (number % 5 == 0 and not repair):
        return f"hard to say, {number}"
    return json.dumps({"indices": [number]})


@pytest.mark.slow
def test_killed_and_started_again(serve, tmp_path):
    whole, cache = tmp_path / "whole.json", tmp_path / "replies.sqlite"
    undisturbed = serve(answer)
    assert start(undisturbed, tmp_path / "other.sqlite", whole).wait(60) == 0

    # The endpoint answers so many and then keeps everyone waiting, so what was answered and what
    # was stored are known when the process is killed.
    server = serve(answer, hold_after=ANSWERED_BEFORE_THE_KILL)
    report = tmp_path / "report.json"
    process = start(server, cache, report)
    deadline = time.monotonic() + 30
    while stored_replies(cache) < ANSWERED_BEFORE_THE_KILL:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    assert process.wait(30) == -signal.SIGKILL
    assert not report.exists()
    answered = dict(server.completed)
    assert sum(answered.values()) == stored_replies(cache) == ANSWERED_BEFORE_THE_KILL

    healthy = serve(answer)
    assert start(healthy, cache, report).wait(60) == 0
    assert not set(answered) & set(healthy.completed), "no call is repeated"
    assert sum(answered.values()) + sum(healthy.completed.values()) == sum(
        undisturbed.completed.values()
    )
    assert json.loads(report.read_text()) == json.loads(whole.read_text())
    assert json.loads(report.read_text())["tally"] == {
        "asked": 200,
        "read": 180,
        "repaired": 20,
        "unparsed": 20,
    }


INTERRUPTED = """
import signal, sys
from jaxkg.adjudicate import Message, Request, connect

signal.signal(signal.SIGINT, signal.default_int_handler)
url, cache = sys.argv[1:]
requests = [Request((Message("user", f"question {n}"),)) for n in range(200)]
with connect("loopback", base_url=url, cache=cache, concurrency=4) as backend:
    try:
        backend.complete(requests, on_reply=lambda place, reply: print(place, flush=True))
    except KeyboardInterrupt:
        sys.exit(3)
"""


def test_an_interrupt_keeps_the_replies_under_way(serve, tmp_path):
    server = serve(delay=0.2)
    cache = tmp_path / "replies.sqlite"
    command = [sys.executable, "-c", INTERRUPTED, server.url, str(cache)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    assert process.returncode == 3
    assert 4 <= sum(server.completed.values()) == stored_replies(cache) <= 16
