"""What the README shows: commands that exist, output that is printed, Python that runs."""

import re
import shlex
from pathlib import Path

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


def test_the_readme_is_short():
    assert len(README.splitlines()) <= 150


def test_there_are_commands():
    assert {"ask", "eval", "serve", "compare", "score"} <= {words[0] for words in COMMANDS}


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_command_is_taken_as_it_stands(words):
    command, rest = typer.main.get_command(app), list(words)
    while hasattr(command, "commands"):
        command = command.commands[rest.pop(0)]
    assert command.make_context(words[0], rest).params


@pytest.mark.slow
@pytest.mark.usefixtures("in_cache")
def test_the_sample_is_what_is_printed(capsys):
    """But for what it cost."""
    shown = next(block for _, block in BLOCKS if "\nAnswers\n" in block)
    question = shown.partition("\n")[0]
    asked = next(words for words in COMMANDS if re.sub(r"[\[\]]", "", words[1]) == question)
    with pytest.raises(SystemExit):
        main(asked)
    printed = capsys.readouterr().out

    def lines(text):
        return [line.rstrip() for line in text.partition("\nCost\n")[0].splitlines() if line]

    assert [line for line in lines(shown) if line not in lines(printed)] == []


@pytest.mark.slow
@pytest.mark.usefixtures("in_cache")
def test_the_python_runs():
    [code] = [block for language, block in BLOCKS if language == "python"]
    names = {}
    exec(code, names)
    assert [entity.name for entity in names["answer"].entities] == ["Ridley Scott"]
