"""The lines of question files: MetaQA, PathQuestion, WebQSP and CWQ, jaxkg's own, plain text."""

from __future__ import annotations

import csv
import difflib
import json
import re
import reprlib
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from jaxkg.errors import JaxkgError
from jaxkg.foreign_json import read_json
from jaxkg.kg.questions.passages import own_passages, refuse, strings
from jaxkg.records import Question
from jaxkg.words import mention_of

Triple = tuple[str, str, str]

_UNNAMED = re.compile(r"[mg]\.\w+")
_LEAST = 0.6
"""Share of an entity's name that a question must spell out to name it."""


def named_in(text: str, triples: Sequence[Triple], *, but: Iterable[str] = ()) -> tuple[str, ...]:
    """Entities of a subgraph that a question names.

    Args:
        text: of the question.
        triples: its subgraph; ids of Freebase stand for entities without a name.
        but: entities that are no topics: answers, literals.

    >>> named_in("who leads Chad?", [("Chad", "leader", "Ali"), ("Ali", "born", "1952")])
    ('Chad',)
    """
    nodes = dict.fromkeys(node for head, _, tail in triples for node in (head, tail))
    others = set(but)
    found = []
    for node in nodes:
        if node in others or len(node) < 3 or _UNNAMED.fullmatch(node):
            continue
        span = mention_of(text, node)
        if span and span[1] - span[0] >= _LEAST * len(node):
            found.append(node)
    return tuple(found)


def shortest_paths(
    triples: Sequence[Triple], topic: str, answers: Iterable[str], *, most: int = 4
) -> tuple[tuple[str, ...], ...]:
    """The relation paths of the fewest steps from a topic to an answer, walked either way.

    >>> shortest_paths([("Chad", "leader", "Ali"), ("Ali", "born", "1952")], "Chad", ["1952"])
    (('leader', 'born'),)

    Args:
        triples: a subgraph.
        topic: where they start.
        answers: where they may end; none are found where the topic is one.
        most: steps at most.

    Returns:
        Sorted; none where no answer is that near.
    """
    beside: dict[str, set[tuple[str, str]]] = {}
    for head, relation, tail in triples:
        beside.setdefault(head, set()).add((relation, tail))
        beside.setdefault(tail, set()).add((relation, head))
    goals, seen = set(answers), {topic}
    layer: dict[str, set[tuple[str, ...]]] = {topic: {()}}
    if topic in goals:
        return ()
    for _ in range(most):
        after: dict[str, set[tuple[str, ...]]] = {}
        for node, paths in layer.items():
            for relation, end in beside.get(node, ()):
                if end not in seen:
                    after.setdefault(end, set()).update((*path, relation) for path in paths)
        layer = after
        seen |= after.keys()
        if found := {path for end in goals & after.keys() for path in after[end]}:
            return tuple(sorted(found))
    return ()


METAQA_RELATIONS = {
    "director": "directed_by",
    "writer": "written_by",
    "actor": "starred_actors",
    "year": "release_year",
    "language": "in_language",
    "tag": "has_tags",
    "tags": "has_tags",
    "genre": "has_genre",
    "imdbrating": "has_imdb_rating",
    "imdbvotes": "has_imdb_votes",
}
"""MetaQA's names for the things a movie is related to, and the relation that leads there."""

_KEYS = frozenset(
    {"id", "question", "topics", "answers", "paths", "mention", "aliases", "passages"}
)
_EXAMPLE = '{"question": "who directed Alien?", "answers": ["Ridley Scott"]}'


def split_brackets(text: str) -> tuple[str, tuple[int, int] | None]:
    """Take the brackets off a marked topic.

    Exactly one balanced outermost `[...]` marks the topic. Anything else (no bracket, several,
    unbalanced, empty) is taken to be part of the wording and left as it is.

    Returns:
        The clean text and the topic's `(start, end)` in it, or None where nothing was marked.

    >>> split_brackets("who directed [Heat]?")
    ('who directed Heat?', (13, 17))
    >>> split_brackets("who starred in [[REC]]")
    ('who starred in [REC]', (15, 20))
    >>> split_brackets("who directed Heat?")
    ('who directed Heat?', None)
    """
    if "[" not in text:
        return text, None
    spans: list[tuple[int, int]] = []
    depth = opened = 0
    for position, character in enumerate(text):
        if character == "[":
            if depth == 0:
                opened = position
            depth += 1
        elif character == "]":
            depth -= 1
            if depth < 0:
                return text, None
            if depth == 0:
                spans.append((opened, position))
    if depth or len(spans) != 1:
        return text, None
    start, end = spans[0]
    topic = text[start + 1 : end].strip()
    if not topic:
        return text, None
    return text[:start] + topic + text[end + 1 :], (start, start + len(topic))


