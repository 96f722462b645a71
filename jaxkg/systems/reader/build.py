"""The reader as the command builds it."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from jaxkg.errors import JaxkgError
from jaxkg.systems.parts import Built, Parts
from jaxkg.systems.reader.corrections import kept_corrections
from jaxkg.systems.reader.settings import ReaderSettings
from jaxkg.systems.reader.system import Reader
from jaxkg.systems.reader.weights import TRAINED, ReaderWeights
from jaxkg.text.best import LETTERS_ALONE
from jaxkg.text.weights import why_no_weights


def from_parts(parts: Parts) -> Built:
    """With sentence vectors where their weights are on this machine, else by letters alone."""
    advice, weights = parts.shared.get("advice", ()), None
    wishes = dict(parts.wishes)
    given = wishes.keys() | parts.shared.keys()  # of a store, there from the first part on
    if folder := wishes.get("weights"):
        weights = ReaderWeights.open(Path(folder) / TRAINED)
        made = str(weights.about.get("encoder"))
        if wishes.setdefault("encoder", made) != made:
            raise JaxkgError(
                f"--set weights={folder}: made with the encoder {made}; add --set encoder={made}"
            )
    elif "encoder" not in given and why_no_weights():
        wishes["encoder"] = "hashing"
        advice = (LETTERS_ALONE,)
    parts = dataclasses.replace(parts, wishes=wishes)
    encoder = parts.encoder
    # A model is offered more readings than a person is.
    more = {"readings": parts.offered} if parts.offered else {}
    settings = parts.settings(ReaderSettings, "encoder", **more)
    said = kept_corrections(parts.kg) if settings.corrections else ()
    built = Reader.build(
        parts.kg,
        encoder,
        weights=weights,
        settings=settings,
        advice=advice,
        corrections=said,
        texts=parts.shared.get("texts"),
    )
    parts.shared.update(texts=built.readings.reader_texts, advice=advice)
    more = {"corrections": repr(said)} if said else {}
    return Built(built, parts.marks(settings, weights=built.weights.version, **more))
