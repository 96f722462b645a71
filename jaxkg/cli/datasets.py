"""Benchmarks by name, read from the folder that `JAXKG_DATA` names.

| name | graph | test questions | training questions |
|---|---|---|---|
| `metaqa-1`, `-2`, `-3` | `metaqa/kb.txt` | `metaqa/N-hop/qa_test.txt` | `qa_dev.txt` of all hops |
| `pq-2h`, `pq-3h`, `pql-2h` | `pathquestion/` | a tenth, split by (subject, path) | eight tenths |
| `webqsp` | `freebase_webqsp_cwq/kg_pooled.tsv` | `webqsp_test.jsonl` | `..._train_paths.jsonl` |

The official MetaQA training questions are not needed: its dev questions are learnt from.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from jaxkg.records import JaxkgError, Question

_PATHQUESTION = {
    "pq-2h": ("2H-kb.txt", "PQ-2H.txt"),
    "pq-3h": ("3H-kb.txt", "PQ-3H.txt"),
    "pql-2h": ("PQL2-KB.txt", "PQL-2H.txt"),
}
NAMES = ("metaqa-1", "metaqa-2", "metaqa-3", *_PATHQUESTION, "webqsp")


@dataclasses.dataclass(frozen=True)
class Dataset:
    """A benchmark: graph (None is the demo graph), names, the files and questions of one part."""

    graph: Path | None
    files: tuple[Path, ...]
    questions: tuple[Question, ...]
    names: Path | None = None

    @property
    def hashed(self) -> list[Path]:
        """The files whose hashes say what was worked on."""
        graph = [self.graph] if self.graph is not None and self.graph.is_file() else []
        return [*self.files, *graph]


def dataset(name: str, part: Literal["train", "test"] = "test") -> Dataset:
    """A part of a benchmark.

    Raises:
        JaxkgError: no such benchmark, or its files are not where `JAXKG_DATA` says.
    """
    from jaxkg.kg import read_questions, split_questions

    if name not in NAMES:
        raise JaxkgError(f"no dataset is called {name!r}; there are {', '.join(NAMES)}")
    if not (root := os.environ.get("JAXKG_DATA")):
        raise JaxkgError(
            f"--dataset {name} is read from the folder of benchmark data: name it by JAXKG_DATA"
        )
    folder = Path(root)
    if name in _PATHQUESTION:
        graph, file = (folder / "pathquestion" / each for each in _PATHQUESTION[name])
        training, _, test = split_questions(read_questions(file), seed=0)
        return Dataset(graph, (file,), tuple(training if part == "train" else test))
    if name == "webqsp":
        pooled = folder / "freebase_webqsp_cwq"
        files = [pooled / {"train": "webqsp_train_paths.jsonl", "test": "webqsp_test.jsonl"}[part]]
        graph, names = pooled / "kg_pooled.tsv", pooled / "mid2name.tsv"
    else:
        hops = (1, 2, 3) if part == "train" else (int(name[-1]),)
        stem = {"train": "qa_dev.txt", "test": "qa_test.txt"}[part]
        files = [folder / "metaqa" / f"{hop}-hop" / stem for hop in hops]
        graph, names = folder / "metaqa" / "kb.txt", None
    questions = [question for file in files for question in read_questions(file)]
    return Dataset(graph, tuple(files), tuple(questions), names)


def material(
    name: str | None,
    kg: Path | None,
    names: Path | None,
    questions: Sequence[Path] | None,
    *,
    part: Literal["train", "test"],
) -> Dataset:
    """What a subcommand works on: a benchmark by name, or the user's own graph and questions.

    Raises:
        JaxkgError: both are given, or no questions.
    """
    from jaxkg.kg import read_questions

    if name is not None:
        if kg is not None or names is not None or questions:
            raise JaxkgError("--dataset brings its graph and questions; give it or your own")
        return dataset(name, part)
    if not questions:
        raise JaxkgError("no questions: give --questions FILE or --dataset NAME")
    asked = [question for path in questions for question in read_questions(path)]
    return Dataset(kg, tuple(questions), tuple(asked), names)
