"""ENCODE: question and label text to numbers."""

from jaxkg.text.ngrams import NgramHasher, label_words, mask_mentions

__all__ = ["NgramHasher", "label_words", "mask_mentions"]
