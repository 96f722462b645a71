"""Questions that bring the texts they are asked over: MuSiQue, HotpotQA, 2WikiMultihopQA.

What the hidden test sets leave out (answers, support) is left open.
"""

from __future__ import annotations

import hashlib
import re
import reprlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from jaxkg.errors import JaxkgError
from jaxkg.foreign_json import read_json
from jaxkg.records import Passages, Question

TEXTS = ("musique", "hotpotqa")
"""Formats of such files."""


def texts_format(row: Mapping[str, Any]) -> str | None:
    """Which of `TEXTS` a file is in, by one of its objects; None where it is in none.

    >>> texts_format({"id": "q", "paragraphs": []}), texts_format({"question": "why?"})
    ('musique', None)
    """
    if "paragraphs" in row:
        return "musique"
    return "hotpotqa" if {"_id", "context"} <= row.keys() else None


def over_texts(path: Path, lines: Sequence[str], format: str) -> Iterator[Question]:
    """Questions of one of `TEXTS`, an object a line, or the lines of a file's one list.

    Args:
        path: of the file, for errors.
        lines: JSON.
        format: of `TEXTS`.

    Yields:
        Questions without topics. Of MuSiQue `steps` are its decomposition, and what its texts do
        not answer has no answers; of HotpotQA `support` are the passages of supporting facts.

    Raises:
        JaxkgError: a question lacks what the format promises; says line and key.
    """
    read = {"musique": _musique, "hotpotqa": _hotpotqa}[format]
    for number, line in enumerate(lines, 1):
        if line.strip():
            where = f"{path}:{number}"
            row = read_json(line, where)
            if not isinstance(row, dict):
                refuse(where, f"a JSON {type(row).__name__}", f"an object as {format} has them")
            yield read(row, where)


def own_passages(value: Any, where: str) -> Passages | None:
    """The passages of a question in jaxkg's own form, the fields of `Passages` as an object.

    Raises:
        JaxkgError: it is none; says `where`.
    """
    if value is None:
        return None
    known = {"texts", "support", "steps", "kind"}
    if not isinstance(value, dict) or not value.keys() <= known:
        refuse(
            where, f"'passages' is {reprlib.repr(value)}", f"keys among {', '.join(sorted(known))}"
        )
    texts = _pairs(value.get("texts"), where, "'texts' of 'passages'")
    support = value.get("support", [])
    places = range(len(texts))
    if not isinstance(support, list) or any(type(i) is not int or i not in places for i in support):
        refuse(where, f"'support' of 'passages' is {reprlib.repr(support)}", "places in 'texts'")
    steps = _pairs(value.get("steps", []), where, "'steps' of 'passages'")
    return Passages(texts, tuple(support), steps, _string(value.get("kind", ""), where, "kind", 0))


def passage_id(title: str, text: str) -> str:
    """By which the same passage is known wherever it comes from.

    >>> passage_id("Alien (film)", "Alien is a film.")
    'Alien (film) #c10d23f2'
    """
    return f"{title} #{hashlib.sha256(text.strip().encode()).hexdigest()[:8]}"


def distinct_passages(questions: Iterable[Question]) -> tuple[tuple[str, str], ...]:
    """(title, text) of all passages that questions bring, each once, in order."""
    brought = (question.passages for question in questions)
    return tuple(dict.fromkeys(text for some in brought if some is not None for text in some.texts))


def _musique(row: Mapping[str, Any], where: str) -> Question:
    texts, support = [], []
    for place, one in enumerate(_objects(row, "paragraphs", where)):
        title = _string(one.get("title"), where, "title of a paragraph", 0)
        texts.append((title, _string(one.get("paragraph_text"), where, "paragraph_text")))
        if one.get("is_supporting") is True:
            support.append(place)
    steps = []
    for one in _objects(row, "question_decomposition", where, needed=False):
        told = _string(one.get("question"), where, "question of question_decomposition")
        answer = _string(one.get("answer"), where, "answer of question_decomposition")
        steps.append((re.sub(r"#(\d+)", r"{\1}", told), answer))
    answers = (_string(row["answer"], where, "answer"),) if "answer" in row else None
    aliases = strings(where, row, "answer_aliases")
    if row.get("answerable") is False:
        answers, aliases = (), ()
    hops = f"{len(steps)} hop{'s' * (len(steps) > 1)}" if steps else ""
    return Question(
        id=_string(row.get("id"), where, "id"),
        text=_words(row, where),
        answers=answers,
        aliases=tuple(dict.fromkeys(aliases)),
        passages=Passages(tuple(texts), tuple(support), tuple(steps), hops),
    )


def _hotpotqa(row: Mapping[str, Any], where: str) -> Question:
    given = row["context"]
    if not isinstance(given, list) or not all(
        isinstance(one, list) and len(one) == 2 and isinstance(one[1], list) for one in given
    ):
        refuse(where, f"'context' is {reprlib.repr(given)}", "a list of [title, [sentence, ...]]")
    texts = []
    for title, sentences in given:
        said = [_string(sentence, where, "sentence of context", 0) for sentence in sentences]
        texts.append((_string(title, where, "title of context"), "".join(said).strip()))
    facts = row.get("supporting_facts", [])
    if not isinstance(facts, list) or not all(isinstance(one, list) and one for one in facts):
        refuse(where, f"'supporting_facts' is {reprlib.repr(facts)}", "a list of [title, sentence]")
    needed = [_string(one[0], where, "title of supporting_facts") for one in facts]
    place = {title: at for at, (title, _) in reversed(list(enumerate(texts)))}
    for title in needed:
        if title not in place:
            refuse(where, f"'supporting_facts' names {title!r}", "titles that 'context' has")
    return Question(
        id=_string(row["_id"], where, "_id"),
        text=_words(row, where),
        answers=(_string(row["answer"], where, "answer"),) if "answer" in row else None,
        passages=Passages(
            tuple(texts),
            tuple(sorted({place[title] for title in needed})),
            kind=_string(row.get("type", ""), where, "type", 0),
        ),
    )


def strings(where: str, row: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """The texts that an object has in a list under a key; none without it.

    Raises:
        JaxkgError: there is something else.
    """
    value = row.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        refuse(where, f"{key!r} is {reprlib.repr(value)}", "a list of strings")
    return tuple(value)


def _words(row: Mapping[str, Any], where: str) -> str:
    return " ".join(_string(row.get("question"), where, "question").split())


def _objects(
    row: Mapping[str, Any], key: str, where: str, *, needed: bool = True
) -> list[dict[str, Any]]:
    value = row.get(key, None if needed else [])
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        refuse(where, f"{key!r} is {reprlib.repr(value)}", "a list of objects")
    return value


def _pairs(value: Any, where: str, what: str) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, list) or not all(
        isinstance(one, list) and [type(part) for part in one] == [str, str] for one in value
    ):
        refuse(where, f"{what} is {reprlib.repr(value)}", "a list of pairs of strings")
    return tuple((first, second) for first, second in value)


def _string(value: Any, where: str, what: str, least: int = 1) -> str:
    if not isinstance(value, str) or len(value.strip()) < least:
        refuse(
            where, f"{what!r} is {reprlib.repr(value)}", "a string" + " with words" * bool(least)
        )
    return value


def refuse(where: str, found: str, expected: str) -> NoReturn:
    """Refuse what stands in a place of a question file.

    Raises:
        JaxkgError: says where, what was found, and what is expected.
    """
    raise JaxkgError(f"{where}: {found}; expected {expected}")
