"""Which of the questions a planner was trained on a question in other words is nearest to."""

import numpy as np
import pytest

from jaxkg.learn.planner import wordings as module
from jaxkg.learn.planner.wordings import Wordings
from jaxkg.text import HashingEncoder
from jaxkg.words import TOPIC_WORD as X

TEXTS = (f"who wrote {X}", f"who directed {X}", f"which films did {X} write", f"what is {X} about")


class Synonyms:
    """Hashed letters, of words that mean the same one and the same."""

    name, revision, dimension = "synonyms", "1", HashingEncoder().dimension
    alike = (("penned", "wrote"), ("pictures", "films"), ("author", "write"))

    def __init__(self):
        self.asked: list[list[str]] = []

    def __call__(self, texts):
        self.asked.append(list(texts))
        return HashingEncoder()(
            [" ".join(dict(self.alike).get(word, word) for word in text.split()) for text in texts]
        )


@pytest.fixture
def known() -> Wordings:
    return Wordings.of(TEXTS)


def test_a_word_that_no_wording_has_is_told(known):
    masked = [f"who penned {X}", f"Who WROTE {X}?", "zzz", "?"]
    assert known.unread(masked).tolist() == [True, False, True, False]
    assert Wordings().unread(masked).tolist() == [False] * 4


def test_the_most_frequent_are_kept_each_once(monkeypatch):
    monkeypatch.setattr(module, "MOST", 2)
    assert Wordings.of(["c", "b", "a", "b", "a", "b"]).texts == ("b", "a")


@pytest.mark.parametrize(
    ("asked", "nearest"),
    [(f"who penned {X}", TEXTS[0]), (f"which pictures did {X} author", TEXTS[2])],
)
def test_synonyms_lead_to_the_wording_they_stand_for(known, asked, nearest):
    [found] = known.nearest([asked], Synonyms(), count=3)
    assert found.texts[0] == nearest
    assert len(found.texts) == len(found.share) == 3
    assert found.share[0] > 0.9
    assert np.sum(found.share) == pytest.approx(1)
    assert found.likeness == pytest.approx(1, abs=1e-5)


def test_no_more_are_found_than_there_are_and_nearest_come_first(known):
    [found] = known.nearest(["who penned it"], Synonyms(), count=99)
    assert sorted(found.texts) == sorted(TEXTS)
    assert found.share.tolist() == sorted(found.share.tolist(), reverse=True)
    assert 0 < found.likeness < 1


def test_a_topic_is_like_no_other_word():
    """Its stand-in is a text like any other; without the rule "x" would be taken for a topic."""
    known = Wordings.of([f"{X} {X}", "b c"])
    [found] = known.nearest(["x x"], Synonyms(), count=2)
    of = dict(zip(found.texts, found.share.tolist()))
    # The sentences are equal, the words are not: a third of what it would be.
    assert found.likeness == pytest.approx(1 / 3, abs=1e-5)
    assert of[f"{X} {X}"] > of["b c"]


def test_many_questions_are_aligned_in_parts_with_the_same_result(known, monkeypatch):
    asked = [f"who penned {X}", f"the pictures of {X}", "zzz", f"what is {X} penned about"] * 5
    whole = known.nearest(asked, Synonyms(), count=2)
    monkeypatch.setattr(module, "_CELLS", 1)
    parts = Wordings(known.texts).nearest(asked, Synonyms(), count=2)
    for one, other in zip(whole, parts, strict=True):
        assert list(one.texts) == list(other.texts)
        np.testing.assert_allclose(one.share, other.share, rtol=1e-4)


def test_what_was_learned_is_encoded_once(known):
    encoder = Synonyms()
    for _ in range(2):
        known.nearest([f"who penned {X}"], encoder, count=1)
    assert len(encoder.asked) == 2 + 2 * 2  # words and wordings; then each question's
