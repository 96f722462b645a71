"""A few of the kills of `scripts/study/kills.py`, and that it sees what does not go on."""

import subprocess
import sys
from pathlib import Path

import pytest

STUDY = Path(__file__).parents[2] / "scripts" / "study"
pytestmark = pytest.mark.slow


def run(*arguments):
    return subprocess.run(
        [sys.executable, *arguments], cwd=STUDY, capture_output=True, text=True, check=False
    )


def test_what_was_killed_goes_on():
    done = run("kills.py", "--kills", "6", "--jobs", "build", "cache")
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line.split("|")[1:5] for line in done.stdout.splitlines() if line.startswith("| ")]
    assert [[cell.strip() for cell in row][::3] for row in rows[2:]] == [
        ["build", "0"],
        ["cache", "0"],
    ]
