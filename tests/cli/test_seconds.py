"""`--seconds` stops the work of a question, whichever way it is asked."""

import time
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from jaxkg.cli.app import app
from jaxkg.cli.asking import Session
from jaxkg.deadline import OutOfTime, check


class Endless:
    """A system that works until it is stopped."""

    def answer(self, questions):
        while True:
            check()
            time.sleep(0.001)

    def traced(self, question):
        return self.answer([question])

    def correct(self, question, number):
        self.answer([question])


@pytest.mark.parametrize(
    "ask",
    [
        lambda session: session.answer("who?"),
        lambda session: session.traced("who?"),
        lambda session: session.right("who?", 1),
        lambda session: session.answers(["who?"]),
    ],
)
def test_a_question_is_stopped(ask):
    session = Session(Endless(), SimpleNamespace(), seconds=0.01)  # type: ignore[arg-type]
    with pytest.raises(OutOfTime, match=r"longer than 0\.01 s"):
        ask(session)


@pytest.mark.parametrize("command", ["ask", "chat", "mcp"])
def test_each_command_that_asks_has_the_option(command):
    told = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "200"}).output
    assert "--seconds" in told


def test_a_question_that_is_too_long_is_told_in_one_line(capfd):
    found = CliRunner().invoke(app, ["ask", "who directed Alien " * 400])
    assert "at most 4,000 characters, not 7,600" in f"{found.output}{found.exception}"
