"""Every subcommand explains itself, and starting the command loads next to nothing."""

import re
import subprocess
import sys

import pytest

ASK = 6
"""Programs that a question may compile: each costs a first answer about a second."""


def test_a_question_is_answered_in_few_programs_and_without_what_trains(in_cache):
    question = "who directed the films written by the writer of [Gladiator]?"
    asked = ["ask", question, "--system", "planner", "--profile"]
    heavy = {"flax", "optax", "openai", "scipy", "IPython", "jaxkg.lm", "jaxkg.learn.loop"}
    code = f"""
import sys
from jaxkg.cli.app import main
try:
    main({asked!r})
finally:
    print("loaded", *({heavy!r} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "1. Martin Scorsese" in done.stdout
    assert done.stdout.splitlines()[-1] == "loaded"
    cost = re.search(r"([\d.]+) CPU-seconds, peak memory ([\d,]+) MB", done.stderr)
    assert float(cost[1]) > 0
    assert 50 < int(cost[2].replace(",", "")) < 800  # its own, not that of what started it
    assert int(re.search(r"(\d+) programs, \d+ of them read", done.stderr)[1]) <= ASK
    assert "programs: plan_batch, execute_batch" in done.stderr


READER = "jaxkg.systems.reader.build, jaxkg.systems.reader.system, jaxkg.text.minilm"


@pytest.mark.parametrize(
    ("parts", "heavy"),
    [
        ("jaxkg.cli", "jax numpy openai pydantic matplotlib scipy rapidfuzz"),
        (READER, "flax optax openai IPython jaxkg.learn.loop"),
    ],
)
def test_the_command_and_a_reader_start_without_heavy_parts(parts, heavy):
    code = f"import {parts}, sys; print(*(set({heavy.split()!r}) & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


@pytest.mark.parametrize(
    ("typed", "offered"), [("jaxkg ex", {"explain"}), ("jaxkg ask --sys", {"--system"})]
)
def test_the_shell_completes(jaxkg, monkeypatch, typed, offered):
    monkeypatch.setenv("_JAXKG_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", typed)
    monkeypatch.setenv("COMP_CWORD", str(typed.count(" ")))
    code, out, err = jaxkg()
    assert (code, set(out.split()), err) == (0, offered, "")
