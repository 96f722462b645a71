import shutil
import sqlite3
from contextlib import closing

import numpy as np
import pytest

from jaxkg.cache import CacheWarning
from jaxkg.errors import JaxkgError
from jaxkg.text import HashingEncoder
from jaxkg.text.vectors import CachedEncoder, KeptVectors


class Counting:
    """Hashing that remembers what it was asked."""

    def __init__(self, buckets=64, revision="r1"):
        self.inner = HashingEncoder(buckets=buckets)
        self.name, self.revision, self.dimension = "counting", revision, buckets
        self.asked = []

    def __call__(self, texts):
        self.asked += texts
        return self.inner(texts)


def test_a_text_is_encoded_once_and_comes_back_the_same(tmp_path):
    plain = Counting()
    path = tmp_path / "sub" / "labels.vectors"
    texts = ["director", "writer", "director", "", "\ud800"]
    first = CachedEncoder(plain, path)(texts)
    np.testing.assert_array_equal(first, HashingEncoder(buckets=64)(texts))
    assert plain.asked == ["director", "writer", "", "\ud800"]
    again = CachedEncoder(plain, path)
    np.testing.assert_array_equal(again(["writer", "genre"]), plain.inner(["writer", "genre"]))
    assert plain.asked[4:] == ["genre"]
    assert (again.name, again.revision, again.dimension) == ("counting", "r1", 64)
    assert again([]).shape == (0, 64)


def test_what_was_encoded_before_a_failure_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("jaxkg.text.vectors._KEPT_AT_A_TIME", 2)
    failing = Counting()
    inner = failing.inner

    def encode(texts):
        if "c" in texts:
            raise ConnectionError
        return inner(texts)

    failing.inner = encode
    with pytest.raises(ConnectionError):
        CachedEncoder(failing, tmp_path / "v")(["a", "b", "c", "d"])
    again = Counting()
    found = CachedEncoder(again, tmp_path / "v")(["a", "b", "c", "d"])
    assert again.asked == ["c", "d"]
    np.testing.assert_array_equal(found, inner(["a", "b", "c", "d"]))


@pytest.mark.parametrize("other", [Counting(revision="r2"), Counting(buckets=32)])
def test_vectors_of_another_encoder_are_refused(tmp_path, other):
    path = tmp_path / "labels.vectors"
    CachedEncoder(Counting(), path)(["director"])
    with pytest.raises(JaxkgError, match=r"counting revision r1 \(64 numbers\), the encoder is"):
        CachedEncoder(other, path)
    assert CachedEncoder(Counting(), path)(["director"]).shape == (1, 64)


def test_damage_is_told(tmp_path):
    path = tmp_path / "labels.vectors"
    cached = CachedEncoder(Counting(), path)
    cached(["director"])
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE vectors SET vector = x'00000000'")
    with pytest.raises(JaxkgError, match="damaged"):
        cached(["director"])
    path.write_bytes(b"this is no database, it is a text of some length" * 100)
    with pytest.raises(JaxkgError, match="no file of vectors"):
        CachedEncoder(Counting(), path)


def test_in_the_cache_damage_is_made_good(tmp_path):
    path, plain = tmp_path / "labels.vectors", Counting()
    right = plain.inner(["director"])
    encode = KeptVectors(plain, path)
    np.testing.assert_array_equal(encode(["director"]), right)
    with closing(sqlite3.connect(path)) as db, db:
        [(stored,)] = db.execute("SELECT vector FROM vectors").fetchall()
        db.execute("UPDATE vectors SET vector = ?", (bytes([stored[0] ^ 1]) + stored[1:],))
    np.testing.assert_array_equal(encode(["director"]), right)
    path.write_bytes(b"this is no database, it is a text of some length" * 100)
    np.testing.assert_array_equal(encode(["director"]), right)
    np.testing.assert_array_equal(KeptVectors(Counting(revision="r2"), path)(["director"]), right)
    assert plain.asked == ["director"] * 3
    assert (encode.name, encode.revision, encode.dimension) == ("counting", "r1", 64)


def test_in_the_cache_a_file_is_looked_at_once_and_made_again_where_it_is_gone(
    tmp_path, monkeypatch, recwarn
):
    opened = []
    inner = CachedEncoder.__init__
    monkeypatch.setattr(
        CachedEncoder, "__init__", lambda self, *args: (opened.append(args), inner(self, *args))[1]
    )
    plain, path = Counting(), tmp_path / "kept" / "labels.vectors"
    encode = KeptVectors(plain, path)
    right = encode(["director"])
    np.testing.assert_array_equal(encode(["director"]), right)
    assert len(opened) == 1
    shutil.rmtree(path.parent)
    np.testing.assert_array_equal(encode(["director"]), right)
    np.testing.assert_array_equal(encode(["director"]), right)
    assert path.exists()
    assert plain.asked == ["director"] * 2
    assert not recwarn.list


def test_where_no_file_can_be_made_texts_are_encoded_all_the_same(tmp_path):
    (tmp_path / "file").write_text("")
    plain = Counting()
    encode = KeptVectors(plain, tmp_path / "file" / "labels.vectors")
    with pytest.warns(CacheWarning, match="nothing is kept"):
        np.testing.assert_array_equal(encode(["director"]), plain.inner(["director"]))
    assert encode(["writer"]).shape == (1, 64)
