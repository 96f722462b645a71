import errno

import pytest

from jaxkg import cache
from jaxkg.cache import CacheWarning, cache_folder, cache_for, kept
from jaxkg.errors import JaxkgError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("JAXKG_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def ask():
    """Something kept under one key, and how often it was made."""
    made = []

    def make():
        made.append("made")
        return "planner"

    def opened(place):
        text = (place / "what.txt").read_text()
        if text != "planner":
            raise JaxkgError("of another version")
        return text

    def saved(what, place):
        place.mkdir()
        (place / "what.txt").write_text(what)

    def run():
        assert kept("planners", "k", opened=opened, made=make, saved=saved) == "planner"
        return len(made)

    return run


def test_made_once(folder, ask):
    assert [ask(), ask()] == [1, 1]
    assert [place.name for place in (folder / "planners").iterdir()] == ["k"]


def _stray(place):
    (place / "tmpabc.tmp").write_bytes(b"")


def _only_a_stray(place):
    for file in place.iterdir():
        file.unlink()
    (place / "tmpabc.tmp").write_bytes(b"")


def _flip(place):
    file = place / "what.txt"
    file.write_bytes(bytes([file.read_bytes()[0] ^ 1]) + file.read_bytes()[1:])


def _another_version(place):
    (place / "what.txt").write_text("of 1999")
    (place / "sha256").write_text(cache._sum(place))


def _file_instead(place):
    for file in place.iterdir():
        file.unlink()
    place.rmdir()
    place.write_text("in the way")


@pytest.mark.parametrize("damage", [_stray, _only_a_stray, _flip, _another_version, _file_instead])
def test_what_is_damaged_is_made_again(folder, ask, damage):
    ask()
    damage(folder / "planners" / "k")
    assert [ask(), ask()] == [2, 2]


def test_a_cache_that_cannot_be_written_is_told_and_no_more(folder, ask):
    folder.write_text("a file where the folder should be")
    with pytest.warns(CacheWarning, match="nothing is kept for the next time: .*Not a directory"):
        ask()
    with pytest.warns(CacheWarning, match="JAXKG_CACHE names another folder"):
        assert cache_for("programs") is None


def test_a_full_disk_leaves_no_litter(folder, ask, monkeypatch):
    def full(path, *args, **kwargs):
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr("pathlib.Path.write_text", full)
    monkeypatch.setattr("pathlib.Path.write_bytes", full)
    with pytest.warns(CacheWarning, match="No space left"):
        ask()
    with pytest.warns(CacheWarning, match="No space left"):
        assert cache_for("programs") is None
    assert {place.name for place in folder.rglob("*")} == {"planners", "programs"}


def test_without_a_home_nothing_is_kept(ask, monkeypatch):
    for name in ("JAXKG_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)

    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr("pathlib.Path.home", homeless)
    assert cache_folder() is None
    with pytest.warns(CacheWarning, match="there is no home folder"):
        ask()
    with pytest.warns(CacheWarning, match="there is no home folder"):
        assert cache_for("programs") is None


def test_where_the_cache_is(monkeypatch, tmp_path):
    monkeypatch.setenv("JAXKG_CACHE", str(tmp_path / "own"))
    assert cache_folder() == tmp_path / "own"
    monkeypatch.delenv("JAXKG_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "jaxkg"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr("pathlib.Path.home", lambda: tmp_path / "home")
    assert cache_folder() == tmp_path / "home" / ".cache" / "jaxkg"
