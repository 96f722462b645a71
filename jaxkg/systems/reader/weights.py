"""The weights the reader ships with: which they are, and reading and writing them."""

from __future__ import annotations

import dataclasses
import json
import zipfile
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.systems.reader.ranking import CUES
from jaxkg.systems.reader.views import NAMES
from jaxkg.text.encoder import Change, TextEncoder

FORMAT = "jaxkg-reader-2"
TRAINED = "reader.npz"
"""File of weights in a folder that `--set weights=` names."""
_RANKER = ("line", "inner", "bias", "outer")
_ARRAYS = (*_RANKER, "mean", "scale")
_MAPS = ("ask", "tell")
_FACTORS = ("first", "second")


@dataclasses.dataclass(frozen=True)
class ReaderWeights:
    """A trained ranker and its confidence.

    Attributes:
        params: of `jaxkg.systems.reader.ranking`.
        mean, scale: [F], views are standardised by them.
        confidence: parameters of `jaxkg.systems.reader.ranking`.
        threshold: least confidence of an answer.
        about: version, encoder, data and scores.
        phrases: maps of phrases and labels, see `TextVectors`.
        change: of the encoder that links relations; `about` says of which ("tuned").
        pair: of `jaxkg.readings.pair`, on token states of the same encoder; None scores no
            sentences.
    """

    params: Mapping[str, np.ndarray]
    mean: np.ndarray
    scale: np.ndarray
    confidence: Mapping[str, np.ndarray]
    threshold: float
    about: Mapping[str, Any]
    phrases: tuple[np.ndarray, np.ndarray] | None = None
    change: Change | None = None
    pair: Mapping[str, np.ndarray] | None = None

    def is_for(self, encoder: TextEncoder | None) -> bool:
        """Whether an encoder is the one that change and pair scorer were trained on."""
        tuned = self.about.get("tuned")
        return encoder is not None and tuned == encoder.revision.partition("-")[0]

    def change_of(self, encoder: TextEncoder | None) -> Change | None:
        """The change of an encoder, where it is the one that was tuned."""
        return self.change if self.is_for(encoder) else None

    @property
    def version(self) -> str:
        """What answers are signed with."""
        return str(self.about.get("version", "?"))

    def save(self, path: Path | BinaryIO) -> None:
        """Write one `.npz` file, by its name or as it was opened."""
        told: dict[str, Any] = {
            "format": FORMAT,
            "views": NAMES,
            "cues": CUES,
            "threshold": self.threshold,
        }
        arrays: dict[str, Any] = {**self.params, "mean": self.mean, "scale": self.scale}
        made: dict[str, Any] = {n: np.asarray(a, np.float32) for n, a in arrays.items()}
        if self.phrases is not None:
            made |= {f"phrase {n}": a.astype(np.float16) for n, a in zip(_MAPS, self.phrases)}
        made |= {f"sure {name}": self.confidence[name].astype(np.float32) for name in _RANKER}
        made |= change_arrays(self.change or {})
        made |= {f"pair {n}": np.asarray(a, np.float16) for n, a in (self.pair or {}).items()}
        text = json.dumps({**told, **self.about})
        about = np.frombuffer(text.encode(), np.uint8)
        np.savez_compressed(path, about=about, **made)

    @classmethod
    def open(cls, path: Path) -> ReaderWeights:
        """Read a file of `save`; a view, or a cue of the confidence, that it lacks weighs nothing.

        Raises:
            JaxkgError: it is damaged, of another version of the format, or made for a view or cue
                that there is none of any more.
        """
        try:
            with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as file:
                arrays = {name: file[name] for name in (*_ARRAYS, "about")}
                sure = {name: file[f"sure {name}"] for name in _RANKER}
                phrases = [file[f"phrase {n}"] for n in _MAPS if "phrase ask" in file]
                change = change_in(file)
                names = [name for name in file if name.startswith("pair ")]
                pair = {n.removeprefix("pair "): file[n].astype(np.float32) for n in names}
            about = json.loads(arrays.pop("about").tobytes())
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            raise JaxkgError(f"{path} holds no weights of the reader: {error}") from error
        views = tuple(about.pop("views", ()))
        cues = tuple(about.pop("cues", CUES))
        made = about.pop("format", None)
        if made != FORMAT or not set(views) <= set(NAMES) or set(cues) - set(CUES):
            gone = sorted({*views} - {*NAMES} | {*cues} - {*CUES})
            raise JaxkgError(
                f"{path} holds weights of {made!r}, made for {gone or 'no'} views; "
                f"this version reads {FORMAT} without these: make them again, with "
                "scripts/reader/train_reader.py"
            )
        whole = _fit(arrays, len(views)) and _fit(sure, len(cues))
        whole &= arrays["mean"].shape == arrays["scale"].shape == (len(views),)
        factors = (factor for pair in change.values() for factor in pair)
        read = [*arrays.values(), *sure.values(), *factors, *pair.values()]
        if not views or not whole or not all(np.isfinite(array).all() for array in read):
            raise JaxkgError(f"{path}: the weights are damaged")
        for name in ("line", "inner", "mean", "scale"):
            arrays[name] = _placed(arrays[name], views, NAMES)
        sure |= {name: _placed(sure[name], cues, CUES) for name in ("line", "inner")}
        mean, scale = arrays.pop("mean"), arrays.pop("scale")
        ask, tell = (a.astype(np.float32) for a in phrases) if phrases else (None, None)
        maps = None if ask is None or tell is None else (ask, tell)
        least = float(about.pop("threshold"))
        return cls(arrays, mean, scale, sure, least, about, maps, change or None, pair or None)


def change_arrays(change: Change) -> dict[str, Any]:
    """A change of an encoder as a file of arrays keeps it; `change_in` reads it back.

    >>> list(change_arrays({"query": (np.zeros((1, 4, 2)), np.zeros((1, 2, 4)))}))
    ['change query first', 'change query second']
    """
    return {
        f"change {name} {part}": np.asarray(factor, np.float16)
        for name, pair in change.items()
        for part, factor in zip(_FACTORS, pair, strict=True)
    }


def change_in(file: Mapping[str, np.ndarray]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The change of an encoder among the arrays of a file; empty where there is none."""
    kernels = sorted({key.split()[1] for key in file if key.startswith("change ")})
    first, second = (
        [file[f"change {kernel} {part}"].astype(np.float32) for kernel in kernels]
        for part in _FACTORS
    )
    return dict(zip(kernels, zip(first, second)))


def _fit(params: Mapping[str, np.ndarray], features: int) -> bool:
    """Whether the arrays of a ranker are as large as one another says."""
    hidden = params["bias"].shape
    shapes = {"line": (features,), "inner": (features, *hidden), "outer": hidden}
    return len(hidden) == 1 and all(params[name].shape == shapes[name] for name in shapes)


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
