import sys

import pytest
from lib.curves import save_curve_plot

from jaxkg.errors import JaxkgError
from jaxkg.evaluate import Estimate

SIDES = ("width", "height")


def test_curves_of_two_panels(tmp_path):
    pytest.importorskip("matplotlib")
    curve = [(0.0, Estimate(0.9, 0.8, 1.0, 9)), (0.5, Estimate(0.4, 0.2, 0.6, 9))]
    path = tmp_path / "curves.svg"
    panels = {"left": {"one": curve, "two": [(0.0, 0.5)]}, "right": {"one": curve[:1]}}
    save_curve_plot(panels, path, x=["share", "edits"], y="f1")
    drawn = path.read_text("utf-8")
    for said in ("left", "right", "edits", "<!-- one -->", "<!-- two -->"):
        assert said in drawn
    assert drawn.count("<!-- one -->") == 1, "one name stands in the legend once"
    save_curve_plot({"": {"one": [(10, 0.1), (100, 1.0)]}}, path, x="edges", y="s", log=True)
    assert "10^{2}" in path.read_text("utf-8")


def test_panels_are_broken_into_rows(tmp_path):
    pytest.importorskip("matplotlib")
    panels = {name: {"one": [(0, 0.5), (1, 0.25)]} for name in ("a", "b", "c")}
    sizes = {}
    for columns in (None, 2):
        path = tmp_path / f"{columns}.svg"
        save_curve_plot(panels, path, x="level", y="share", columns=columns, shares=True)
        drawn = path.read_text("utf-8")
        sizes[columns] = [float(drawn.split(f'{side}="')[1].split("pt")[0]) for side in SIDES]
        assert drawn.count("<!-- share -->") == 3
        assert drawn.count("<!-- 0.8 -->") == 6, "on every x axis, and every y axis is 0 to 1"
    assert sizes[2][0] < sizes[None][0]
    assert sizes[2][1] > sizes[None][1]


def test_what_cannot_be_drawn(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    with pytest.raises(JaxkgError, match="at least one curve"):
        save_curve_plot({"left": {"one": []}}, tmp_path / "x.svg", x="", y="")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(JaxkgError, match=r"pip install 'jaxkg\[plot\]'"):
        save_curve_plot({}, tmp_path / "x.svg", x="", y="")
