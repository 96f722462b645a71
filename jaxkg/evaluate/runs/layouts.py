"""Prediction files of other projects: which layout, which record, which part of it is the reply.

| layout | fields of a record | its reply |
|---|---|---|
| `rog` (RoG, GNN-RAG, GCR) | `id`, `question`, `prediction`, `ground_truth` | lines, or a list |
| `subgraphrag` | the same | lines with `ans:` |
| `tog` | `question`, `results`, `reasoning_chains` | what the first braces hold, else all |
| `pog` | the same and `call_num`, `time`, ... | `Answer` in the JSON from the first brace |
| `hypergraphrag` | `question`, `golden_answers`, `generation` | within `<answer>`, else all |

Files are JSON Lines or one JSON array. For `question`, ToG and PoG also write `RawQuestion`,
`input` or `sentence`, as the benchmark has it; they carry no gold answers.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jaxkg.errors import JaxkgError
from jaxkg.evaluate.metrics.published import reply_lines
from jaxkg.evaluate.runs.lines import answered_names
from jaxkg.foreign_json import read_json

LAYOUTS = ("rog", "subgraphrag", "tog", "pog", "hypergraphrag")
_ANSWER_MARK = re.compile(r"ans:|# Answer:|the answer is:")
_QUOTED = re.compile(r"""["']([^"']+)["']""")
_QUOTED_ANSWER = re.compile(r""""Answer":\s*["']([^"']+)["']""")
_LISTED_ANSWER = re.compile(r""""Answer":\s*(\[[^\]]+\])""")
_QUESTION_FIELDS = ("question", "RawQuestion", "input", "sentence")


@dataclasses.dataclass(frozen=True)
class ForeignPrediction:
    """One record, taken apart the way the project's own script does.

    Attributes:
        key: its id, or the question's text where there are no ids.
        question: the wording, "" where the record has none.
        gold: the gold answers it carries; None where it carries none.
        lines: of the reply.
        replies: what ToG's and MRQA's definitions read; the best of several counts.
        answer_lines: what SubgraphRAG's definition reads.
        names: the answers as a reader would name them, best first; blanks left out.
    """

    key: str
    question: str
    gold: tuple[str, ...] | None
    lines: tuple[str, ...]
    replies: tuple[str, ...]
    answer_lines: str | tuple[str, ...]
    names: tuple[str, ...]


def load_foreign(
    path: str | os.PathLike[str], *, layout: str | None = None
) -> tuple[str, list[ForeignPrediction], list[int]]:
    """Read a prediction file of another project.

    Args:
        path: JSON Lines or a JSON array.
        layout: one of `LAYOUTS`; None detects it by the fields.

    Returns:
        The layout, the records in file order, and the numbers of the lines that are no JSON.

    Raises:
        JaxkgError: no such file, an unknown layout, or a record without the layout's fields.
    """
    path = Path(path)
    if layout is not None and layout not in LAYOUTS:
        raise JaxkgError(f"unknown layout {layout!r}; known: {', '.join(LAYOUTS)}")
    records, broken = _read(path)
    layout = layout or _detect(path, [record for _, record in records])
    read = {"tog": _tog, "pog": _pog, "hypergraphrag": _hypergraphrag}.get(layout)
    predictions = []
    for number, record in records:
        try:
            predictions.append(read(record) if read else _rog(record, layout == "subgraphrag"))
        except (KeyError, TypeError, AttributeError) as error:
            why = f"it has no {error}" if isinstance(error, KeyError) else str(error)
            raise JaxkgError(
                f"{path}:{number}: no record of layout {layout!r}: {why}; its fields are "
                f"{', '.join(sorted(map(str, record)))}"
            ) from error
    return layout, predictions, broken


WRITTEN = ("rog", "gnn-rag", "subgraphrag")
"""Forms that `written_line` has: RoG's and SubgraphRAG's predictions, GNN-RAG's candidates."""


def written_line(line: Mapping[str, Any], form: str) -> dict[str, Any]:
    """A prediction of a run as another project writes it.

    Args:
        line: of a run, see `read_predictions`.
        form: one of `WRITTEN`. GNN-RAG's second stage reads candidates with their scores.

    Raises:
        JaxkgError: there is no such form.

    >>> line = {"id": "1", "question": "who?", "gold": ["Ann"], "abstained": None, "error": None}
    >>> line["answers"] = [{"entity": "Ann", "score": 0.5}]
    >>> written_line(line, "rog")["prediction"], written_line(line, "gnn-rag")["cand"]
    ('Ann', [['Ann', 0.5]])
    """
    if form not in WRITTEN:
        raise JaxkgError(f"predictions are written as {', '.join(WRITTEN)}, not as {form!r}")
    names, gold = answered_names(line), list(line["gold"] or ())
    if form == "gnn-rag":
        scores = {answer["entity"].strip(): answer["score"] for answer in line["answers"]}
        candidates = [[name, scores[name]] for name in dict.fromkeys(names)]
        return {"question": line["question"], "answers": gold, "cand": candidates}
    mark = "ans: " if form == "subgraphrag" else ""
    prediction = "\n".join(f"{mark}{name}" for name in names)
    head = {"id": line["id"], "question": line["question"]}
    return {**head, "prediction": prediction, "ground_truth": gold}


