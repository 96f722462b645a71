import numpy as np

from jaxkg.text import HashingEncoder
from jaxkg.words import TOPIC_WORD


def test_vectors_are_unit_and_fixed_for_ever():
    encode = HashingEncoder(buckets=256)
    found = encode(["directed_by", "directedBy", "directed by", "", TOPIC_WORD])
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), [1, 1, 1, 0, 0], atol=1e-6)
    assert np.flatnonzero(found[0])[:4].tolist() == [43, 60, 66, 84]


def test_letters_tie_inflections_together():
    spoken, genre, asked = HashingEncoder()(["languages_spoken", "has_genre", "speak language"])
    assert asked @ spoken > 0.3 > asked @ genre


def test_fitting_weighs_rare_features_up_and_unknown_ones_out():
    labels = ["film.film.director", "film.film.genre", "film.film.writer"]
    fitted = HashingEncoder().fitted(labels)
    director, genre, _ = fitted(labels)
    assert director @ genre < HashingEncoder()(labels)[0] @ HashingEncoder()(labels)[1]
    assert not fitted(["zzzz"]).any()
    assert fitted.revision != HashingEncoder().revision
    assert fitted.revision == HashingEncoder().fitted(labels).revision
    assert (fitted.name, fitted.dimension) == ("hashing", 8192)
