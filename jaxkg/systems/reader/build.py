"""The reader as the command builds it."""

from __future__ import annotations

from jaxkg.errors import JaxkgError
from jaxkg.systems.parts import Parts
from jaxkg.systems.reader.settings import ReaderSettings
from jaxkg.systems.reader.system import Reader
from jaxkg.text.weights import find_weights


def from_parts(parts: Parts) -> Reader:
    """With sentence vectors where their weights are on this machine, else by letters alone."""
    advice = ()
    if "encoder" not in parts.wishes and (why := _no_weights()):
        parts.wishes["encoder"] = "hashing"
        advice = (f"read by letters alone, which understands fewer words: {why}",)
    encoder = parts.encoder
    settings = parts.settings(ReaderSettings)
    built = Reader.build(parts.kg, encoder, settings=settings, advice=advice)
    parts.marks["weights"] = built.weights.version
    return built


def _no_weights() -> str:
    """Why there is no sentence encoder on this machine; empty where there is one."""
    try:
        find_weights(download=False)
    except JaxkgError as error:
        return str(error)
    return ""
