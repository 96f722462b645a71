"""Labels that are added as they are met, against all of them at once."""

import numpy as np
import pytest

from jaxkg.systems.reader.language.lexicon.stems import Spelt
from jaxkg.systems.reader.reading import LabelIndex
from jaxkg.systems.reader.sets.labels import Labels
from jaxkg.systems.reader.vectors import TextVectors
from jaxkg.text import HashingEncoder

_NOUNS = ["goat", "keeper", "pasture", "weight", "mother", "shed", "vet", "price", "builder"]
GROUPS = [
    *((noun,) for noun in _NOUNS),
    *((f"{noun} of the herd", f"herd {noun}") for noun in _NOUNS),
    ("by the",), ("looked after by", "minded by"), ("?!",),
]  # fmt: skip
WORDS = ["who", "looks", "after", "goats", "with", "the", "heaviest", "weigth", "by", "builders"]


@pytest.fixture(params=[None, "maps"])
def vectors(request):
    rng = np.random.default_rng(0)
    encoder = HashingEncoder()
    maps = rng.normal(size=(2, encoder.dimension, 8)).astype(np.float32)
    return TextVectors(encoder, None if request.param is None else (maps[0], maps[1]))


def compared(labels, groups):
    rows = labels.rows(groups)
    phrases, likeness = labels.vectors(["goat", "looks after"]), labels.likeness(WORDS)
    beside = likeness * (np.arange(len(WORDS)) != 4)
    cosines = labels.cosines(rows, labels.vectors.asked(phrases), phrases[0])
    return (*cosines, *labels.letters(rows, likeness, beside))


def test_what_is_added_bit_by_bit_is_as_all_at_once(vectors):
    whole, rng = compared(Labels(vectors), GROUPS), np.random.default_rng(1)
    labels, left = Labels(vectors), GROUPS
    while left:
        size = int(rng.integers(1, 6))
        some, left = left[:size], left[size:]
        for one, other in zip(compared(labels, some), compared(Labels(vectors), some)):
            np.testing.assert_allclose(one, other, atol=1e-6)
    assert len(labels) == len(GROUPS)
    for one, other in zip(compared(labels, GROUPS[::-1]), whole):
        np.testing.assert_allclose(one, other[::-1], atol=1e-6)


def test_likeness_is_that_of_every_word(vectors):
    labels = Labels(vectors)
    for group in GROUPS:
        labels.rows([group])
        labels.likeness(WORDS[:7])
    found = labels.likeness(WORDS)
    known = list(labels._known)
    np.testing.assert_array_equal(found, Spelt(known).likenesses(WORDS).T)
    assert (found > 0).sum() > 5
    for word in WORDS:  # nothing is held twice
        _, places, _ = labels._alike[word]
        assert len(set(places.tolist())) == len(places)


def test_of_several_wordings_the_one_that_is_said_most_counts(vectors):
    labels = Labels(vectors)
    alone = labels.letters(labels.rows([("looks after",)]), *[labels.likeness(WORDS)] * 2)
    for group in (("minded by", "looks after"), ("looks after", "minded by")):
        rows = labels.rows([group])
        found = labels.letters(rows, *[labels.likeness(WORDS)] * 2)
        assert found.share.tolist() == alone.share.tolist() == [1.0]
        assert found.at.tolist() == alone.at.tolist() == [1.5]


def test_nothing_is_encoded_without_an_encoder():
    labels = Labels(TextVectors(None))
    found = labels.cosines(labels.rows(GROUPS), np.zeros((3, 0), np.float32), np.zeros(0))
    assert [each.shape for each in found] == [(len(GROUPS), 3), (len(GROUPS),)]
    assert not any(each.any() for each in found)


class Looked:
    """Stands for a question's words, and keeps which labels are compared with them."""

    words = ("shed", "colour")
    content = np.ones(2, np.float32)

    def __init__(self):
        self.labels = []

    def letters(self, wordings):
        self.labels.append(wordings)
        return np.array([1.0, 0.5 if wordings == ("shed 70",) else 0.0], np.float32), 1.0, 0.0


def test_of_labels_that_share_as_much_the_first_are_looked_at():
    labels = [(f"shed {n}",) for n in range(80)] + [("shed colour",)]
    looked = Looked()
    assert LabelIndex(labels).named(looked).tolist() == [1.0, 0.0]
    assert looked.labels == [("shed colour",), *labels[:59]]
