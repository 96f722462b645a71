"""`jaxkg serve` and `jaxkg mcp` as whole processes."""

import contextlib
import json
import signal
import socket
import subprocess
import sys
import time

import pytest
from lib.under_trial import JSON, Service

from jaxkg.cli import main


@pytest.fixture
def graph(tmp_path):
    path = tmp_path / "team.tsv"
    path.write_text("Heron\tproject lead\tInes Okafor\nKite\tproject lead\tTom Brandt\n")
    return path


@pytest.mark.slow
def test_a_service_answers_and_stops_when_asked_to(graph, tool):
    with tool.service("--kg", str(graph), "--set", "encoder=hashing") as running:
        body = json.dumps({"question": "Who is the project lead of Heron?"})
        answer = json.loads(running.ask("POST", "/ask", body, heads=JSON, seconds=60)[2])
        assert [entity["name"] for entity in answer["entities"]] == ["Ines Okafor"]
        assert answer["paths"][0]["citations"][0]["source"] == "team.tsv:1"
        assert running.ended_within(30) is not None


def test_another_address_wants_a_token(graph, monkeypatch, capsys):
    monkeypatch.delenv("JAXKG_TOKEN", raising=False)
    with pytest.raises(SystemExit) as stop:
        main(["serve", "--kg", str(graph), "--host", "0.0.0.0"])
    assert stop.value.code == 2
    assert "JAXKG_TOKEN" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["serve"], ["mcp", "--transport", "http"]])
def test_a_port_in_use_is_a_line_before_anything_is_read(command, tmp_path, capsys):
    with socket.socket() as some:
        some.bind(("127.0.0.1", 0))
        some.listen()
        port = some.getsockname()[1]
        with pytest.raises(SystemExit) as stop:
            main([*command, "--kg", str(tmp_path / "absent.tsv"), "--port", str(port)])
    told = capsys.readouterr().err
    assert stop.value.code == 2
    assert told == f"jaxkg: nothing can be served at 127.0.0.1:{port}: Address already in use\n"


def test_nothing_is_told_of_the_start_once_it_serves(graph, tmp_path, monkeypatch):
    told = []

    @contextlib.contextmanager
    def bars():
        yield lambda *step: None
        told.append("started")

    monkeypatch.setenv("JAXKG_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("jaxkg.cli.serving.progress_bars", bars)
    monkeypatch.setattr("jaxkg.serve.protocol.run", lambda app, **settings: told.append("serving"))
    with contextlib.suppress(SystemExit):
        main(["serve", "--kg", str(graph), "--set", "encoder=hashing"])
    assert told == ["started", "serving"]


@pytest.mark.slow
def test_a_service_that_is_at_work_ends_in_time_and_tells_what_it_was_asked(tmp_path):
    script = tmp_path / "busy.py"
    script.write_text(
        """
import sys, time
from jaxkg.answer import Answer
from jaxkg.kg import demo_graph
from jaxkg.serve import gather, protocol
from jaxkg.serve.app import service
from jaxkg.serve.facts import Facts
from jaxkg.cli.serving import _log

protocol.GRACE_SECONDS = 3.0

def busy(questions):
    while True:
        time.sleep(0.01)

_log()
app = service(Facts.of(demo_graph()), busy, log_questions=True)
protocol.run(app, host="127.0.0.1", port=int(sys.argv[1]), timeout_graceful_shutdown=1)
"""
    )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for by in signal.SIGTERM, signal.SIGINT:
        process = subprocess.Popen(
            [sys.executable, script, str(port)], stderr=subprocess.PIPE, text=True
        )
        running = Service(process, port, script)
        try:
            for _ in range(600):
                with contextlib.suppress(OSError):
                    link = running.connected()
                    break
                time.sleep(0.1)
            body = b'{"question": "who?"}'
            link.sendall(
                b"POST /ask HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
            )
            time.sleep(1)
            assert running.ended_within(25, by) is not None
            link.close()
        finally:
            process.kill()
        assert 'question "who?"' in process.stderr.read()
        process.stderr.close()


def test_a_file_name_acts_on_no_terminal(tmp_path, capsys):
    path = tmp_path / "\x1b[31m\u202ex.tsv"
    for _ in range(2):
        with pytest.raises(SystemExit) as stop:
            main(["kg", "build", str(path), "-o", str(tmp_path / "built")])
        told = capsys.readouterr().err
        assert stop.value.code == 2
        assert "x.tsv" in told
        assert not {"\x1b", "\u202e"} & set(told)
        path.write_text("one field\n")


def test_a_closed_standard_output_is_no_fault(graph, monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    asked = ["ask", "Who is the project lead of Heron?", "--kg", str(graph), "--json"]
    with pytest.raises(SystemExit) as stop:
        main([*asked, "--set", "encoder=hashing"])
    assert not stop.value.code
    sys.stdout.close()
