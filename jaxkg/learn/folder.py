"""Folders of trained models: the card `NAME.json` says what it is, `NAME.npz` holds its arrays."""

from __future__ import annotations

import abc
import dataclasses
import hashlib
import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Self
from zipfile import BadZipFile

from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph
from jaxkg.learn.checkpoint import named_leaves
from jaxkg.storage import read_npz, unfinished, write_json, write_npz

TRAINING = "training"
"""Folder within a model's own, of the state that a training goes on from."""


@dataclasses.dataclass(frozen=True)
class ModelFolder:
    """A kind of trained model and how its folders differ from others.

    Attributes:
        what: the model in words.
        name: of its two files.
        format, version: marks of the folder.
        made_by: what makes one.
    """

    what: str
    name: str
    format: str
    version: int
    made_by: str

    def vacant(self, folder: str | os.PathLike[str]) -> Path:
        """A folder that a model of this kind can be written to.

        Raises:
            JaxkgError: the folder holds something else.
        """
        return _vacant(Path(folder), f"{self.name}.json", f"a {self.what} is a folder")

    def check_relations(self, trained: Sequence[str], found: Sequence[str]) -> None:
        """Refuse a graph with other relations than a model was trained for.

        Args:
            trained, found: relations of the model, and of the graph.

        Raises:
            JaxkgError: they differ; says in what.
        """
        if tuple(trained) == tuple(found):
            return
        missing, extra = sorted(set(trained) - set(found)), sorted(set(found) - set(trained))
        detail = "; ".join(
            f"{what} {', '.join(names[:3])}{' …' if len(names) > 3 else ''}"
            for what, names in (
                ("the graph lacks", missing),
                (f"the {self.what} never saw", extra),
            )
            if names
        )
        raise JaxkgError(
            f"this {self.what} was trained for another graph ({len(trained)} relations against "
            f"{len(found)}; {detail or 'the same relations in another order'}); train one for "
            f"this graph with {self.made_by}"
        )

    def check_encoder(
        self, trained: tuple[str, str], given: tuple[str, str], *, what: str = "vectors"
    ) -> None:
        """Refuse another text encoder than a model was trained with, by name and revision.

        Raises:
            JaxkgError: it is another; says which, and `what` the model reads of it.
        """
        if given != trained:
            raise JaxkgError(
                f"this {self.what} reads {what} of {' '.join(trained)}, not of {' '.join(given)}"
            )


class FolderModel(abc.ABC):
    """A trained model that is kept in a folder of its kind.

    Attributes:
        kind: of its folders.
        relations: names of the relations that it was trained for.
    """

    kind: ClassVar[ModelFolder]
    relations: tuple[str, ...]

    @abc.abstractmethod
    def parts(self) -> tuple[Any, dict[str, Any]]:
        """A tree of the arrays, which are named by their paths in it, and what else is to be known
        of the model, JSON."""

    @classmethod
    @abc.abstractmethod
    def of_parts(cls, meta: dict[str, Any], arrays: dict[str, Any]) -> Self:
        """The model of a card and arrays by name; KeyError, TypeError or ValueError is damage."""

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write the model to a folder, each file whole or not at all.

        Raises:
            JaxkgError: the folder holds something other than a model of this kind.
        """
        (weights, card), kind = self.parts(), self.kind
        target = kind.vacant(folder)
        target.mkdir(parents=True, exist_ok=True)
        write_npz(target / f"{kind.name}.npz", named_leaves(weights))
        names = list(self.relations)
        mark = {"format": kind.format, "version": kind.version}
        mark |= {"fingerprint": _fingerprint(names), "relations": names}
        write_json(target / f"{kind.name}.json", {**mark, **card})
        return target

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> Self:
        """Read a model written by `save`.

        Raises:
            JaxkgError: the model is missing, damaged or of another version.
        """
        kind, source = cls.kind, Path(folder)
        try:
            meta = json.loads((source / f"{kind.name}.json").read_text(encoding="utf-8"))
            if (meta["format"], meta["version"]) != (kind.format, kind.version):
                raise JaxkgError(
                    f"{source} is {meta['format']} version {meta['version']}; this jaxkg reads "
                    f"{kind.format} version {kind.version}: make one anew with {kind.made_by}"
                )
            if meta["fingerprint"] != _fingerprint(meta["relations"]):
                raise ValueError("its relations are not those it was trained for")
            return cls.of_parts(meta, read_npz(source / f"{kind.name}.npz"))
        except JaxkgError:
            raise
        except FileNotFoundError as error:
            raise JaxkgError(
                f"no {kind.what} in {source} ({Path(error.filename).name} is missing); make one "
                f"with {kind.made_by}"
            ) from error
        except (OSError, EOFError, KeyError, TypeError, ValueError, BadZipFile) as error:
            raise JaxkgError(f"the {kind.what} in {source} is damaged: {error}") from error

    def check_graph(self, kg: KnowledgeGraph) -> None:
        """Refuse a graph that the model was not trained for.

        Raises:
            JaxkgError: the graph's relations differ from the model's.
        """
        self.kind.check_relations(self.relations, kg.relations)


def state_folder(
    folder: str | os.PathLike[str], card: str, *, state: Path | None = None, fresh: bool = False
) -> Path:
    """Where the training of a model keeps its state: within the folder that the model will have.

    Args:
        folder: new, empty, or of this training or an earlier one like it.
        card: file that tells the kind of model, e.g. "planner.json".
        state: another place for it.
        fresh: forget the state that is there, and take a folder that has such a model already.

    Raises:
        JaxkgError: the folder holds something else; or a model and no state to go on from, and
            `fresh` is not wished for.
    """
    target = _vacant(Path(folder), card, "name a folder for the model")
    state = state or target / TRAINING
    done = (target / card).exists()
    if fresh and state.exists():
        shutil.rmtree(state)
    elif done and not state.exists() and not fresh:
        raise JaxkgError(
            f"{target} holds a trained model already; give another folder, or --fresh to replace it"
        )
    return state


def _vacant(target: Path, card: str, advice: str) -> Path:
    """A folder without files that are of no training of that model, also of none that was killed.

    The card is written last, so a process that dies before it leaves arrays, or a part of them.
    """
    if target.exists() and not target.is_dir():
        raise JaxkgError(f"{target} is a file; {advice}")
    if target.exists() and not (target / card).exists():
        found = {file.name for file in target.iterdir() if not unfinished(file.name)}
        if found - {TRAINING, f"{Path(card).stem}.npz"}:
            raise JaxkgError(f"{target} holds other files; give a new or empty folder")
    return target


def _fingerprint(relations: Sequence[str]) -> str:
    """SHA-256 of the names in order."""
    return hashlib.sha256(json.dumps(list(relations)).encode()).hexdigest()
