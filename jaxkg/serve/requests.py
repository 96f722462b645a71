"""What a request says, checked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from jaxkg.errors import JaxkgError
from jaxkg.foreign_json import read_json
from jaxkg.kg.names import nearest
from jaxkg.kg.questions.formats import split_brackets
from jaxkg.records import Question

if TYPE_CHECKING:
    from starlette.requests import Request

LONGEST_BODY = 64 * 1024
LONGEST_BATCH = 8 * 1024 * 1024
LONGEST_QUESTION = 4000
LONGEST_NAME = 16_000
MOST_QUESTIONS = 10_000
MOST_TOPICS = 64


class TooMuch(JaxkgError):
    """A request larger than is taken."""


class OtherKind(JaxkgError):
    """A body of another media type than is taken."""


def json_only(request: Request, *kinds: str) -> None:
    """Refuse a body that a page of another site could send without being asked whether it may.

    Raises:
        OtherKind: its media type is none of these.
    """
    given = request.headers.get("content-type", "")
    if given.partition(";")[0].strip().lower() not in kinds:
        raise OtherKind(f"send Content-Type: {' or '.join(kinds)}, not {given or 'none'}")


def name_in(text: str) -> str:
    """A name to look up.

    Raises:
        TooMuch: it is too long.
    """
    if len(text) > LONGEST_NAME:
        raise TooMuch(f"a name has at most {LONGEST_NAME:,} characters, not {len(text):,}")
    return text


async def read_body(request: Request, most: int) -> bytes:
    """The body, or as much of it as shows that it is too long.

    Raises:
        TooMuch: it has more than `most` bytes.
    """
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            raise TooMuch(f"the request is longer than {most:,} bytes")
    return bytes(body)


def question_in(body: bytes) -> Question:
    """The question of a body like `{"question": "who directed [Alien]?"}`.

    `topics` (ids) and `id` may stand beside it.

    Raises:
        JaxkgError: it is not like that.

    >>> question_in(b'{"question": "who directed [Alien]?"}').text
    'who directed Alien?'
    """
    return question_of(read_json(body, "the request"), "q1")


def questions_in(body: bytes) -> list[Question]:
    """Questions as a JSON array, or one JSON object a line; as `question_in` each.

    A file of questions may be sent as it stands: what else its records hold, answers or kinds, is
    not looked at, but "topic" or "Topics" for topics is refused.

    Raises:
        JaxkgError: one is not a question; says which.
        TooMuch: there are more than 10,000.
    """
    text = body.strip()
    if text.startswith(b"["):
        records = read_json(text, "the request")
    else:
        lines = [line for line in text.split(b"\n") if line.strip()]
        records = [read_json(line, f"line {n}") for n, line in enumerate(lines, 1)]
    if len(records) > MOST_QUESTIONS:
        raise TooMuch(f"{len(records):,} questions; {MOST_QUESTIONS:,} are taken at once")
    return [question_of(record, f"q{n}", of_a_file=True) for n, record in enumerate(records, 1)]


def claim_in(body: bytes) -> tuple[str, str, str]:
    """Head, relation and tail of a body like `{"head": "Alien", "relation": "directed_by", ...}`.

    Raises:
        JaxkgError: it is not like that.
    """
    record = read_json(body, "the request")
    given = record if isinstance(record, dict) else {}
    known_only(given, _CLAIM, "member of a claim")
    parts = [given.get(name) for name in _CLAIM]
    if not all(isinstance(part, str) and part.strip() for part in parts):
        raise JaxkgError('a claim is {"head": "Alien", "relation": "directed_by", "tail": "…"}')
    head, relation, tail = map(name_in, map(str, parts))
    return head, relation, tail


_CLAIM = ("head", "relation", "tail")
_QUESTION = ("question", "topics", "id")


def known_only(given: Iterable[str], known: Iterable[str], what: str) -> None:
    """Refuse names that mean nothing here: a misspelt one would be ignored.

    Raises:
        JaxkgError: there is such a name; says which are near, or all there are.

    >>> known_only(["topic"], ["question", "topics"], "member of a question")
    Traceback (most recent call last):
        ...
    jaxkg.errors.JaxkgError: 'topic' is no member of a question; nearest: 'topics'
    """
    known = tuple(known)
    for name in given:
        if name not in known:
            there = f"; there is {', '.join(known)}" if known else "; there is none"
            raise JaxkgError(f"{name!r} is no {what}{nearest(name, known) or there}")


def _stem(name: str) -> str:
    return name.casefold().rstrip("s")


def number_in(request: Request, name: str, default: int, least: int, most: int) -> int:
    """A whole number of the query string.

    Raises:
        JaxkgError: it is none, or out of range.
    """
    given = request.query_params.get(name)
    if given is None:
        return default
    if not (given.isascii() and given.isdigit() and len(given) < 10):
        raise JaxkgError(f"{name} is a whole number from {least} to {most}")
    if not least <= int(given) <= most:
        raise JaxkgError(f"{name} is a whole number from {least} to {most}, not {int(given)}")
    return int(given)


def question_of(record: Any, id: str, *, of_a_file: bool = False) -> Question:
    """A question of its JSON, a text or an object; `id` where it has none.

    Args:
        record: the JSON.
        id: where it has none.
        of_a_file: it may have further members, but none that is one of a question's in the
            singular, in the plural, or in capitals.

    Raises:
        JaxkgError: it is none, or has a member that a question has not.
        TooMuch: it is too long.
    """
    given = record if isinstance(record, dict) else {"question": record}
    text = given.get("question")
    if not isinstance(text, str) or not text.strip():
        raise JaxkgError('a question is {"question": "who directed Alien?"}')
    if len(text) > LONGEST_QUESTION:
        raise TooMuch(f"a question has at most {LONGEST_QUESTION:,} characters, not {len(text):,}")
    looked_at = [name for name in given if not of_a_file or _stem(name) in map(_stem, _QUESTION)]
    known_only(looked_at, _QUESTION, "member of a question")
    topics = given.get("topics", [])
    if not isinstance(topics, list) or not all(isinstance(t, str) and t for t in topics):
        raise JaxkgError("topics is a list of entity ids")
    topics = list(dict.fromkeys(map(name_in, topics)))
    if len(topics) > MOST_TOPICS:
        raise TooMuch(f"a question has at most {MOST_TOPICS} topics, not {len(topics):,}")
    named = given.get("id", id)
    if not isinstance(named, str) or len(named) > 200:
        raise JaxkgError("id is a text of at most 200 characters")
    bare, mention = split_brackets(text)
    return Question(id=named, text=bare, topics=tuple(topics), mention=mention)
