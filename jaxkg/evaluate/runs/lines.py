"""One line of `predictions.jsonl` a question: written from records, read back with checks.

| key | value |
|---|---|
| `id`, `question` | of the question |
| `gold` | display names of the gold answers; null where unknown |
| `gold_ids` | their entity ids, null for one that is no entity; null as a whole where nobody asked |
| `gold_aliases` | further names of gold answers |
| `gold_paths` | gold relation paths, an inverse relation written `^name` |
| `gold_support` | ids of gold passages, or gold triples as `[head, relation, tail]` |
| `answers` | ranked: `{"entity": name, "id", "score", "paths": [path ids]}` |
| `paths` | ranked: `{"id", "triples", "relation_path", "end": [id, name], "score"}`; triples hold ids, in the graph's own direction |
| `cited` | paths that answers cite, told in words, best first; 30 at most |
| `rationale` | why they imply the answers, in the words of a language model; or null |
| `plan` | relation paths considered, best first: `{"relations", "probability", "used"}` |
| `linked` | whether a topic was recognised; null where nothing came out |
| `gold_retrieved` | whether a gold answer is among the entities that the search chose from; null where the system does not tell, or there is no gold |
| `entities_retrieved` | how many those are, or null |
| `retrieved` | ids of passages or triples retrieved, best first; null: the triples of `paths` |
| `abstained` | the reason, or null |
| `unparsed` | true where a reply came that could not be read |
| `error` | what went wrong, or null |
| `grounded` | the citation check's verdict; null where there was nothing to check |
| `usage` | calls, tokens, price, seconds, and nodes and edges visited where counted; or null |
| `fault` | what failed on the way, also where an answer was given all the same; or null |
| `dropped`, `refused` | what a model named that was never offered; that no cited path bears |
| `notes` | what the reader of the answer was told |

Only `id`, `question`, `gold` and `answers` must be there when a line is read.
"""  # noqa: E501

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from jaxkg.answer import Answer
from jaxkg.errors import JaxkgError
from jaxkg.foreign_json import read_json
from jaxkg.records import Question

MOST_CITED = 30
"""Paths that a line tells in words."""
_PARTS = {"paths": {"triples", "relation_path", "score"}, "plan": {"relations"}}

Line = dict[str, Any]
Status = Literal["answered", "abstained", "unparsed", "failed"]


