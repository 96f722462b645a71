"""The benchmarks as scripts ask for them: a graph each, and all its question sets by part.

The command's `--dataset` is one set, a training and a test part, see `datasets`.

| family | sets | parts |
|---|---|---|
| `metaqa` | `metaqa-1`, `metaqa-2`, `metaqa-3` | dev, test |
| `pq-2h`, `pq-3h`, `pql-2h` | the same | train, validation, test: 8:1:1 by (subject, path) |
| `webqsp` | `webqsp` | train, graphs (gold subgraphs), validation, test |
| | `cwq` | train, dev (gold subgraphs), test |
| | `grailqa` | test: what the graph has of its dev questions; others |

Half of CWQ's test questions (2,131 of 3,531) were made from WebQSP's training questions: a model
trained on these has not seen CWQ, but the questions that it was made from.
"""

from __future__ import annotations

import dataclasses
import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jaxkg.errors import JaxkgError
from jaxkg.experiments.datasets import FAMILIES, POOLED, well_formed, within
from jaxkg.kg import KnowledgeGraph, Linker, read_graph, read_questions, split_questions
from jaxkg.records import Question

if TYPE_CHECKING:
    from jaxkg.tensors import TensorGraph

_SPLITS = ("train", "validation", "test")
PATHQUESTION = ("pq-2h", "pq-3h", "pql-2h")


@dataclasses.dataclass(frozen=True)
class Sets:
    """A graph, and the question sets that are asked of it.

    Attributes:
        data: the folder of all benchmarks.
        kg: the graph.
        files: of each set, the file of each part.
    """

    data: Path
    kg: KnowledgeGraph
    files: dict[str, dict[str, str]]

    @functools.cached_property
    def tensors(self) -> TensorGraph:
        """The graph on the device."""
        from jaxkg.tensors import tensor_graph

        return tensor_graph(self.kg)

    @functools.cached_property
    def linker(self) -> Linker:
        """Of the graph."""
        return Linker(self.kg)

    @property
    def shared(self) -> dict[str, Any]:
        """What every system over the graph is built of: `tensors` and `linker`."""
        return {"tensors": self.tensors, "linker": self.linker}

    def questions(
        self, name: str, part: str = "test", *, limit: int | None = None, seed: int = 0
    ) -> list[Question]:
        """A part of a set.

        Args:
            name: of the set.
            part: of the set.
            limit: the first so many.
            seed: of the split, where there is no official one.

        Raises:
            JaxkgError: there is no such set or part, or its file is not there.
        """
        parts = self.files.get(name, {})
        if "all" in parts and part in _SPLITS:
            found = read_questions(self._file(parts["all"]))
            return split_questions(found, seed=seed)[_SPLITS.index(part)][:limit]
        if part not in parts:
            known = ", ".join(f"{n} ({', '.join(each)})" for n, each in self.files.items())
            raise JaxkgError(f"there are no {part} questions of {name!r}; there are {known}")
        found = read_questions(self._file(parts[part]))
        if name == "grailqa":
            found = within(self.kg, found)[part == "others"]
        return found[:limit]

    def every(self, part: str) -> list[Question]:
        """A part of all sets that have it, one after the other: what is learnt from."""
        return [
            question
            for name, parts in self.files.items()
            if part in parts
            for question in self.questions(name, part)
        ]

    def _file(self, name: str) -> Path:
        return _there(self.data, name)


def sets(family: str, data: Path, *, names: bool = False) -> Sets:
    """The question sets of one graph.

    Args:
        family: see the table above.
        data: folder of the benchmark data, as `jaxkg datasets` lays it out.
        names: read the display names of Freebase's ids.

    Raises:
        JaxkgError: there is no such family, or its graph is not there.
    """
    if family not in FAMILIES:
        raise JaxkgError(f"no benchmark is called {family!r}; there are {', '.join(FAMILIES)}")
    graph, files = FAMILIES[family]
    if graph is None:
        raise JaxkgError(f"{family} has passages and no graph: `text_questions` reads it")
    shown = _there(data, f"{POOLED}/mid2name.tsv") if names else None
    path = _there(data, graph)
    return Sets(data, well_formed(path, read_graph(path, names=shown)), files)


def text_questions(name: str, data: Path) -> list[Question]:
    """The questions of a set that brings passages.

    Args:
        name: a family of `FAMILIES` without a graph.
        data: folder of the benchmark data, as `jaxkg datasets` lays it out.

    Raises:
        JaxkgError: its file is not there.
    """
    return read_questions(_there(data, FAMILIES[name][1][name]["test"]))


def _there(data: Path, name: str) -> Path:
    if not (data / name).is_file():
        raise JaxkgError(
            f"{data} has no {name}: name the folder of benchmark data by --data or JAXKG_DATA; "
            "`jaxkg datasets` says where to get it"
        )
    return data / name
