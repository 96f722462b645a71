import sys

import pytest

from jaxkg.evaluate import evaluate
from jaxkg.evaluate.plots import save_bar_plot
from jaxkg.records import JaxkgError


@pytest.fixture
def report(make_line):
    return evaluate([make_line("a", ["x"], "x"), make_line("b", ["x"], "y")])


def test_a_picture_of_two_systems(tmp_path, report):
    pytest.importorskip("matplotlib")
    path = tmp_path / "bars.svg"
    save_bar_plot({"one": report, "two": report}, path)
    assert path.read_bytes().startswith(b"<?xml")
    save_bar_plot({"one": report}, tmp_path / "bars.png", metrics=["f1"])
    assert (tmp_path / "bars.png").read_bytes().startswith(b"\x89PNG")


def test_what_cannot_be_drawn(tmp_path, report, monkeypatch):
    pytest.importorskip("matplotlib")
    with pytest.raises(JaxkgError, match="report of 'one' has no metric 'grounded'"):
        save_bar_plot({"one": report}, tmp_path / "x.png", metrics=["grounded"])
    with pytest.raises(JaxkgError, match="at least one report"):
        save_bar_plot({}, tmp_path / "x.png")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(JaxkgError, match=r"pip install 'jaxkg\[plot\]'"):
        save_bar_plot({"one": report}, tmp_path / "x.png")
