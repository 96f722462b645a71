"""Kinds of files that are not read, and what to do with each instead."""

from __future__ import annotations

import functools
import re
import tomllib
from pathlib import Path

from jaxkg.kg.files.protocol import Head


@functools.cache
def _kinds() -> list[dict[str, str]]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["kinds"]


def how_to_bring(head: Head, *, by_name: bool = True) -> str:
    """What a file is that is not read, and what would work; "" where that is not known.

    Args:
        by_name: go by the end of its name, too.
    """
    for kind in _kinds():
        begins = kind["begins"] and re.match(kind["begins"], head.text[:4096])
        if begins or (by_name and head.end in kind["ends"].split()):
            return f"{kind['kind']} is not read as it is; {kind['instead']}"
    return ""
