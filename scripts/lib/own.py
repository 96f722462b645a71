"""The project's own graphs and their questions, in one archive."""

from __future__ import annotations

import hashlib
import shutil
import tarfile
import tempfile
from pathlib import Path

from jaxkg.cache import cache_for
from jaxkg.errors import JaxkgError


def own_graphs(archive: str | Path) -> Path:
    """A folder with a folder for each graph: its facts and its questions, see the README there.

    Args:
        archive: the archive, unpacked once into the user's cache; a folder is taken as it is.

    Raises:
        JaxkgError: it cannot be read or is no such archive.
    """
    path = Path(archive)
    if path.is_dir():
        return path
    try:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    except OSError as error:
        raise JaxkgError(
            f"{path}: {error.strerror}; name the archive of graphs or a folder"
        ) from None
    above = cache_for("own_graphs") or Path(tempfile.mkdtemp())
    folder = above / digest
    if not folder.exists():
        part = Path(tempfile.mkdtemp(dir=above))
        try:
            with tarfile.open(path, "r:gz") as packed:
                packed.extractall(part, filter="data")
            part.replace(folder)
        except (tarfile.TarError, OSError, EOFError) as error:
            shutil.rmtree(part, ignore_errors=True)
            if not folder.exists():  # another process was quicker
                raise JaxkgError(f"{path}: no archive of graphs: {error}") from None
    return folder
