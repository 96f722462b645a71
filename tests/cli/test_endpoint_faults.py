"""`scripts/study/faults.py`: a few of its faults, and that it sees what it looks for."""

import importlib
import sys
from pathlib import Path

import pytest

STUDY = Path(__file__).parents[2] / "scripts" / "study"


@pytest.fixture(scope="module")
def faults():
    sys.path.insert(0, str(STUDY))
    try:
        yield importlib.import_module("faults")
    finally:
        sys.path.remove(str(STUDY))


@pytest.mark.parametrize("name", ["401", "usage a list", "prose"])
def test_a_fault_leaves_nothing_behind(faults, name):
    counts, words = faults.study([name], ["planner"], told=lambda _: None)
    assert words == []
    assert sum(counts["planner"].values()) == 6, "ask twice, again, eval twice, --retry"


@pytest.mark.slow
@pytest.mark.parametrize("system", ["reknos", "proh", "llm-planned"])
def test_other_systems(faults, system):
    some = ["sound", "500", "deep brackets", "cut", "a dripping body", "empty", "in parts"]
    _, words = faults.study(some, [system], told=lambda _: None)
    assert words == []
