"""Archives of text: the project's own graphs with their questions, and the phrasebook."""

from __future__ import annotations

import hashlib
import json
import lzma
import shutil
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from jaxkg.cache import cache_for
from jaxkg.errors import JaxkgError

GRAPHS = Path(__file__).parents[1] / "own" / "graphs.tar.xz"


def unpacked(archive: str | Path) -> Path:
    """The folder of an archive's files.

    Args:
        archive: the archive, unpacked once into the user's cache; a folder is taken as it is.

    Raises:
        JaxkgError: it cannot be read or is no archive.
    """
    path = Path(archive)
    if path.is_dir():
        return path
    try:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    except OSError as error:
        raise JaxkgError(f"{path}: {error.strerror}; name an archive or a folder") from None
    above = cache_for("archives") or Path(tempfile.mkdtemp())
    folder = above / digest
    if not folder.exists():
        part = Path(tempfile.mkdtemp(dir=above))
        try:
            with tarfile.open(path, "r:xz") as packed:
                packed.extractall(part, filter="data")
            part.replace(folder)
        except (tarfile.TarError, lzma.LZMAError, OSError, EOFError) as error:
            shutil.rmtree(part, ignore_errors=True)
            if not folder.exists():  # another process was quicker
                raise JaxkgError(f"{path}: no archive (.tar.xz): {error}") from None
    return folder


def questions_of(folder: Path, half: str = "choose") -> list[dict[str, Any]]:
    """Records of the questions of a half of an own graph."""
    return list(map(json.loads, (folder / f"{half}.jsonl").read_text("utf-8").splitlines()))
