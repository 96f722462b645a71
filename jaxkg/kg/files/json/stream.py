"""JSON that is larger than memory should be: read a value at a time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jaxkg.errors import JaxkgError
from jaxkg.foreign_json import DEEPEST, LARGEST, OutOfBounds, first_value
from jaxkg.kg.files.textfile import Progress, text_chunks

_WINDOW = 1 << 20
"""Characters up to which an object is read whole; of a larger one each value is."""
_BLANK = re.compile(r"[\s,]*")


def pieces(
    path: Path,
    title: str,
    beside: list[str],
    *,
    encoding: str = "utf-8",
    on_progress: Progress | None = None,
) -> Iterator[tuple[str, Any]]:
    """The objects of a JSON file one by one, each with the key of the list that it lies in.

    A list is read element by element, wherever it lies, and so is an object that is larger than a
    window.

    Args:
        beside: takes the keys of what is no object, once for each such value.

    Raises:
        JaxkgError: it is no JSON, is nested too deeply, or one value is too large.
    """
    scanner = _Scanner(path, text_chunks(path, encoding=encoding, on_progress=on_progress))
    while scanner.peek():
        yield from _pieces(scanner, title, beside, 0)


def _pieces(
    scanner: _Scanner, title: str, beside: list[str], depth: int
) -> Iterator[tuple[str, Any]]:
    if depth > DEEPEST:
        raise scanner.fault(f"brackets are nested deeper than {DEEPEST}")
    sign = scanner.peek()
    if sign == "[":
        scanner.step()
        while (sign := scanner.peek()) and sign != "]":
            value = scanner.value(LARGEST)
            if isinstance(value, dict):
                yield title, value
            else:
                beside.append(title)
        scanner.step("]")
        return
    value = scanner.value(_WINDOW)
    if value is not _TOO_LARGE:
        if isinstance(value, dict):
            yield title, value
        else:
            beside.append(title)
        return
    scanner.step()
    while (sign := scanner.peek()) and sign != "}":
        key = scanner.value(_WINDOW)
        if not isinstance(key, str):
            raise scanner.fault("a key of an object is no text")
        scanner.step(":")
        if scanner.peek() in ("{", "["):
            yield from _pieces(scanner, key, beside, depth + 1)
        else:
            scanner.value(LARGEST)
            beside.append(key)
    scanner.step("}")


_TOO_LARGE = object()


class _Scanner:
    """Text of a file with the place that is read."""

    def __init__(self, path: Path, chunks: Iterator[str]) -> None:
        self._path, self._chunks = path, chunks
        self._text, self._at, self._line = "", 0, 1

    def fault(self, why: str) -> JaxkgError:
        line = self._line + self._text.count("\n", 0, self._at)
        return JaxkgError(f"{self._path}:{line}: not JSON ({why})")

    def peek(self) -> str:
        """The next sign that is no blank and no comma; "" at the end."""
        while True:
            found = _BLANK.match(self._text, self._at)
            self._at = found.end() if found else self._at
            if self._at < len(self._text) or not self._more():
                return self._text[self._at : self._at + 1]

    def step(self, sign: str = "") -> None:
        """Pass the next sign, which has to be one."""
        if sign and self.peek() != sign:
            raise self.fault(f"expected {sign!r}")
        self._at += 1

    def value(self, most: int) -> Any:
        """The next value, or `_TOO_LARGE` of an object of more characters than `most`."""
        self.peek()
        while True:
            try:
                value, end = first_value(self._text, self._at)
                # A number may go on in the next chunk.
                if (
                    end < len(self._text)
                    or isinstance(value, dict | list | str)
                    or not self._more()
                ):
                    self._at = end
                    return value
            except OutOfBounds as error:
                raise self.fault(str(error)) from error
            except json.JSONDecodeError as error:
                if len(self._text) - self._at > most:
                    if most < LARGEST and self._text[self._at] == "{":
                        return _TOO_LARGE
                    raise self.fault(f"a value of more than {most:,} characters") from error
                if not self._more(len(self._text) - self._at):
                    raise self.fault(error.msg) from error

    def _more(self, least: int = 0) -> bool:
        """Read on, at least as much as there is: what is tried again has doubled."""
        self._line += self._text.count("\n", 0, self._at)
        parts, size = [self._text[self._at :]], 0
        self._at = 0
        for chunk in self._chunks:
            parts.append(chunk)
            size += len(chunk)
            if size > least:
                break
        self._text = "".join(parts)
        return bool(size)
