"""`jaxkg serve` and `jaxkg mcp` as whole processes."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

from jaxkg.cli import main

ENVIRONMENT = {"JAX_NUMPY_DTYPE_PROMOTION": "standard", "JAX_NUMPY_RANK_PROMOTION": "allow"}


@pytest.fixture
def graph(tmp_path):
    path = tmp_path / "team.tsv"
    path.write_text("Heron\tproject lead\tInes Okafor\nKite\tproject lead\tTom Brandt\n")
    return path


def environment(tmp_path):
    return os.environ | ENVIRONMENT | {"JAXKG_CACHE": str(tmp_path / "cache")}


def free_port() -> int:
    with socket.socket() as some:
        some.bind(("127.0.0.1", 0))
        return some.getsockname()[1]


@pytest.mark.slow
def test_a_service_answers_and_stops_when_asked_to(graph, tmp_path):
    port = free_port()
    command = [sys.executable, "-m", "jaxkg", "serve", "--kg", graph, "--port", str(port)]
    process = subprocess.Popen(
        [*command, "--set", "encoder=hashing"],
        env=environment(tmp_path),
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        body = json.dumps({"question": "Who is the project lead of Heron?"}).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{port}/ask", body)
        for _ in range(600):
            try:
                with urllib.request.urlopen(request, timeout=60) as reply:
                    answer = json.load(reply)
                break
            except OSError:
                assert process.poll() is None, process.stderr.read()
                time.sleep(0.2)
        assert [entity["name"] for entity in answer["entities"]] == ["Ines Okafor"]
        assert answer["paths"][0]["citations"][0]["source"] == "team.tsv:1"
        process.send_signal(signal.SIGTERM)
        process.wait(30)
    finally:
        process.kill()
        process.stderr.close()


def test_another_address_wants_a_token(graph, tmp_path):
    run = subprocess.run(
        [sys.executable, "-m", "jaxkg", "serve", "--kg", graph, "--host", "0.0.0.0"],
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 2
    assert "JAXKG_TOKEN" in run.stderr


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
    monkeypatch.setattr("uvicorn.run", lambda app, **settings: told.append("serving"))
    with contextlib.suppress(SystemExit):
        main(["serve", "--kg", str(graph), "--set", "encoder=hashing"])
    assert told == ["started", "serving"]
