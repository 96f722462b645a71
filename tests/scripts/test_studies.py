"""A few of the inputs, faults and kills that `scripts/study` tries."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

STUDY = Path(__file__).parents[2] / "scripts" / "study"


@pytest.fixture
def study(monkeypatch):
    """A study by its name."""
    monkeypatch.syspath_prepend(str(STUDY))
    return importlib.import_module


def test_every_input_is_taken_or_refused(study, tmp_path):
    pytest.importorskip("pyoxigraph")
    pytest.importorskip("openpyxl")
    fuzzer = study("fuzz").Fuzzer(tmp_path, seed=7)
    with fuzzer.client:
        found = fuzzer.run(60)
    assert len(found) == 7
    for kind, ends in found.items():
        assert set(ends) <= {"taken", "refused"}, (kind, ends)
        assert ends.total() == 60
    assert all(
        found[kind]["taken"] for kind in ("files", "replies", "settings", "questions", "requests")
    )


def test_every_damaged_file_is_read_or_refused_and_another_end_is_counted(
    study, tmp_path, monkeypatch
):
    def broken(path, **_):
        raise IndexError("left open")

    fuzz = study("fuzz")
    fuzzer = fuzz.Fuzzer(tmp_path, seed=7)
    fuzzer.kinds = {"formats": fuzzer.formats}
    assert fuzzer.run(280)["formats"].keys() == {"taken", "refused"}
    monkeypatch.setattr(fuzz, "read_graph", broken)
    assert fuzzer.run(2) == {"formats": {"IndexError: left open": 2}}


@pytest.mark.parametrize("name", ["401", "usage a list", "prose"])
def test_a_fault_leaves_nothing_behind(study, name):
    counts, words = study("faults").study([name], ["planner"], told=lambda _: None)
    assert words == []
    assert sum(counts["planner"].values()) == 6, "ask twice, again, eval twice, --retry"


@pytest.mark.slow
@pytest.mark.parametrize("system", ["reknos", "proh", "llm-planned"])
def test_other_systems(study, system):
    some = ["sound", "500", "deep brackets", "cut", "a dripping body", "empty", "in parts"]
    _, words = study("faults").study(some, [system], told=lambda _: None)
    assert words == []


@pytest.mark.slow
def test_what_was_killed_goes_on():
    done = subprocess.run(
        [sys.executable, "kills.py", "--kills", "6", "--jobs", "build", "cache"],
        cwd=STUDY, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line.split("|")[1:5] for line in done.stdout.splitlines() if line.startswith("| ")]
    assert [[cell.strip() for cell in row][::3] for row in rows[2:]] == [
        ["build", "0"],
        ["cache", "0"],
    ]
