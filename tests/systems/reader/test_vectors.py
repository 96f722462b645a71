"""Vectors of texts: each as its encoder gives it, kept while it is asked for, else forgotten."""

from __future__ import annotations

import numpy as np
import pytest

from jaxkg.systems.reader.vectors import RecentVectors, TextVectors
from jaxkg.text import HashingEncoder


class Lengths:
    """Encodes a text by its length, and knows what it was asked for."""

    def __init__(self):
        self.asked: list[str] = []

    def __call__(self, texts):
        self.asked += texts
        return np.array([[len(text)] for text in texts], np.float32)


@pytest.mark.parametrize("kept", [1, 2, 3, 7])
def test_whatever_is_forgotten_every_text_has_its_own_vector(rng, kept):
    make = Lengths()
    recent = RecentVectors(make, kept)
    for _ in range(200):
        texts = ["x" * int(length) for length in rng.integers(0, 12, size=rng.integers(0, 6))]
        assert [float(row[0]) for row in recent.of(texts)] == [len(text) for text in texts]
        assert len(recent) <= 2 * (kept + 6)


def test_what_is_asked_for_again_is_kept_and_the_rest_is_forgotten():
    make = Lengths()
    recent = RecentVectors(make, 10)
    for number in range(1000):
        recent.of(["a label", f"phrase {number}", "a label"])
    assert make.asked.count("a label") == 1
    assert len(recent) <= 20
    recent.of(["phrase 999", "phrase 998"])
    assert len(make.asked) == 1001
    recent.of(["phrase 1"])
    assert make.asked.count("phrase 1") == 2


def test_more_texts_than_are_kept_are_encoded_once_in_a_call():
    make = Lengths()
    recent = RecentVectors(make, 2)
    assert [float(row[0]) for row in recent.of(["a", "bb", "ccc", "bb", "a"])] == [1, 2, 3, 2, 1]
    assert make.asked == ["a", "bb", "ccc"]


def test_a_process_that_is_asked_for_long_does_not_grow(rng):
    encoder = HashingEncoder()
    maps = tuple(rng.normal(size=(encoder.dimension, 8)).astype(np.float32) for _ in range(2))
    vectors = TextVectors(encoder, maps, kept=50)
    for number in range(300):
        vectors([f"phrase {number}"])
        vectors.told([f"label {number}"])
    assert len(vectors._encoded) <= 102
    assert len(vectors._told) <= 102


def test_phrases_and_labels_are_compared_through_their_maps(rng):
    encoder = HashingEncoder()
    maps = tuple(rng.normal(size=(encoder.dimension, 8)).astype(np.float32) for _ in range(2))
    vectors = TextVectors(encoder, maps)
    labels = ["looked after by", "weight", "looked after by"]
    for some in (labels[:1], labels):  # the second time one of them is known
        told = vectors(some) @ maps[1]
        told /= np.linalg.norm(told, axis=1, keepdims=True)
        np.testing.assert_allclose(vectors.told(some), told, rtol=1e-5, atol=1e-6)
    asked = encoder(["who looks after it"]) @ maps[0]
    found = vectors.asked(encoder(["who looks after it"]))
    np.testing.assert_allclose(found, asked / np.linalg.norm(asked), rtol=1e-5, atol=1e-6)
    plain = TextVectors(encoder)
    np.testing.assert_array_equal(plain.told(labels), encoder(labels))
