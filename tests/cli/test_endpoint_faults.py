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


def test_what_should_not_be_is_seen(faults, monkeypatch):
    """A key that is not hidden, a reply asked for again, a crash."""
    monkeypatch.setattr("jaxkg.wire.redact.Secrets.hide", lambda self, text: text)
    monkeypatch.setattr("jaxkg.adjudicate.around.store.ReplyStore.put", lambda *_, **__: None)
    _, words = faults.study(["sound", "401"], ["planner"], told=lambda _: None)
    kinds = {word.partition(":")[0] for word in words}
    assert kinds >= {"leaked", "repaid"}

    def broken(text):
        raise ZeroDivisionError(text)

    monkeypatch.setattr("jaxkg.cli.asking.checked_question", broken)
    code, _, _ = faults.started(["ask", "who?"])
    assert code == "ZeroDivisionError: who?"
