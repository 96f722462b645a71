"""A run that is interrupted; `tests/cli/test_killed.py` has one that is killed."""

import signal
import subprocess
import sys

from asked_texts import ROOT
from loopback import stored_replies

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
