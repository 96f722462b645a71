"""ENCODE: question and label text to numbers."""

from jaxkg.text.ngrams import TOPIC_WORD, NgramHasher, label_words, mask_mentions

__all__ = ["TOPIC_WORD", "NgramHasher", "label_words", "mask_mentions"]
