"""What the README shows: commands that run, output that is printed, Python that runs."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import loopback
import pytest
import typer
from planners import cache, in_cache

from jaxkg.cli.app import app, main

__all__ = ["cache", "in_cache"]

README = (Path(__file__).parent.parent / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
COMMANDS = [
    words[words.index("jaxkg") + 1 :]
    for language, block in BLOCKS
    if language == "bash"
    for line in block.splitlines()
    for part in line.split(" && ")
    if "jaxkg" in (words := shlex.split(part, comments=True)) and "pip" not in words
]
SERVERS = [words for words in COMMANDS if words[0] in ("serve", "mcp")]
ASKS_MODEL = [
    words
    for words in COMMANDS
    if words in COMMANDS[COMMANDS.index(["llm", "check"]) :] and words not in SERVERS
]
LOCAL = [words for words in COMMANDS if words not in SERVERS + ASKS_MODEL]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the README's CSV file."""
    [csv] = [block for language, block in BLOCKS if language == "csv"]
    (tmp_path / "projects.csv").write_text(csv, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(words, capsys):
    with pytest.raises(SystemExit) as stop:
        main(list(words))
    return stop.value.code or 0, capsys.readouterr().out


def test_the_readme_is_short():
    lines = README.splitlines()
    assert len(lines) <= 100
    assert [line for line in lines if len(line) > 120] == []


def test_there_are_commands():
    assert {"ask", "kg", "serve", "mcp", "llm", "compare"} == {words[0] for words in COMMANDS}
    assert len(LOCAL) >= 5
    assert len(ASKS_MODEL) >= 3


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_command_is_taken_as_it_stands(words):
    command, rest = typer.main.get_command(app), list(words)
    while hasattr(command, "commands"):
        command = command.commands[rest.pop(0)]
    assert command.make_context(words[0], rest).params


@pytest.mark.usefixtures("in_cache", "folder")
@pytest.mark.parametrize("words", LOCAL, ids=" ".join)
def test_a_command_runs(words, capsys):
    code, printed = run(words, capsys)
    assert code == 0, printed
    assert printed


@pytest.mark.slow
@pytest.mark.usefixtures("in_cache", "folder")
@pytest.mark.parametrize("words", ASKS_MODEL, ids=" ".join)
def test_a_command_runs_with_a_model(words, capsys, monkeypatch):
    def choose(body):
        return json.dumps({"answers": [], "supporting_paths": [1], "rationale": "Path 1."})

    with loopback.LanguageServer(choose) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("JAXKG_LLM_MODEL", "loopback")
        code, printed = run(words, capsys)
        assert server.bodies or words[0] == "ask"  # a reading that is sure asks no model
    # The stand-in answers every prompt alike: `llm check` and plans find that it is no model.
    assert code == 0 or words[0] != "ask", printed


@pytest.mark.slow
@pytest.mark.parametrize("words", SERVERS, ids=" ".join)
def test_a_server_starts(words, folder, in_cache):
    command = [sys.executable, "-m", "jaxkg", *words]
    if words[0] == "mcp":
        done = subprocess.run(command, input="", capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return
    with subprocess.Popen([*command, "--port", "0"], stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        started = any("http://127.0.0.1" in line for line in server.stderr)
        server.terminate()
        server.stderr.read()
    assert started


@pytest.mark.usefixtures("in_cache", "folder")
def test_the_sample_is_what_is_printed(capsys):
    sample = next(block for _, block in BLOCKS if "\nAnswers\n" in block).splitlines()
    [asked] = [words for words in COMMANDS if words[1] == sample[0]]
    _, printed = run(asked, capsys)
    assert [line.rstrip() for line in printed.splitlines()][: len(sample)] == sample


@pytest.mark.usefixtures("in_cache")
def test_the_python_runs():
    [code] = [block for language, block in BLOCKS if language == "python"]
    names = {}
    exec(code, names)
    assert [entity.name for entity in names["answer"].entities] == ["Ridley Scott"]
