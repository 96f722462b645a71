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
    "corrections": "readings that you said are right",
}
_NOT_MADE_AGAIN = ("replies", "corrections")


def cache(
    action: Annotated[
        Literal["show", "clear"], typer.Argument(help="Show what is saved, or delete it.")
    ] = "show",
    replies: Annotated[bool, typer.Option(help="Delete the replies of models as well.")] = False,
    corrections: Annotated[
        bool,
        typer.Option(help="Delete the readings that you confirmed by `jaxkg ask --right` as well."),
    ] = False,
) -> None:
    """Show where the cache is and what it holds, or clear it.

    Everything but replies of models and confirmed readings is made again when it is needed. The
    folder is JAXKG_CACHE, otherwise it lies in XDG_CACHE_HOME or ~/.cache.
    """
    folder = cache_folder()
    if folder is None:
        raise JaxkgError(
            "there is no home folder, so nothing is saved; set JAXKG_CACHE to a folder"
        )
    wanted = {"replies": replies, "corrections": corrections}
    for kind in _NOT_MADE_AGAIN:
        if wanted[kind] and action == "show":
            raise JaxkgError(f"--{kind} belongs to `jaxkg cache clear`")
    if action == "clear":
        for kind in _KINDS:
            if wanted.get(kind, True):
                _clear(folder, kind)
    print(folder)
    for kind, what in _KINDS.items():
        size = sum(file.stat().st_size for place in _places(folder, kind) for file in _files(place))
        print(f"  {kind:<11} {size / 1e6:9,.1f} MB  {what}")
    from jaxkg.words import one_line

    for path in sorted((folder / "corrections").glob("*.jsonl")):
        print(f"  {path}")
        from jaxkg.systems.reader.corrections import read_corrections

        for one in read_corrections(path):
            print(f"    {one_line(one.question)} = {one_line(one.reading)}")


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
