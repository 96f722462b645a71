"""A few hundred of the inputs that `scripts/study/fuzz_formats.py` makes."""

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[4] / "scripts" / "study" / "fuzz_formats.py"


@pytest.fixture(scope="module")
def fuzz():
    spec = importlib.util.spec_from_file_location("fuzz_formats", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_damaged_file_is_read_or_refused(fuzz, tmp_path):
    ends = fuzz.run(20, 7, tmp_path)
    assert len(ends) == 14
    assert {how for counted in ends.values() for how in counted} == {"taken", "refused"}
    assert all(counted.total() == 20 for counted in ends.values())


def test_another_end_is_counted(fuzz, tmp_path, monkeypatch, capsys):
    def broken(path, **_):
        raise IndexError("left open")

    monkeypatch.setattr(fuzz, "read_graph", broken)
    assert fuzz.run(2, 0, tmp_path, "boats.obo") == {"boats.obo": {"IndexError: left open": 2}}
    assert "IndexError" in capsys.readouterr().err
