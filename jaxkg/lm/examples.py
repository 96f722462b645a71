"""What a language model is taught, from JSON Lines files."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from typing import Any

from jaxkg.errors import JaxkgError
from jaxkg.kg.files.textfile import existing
from jaxkg.lm.packing import Example
from jaxkg.lm.tokenizer import LMTokenizer

Turns = tuple[tuple[str, str], ...]
_SFT = '{"prompt": "...", "completion": "..."}'
_DPO = '{"prompt": "...", "chosen": "...", "rejected": "..."}'


def read_lessons(
    path: str | os.PathLike[str], *, pairs: bool = False
) -> list[tuple[Turns, tuple[str, ...]]]:
    """Chats and what is to be written behind them.

    Args:
        path: one JSON object a line. `prompt` is the user's turn, or a list of
            `{"role": "system", "content": "..."}`; behind it comes `completion`, or with `pairs`
            the better one, `chosen`, and the other, `rejected`.
        pairs: read preferences.

    Returns:
        (role, text) turns and one completion, or two, of each line.

    Raises:
        JaxkgError: no such file, or a line is something else; it says which.
    """
    names = ("chosen", "rejected") if pairs else ("completion",)
    lessons = []
    with existing(path).open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
                texts = tuple(row[name] for name in names)
                if not all(isinstance(text, str) and text.strip() for text in texts):
                    raise ValueError(f"{' and '.join(names)} are texts that say something")
                lessons.append((tuple(_turns(row["prompt"])), texts))
            except (ValueError, KeyError, TypeError) as error:
                raise JaxkgError(
                    f"{os.fspath(path)}:{number}: not {_DPO if pairs else _SFT} ({error!r})"
                ) from error
    if not lessons:
        raise JaxkgError(f"{os.fspath(path)}: there are no examples in it")
    return lessons


def lesson_texts(lessons: Sequence[tuple[Turns, tuple[str, ...]]]) -> Iterator[str]:
    """All that is said in them, for a tokenizer to learn from."""
    for turns, texts in lessons:
        yield from (text for _, text in turns)
        yield from texts


def examples_of(tokenizer: LMTokenizer, turns: Turns, texts: Sequence[str]) -> tuple[Example, ...]:
    """A chat with each of its completions, as `pack` takes them."""
    return tuple(Example.of_chat(tokenizer, turns, text.splitlines()) for text in texts)


def _turns(prompt: Any) -> Iterator[tuple[str, str]]:
    if isinstance(prompt, str):
        prompt = [{"role": "user", "content": prompt}]
    if not prompt:
        raise ValueError("the prompt is empty")
    for turn in prompt:
        role, content = turn["role"], turn["content"]
        if role not in ("system", "user", "assistant") or not isinstance(content, str):
            raise ValueError(f"a turn of role {role!r}")
        yield role, content
