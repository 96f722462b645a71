"""A few of the kills of `scripts/study/kills.py`, and that it sees what does not go on."""

import subprocess
import sys
from pathlib import Path

import pytest

STUDY = Path(__file__).parents[2] / "scripts" / "study"
pytestmark = pytest.mark.slow
STUCK = """
import pathlib, random, sys, tempfile, time
import kills

class Stuck(kills.Job):
    def work(self, folder):
        if (folder / "begun").exists():
            raise SystemExit(3)
        (folder / "begun").touch()
        time.sleep(0.5)

    def left(self, folder):
        return True

with tempfile.TemporaryDirectory() as folder:
    place = pathlib.Path(folder)
    print(kills.trial(Stuck(place), 4, random.Random(0), place))
"""


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


def test_what_does_not_go_on_is_told():
    done = run("-c", STUCK)
    assert done.returncode == 0, done.stderr
    assert "exit 3" in done.stdout