def read_lines(path: Path) -> list[str]:
    """Lines of a UTF-8 file without their ends; a byte order mark is dropped."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            return [line.rstrip("\n") for line in file]
    except FileNotFoundError as error:
        raise JaxkgError(f"{path}: no such question file") from error
    except OSError as error:
        raise JaxkgError(f"{path}: cannot be read ({error.strerror or error})") from error
    except UnicodeDecodeError as error:
        raise JaxkgError(
            f"{path}: not UTF-8 text (byte {error.start}); save it as UTF-8"
        ) from error


def numbered(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """The lines that are not blank, with their numbers, counted from 1."""
    return ((number, line) for number, line in enumerate(lines, 1) if line.strip())


def _unique(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))


def metaqa(path: Path, lines: Sequence[str]) -> Iterator[Question]:
    """`text with [topic]<TAB>answer|answer`, question types in the sibling `*_qtype.txt`."""
    hop = re.match(r"(\d+)-?hop", path.parent.name)
    name = "-".join(["metaqa", *([hop[1]] if hop else []), path.stem.removeprefix("qa_").lower()])
    types_path = path.with_name(path.stem + "_qtype.txt")
    types = read_lines(types_path) if types_path.exists() else None
    if types is not None and len(types) != len(lines):
        raise JaxkgError(
            f"{types_path}: {len(types)} lines for the {len(lines)} questions of {path.name}; "
            "expected one each"
        )
    for number, line in numbered(lines):
        where = f"{path}:{number}"
        fields = line.split("\t")
        if len(fields) != 2:
            refuse(where, f"{len(fields)} tab-separated fields", "question<TAB>answer|answer")
        text, mention = split_brackets(fields[0].strip())
        if mention is None:
            refuse(where, "no topic", "exactly one [topic entity] in the question")
        answers = _unique(fields[1].split("|"))
        if "" in answers:
            refuse(where, "an empty answer", "answers parted by single '|'")
        paths = (_metaqa_path(f"{types_path}:{number}", types[number - 1]),) if types else ()
        topic = text[slice(*mention)]
        yield Question(f"{name}-{number}", text, (topic,), answers, paths, mention)


def _metaqa_path(where: str, text: str) -> tuple[str, ...]:
    steps = text.strip().split("_to_")
    relations = []
    for source, target in pairwise(steps):
        thing = target if source == "movie" else source
        if thing not in METAQA_RELATIONS or "movie" not in (source, target):
            relations.clear()
            break
        relations.append(("" if source == "movie" else "^") + METAQA_RELATIONS[thing])
    if not relations:
        expected = "steps such as movie_to_director_to_movie"
        refuse(where, f"question type {reprlib.repr(text)}", expected)
    return tuple(relations)


def pathquestion(path: Path, lines: Sequence[str]) -> Iterator[Question]:
    """`text<TAB>answer(answer/answer/)<TAB>topic#relation#entity...`."""
    expected = "question<TAB>answer(answer/answer/)<TAB>topic#relation#entity..."
    for number, line in numbered(lines):
        where = f"{path}:{number}"
        fields = line.split("\t")
        if len(fields) != 3:
            refuse(where, f"{len(fields)} tab-separated fields", expected)
        text = fields[0].strip()
        steps = fields[2].split("#<end>")[0].split("#")
        if len(steps) < 3 or len(steps) % 2 == 0:
            refuse(where, f"path {reprlib.repr(fields[2])}", "entity#relation#entity...")
        # Names contain brackets and slashes are only separators, so the set's opening bracket is
        # found by the last entity of the path, which is written before it.
        opening = steps[-1] + "("
        if not fields[1].startswith(opening) or not fields[1].endswith("/)"):
            refuse(where, f"answers {reprlib.repr(fields[1])}", f"{opening}answer/answer/)")
        answers = _unique(fields[1][len(opening) : -2].split("/"))
        yield Question(
            id=f"{path.stem.lower()}-{number}",
            text=text,
            topics=(steps[0],),
            answers=answers,
            paths=(tuple(steps[1::2]),),
            mention=_find(text, steps[0]),
        )


def _find(text: str, name: str) -> tuple[int, int] | None:
    """Where a name stands in a text as whole words, in any case; None where it does not."""
    found = re.search(r"(?<!\w)" + re.escape(name) + r"(?!\w)", text, re.IGNORECASE)
    return found.span() if found else None


def freebase(
    path: Path, lines: Sequence[str], answer_field: str | None = None
) -> Iterator[Question]:
    """WebQSP and CWQ as JSON objects; test lines and training lines name different fields."""
    for _, where, row in json_objects(path, lines):
        field = answer_field or ("a_entity" if "a_entity" in row else "answer")
        if field not in row:
            refuse(where, f"no {field!r}", "gold answers there")
        if isinstance(row[field], list):
            row[field] = [answer for answer in row[field] if answer is not None]
        if isinstance(row.get("gold_paths"), list):
            # An empty path says that the topic itself is the answer: nothing to follow.
            row["gold_paths"] = [steps for steps in row["gold_paths"] if steps != []]
        text = _string(where, row, "question").strip()
        topics = _freebase_topics(where, row)
        spans = (_find(text, topic) for topic in topics)
        yield Question(
            id=_string(where, row, "id"),
            text=text,
            topics=topics,
            answers=_unique(strings(where, row, field)),
            paths=_paths(where, row, "gold_paths"),
            mention=next((span for span in spans if span), None),
        )


def _freebase_topics(where: str, row: dict[str, Any]) -> tuple[str, ...]:
    """Test lines name the topics; training lines name one, or only a key beside linker output."""
    if "q_entity" in row:
        return _unique(strings(where, row, "q_entity"))
    if row.get("core_entity"):
        return (_string(where, row, "core_entity"),)
    if "topic_key" not in row:
        return ()
    key = _string(where, row, "topic_key")
    try:
        concepts = [link["concept"] for link in row.get("linked", ())]
        return _unique(
            c for c in concepts if re.sub(r"[\W_]+", "_", c.casefold()).strip("_") == key
        )
    except (TypeError, KeyError, AttributeError):
        refuse(where, "'linked' without concepts", '"linked": [{"concept": name}, ...]')


def subgraphs(path: Path, lines: Sequence[str]) -> Iterator[Question]:
    """JSON objects with a gold subgraph; its relation paths from topics to answers are the paths.

    Entities that it names in the question are topics too.
    """
    for _, where, row in json_objects(path, lines):
        text = _string(where, row, "question").strip()
        facts = _paths(where, row, "triples")
        if any(len(fact) != 3 for fact in facts):
            refuse(where, "'triples' of other than three parts", "[head, relation, tail]")
        triples = [(head, relation, tail) for head, relation, tail in facts]
        answers = strings(where, row, "answers")
        ends = {*answers, *strings(where, row, "answer_ids")}
        given = strings(where, row, "topics")
        no_topics = ends | set(strings(where, row, "literals"))
        topics = _unique((*given, *named_in(text, triples, but=no_topics)))
        paths = (some for topic in topics for some in shortest_paths(triples, topic, ends))
        spans = (_find(text, topic) for topic in topics)
        yield Question(
            id=_string(where, row, "id"),
            text=text,
            topics=topics,
            answers=answers,
            paths=tuple(dict.fromkeys(paths)),
            mention=next((span for span in spans if span), None) if len(topics) == 1 else None,
        )


def own(path: Path, lines: Sequence[str]) -> Iterator[Question]:
    """JSON objects with the keys of `Question`, `question` for its text; others are left out."""
    unknown: dict[str, int] = {}
    for number, where, row in json_objects(path, lines):
        for key in row.keys() - _KEYS:
            if difflib.get_close_matches(key.casefold(), _KEYS, 1, 0.8):
                known = ", ".join(sorted(_KEYS))
                refuse(where, f"unknown key {key!r}", f"keys among {known}")
            unknown.setdefault(key, number)
        if isinstance(row.get("id"), int):
            row["id"] = str(row["id"])
        text = _string(where, row, "question")
        topics = strings(where, row, "topics")
        if "mention" in row:
            mention = _span(where, row["mention"], len(text))
        else:
            text, mention = split_brackets(text.strip())
        yield Question(
            id=_string(where, row, "id") if "id" in row else f"{path.stem}-{number}".lower(),
            text=text,
            topics=topics,
            answers=None if row.get("answers") is None else strings(where, row, "answers"),
            paths=_paths(where, row, "paths"),
            mention=mention,
            aliases=strings(where, row, "aliases"),
            passages=own_passages(row.get("passages"), where),
        )
    _left_out(path, unknown)


def table(path: Path, lines: Sequence[str]) -> Iterator[Question]:
    """CSV with a header that names `question`, and perhaps `id`, `topics`, `answers`.

    Several answers or topics stand in one cell with `|` between them.
    """
    first = next((line for line in lines if line.strip()), "")
    separator = ";" if "," not in first and ";" in first else ","
    try:
        rows = list(csv.reader((f"{line}\n" for line in lines), delimiter=separator, strict=True))
    except csv.Error as error:
        raise JaxkgError(f"{path}: not CSV ({error})") from error
    header: list[str] = []
    for number, cells in enumerate(rows, 1):
        where = f"{path}:{number}"
        if not any(map(str.strip, cells)):
            continue
        if not header:
            header = [cell.strip().casefold() for cell in cells]
            if "question" not in header or len(set(header)) < len(header):
                refuse(where, f"the columns {', '.join(header)}", "a column `question`")
            _left_out(path, {name: number for name in header if name not in _KEYS})
            continue
        if len(cells) != len(header):
            refuse(where, f"{len(cells)} cells", f"{len(header)}, as the header has")
        row = dict(zip(header, map(str.strip, cells)))
        text, mention = split_brackets(_string(where, row, "question"))
        listed = {
            key: _unique(filter(None, map(str.strip, row.get(key, "").split("|"))))
            for key in ("topics", "answers")
        }
        yield Question(
            id=row.get("id") or f"{path.stem}-{number}".lower(),
            text=text,
            topics=listed["topics"],
            answers=listed["answers"] if "answers" in row else None,
            mention=mention,
        )


def _left_out(path: Path, unknown: Mapping[str, int]) -> None:
    if unknown:
        told = ", ".join(f"{key!r} (line {line})" for key, line in sorted(unknown.items())[:5])
        more = f" and {len(unknown) - 5} more" if len(unknown) > 5 else ""
        warnings.warn(
            f"{path}: left out, for a question has {', '.join(sorted(_KEYS))}: {told}{more}",
            stacklevel=4,
        )


def text(path: Path, lines: Sequence[str]) -> Iterator[Question]:
    """A question a line, its topic in brackets or not."""
    for number, line in numbered(lines):
        text, mention = split_brackets(line.strip())
        yield Question(f"{path.stem.lower()}-{number}", text, mention=mention)


def of_array(path: Path, lines: Sequence[str]) -> list[str]:
    """The elements of a JSON array, each as a line of its own."""
    elements = read_json("\n".join(lines), str(path))
    return [json.dumps(element, ensure_ascii=False) for element in elements]


def json_object(where: str, line: str) -> dict[str, Any]:
    """The JSON object of a line."""
    try:
        row = read_json(line)
    except JaxkgError as error:
        refuse(where, str(error), "one JSON object a line")
    if not isinstance(row, dict):
        refuse(where, f"a JSON {type(row).__name__}", "one JSON object a line")
    return row


def json_objects(path: Path, lines: Iterable[str]) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """The JSON objects of lines, each with its line's number and place."""
    for number, line in numbered(lines):
        where = f"{path}:{number}"
        yield number, where, json_object(where, line)