def _read(path: Path) -> tuple[list[tuple[int, dict[str, Any]]], list[int]]:
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise JaxkgError(f"{path}: cannot be read: {error.strerror}") from error
    records: list[tuple[int, Any]] = []
    broken: list[int] = []
    if raw.lstrip().startswith(b"["):
        try:
            records = list(enumerate(read_json(raw, strict=False), 1))
        except JaxkgError as error:
            raise JaxkgError(f"{path}: not a JSON array ({error})") from error
    else:
        for number, line in enumerate(raw.split(b"\n"), 1):
            if line.strip():
                try:
                    records.append((number, read_json(line, strict=False)))
                except JaxkgError:
                    broken.append(number)
    for number, record in records:
        if not isinstance(record, dict):
            raise JaxkgError(f"{path}:{number}: a JSON {type(record).__name__}, not an object")
    if not records:
        raise JaxkgError(f"{path}: no prediction that can be read ({len(broken)} broken lines)")
    return records, broken


def _detect(path: Path, records: Sequence[Mapping[str, Any]]) -> str:
    fields = records[0].keys()
    if {"prediction", "ground_truth"} <= fields:
        marked = any("ans:" in p for r in records if isinstance(p := r.get("prediction"), str))
        return "subgraphrag" if marked else "rog"
    if "results" in fields:
        return "pog" if "call_num" in fields else "tog"
    if {"generation", "golden_answers"} <= fields:
        return "hypergraphrag"
    if {"answers", "gold"} <= fields:
        raise JaxkgError(
            f"{path}: these are jaxkg's own predictions; score the folder they are in: "
            f"`jaxkg score {path.parent}`"
        )
    raise JaxkgError(
        f"{path}: no layout of {', '.join(LAYOUTS)} has the fields "
        f"{', '.join(sorted(fields))}; name it with --layout"
    )


def _rog(record: Mapping[str, Any], marked: bool) -> ForeignPrediction:
    prediction = record["prediction"]
    prediction = prediction if isinstance(prediction, str) else _strings(prediction)
    lines = reply_lines(prediction)
    answers = [line for line in lines if "ans:" in line] if marked else lines
    names = [name for line in answers for name in _ANSWER_MARK.split(line)[-1].split("\n")]
    return ForeignPrediction(
        key=str(record["id"]),
        question=_question(record),
        gold=_strings(record["ground_truth"]),
        lines=tuple(lines),
        replies=(prediction if isinstance(prediction, str) else ", ".join(prediction),),
        answer_lines=prediction if marked and isinstance(prediction, str) else tuple(lines),
        names=_named(names),
    )


def _tog(record: Mapping[str, Any]) -> ForeignPrediction:
    reply = record["results"]
    if "{" in reply:
        # Without a closing brace the script's slice ends before the last character; kept.
        reply = reply[reply.find("{") + 1 : reply.find("}")]
    return _from_replies(record, [reply])


def _pog(record: Mapping[str, Any]) -> ForeignPrediction:
    results = record["results"]
    start = results.find("{")
    if start < 0:
        return _from_replies(record, [results])
    body = results[start:]
    try:
        reply = read_json(body, strict=False)
        answer = reply["A"]["Answer"] if "A" in reply else reply["Answer"]
    except (ValueError, KeyError, TypeError):
        if quoted := _QUOTED_ANSWER.findall(body):
            return _from_replies(record, [quoted[-1]])
        if listed := _LISTED_ANSWER.search(body):
            return _from_replies(record, _QUOTED.findall(listed[1]) or [results])
        return _from_replies(record, [results])
    # The script compares the list as Python prints it.
    names = answer if isinstance(answer, list) else [answer]
    return _from_replies(record, [str(answer)], names=list(map(str, names)))


def _hypergraphrag(record: Mapping[str, Any]) -> ForeignPrediction:
    generation = record["generation"]
    _, tag, rest = generation.partition("<answer>")
    reply = rest.partition("<answer>")[0].partition("</answer>")[0].strip() if tag else generation
    return _from_replies(record, [reply], gold=_strings(record["golden_answers"]))


def _from_replies(
    record: Mapping[str, Any],
    replies: Sequence[str],
    *,
    gold: tuple[str, ...] | None = None,
    names: Sequence[str] | None = None,
) -> ForeignPrediction:
    question, lines = _question(record), tuple(replies)
    named = _named(replies if names is None else names)
    return ForeignPrediction(question, question, gold, lines, lines, lines, named)


def _question(record: Mapping[str, Any]) -> str:
    for field in _QUESTION_FIELDS:
        if isinstance(record.get(field), str):
            return record[field]
    raise KeyError("question")


def _strings(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise TypeError(f"{value!r} is no list of strings")
    return tuple(value)


def _named(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name.strip() for name in names if name.strip())
