"""Reads a model's reply into a pydantic schema, however the reply is dressed.

Taken in this order: a JSON object anywhere in the text (in a code fence, behind prose, before
trailing words, with single quotes), labelled lines (`Answer: ...`), a bare array, a bare index list
such as `1, 3`. Where several objects fit, the last is the model's final word. Half a reply is never
taken for a whole one.
"""

from __future__ import annotations

import re
from typing import Any, TypeVar

from pydantic import BaseModel

from jaxkg.adjudicate.reading import fit, lenient_json
from jaxkg.errors import JaxkgError
from jaxkg.foreign_json import whole

T = TypeVar("T", bound=BaseModel)

_THOUGHT_END = re.compile(r"</think(?:ing)?>")
_THOUGHT_START = re.compile(r"\s*<think(?:ing)?>")
_INDEX_LIST = re.compile(
    r"(?:\W|\d|\b(?:paths?|option|options|index|indices|and|numbers?)\b)+", re.I
)
_LINE_START = r"^[ \t>*_#`•-]*"
_LONGEST = 1 << 18  # characters
_ANYWHERE = r"(?<!\w)[*_`]*"


class Unparsed(JaxkgError):
    """A reply that fits the schema in no reading; the message says why, for the repair call."""


def parse(text: str, schema: type[T], *, cut_off: bool = False) -> T:
    """The reply as the schema.

    Args:
        text: the model's words.
        schema: what was asked for. A field's `AliasChoices`, its own name first, count as
            spellings of its key.
        cut_off: True where the endpoint says that the reply ended at its longest; then only a JSON
            value that is closed counts.

    Raises:
        Unparsed: it cannot be read.

    Example:
        >>> class Plan(BaseModel):
        ...     hops: list[list[str]]
        >>> parse("Sure:\\n```json\\n{'hop': [['written_by'], ['has_genre']]}\\n``` done", Plan)
        Plan(hops=[['written_by'], ['has_genre']])
    """
    if len(text) > _LONGEST:
        raise Unparsed(f"it is longer than {_LONGEST:,} characters")
    text = _spoken(whole(text))
    values, cut_short = _values(text)
    reasons: list[str] = []
    objects = [v for v in values if isinstance(v, dict)]
    for value in reversed(objects):
        try:
            return fit.model(value, schema)
        except fit.Misfit as error:
            reasons.append(str(error))
    if cut_short or cut_off:
        words = cut_short or "the longest reply allowed was reached"
        raise Unparsed(f"it is cut off: {words}")
    for start in (_LINE_START, _ANYWHERE):
        try:
            return fit.model(_labelled(text, schema, start), schema)
        except fit.Misfit as error:
            reasons.append(str(error))
    arrays = [v for v in values if isinstance(v, list)]
    if _INDEX_LIST.fullmatch(text) and (numbers := fit.integers(text)):
        arrays = [numbers]
    for value in reversed(arrays):
        try:
            return fit.listed(value, schema)
        except fit.Misfit as error:
            reasons.append(str(error))
    raise Unparsed(reasons[0] if objects else reasons[-1])


def _spoken(text: str) -> str:
    """What the model said after it had thought."""
    text = _THOUGHT_END.split(text)[-1]
    if _THOUGHT_START.match(text):
        raise Unparsed("it is cut off: it ends while still thinking")
    text = text.strip()
    if not text:
        raise Unparsed("it is empty")
    return text


def _values(text: str) -> tuple[list[Any], str]:
    """Outermost JSON values, and how the text is cut off ("" where it is not)."""
    found: list[Any] = []
    try:
        for value in lenient_json.values(text):
            found.append(value)
    except lenient_json.CutOff as error:
        return found, str(error)
    return found, ""


def _labelled(text: str, schema: type[BaseModel], start: str) -> dict[str, str]:
    """Fields written `Label: value`, by field; a value ends where the next label begins."""
    labels = "|".join(
        f"(?P<{name}>{_label(name)})" for name in schema.model_fields if not name.startswith("_")
    )
    pattern = re.compile(
        rf"{start}(?:{labels})(?:\s*\([^)\n]*\))?[*_`]*\s*[:：][*_`]*", re.IGNORECASE | re.MULTILINE
    )
    matches = list(pattern.finditer(text))
    ends = [match.start() for match in matches[1:]] + [len(text)]
    return {
        str(match.lastgroup): text[match.end() : end].strip(' \t\n*_`"')
        for match, end in zip(matches, ends)
    }


def _label(name: str) -> str:
    """`supporting_paths` as people write it: Supporting path(s), supporting-path, ..."""
    words = name.removesuffix("s").split("_")
    return r"[\s_-]*".join(re.escape(word) for word in words) + r"(?:s|\(s\))?"
