"""ENCODE: question and label text to numbers.

Every encoder is a `TextEncoder`: `HashingEncoder` needs no weights, `minilm.MiniLM` is a BERT,
`remote.RemoteEncoder` asks an endpoint; `vectors.CachedEncoder` keeps what any of them said.
"""

from jaxkg.text.encoder import TextEncoder
from jaxkg.text.hashing import HashingEncoder, NgramHasher, label_words

__all__ = ["HashingEncoder", "NgramHasher", "TextEncoder", "label_words"]
