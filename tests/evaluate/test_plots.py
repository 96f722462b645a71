import sys

import pytest

from jaxkg.errors import JaxkgError
from jaxkg.evaluate import evaluate
from jaxkg.evaluate.plots import save_latency_plots


def test_accuracy_against_latency(tmp_path, make_line, monkeypatch):
    pytest.importorskip("matplotlib")
    usage = [{"calls": calls, "seconds": seconds} for calls, seconds in ((0, 0.01), (3, 2.0))]
    told = {
        f"system {each['calls']}": evaluate([make_line("a", ["x"], "x", usage=each)])
        for each in usage
    }
    report = evaluate([make_line("a", ["x"], "x"), make_line("b", ["x"], "y")])
    path = tmp_path / "latency.svg"
    save_latency_plots({"": {**told, "untold": report}}, path)
    drawn = path.read_text("utf-8")
    assert "system 3, 3 calls" in drawn
    assert "untold" not in drawn
    both = tmp_path / "both.svg"
    save_latency_plots({"easy": told, "hard": told, "untold": {"x": report}}, both)
    words = both.read_text("utf-8")
    assert words.count("<!-- 3 calls -->") == words.count("<!-- f1, with 95 % interval -->") * 2
    assert words.count("<!-- system 3 -->") == words.count("<!-- hard -->") == 1
    with pytest.raises(JaxkgError, match="no report has both 'f1' and seconds"):
        save_latency_plots({"": {"untold": report}}, path)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(JaxkgError, match=r"pip install 'jaxkg\[plot\]'"):
        save_latency_plots({"": told}, path)
