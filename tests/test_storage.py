"""The one writer of files, against what a file system can hold."""

import json
import os
import socket
import stat

import numpy as np
import pytest

from jaxkg.errors import JaxkgError
from jaxkg.storage import (
    regular_file,
    write_json,
    write_lines,
    write_npz,
    write_tensors,
    write_text,
    writing,
)


def test_what_is_written_is_read(tmp_path):
    write_text(tmp_path / "a", "one\r\ntwo")
    write_lines(tmp_path / "b", ["Zoë", ""])
    write_json(tmp_path / "c", {"ï": [1, None]})
    write_npz(tmp_path / "d.npz", {"x": np.arange(3), "name/of": np.float32(2)})
    assert (tmp_path / "a").read_bytes() == b"one\r\ntwo"
    assert (tmp_path / "b").read_bytes() == "Zoë\n\n".encode()
    assert json.loads((tmp_path / "c").read_text("utf-8")) == {"ï": [1, None]}
    with np.load(tmp_path / "d.npz") as stored:
        assert stored["x"].tolist() == [0, 1, 2]
        assert stored["name/of"] == 2
    assert len(list(tmp_path.iterdir())) == 4


def test_tensors(tmp_path):
    safetensors = pytest.importorskip("safetensors")
    write_tensors(tmp_path / "t", {"x": np.arange(3)}, {"of": "a test"})
    with safetensors.safe_open(tmp_path / "t", framework="numpy") as file:
        assert file.metadata() == {"of": "a test"}
        assert file.get_tensor("x").tolist() == [0, 1, 2]


def _half():
    yield b"half"
    raise KeyboardInterrupt


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "report.md"
    write_text(path, "old")
    with pytest.raises(JaxkgError, match=r"report\.md: not written: not Unicode"):
        write_text(path, "new \ud800")
    with pytest.raises(JaxkgError, match=r"report\.md: not written"):
        write_lines(path, ["new", "\ud800"])
    with pytest.raises(KeyboardInterrupt), writing(path) as file:
        file.writelines(_half())
    assert path.read_text("utf-8") == "old"
    assert [found.name for found in tmp_path.iterdir()] == ["report.md"]


@pytest.mark.parametrize("call", ["fsync", "replace", "open"])
def test_a_failing_disk_is_told_with_the_name_given(tmp_path, monkeypatch, call):
    def fail(*given, **_):
        raise OSError(28, "No space left on device", *([given[0]] if call == "open" else []))

    write_text(tmp_path / "a", "old")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("builtins.open" if call == "open" else f"os.{call}", fail)
    with pytest.raises(JaxkgError) as told:
        write_text("a", "new")
    monkeypatch.undo()
    assert str(told.value) == "a: cannot be written (No space left on device)"
    assert [(found.name, found.read_text()) for found in tmp_path.iterdir()] == [("a", "old")]


def test_an_error_of_the_body_is_its_own(tmp_path):
    with pytest.raises(FileNotFoundError, match="elsewhere"), writing(tmp_path / "a"):
        (tmp_path / "elsewhere").read_text()
    assert list(tmp_path.iterdir()) == []


def test_only_regular_files(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    with socket.socket(socket.AF_UNIX) as listening:
        # The name of a socket may be short only.
        monkeypatch.chdir(tmp_path)
        listening.bind("socket")
    cases = {"pipe": "a pipe", "folder": "a folder", "socket": "a socket", "/dev/null": "a device"}
    for name, kind in cases.items():
        with pytest.raises(JaxkgError, match=f"{name}: is {kind}"):
            write_text(tmp_path / name, "x")
    (tmp_path / "link").symlink_to("/dev/null")
    with pytest.raises(JaxkgError, match="link: is a device"):
        write_text(tmp_path / "link", "x")
    with pytest.raises(JaxkgError, match=r"absent/a: there is no folder .*absent"):
        write_text(tmp_path / "absent" / "a", "x")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    assert regular_file(tmp_path / "new") == tmp_path.resolve() / "new"


def test_a_link_points_where_it_did(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "link").symlink_to("data/real")
    for text in ("first", "second"):  # once to a name that is not there yet
        write_text(tmp_path / "link", text)
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "data" / "real").read_text() == text
    assert os.listdir(tmp_path / "data") == ["real"]


def test_permissions(tmp_path):
    umask = os.umask(0o022)
    try:
        write_text(tmp_path / "new", "x")
        assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o644
        (tmp_path / "new").chmod(0o600)
        write_text(tmp_path / "new", "y")
        assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o600
    finally:
        os.umask(umask)


def test_a_file_not_to_be_written(tmp_path, monkeypatch):
    write_text(tmp_path / "kept", "x")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(JaxkgError, match=r"kept: cannot be written \(Permission denied"):
        write_text(tmp_path / "kept", "y")
    assert (tmp_path / "kept").read_text() == "x"


def test_a_name_as_long_as_allowed(tmp_path):
    write_text(tmp_path / ("x" * 255), "x")
    assert (tmp_path / ("x" * 255)).read_text() == "x"
    with pytest.raises(JaxkgError, match=r"xxx: cannot be written \(File name too long"):
        write_text(tmp_path / ("x" * 256), "x")