def prediction_line(
    question: Question,
    answer: Answer | None,
    error: str | BaseException | None = None,
    *,
    unparsed: bool = False,
    check: Callable[[Answer], bool] | None = None,
    name_of: Callable[[str], str | None] | None = None,
    support: Sequence[str | Sequence[str]] = (),
    retrieved: Sequence[str | Sequence[str]] | None = None,
    ids_of: Callable[[str], Iterable[str]] = lambda gold: (gold,),
) -> Line:
    """What a run remembers of one question, ready for JSON.

    Args:
        question: as it was asked; its `answers`, `aliases` and `paths` are the gold
            side. Further names of a single gold answer count for the strict metrics too.
        answer: what came out; None where nothing did, which needs an `error` or `unparsed`. One
            with an `error` of its own that names nothing counts as failed, or as unparsed.
        error: why the question failed (a timeout, an exception); it then counts as wrong.
        unparsed: a reply came and could not be read; it then counts as wrong.
        check: says whether the answer's citations hold (every cited triple is in the graph, the
            paths end in the answers). Called for answers that were given, not for abstentions.
        name_of: display name of an entity id, None for a string that is no entity id. With it,
            gold answers that are entities are matched by id and the published text metrics see
            their names; without it nobody knows which gold strings are ids (`match_answers`).
        support: gold passages' ids or gold triples, for `support_recall_at_k`.
        retrieved: what was retrieved of the same kind, best first.
        ids_of: ids of the entities that a gold answer may mean, to look for among those that the
            answer says were retrieved.

    Raises:
        JaxkgError: the answer is to another question, or a score is not a finite number.
    """
    if answer is None and error is None and not unparsed:
        raise JaxkgError(f"question {question.id!r}: no answer; say why (error=... or unparsed)")
    if answer is not None and answer.question_id not in ("", question.id):
        raise JaxkgError(
            f"the answer is to question {answer.question_id!r}, not to {question.id!r}"
        )
    if answer is not None and answer.error is not None and not answer.entities and error is None:
        unparsed |= answer.error.partition(":")[0] == "unparsed"
        error = None if unparsed else answer.error
    if isinstance(error, BaseException):
        error = f"{type(error).__name__}: {error}"
    given = question.answers
    names = None if name_of is None or given is None else [name_of(gold) for gold in given]
    line: Line = {
        "id": question.id,
        "question": question.text,
        "gold": None if given is None else list(given),
        "gold_ids": None,
        "gold_aliases": list(question.aliases),
        "gold_paths": [list(path) for path in question.paths],
        "gold_support": [_item(item) for item in support],
        "answers": [],
        "paths": [],
        "cited": [],
        "rationale": None,
        "plan": [],
        "linked": None,
        "gold_retrieved": None,
        "entities_retrieved": None,
        "retrieved": None if retrieved is None else [_item(item) for item in retrieved],
        "abstained": None,
        "unparsed": unparsed,
        "error": error,
        "grounded": None,
        "usage": None,
        "fault": None,
        "dropped": [],
        "refused": [],
        "notes": [],
    }
    if names is not None and given is not None:
        line["gold"] = [gold if name is None else name for gold, name in zip(given, names)]
        line["gold_ids"] = [None if name is None else gold for gold, name in zip(given, names)]
    if answer is not None:
        line |= _answer_part(question.id, answer)
        if answer.retrieved is not None:
            line["entities_retrieved"] = len(answer.retrieved)
            if given:
                means = (id for gold in given for id in ids_of(gold))
                line["gold_retrieved"] = any(id in answer.retrieved for id in means)
        if check is not None and answer.entities and status(line) == "answered":
            line["grounded"] = check(answer)
            if not isinstance(line["grounded"], bool):
                raise JaxkgError(
                    f"the citation check must say True or False, not {line['grounded']!r}"
                )
    return line


def status(line: Mapping[str, Any]) -> Status:
    """How a question ended; anything but "answered" counts as wrong, whatever `answers` holds."""
    if line.get("error") is not None:
        return "failed"
    if line.get("unparsed"):
        return "unparsed"
    return "answered" if line.get("abstained") is None else "abstained"


def answered_names(line: Mapping[str, Any]) -> list[str]:
    """Names of the answers, blank ones left out; none of a question that did not end so."""
    answers = line["answers"] if status(line) == "answered" else []
    return [name for answer in answers if (name := answer["entity"].strip())]


def partial(line: Mapping[str, Any], *, run: bool = False) -> bool:
    """True where a budget held calls back; with `run`, only where that of the whole run did."""
    notes = [note for note in line.get("notes") or () if note.startswith("partial:")]
    return any(" per run " in note or not run for note in notes)


