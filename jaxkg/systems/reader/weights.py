"""The weights the reader ships with: which they are, and reading and writing them."""

from __future__ import annotations

import dataclasses
import json
import zipfile
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.systems.reader.views import NAMES

FORMAT = "jaxkg-reader-1"
_ARRAYS = ("line", "inner", "bias", "outer", "mean", "scale")


@dataclasses.dataclass(frozen=True)
class ReaderWeights:
    """A trained ranker and its confidence.

    Attributes:
        params: of `jaxkg.systems.reader.rank`.
        mean, scale: [F], views are standardised by them.
        confidence: [K] of `jaxkg.systems.reader.confidence`.
        threshold: least confidence of an answer.
        about: version, encoder, data and scores.
    """

    params: Mapping[str, np.ndarray]
    mean: np.ndarray
    scale: np.ndarray
    confidence: np.ndarray
    threshold: float
    about: Mapping[str, Any]

    @property
    def version(self) -> str:
        """What answers are signed with."""
        return str(self.about.get("version", "?"))

    def save(self, path: Path) -> None:
        """Write one `.npz` file."""
        text = json.dumps(
            {"format": FORMAT, "views": NAMES, "threshold": self.threshold, **self.about}
        )
        arrays: dict[str, Any] = {**self.params, "mean": self.mean, "scale": self.scale}
        made: dict[str, Any] = {n: np.asarray(a, np.float32) for n, a in arrays.items()}
        about = np.frombuffer(text.encode(), np.uint8)
        np.savez_compressed(path, confidence=self.confidence, about=about, **made)

    @classmethod
    def open(cls, path: Path) -> ReaderWeights:
        """Read a file of `save`.

        Raises:
            JaxkgError: it is damaged, of another version of the format, or of other views.
        """
        try:
            with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as file:
                arrays = {name: file[name] for name in (*_ARRAYS, "confidence", "about")}
            about = json.loads(arrays.pop("about").tobytes())
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            raise JaxkgError(f"{path} holds no weights of the reader: {error}") from error
        if about.get("format") != FORMAT or tuple(about.get("views", ())) != NAMES:
            raise JaxkgError(
                f"{path} holds weights of {about.get('format')!r} with "
                f"{len(about.get('views', ()))} views; this version reads {FORMAT} with "
                f"{len(NAMES)}: make them again with scripts/train_reader.py"
            )
        del about["views"]
        confidence = arrays.pop("confidence")
        mean, scale = arrays.pop("mean"), arrays.pop("scale")
        if mean.shape != (len(NAMES),) or not all(np.isfinite(a).all() for a in arrays.values()):
            raise JaxkgError(f"{path}: the weights are damaged")
        return cls(arrays, mean, scale, confidence, float(about.pop("threshold")), about)


def shipped_weights(encoder: str) -> ReaderWeights:
    """The weights of an encoder, "minilm" or "hashing".

    Raises:
        JaxkgError: there are none for it.
    """
    name = "hashing" if encoder == "hashing" else "minilm"
    file = resources.files("jaxkg.systems.reader") / "weights" / f"{name}.npz"
    with resources.as_file(file) as path:
        return ReaderWeights.open(path)
