import zlib

import numpy as np
import pytest

from jaxkg.text import NgramHasher, label_words
from jaxkg.words import TOPIC_WORD, mask_mentions


def bucket_of(ngram: str, buckets: int) -> int:
    return zlib.crc32(ngram.encode()) % buckets


def test_ids_are_the_ngrams_unigrams_first():
    hasher = NgramHasher(buckets=1024, longest=3)
    expected = ["who", "wrote", "it", "now", "who wrote", "wrote it", "it now", "who wrote it"]
    expected += ["wrote it now"]
    assert hasher.ids("Who wrote it, NOW?") == [bucket_of(ngram, 1024) for ngram in expected]


def test_buckets_are_the_same_everywhere_and_for_ever():
    # Planners are kept with their buckets: these numbers must never change.
    ids = NgramHasher(buckets=1 << 15, longest=2).ids("films of Ann")
    assert ids == [19025, 8698, 29299, 31017, 6814]


def test_words_are_lower_case_with_apostrophes_and_the_topic_mark():
    hasher = NgramHasher()
    assert hasher.words("Who's in L.A._2?") == ["who's", "in", "l", "a", "2"]
    assert hasher.words(f"films of {TOPIC_WORD}, please") == ["films", "of", TOPIC_WORD, "please"]
    assert hasher.words("a \x02 topic") == ["a", "topic"]
    assert hasher.words("«Амели»: 天使?") == ["амели", "天使"]
    assert hasher.words("") == []


def test_the_table_pads_with_null_and_drops_the_longest_ngrams_first():
    hasher = NgramHasher(buckets=256, longest=2)
    table = hasher.table(["a b", "", "a b c d e"], width=6)
    assert table.dtype == np.int32
    assert table.shape == (3, 6)
    assert table[0].tolist() == hasher.ids("a b") + [-1] * 3
    assert table[1].tolist() == [-1] * 6
    assert table[2].tolist() == hasher.ids("a b c d e")[:6]
    assert table[2, 5] == bucket_of("a b", 256)


def test_mentions_are_masked_from_all_over_the_text():
    text = "did Ann and Bob star in Heat"
    assert mask_mentions(text, [(24, 28), (4, 7)]) == (
        f"did {TOPIC_WORD} and Bob star in {TOPIC_WORD}"
    )
    assert mask_mentions(text, []) == text
    assert mask_mentions(text, [(0, len(text))]) == TOPIC_WORD
    assert mask_mentions(text, iter([(4, 7), (4, 7)])) == mask_mentions(text, [(4, 7)])


@pytest.mark.parametrize(
    "spans", [[(9, 22), (9, 17)], [(9, 17), (9, 22)], [(9, 17), (13, 22)], [(9, 22), (13, 17)]]
)
def test_mentions_that_overlap_are_one_topic(spans):
    text = "films in New York City of 1999"
    assert mask_mentions(text, spans) == f"films in {TOPIC_WORD} of 1999"


def test_neighbouring_mentions_are_two_topics():
    words = NgramHasher().words(mask_mentions("AnnBob?", [(0, 3), (3, 6)]))
    assert words == [TOPIC_WORD, TOPIC_WORD]


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("directed_by", "directed by"),
        ("^directed_by", "directed by"),
        ("people.person.placeOfBirth", "people person place of birth"),
        ("has-part2Of", "has part2 of"),
        ("P31", "p31"),
        ("¿?", ""),
    ],
)
def test_labels_are_opened_into_words(label, words):
    assert label_words(label) == words


@pytest.mark.parametrize(("words", "buckets"), [(3, 1024), (400, 4096), (600, 8192), (3000, 32768)])
def test_a_fitting_hasher_has_eight_buckets_for_every_distinct_ngram(words, buckets):
    texts = [f"w{n}" for n in range(words)] * 2
    hasher = NgramHasher.fitting(texts, longest=1)
    assert hasher == NgramHasher(buckets=buckets, longest=1)
    assert buckets == 1024 or 8 * words <= buckets <= 16 * words
