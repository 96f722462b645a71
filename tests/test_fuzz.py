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


def test_a_table_that_is_misread_is_noticed(fuzz, tmp_path, monkeypatch):
    fuzzer = fuzz.Fuzzer(tmp_path, seed=3)
    fuzzer.kinds = {"tables": fuzzer.tables}
    monkeypatch.setattr("jaxkg.kg.files.delimited.header_columns", lambda words: [0, 1, 2])
    ends = fuzzer.run(40)["tables"]
    assert any(end.startswith("AssertionError: misread") for end in ends)


def test_another_end_is_counted(fuzz, tmp_path, capsys):
    fuzzer = fuzz.Fuzzer(tmp_path, seed=0)

    def broken():
        raise IndexError("left open")

    fuzzer.kinds = {"files": broken}
    assert fuzzer.run(2) == {"files": {"IndexError: left open": 2}}
    assert "IndexError" in capsys.readouterr().err


def test_the_mark_between_words_may_stand_in_a_question():
    found = Linker(demo_graph()).link("who directed \0 Alien?")
    assert [link.name for link in found if link.chosen] == ["Alien"]
