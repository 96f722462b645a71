"""Which of the questions a planner was trained on a question in other words is nearest to."""

import numpy as np
import pytest

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


def test_a_topic_is_like_no_other_word():
    """Its stand-in is a text like any other; without the rule "x" would be taken for a topic."""
    known = Wordings.of([f"{X} {X}", "b c"])
    [found] = known.nearest(["x x"], Synonyms(), count=2)
    of = dict(zip(found.texts, found.share.tolist()))
    # The sentences are equal, the words are not: a third of what it would be.
    assert found.likeness == pytest.approx(1 / 3, abs=1e-5)
    assert of[f"{X} {X}"] > of["b c"]
