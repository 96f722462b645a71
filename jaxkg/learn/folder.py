"""Folders of trained models: `NAME.json` says what it is, `NAME.npz` holds its arrays."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.storage import write_json, write_npz

TRAINING = "training"
"""Folder within a model's own, of the state that a training goes on from."""


@dataclasses.dataclass(frozen=True)
class ModelFolder:
    """A kind of trained model and how its folders are told from others.

    Attributes:
        what: the model in words.
        name: of its two files.
        format, version: marks of the folder.
        oldest: version that is still read.
        made_by: what makes one.
    """

    what: str
    name: str
    format: str
    version: int
    made_by: str
    oldest: int = 1

    def save(
        self,
        folder: str | os.PathLike[str],
        meta: Mapping[str, Any],
        arrays: Mapping[str, Any],
    ) -> Path:
        """Write to a folder, each file through a temporary name.

        Returns:
            The folder.

        Raises:
            JaxkgError: the folder holds something else.
        """
        target = Path(folder)
        described = target / f"{self.name}.json"
        others = target.exists() and any(file.name != TRAINING for file in target.iterdir())
        if others and not described.exists():
            raise JaxkgError(f"{target} holds other files; give a new or empty folder")
        target.mkdir(parents=True, exist_ok=True)
        write_npz(target / f"{self.name}.npz", arrays)
        write_json(described, {"format": self.format, "version": self.version, **meta})
        return target

    @contextlib.contextmanager
    def reading(
        self, folder: str | os.PathLike[str]
    ) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """The description and the arrays; what goes wrong while they are read is damage.

        Raises:
            JaxkgError: there is no such model, it is damaged (the body of the `with` raises
                KeyError, TypeError or ValueError), of another format or a newer version.
        """
        source = Path(folder)
        try:
            meta = json.loads((source / f"{self.name}.json").read_text(encoding="utf-8"))
            known = self.oldest <= meta["version"] <= self.version
            if meta["format"] != self.format or not known:
                versions = f"from {self.oldest} " * (self.oldest > 1) + f"up to {self.version}"
                raise JaxkgError(
                    f"{source} is {meta['format']} version {meta['version']}; this jaxkg reads "
                    f"{self.format} of versions {versions}: make one anew with {self.made_by}"
                )
            yield meta, read_npz(source / f"{self.name}.npz")
        except FileNotFoundError as error:
            raise JaxkgError(
                f"no {self.what} in {source} ({Path(error.filename).name} is missing); make one "
                f"with {self.made_by}"
            ) from error
        except (OSError, EOFError, KeyError, TypeError, ValueError, BadZipFile) as error:
            if isinstance(error, JaxkgError):
                raise
            raise JaxkgError(f"the {self.what} in {source} is damaged: {error}") from error


def read_npz(path: Path) -> dict[str, np.ndarray]:
    """Arrays by name; objects are never unpickled."""
    # np.load leaves a damaged file open where it opened it itself.
    with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}
