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
from jaxkg.systems.reader.confidence import CUES
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
        told = {"format": FORMAT, "views": NAMES, "cues": CUES, "threshold": self.threshold}
        text = json.dumps({**told, **self.about})
        arrays: dict[str, Any] = {**self.params, "mean": self.mean, "scale": self.scale}
        made: dict[str, Any] = {n: np.asarray(a, np.float32) for n, a in arrays.items()}
        about = np.frombuffer(text.encode(), np.uint8)
        np.savez_compressed(path, confidence=self.confidence, about=about, **made)

    @classmethod
    def open(cls, path: Path) -> ReaderWeights:
        """Read a file of `save`; a view, or a cue of the confidence, that it lacks weighs nothing.

        Raises:
            JaxkgError: it is damaged, of another version of the format, or made for a view or cue
                that there is none of any more.
        """
        try:
            with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as file:
                arrays = {name: file[name] for name in (*_ARRAYS, "confidence", "about")}
            about = json.loads(arrays.pop("about").tobytes())
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            raise JaxkgError(f"{path} holds no weights of the reader: {error}") from error
        views = tuple(about.pop("views", ()))
        cues = tuple(about.pop("cues", CUES))
        if about.get("format") != FORMAT or not set(views) <= set(NAMES) or set(cues) - set(CUES):
            gone = sorted({*views} - {*NAMES} | {*cues} - {*CUES})
            raise JaxkgError(
                f"{path} holds weights of {about.get('format')!r}, made for {gone or 'no'} views; "
                f"this version reads {FORMAT} without these: make them again with "
                "scripts/reader/train_reader.py"
            )
        hidden = arrays["bias"].shape
        shapes = {name: (len(views),) for name in ("line", "mean", "scale")}
        shapes |= {"inner": (len(views), *hidden), "outer": hidden, "confidence": (len(cues),)}
        whole = all(arrays[name].shape == shape for name, shape in shapes.items())
        if not views or not whole or not all(np.isfinite(a).all() for a in arrays.values()):
            raise JaxkgError(f"{path}: the weights are damaged")
        for name in ("line", "inner", "mean", "scale"):
            arrays[name] = _placed(arrays[name], views, NAMES)
        confidence = _placed(arrays.pop("confidence"), cues, CUES)
        mean, scale = arrays.pop("mean"), arrays.pop("scale")
        return cls(arrays, mean, scale, confidence, float(about.pop("threshold")), about)


def _placed(rows: np.ndarray, names: tuple[str, ...], order: tuple[str, ...]) -> np.ndarray:
    """[F, ...] rows in the order of this version's names, 0 where there is none."""
    placed = np.zeros((len(order), *rows.shape[1:]), rows.dtype)
    placed[[order.index(name) for name in names]] = rows
    return placed


def shipped_weights(encoder: str) -> ReaderWeights:
    """The weights of an encoder, "minilm" or "hashing".

    Raises:
        JaxkgError: there are none for it.
    """
    name = "hashing" if encoder == "hashing" else "minilm"
    file = resources.files("jaxkg.systems.reader") / "weights" / f"{name}.npz"
    with resources.as_file(file) as path:
        return ReaderWeights.open(path)
