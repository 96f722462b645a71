import time
import warnings

import pytest

from jaxkg.experiments import progress
from jaxkg.experiments.progress import progress_bars, voice
from jaxkg.kg import demo_graph
from jaxkg.learn.planner import fit, kept
from jaxkg.tensors import tensor_graph

ASKED = "who directed Alien?"


@pytest.fixture
def no_cache(in_cache, tmp_path, monkeypatch):
    """A cache that cannot be written, and planners of other seeds that are made in no time."""
    shipped = kept.planner_for(demo_graph(), tensor_graph(demo_graph()))
    monkeypatch.setattr(fit, "fit_planner", lambda *_, **__: (shipped, None))
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("JAXKG_CACHE", str(tmp_path / "file" / "cache"))
    return tmp_path / "file" / "cache"


def test_without_a_cache_the_answer_is_printed_all_the_same(jaxkg, no_cache):
    code, out, err = jaxkg("ask", ASKED, "--system", "planner", "--seed", "1")
    assert code == 0
    assert "1. Ridley Scott" in out
    [line] = err.splitlines()
    assert line.startswith(f"jaxkg: nothing is kept for the next time: {no_cache}")
    code, out, err = jaxkg("ask", ASKED, "--seed", "1", "--quiet")
    assert (code, err) == (0, "")
    assert "1. Ridley Scott" in out


def test_a_damaged_cache_is_made_again(jaxkg, no_cache, tmp_path, monkeypatch):
    cache = tmp_path / "cache"
    monkeypatch.setenv("JAXKG_CACHE", str(cache))
    assert jaxkg("ask", ASKED, "--system", "planner", "--seed", "1")[0] == 0
    [folder] = (cache / "planners").iterdir()
    for file in folder.iterdir():
        file.unlink()
    (folder / "tmpx.tmp").touch()
    code, out, err = jaxkg("ask", ASKED, "--system", "planner", "--seed", "1")
    assert (code, err) == (0, "")
    assert "1. Ridley Scott" in out
    assert (folder / "planner.json").exists()


def test_the_cache_is_told_and_cleared(jaxkg, tmp_path, monkeypatch):
    cache = tmp_path / "cache"
    monkeypatch.setenv("JAXKG_CACHE", str(cache))
    for name in ("planners/k/planner.npz", "vectors/m.sqlite", "programs/p", "replies.sqlite"):
        (cache / name).parent.mkdir(parents=True, exist_ok=True)
        (cache / name).write_bytes(bytes(2_000_000))
    out = jaxkg.done("cache")
    assert out.splitlines()[0] == str(cache)
    assert [line.split()[:2] for line in out.splitlines()[1:]] == [
        *([kind, "2.0"] for kind in ("planners", "vectors", "programs", "replies")),
        ["corrections", "0.0"],
    ]
    assert jaxkg("cache", "--replies")[0] == 2
    assert jaxkg("cache", "clear")[0] == 0
    assert [file.name for file in cache.iterdir()] == ["replies.sqlite"]
    assert jaxkg("cache", "clear", "--replies")[0] == 0
    assert list(cache.iterdir()) == []


def test_what_takes_long_is_told_where_no_bars_are_drawn(capsys, monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.02)
    for quiet in (True, False):
        with voice(quiet=quiet), progress_bars() as show:
            show("making a planner", 3, 10)
            time.sleep(0.2)
        err = capsys.readouterr().err
        assert ("making a planner 3 of 10" in err) is not quiet


def test_warnings_are_lines_and_told_once(capsys):
    with voice(quiet=False), warnings.catch_warnings():
        warnings.simplefilter("always")
        for _ in range(3):
            warnings.warn("a line\nwas torn", stacklevel=1)
    assert capsys.readouterr().err == "jaxkg: a line was torn\n"
