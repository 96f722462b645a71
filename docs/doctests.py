"""Fences around the doctests of docstrings, so that the site shows them as code."""

from __future__ import annotations

import re
from typing import Any

import griffe

_DOCTEST = re.compile(r"(^[ ]*>>> .*(?:\n[ ]*\S.*)*)", re.MULTILINE)


def fenced(text: str) -> str:
    """A docstring with each of its doctests in a fence of its own."""

    def fence(found: re.Match[str]) -> str:
        lines = found[1].split("\n")
        indent = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
        return "\n".join([f"{indent}```pycon", *lines, f"{indent}```"])

    return _DOCTEST.sub(fence, text)


class Doctests(griffe.Extension):
    """Fences every docstring as it is read."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Fence the docstring of an object."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
