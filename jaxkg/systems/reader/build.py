"""The reader as the command builds it."""

from __future__ import annotations

from pathlib import Path

from jaxkg.errors import JaxkgError
from jaxkg.systems.parts import Parts
from jaxkg.systems.reader.corrections import kept_corrections
from jaxkg.systems.reader.settings import ReaderSettings
from jaxkg.systems.reader.system import Reader
from jaxkg.systems.reader.weights import open_folder
from jaxkg.text.best import LETTERS_ALONE
from jaxkg.text.weights import why_no_weights


def from_parts(parts: Parts) -> Reader:
    """With sentence vectors where their weights are on this machine, else by letters alone."""
    advice, weights = parts.kept.get("advice", ()), None
    given = parts.wishes.keys() | vars(parts).keys()  # of a store, there from the first part on
    if folder := parts.wishes.get("weights"):
        weights = open_folder(Path(folder))
        made = str(weights.about.get("encoder"))
        if parts.wishes.setdefault("encoder", made) != made:
            raise JaxkgError(
                f"--set weights={folder}: made with the encoder {made}; add --set encoder={made}"
            )
    elif "encoder" not in given and why_no_weights():
        parts.wishes["encoder"] = "hashing"
        advice = (LETTERS_ALONE,)
    encoder = parts.encoder
    # A model is offered more readings than a person is.
    more = {"readings": parts.offered} if parts.offered else {}
    settings = parts.settings(ReaderSettings, **more)
    said = kept_corrections(parts.kg) if settings.corrections else ()
    built = Reader.build(
        parts.kg,
        encoder,
        weights=weights,
        settings=settings,
        advice=advice,
        corrections=said,
        texts=parts.kept.get("texts"),
    )
    parts.kept |= {"texts": built.readings.reader_texts, "advice": advice}
    parts.marks["weights"] = built.weights.version
    if said:
        parts.marks["corrections"] = repr(said)
    return built
