"""A few hundred of the inputs that `scripts/study/fuzz.py` makes."""

import importlib.util
from pathlib import Path

import pytest

from jaxkg.kg import Linker, demo_graph

SCRIPT = Path(__file__).parent.parent / "scripts" / "study" / "fuzz.py"


@pytest.fixture(scope="module")
def fuzz():
    spec = importlib.util.spec_from_file_location("fuzz", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_input_is_taken_or_refused(fuzz, tmp_path):
    pytest.importorskip("pyoxigraph")
    pytest.importorskip("openpyxl")
    fuzzer = fuzz.Fuzzer(tmp_path, seed=7)
    with fuzzer.client:
        found = fuzzer.run(60)
    assert len(found) == 6
    for kind, ends in found.items():
        assert set(ends) <= {"taken", "refused"}, (kind, ends)
        assert ends.total() == 60
    assert all(
        found[kind]["taken"] for kind in ("files", "replies", "settings", "questions", "requests")
    )


def test_the_mark_between_words_may_stand_in_a_question():
    found = Linker(demo_graph()).link("who directed \0 Alien?")
    assert [link.name for link in found if link.chosen] == ["Alien"]
