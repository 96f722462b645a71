import gzip

import pytest

from jaxkg.errors import JaxkgError
from jaxkg.kg.files import textfile
from jaxkg.kg.files.textfile import BadLines, existing, line_at, line_blocks, open_bytes


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Lines and characters that straddle blocks are the rule here."""
    monkeypatch.setattr(textfile, "_BLOCK", 5)


def write(folder, data, name="f.txt"):
    path = folder / name
    path.write_bytes(data)
    return path


def lines(path, **options):
    read = []
    for first, block in line_blocks(path, **options):
        assert first == len(read) + 1
        read += block
    return read


TEXT = "ein|zwei\n\nfünf|ü\nsehr lange Zeile 日本語\nEnde"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-8-sig"])
@pytest.mark.parametrize("end", ["", "\n"])
def test_lines_are_whole_across_blocks(tmp_path, encoding, end):
    path = write(tmp_path, (TEXT + end).encode(encoding))
    reader = "utf-8" if encoding == "utf-8-sig" else encoding
    assert lines(path, encoding=reader) == TEXT.split("\n")


def test_only_a_line_feed_ends_a_line(tmp_path):
    path = write(tmp_path, "a\u2028b\x85c\r\nd\x0b".encode())
    assert lines(path) == ["a\u2028b\x85c\r", "d\x0b"]


def test_an_empty_file_has_no_lines(tmp_path):
    assert lines(write(tmp_path, b"")) == []


def test_gzip_is_known_by_content_whatever_the_name(tmp_path):
    assert lines(write(tmp_path, gzip.compress(TEXT.encode()))) == TEXT.split("\n")
    assert lines(write(tmp_path, b"plain", "f.txt.gz")) == ["plain"]


@pytest.mark.parametrize("damage", [slice(0, -12), slice(0, 12)])
def test_broken_gzip_is_told(tmp_path, damage):
    path = write(tmp_path, gzip.compress(TEXT.encode() * 50)[damage])
    with pytest.raises(JaxkgError, match="damaged or incomplete gzip"):
        lines(path)


def test_flipped_gzip_bytes_are_told(tmp_path):
    data = bytearray(gzip.compress(TEXT.encode() * 50))
    data[20] ^= 0xFF
    with pytest.raises(JaxkgError, match="damaged or incomplete gzip"):
        lines(write(tmp_path, bytes(data)))


@pytest.mark.parametrize("before", range(12))
def test_wrong_encoding_is_placed_exactly(tmp_path, before):
    """Wherever the blocks fall, the offset and the line are those of the file."""
    head = b"a\n" * before + "é".encode()
    path = write(tmp_path, head + b"\xe9 nothing\n")
    with pytest.raises(JaxkgError) as raised:
        lines(path)
    assert f"f.txt:{before + 1}: byte {len(head)} (0xe9) is not utf-8" in str(raised.value)
    assert "encoding is perhaps 'cp1252'" in str(raised.value)


def test_the_suggested_encoding_works(tmp_path):
    path = write(tmp_path, "café|ü".encode("latin-1"))
    assert lines(path, encoding="cp1252") == ["café|ü"]
    with pytest.raises(JaxkgError, match="perhaps 'latin-1'"):
        lines(write(tmp_path, b"\x81\x8d"))
    assert lines(write(tmp_path, TEXT.encode("utf-16"))) == lines(write(tmp_path, TEXT.encode()))


def test_a_character_cut_off_at_the_end_is_told(tmp_path):
    with pytest.raises(JaxkgError, match=r":2: byte 7 \(0xc3\)"):
        lines(write(tmp_path, b"abcde\nf\xc3"))


def test_an_unknown_encoding_is_told(tmp_path):
    with pytest.raises(JaxkgError, match="no text encoding 'utf8x'"):
        lines(write(tmp_path, b"a"), encoding="utf8x")


@pytest.mark.parametrize("packed", [False, True])
def test_progress_runs_to_the_end(tmp_path, packed):
    data = TEXT.encode() * 3
    path = write(tmp_path, gzip.compress(data) if packed else data)
    told = []
    lines(path, on_progress=lambda *now: told.append(now))
    size = path.stat().st_size
    assert told == sorted(told)
    assert len(told) > 2
    assert told[-1] == (size, size)


def test_a_folder_cannot_be_opened(tmp_path):
    with pytest.raises(JaxkgError, match="cannot be read"), open_bytes(tmp_path):
        pass


def test_line_at(tmp_path):
    path = write(tmp_path, b"one\r\ntw\xff\n")
    assert [line_at(path, number) for number in (1, 2, 3)] == ["one", "tw\ufffd", ""]


def test_missing_files_name_the_nearest(tmp_path):
    write(tmp_path, b"", "kb.txt")
    assert existing(tmp_path / "kb.txt") == tmp_path / "kb.txt"
    with pytest.raises(JaxkgError, match=r"no such file; looked in .*; nearest: 'kb.txt'"):
        existing(tmp_path / "kbb.txt")
    (tmp_path / "metaqa").mkdir()
    with pytest.raises(JaxkgError, match="nearest: 'metaqa'"):
        existing(tmp_path / "meta-qa" / "deep" / "kb.txt")


def test_bad_lines_are_tolerated_up_to_the_limit(tmp_path):
    bad = BadLines(2)
    for line in (3, 5):
        bad.note(tmp_path, line, "x" * 500, "why", "that")
    assert len(bad.messages) == 2
    assert bad.messages[0] == f"{tmp_path}:3: why: {'x' * 120 + '...'!r}; expected that"
    with pytest.raises(JaxkgError, match=r"more than skip_bad=2 bad lines; the last: .*:9: .*:3: "):
        bad.note(tmp_path, 9, "", "why", "that")
    with pytest.raises(JaxkgError, match="0 or more"):
        BadLines(-1)
