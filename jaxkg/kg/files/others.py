"""Kinds of files that are not read, and what to do with each instead."""

from __future__ import annotations

import re

from jaxkg.kg.files.protocol import Head
from jaxkg.kg.files.textfile import toml_beside


def how_to_bring(head: Head, *, by_name: bool = True) -> str:
    """What a file is that is not read, and what would work; "" where that is not known.

    Args:
        by_name: go by the end of its name, too.
    """
    for kind in toml_beside(__file__)["kinds"]:
        begins = kind["begins"] and re.match(kind["begins"], head.text[:4096])
        if begins or (by_name and head.end in kind["ends"].split()):
            return f"{kind['kind']} is not read as it is; {kind['instead']}"
    return ""