def _string(where: str, row: dict[str, Any], key: str) -> str:
    value = row.get(key)
    if key not in row:
        keys = ", ".join(map(reprlib.repr, row)) or "nothing"
        refuse(where, f"no {key!r}, but {keys}", "a line such as " + _EXAMPLE)
    if not isinstance(value, str) or not value.strip():
        refuse(where, f"{key!r} is {reprlib.repr(value)}", "a non-empty string")
    return value


def _paths(where: str, row: dict[str, Any], key: str) -> tuple[tuple[str, ...], ...]:
    value = row.get(key, [])
    if not isinstance(value, list) or not all(
        isinstance(steps, list) and steps and all(isinstance(step, str) for step in steps)
        for steps in value
    ):
        refuse(where, f"{key!r} is {reprlib.repr(value)}", "a list of lists of relation names")
    return tuple(tuple(steps) for steps in value)


def _span(where: str, value: Any, length: int) -> tuple[int, int] | None:
    if value is None:
        return None
    if (
        not isinstance(value, list)
        or [type(edge) for edge in value] != [int, int]
        or not 0 <= value[0] < value[1] <= length
    ):
        expected = f"[start, end] within 0..{length}, or null"
        refuse(where, f"'mention' is {reprlib.repr(value)}", expected)
    return value[0], value[1]
