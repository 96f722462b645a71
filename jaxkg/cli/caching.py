"""`jaxkg cache`."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated, Literal

import typer

from jaxkg.cache import cache_folder
from jaxkg.errors import JaxkgError

_KINDS = {
    "planners": "made of a graph's relation labels on first use",
    "vectors": "of texts, by sentence encoder",
    "programs": "compiled for this machine",
    "replies": "of language models; they were paid for",
}


def cache(
    action: Annotated[
        Literal["show", "clear"], typer.Argument(help="Say what is kept, or throw it away.")
    ] = "show",
    replies: Annotated[bool, typer.Option(help="Clear the replies of models as well.")] = False,
) -> None:
    """Say where and how much jaxkg keeps, or clear it; all but the replies of models is made again.

    JAXKG_CACHE names the folder, else XDG_CACHE_HOME or ~/.cache has it.
    """
    folder = cache_folder()
    if folder is None:
        raise JaxkgError("there is no home folder, so nothing is kept; JAXKG_CACHE names a folder")
    if replies and action == "show":
        raise JaxkgError("--replies belongs to `jaxkg cache clear`")
    if action == "clear":
        for kind in _KINDS:
            if kind != "replies" or replies:
                _clear(folder, kind)
    print(folder)
    for kind, what in _KINDS.items():
        size = sum(file.stat().st_size for place in _places(folder, kind) for file in _files(place))
        print(f"  {kind:<9} {size / 1e6:9,.1f} MB  {what}")


def _places(folder: Path, kind: str) -> list[Path]:
    return [*folder.glob("replies.sqlite*")] if kind == "replies" else [folder / kind]


def _files(place: Path) -> list[Path]:
    return [file for file in (place, *place.rglob("*")) if file.is_file()]


def _clear(folder: Path, kind: str) -> None:
    for place in _places(folder, kind):
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        else:
            place.unlink(missing_ok=True)
