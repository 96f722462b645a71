"""Question sets: read the published formats and jaxkg's own, write, split.

| format | one question | detected by |
|---|---|---|
| `metaqa` | `text with [topic]<TAB>answer\\|answer` | two tab-separated fields |
| `pathquestion` | `text<TAB>answer(set)<TAB>topic#relation#...` | three tab-separated fields |
| `freebase` | JSON object with `q_entity` or `gold_paths` (WebQSP, CWQ) | those keys |
| `official` | CWQ, WebQSP, GrailQA, LC-QuAD, QALD (`.json`), SimpleQuestions | their keys |
| `subgraphs` | JSON object with `triples`, the gold subgraph, and `topics`, `answers` | `triples` |
| `opened` | JSON object with GrailQA's `nodes` and `edges` | those keys |
| `musique` | MuSiQue: JSON object with `paragraphs` | that key |
| `hotpotqa` | HotpotQA, 2WikiMultihopQA: JSON object with `_id` and `context` | those keys |
| `jsonl` | JSON object `{"id", "question", "topics", "answers", "paths", "mention"}`, | `.jsonl` |
| | perhaps `aliases` and `passages`; further keys are left out with a warning | |
| `csv` | a table with a header: `question`, perhaps `id`, `topics`, `answers` (parted by `\\|`) | |
| | | `.csv` |
| `text` | a question a line, the topic optionally in `[brackets]` | no tab |

Ids are the file's own where it has them; otherwise `<set>-<line>`, the line counted from 1 and the
set named after the file: `qa_test.txt` in `3-hop/` gives `metaqa-3-test-17`, `PQ-2H.txt` gives
`pq-2h-17`.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import os
from collections.abc import Callable, Hashable, Iterable, Sequence
from pathlib import Path

import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.kg.questions import formats
from jaxkg.kg.questions.formats import split_brackets
from jaxkg.kg.questions.official import is_official, official, opened_queries
from jaxkg.kg.questions.passages import TEXTS, over_texts, texts_format
from jaxkg.records import Question
from jaxkg.storage import write_lines

__all__ = [
    "FORMATS",
    "read_questions",
    "split_brackets",
    "split_questions",
    "subject_and_path",
    "write_questions",
]

_READERS: dict[str, Callable[..., Iterable[Question]]] = {
    "metaqa": formats.metaqa,
    "pathquestion": formats.pathquestion,
    "freebase": formats.freebase,
    "official": official,
    "subgraphs": formats.subgraphs,
    "opened": opened_queries,
    **{name: functools.partial(over_texts, format=name) for name in TEXTS},
    "jsonl": formats.own,
    "csv": formats.table,
    "text": formats.text,
}
FORMATS = tuple(_READERS)


_SELDOM = ("aliases", "passages")
"""Keys that are written where a question has them."""


def read_questions(
    path: str | os.PathLike[str], *, format: str | None = None, answer_field: str | None = None
) -> list[Question]:
    """Read a question file.

    Args:
        path: a UTF-8 file in one of the formats of the module's table.
        format: the name of the format; None detects it from the first line.
        answer_field: for `freebase` only, the field of the gold answers: `"a_entity"` (answers in
            the graph) or `"answer"` (the benchmark's full list without nulls). None takes
            `a_entity` if the line has it, otherwise `answer`.

    Returns:
        The questions in file order. MetaQA's `paths` come from `*_qtype.txt` beside the file, if
        it is there; an inverse relation is written `^name`. Paths of WebQSP and CWQ are plain
        relation names, to be followed from either end. Topics and answers are entity names as in
        the graphs of these sets.

    Raises:
        JaxkgError: no such file, not UTF-8, or a line that is not what the format promises.
    """
    path = Path(path)
    if format is not None and format not in FORMATS:
        raise JaxkgError(f"unknown question format {format!r}; known: {', '.join(FORMATS)}")
    lines = formats.read_lines(path)
    if not any(map(str.strip, lines)):
        raise JaxkgError(f"{path}: no questions in it, the file is blank")
    if format is None and is_official(path, lines):
        format = "official"
    is_array = path.suffix == ".json" and next(filter(str.strip, lines)).lstrip().startswith("[")
    if is_array and format != "official":
        lines = formats.of_array(path, lines)
    chosen = format or _detect(path, lines)
    if answer_field is not None and chosen != "freebase":
        raise JaxkgError(f"{path}: answer_field is for the freebase format, this is {chosen}")
    if answer_field not in (None, "a_entity", "answer"):
        raise JaxkgError(f"answer_field is 'a_entity' or 'answer', not {answer_field!r}")
    given = {} if answer_field is None else {"answer_field": answer_field}
    questions = list(_READERS[chosen](path, lines, **given))
    return _distinct(path, questions)


def _distinct(path: Path, questions: Iterable[Question]) -> list[Question]:
    found: dict[str, Question] = {}
    for question in questions:
        if question.id in found:
            raise JaxkgError(f"{path}: id {question.id!r} is given twice; ids must be unique")
        found[question.id] = question
    return list(found.values())


def write_questions(questions: Iterable[Question], path: str | os.PathLike[str]) -> None:
    """Write questions as jaxkg's own JSON Lines; `read_questions` gives them back unchanged."""
    rows = (dataclasses.asdict(question) for question in questions)
    named = ({"id": row.pop("id"), "question": row.pop("text"), **row} for row in rows)
    named = ({k: v for k, v in row.items() if v or k not in _SELDOM} for row in named)
    write_lines(path, (json.dumps(row, ensure_ascii=False) for row in named))


def subject_and_path(question: Question) -> Hashable:
    """What PathQuestion's paraphrases of one fact have in common: topics and relation paths."""
    return question.topics, question.paths


def split_questions(
    questions: Sequence[Question],
    *,
    seed: int,
    parts: Sequence[float] = (8, 1, 1),
    group: Callable[[Question], Hashable] = subject_and_path,
) -> tuple[list[Question], ...]:
    """Split at random, keeping the paraphrases of a fact together.

    A split by line would put paraphrases of one fact on both sides; PathQuestion has up to a dozen.

    Args:
        questions: to be split; their order is kept within each part.
        seed: of the shuffle; the same seed gives the same split.
        parts: relative sizes, counted in questions; met to within one group.
        group: questions with an equal key stay together.

    Returns:
        One list per entry of `parts`.
    """
    weights = np.asarray(parts, float)
    if weights.ndim != 1 or not weights.size or (weights < 0).any() or weights.sum() <= 0:
        raise JaxkgError(f"parts must be non-negative numbers with a positive sum, not {parts!r}")
    groups: dict[Hashable, list[int]] = {}
    for index, question in enumerate(questions):
        groups.setdefault(group(question), []).append(index)
    members = list(groups.values())
    order = np.random.default_rng(seed).permutation(len(members))
    sizes = np.array([len(members[g]) for g in order], int)
    middle = np.cumsum(sizes) - sizes / 2
    bounds = np.cumsum(weights / weights.sum())[:-1] * len(questions)
    part = np.searchsorted(bounds, middle, side="right")
    chosen: list[list[int]] = [[] for _ in weights]
    for g, p in zip(order, part):
        chosen[p].extend(members[g])
    return tuple([questions[i] for i in sorted(rows)] for rows in chosen)


def _detect(path: Path, lines: Sequence[str]) -> str:
    first = next((line for line in lines if line.strip()), "")
    if path.suffix in (".jsonl", ".json") or first.lstrip().startswith("{"):
        row = formats.json_object(f"{path}:{lines.index(first) + 1}", first)
        if "triples" in row:
            return "subgraphs"
        if {"nodes", "edges"} <= row.keys():
            return "opened"
        if (over := texts_format(row)) is not None:
            return over
        return "freebase" if {"q_entity", "gold_paths"} & row.keys() else "jsonl"
    if path.suffix.lower() == ".csv":
        return "csv"
    return {0: "text", 1: "metaqa"}.get(first.count("\t"), "pathquestion")
