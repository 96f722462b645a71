"""The best encoder that this machine has: sentence vectors, or letters alone."""

from __future__ import annotations

from jaxkg.text.encoder import TextEncoder
from jaxkg.text.weights import why_no_weights


def best_encoder() -> tuple[TextEncoder, str]:
    """Sentence vectors where their weights are on this machine, else the hashing encoder.

    Returns:
        The encoder, and what to do for a better one; "" where there is none better.

    >>> encoder, advice = best_encoder()
    >>> (encoder.name == "hashing") == bool(advice)
    True
    """
    if why := why_no_weights():
        from jaxkg.text.hashing import HashingEncoder

        return HashingEncoder(), letters_alone(why)
    from jaxkg.text.minilm import default_encoder

    return default_encoder(), ""


def letters_alone(why: str) -> str:
    """What an answer says that was found without sentence vectors."""
    return f"read by letters alone, which understands fewer words: {why}"
