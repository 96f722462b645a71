"""Prompts cut to what a server's context holds: data goes from its end, the prompt says so."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

from jaxkg.adjudicate.requests import Message

BYTES_PER_TOKEN = 3
"""Few enough for most languages and tokenizers: an estimate is to be too high."""
TURN_TOKENS = 8
"""Tokens that a chat's template adds to a turn."""

_BLOCK = re.compile(r"(?<=<data>\n).+?(?=\n</data>)", re.DOTALL)
_SHORTEST = 60  # characters that are left of a line at least


def most_tokens(messages: Sequence[Message], form: str = "") -> int:
    """Tokens of a chat, rather too many than too few.

    >>> most_tokens([Message("user", "abcdef")])
    10
    """
    size = len(form.encode("utf-8", "replace"))
    size += sum(len(message.content.encode("utf-8", "replace")) for message in messages)
    return size // BYTES_PER_TOKEN + TURN_TOKENS * len(messages)


def cut_to(
    messages: tuple[Message, ...], tokens: int, form: str = ""
) -> tuple[tuple[Message, ...], int]:
    """A chat whose data fits, and how many lines of data are not shown or not whole.

    The longest block of data of the last turn loses its last lines, and last the end of its one
    line; in place of what is gone it says how much that is. Instructions and question stay, so a
    chat of them alone may still be too long.

    Args:
        messages: data stands between tags, see `jaxkg.adjudicate.delimit`.
        tokens: that there is room for.
        form: what the endpoint adds to the last turn.

    >>> said = "<data>\\n" + "\\n".join(map(str, range(100))) + "\\n</data>"
    >>> cut_to((Message("user", said),), 40)[0][0].content.splitlines()[-3:]
    ['16', '… and 83 more not shown', '</data>']
    """
    excess = BYTES_PER_TOKEN * (most_tokens(messages, form) - tokens)
    *before, last = messages
    text, gone = last.content, 0
    while excess > 0 and (blocks := list(_BLOCK.finditer(text))):
        block = max(blocks, key=lambda match: len(match.group()))
        lines = block.group().split("\n")
        hidden = 0
        if lines[-1].startswith("… and ") and (told := re.search(r"[\d,]+", lines[-1])):
            hidden = int(told.group().replace(",", ""))
            lines.pop()
        if len(lines) > 1:
            target, size, keep = len(block.group().encode()) - excess - 40, 0, 0
            while keep < len(lines) and (size := size + len(lines[keep].encode()) + 1) <= target:
                keep += 1
            keep = min(max(1, keep), len(lines) - 1)
            gone += len(lines) - keep
            hidden += len(lines) - keep
            lines = [*lines[:keep], f"… and {hidden:,} more not shown"]
        else:
            most = max(_SHORTEST, len(lines[0]) - excess - 8)
            if len(lines[0]) <= most:
                break
            gone += 1
            more = [f"… and {hidden:,} more not shown"] if hidden else []
            lines = [f"{lines[0][:most]} […]", *more]
        text = text[: block.start()] + "\n".join(lines) + text[block.end() :]
        cut = (*before, dataclasses.replace(last, content=text))
        excess = BYTES_PER_TOKEN * (most_tokens(cut, form) - tokens)
    return ((*before, dataclasses.replace(last, content=text)), gone) if gone else (messages, 0)