def dump_line(line: Mapping[str, Any]) -> bytes:
    """The line as UTF-8 JSON with its line end.

    Raises:
        JaxkgError: it is no JSON (a NaN, a foreign object).
    """
    try:
        return (json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n").encode()
    except (TypeError, ValueError) as error:
        raise JaxkgError(f"question {line.get('id')!r}: the line is no JSON: {error}") from error


def parse_line(text: str | bytes, where: str) -> Line:
    """Read one line and check what the metrics rely on.

    Args:
        text: the JSON.
        where: file and line, for the error.

    Raises:
        JaxkgError: not such a line.
    """
    line = read_json(text, where)
    if not isinstance(line, dict):
        raise JaxkgError(f"{where}: a JSON {type(line).__name__}; a prediction is an object")
    problem = _problem(line)
    if problem:
        raise JaxkgError(f"{where}: {problem}")
    return line


def read_predictions(path: str | os.PathLike[str]) -> Iterator[Line]:
    """Read the lines of a run, given its folder or its `predictions.jsonl`, one at a time.

    Raises:
        JaxkgError: no such file, a line that is no prediction, an id that comes twice.
    """
    path = Path(path)
    if path.is_dir():
        path = path / "predictions.jsonl"
    seen: set[str] = set()
    try:
        with open(path, "rb") as file:
            for number, raw in enumerate(file, 1):
                where = f"{path}:{number}"
                if not raw.endswith(b"\n"):
                    where += " (the last line, perhaps torn by a crash: resume the run to repair)"
                line = parse_line(raw, where)
                if line["id"] in seen:
                    raise JaxkgError(f"{where}: question {line['id']!r} was answered before")
                seen.add(line["id"])
                yield line
    except FileNotFoundError as error:
        raise JaxkgError(f"{path}: no such file; a run folder holds predictions.jsonl") from error


def _answer_part(question: str, answer: Answer) -> Line:
    usage = answer.usage
    cited = {path for entity in answer.entities for path in entity.paths}
    scores = [entity.score for entity in answer.entities] + [path.score for path in answer.paths]
    for score in scores:
        if not math.isfinite(score):
            raise JaxkgError(f"question {question!r}: a score is {score}, not a finite number")
    return {
        "answers": [
            {
                "entity": entity.name,
                "id": entity.entity or None,
                "score": float(entity.score),
                "paths": list(entity.paths),
                **({"cells": list(entity.cells)} if entity.cells else {}),
            }
            for entity in answer.entities
        ],
        "paths": [
            {
                "id": path.id,
                "triples": [[c.head, c.relation, c.tail] for c in path.citations],
                "relation_path": list(path.relation_path),
                "end": list(path.citations[-1].end) if path.citations else None,
                "score": float(path.score),
            }
            for path in answer.paths
        ],
        "cited": [path.sentence for path in answer.paths if path.id in cited][:MOST_CITED],
        "rationale": answer.rationale,
        "plan": [
            {
                "relations": list(plan.relations),
                "probability": float(plan.probability),
                "used": plan.used,
            }
            for plan in answer.plan
        ],
        "abstained": answer.abstained,
        "usage": {
            "calls": int(usage.calls),
            "prompt_tokens": int(usage.prompt_tokens),
            "completion_tokens": int(usage.completion_tokens),
            "price": None if usage.price is None else float(usage.price),
            "seconds": float(usage.seconds),
            "nodes": usage.nodes,
            "edges": usage.edges,
        },
        "linked": any(link.chosen for link in answer.topics),
        "fault": answer.error,
        "dropped": list(answer.dropped),
        "refused": list(answer.refused),
        "notes": list(answer.notes),
    }


def _item(item: str | Sequence[str]) -> str | list[str]:
    return item if isinstance(item, str) else list(item)


def _problem(line: Line) -> str | None:
    for key in ("id", "question"):
        if not isinstance(line.get(key), str):
            return f"{key!r} is {line.get(key)!r}, not a string"
    if "gold" not in line or not (line["gold"] is None or _strings(line["gold"])):
        return f"'gold' is {line.get('gold')!r}, not a list of strings or null"
    ids = line.get("gold_ids")
    if ids is not None and (not isinstance(ids, list) or len(ids) != len(line["gold"] or ())):
        return "'gold_ids' does not run along 'gold'"
    answers = line.get("answers")
    notes = line.get("notes") or ()
    if not _strings(list(notes) if isinstance(notes, list | tuple) else notes):
        return f"'notes' is {notes!r}, not a list of strings"
    if not isinstance(answers, list):
        return f"'answers' is {answers!r}, not a list"
    for item in answers:
        if not isinstance(item, dict) or not isinstance(item.get("entity"), str):
            return f"an answer is {item!r}, not an object with an 'entity'"
        if not isinstance(item.get("score"), int | float):
            return f"the score of answer {item['entity']!r} is {item.get('score')!r}, not a number"
    for key, needed in _PARTS.items():
        for item in line.get(key) or ():
            if not isinstance(item, dict) or not needed <= item.keys():
                return f"an entry of {key!r} is {item!r}, without {', '.join(sorted(needed))}"
    return None


def _strings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
