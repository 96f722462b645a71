"""`jaxkg eval --llm` over 200 questions is killed in the middle and started again."""

import json
import signal
import subprocess
import sys
import time
import zlib

import pytest
from loopback import stored_replies

from jaxkg.kg import demo_training_questions, write_questions

RUN = "import sys; from jaxkg.cli import main; main(sys.argv[1:])"
ANSWERED_BEFORE_THE_KILL = 150
"""More than the 128 questions of a batch: some have their line, some only their reply."""


def answer(body):
    """A tenth of the replies cannot be read, another tenth names nobody offered."""
    number = zlib.crc32(body["messages"][-1]["content"].encode()) % 10
    if number == 0:
        return "hard to say"
    answers = ["Nobody At All"] if number == 1 else []
    return json.dumps({"answers": answers, "supporting_paths": [1], "rationale": "So."})


def lines(folder):
    text = (folder / "predictions.jsonl").read_text(encoding="utf-8")
    found = [json.loads(line) for line in text.splitlines()]
    for line in found:
        del line["usage"]["seconds"]
    return sorted(map(rounded, found), key=lambda line: line["id"])


def rounded(value):
    """Numbers to four digits: batches are of other sizes where a run goes on, and so are sums."""
    if isinstance(value, dict):
        return {name: rounded(part) for name, part in value.items()}
    if isinstance(value, list):
        return list(map(rounded, value))
    return round(value, 4) if isinstance(value, float) else value


@pytest.mark.slow
def test_no_call_is_repeated_and_the_report_is_the_same(jaxkg, serve, tmp_path):
    questions = tmp_path / "questions.jsonl"
    asked = {question.text: question for question in demo_training_questions()}
    write_questions(list(asked.values())[:200], questions)

    def arguments(server, name):
        return [
            *("eval", "--system", "planner", "--questions", str(questions), "--json"),
            *("--set", "judge=paths"),
            *("-o", str(tmp_path / name)),
            *("--llm", "loopback", "--base-url", server.url, "--concurrency", "8"),
            *("--replies", str(tmp_path / f"{name}.sqlite")),
        ]

    undisturbed = serve(answer)
    whole = jaxkg.done(*arguments(undisturbed, "whole"))
    calls = sum(undisturbed.completed.values())
    assert calls > ANSWERED_BEFORE_THE_KILL + 20

    # The endpoint answers so many and then keeps everyone waiting, so what was answered is known.
    server = serve(answer, hold_after=ANSWERED_BEFORE_THE_KILL)
    cache, folder = tmp_path / "run.sqlite", tmp_path / "run"
    with subprocess.Popen(
        [sys.executable, "-c", RUN, *arguments(server, "run")],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as process:
        deadline = time.monotonic() + 120
        while stored_replies(cache) < ANSWERED_BEFORE_THE_KILL:
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
        assert process.wait(30) == -signal.SIGKILL
    answered = dict(server.completed)
    assert sum(answered.values()) == stored_replies(cache) == ANSWERED_BEFORE_THE_KILL
    assert 0 < len(lines(folder)) < 200
    assert not (folder / "report.json").exists()

    healthy = serve(answer)
    code, again, err = jaxkg(*arguments(healthy, "run"))
    assert code == 0
    assert not set(answered) & set(healthy.completed), "no call is repeated"
    assert sum(healthy.completed.values()) == calls - ANSWERED_BEFORE_THE_KILL
    assert f"({calls - ANSWERED_BEFORE_THE_KILL} paid now, " in err
    assert lines(folder) == lines(tmp_path / "whole")
    first, second = json.loads(whole), json.loads(again)
    assert first["counts"] == second["counts"]
    assert first["counts"]["asked"] == 200
    assert first["counts"]["unparsed"] > 0
    assert first["counts"]["dropped"] > 0
    for report in (first, second):
        for name in ("seconds_p50", "seconds_p95"):
            del report["metrics"][name]
    assert rounded(first["metrics"]) == rounded(second["metrics"])
