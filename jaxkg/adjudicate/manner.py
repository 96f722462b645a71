"""How a model is asked, whichever method asks: what a user says once for a whole run."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from jaxkg.errors import JaxkgError

PROMPT_TOKENS = 1200
"""Tokens, as estimated, of what a prompt shows of a graph's paths."""


@dataclasses.dataclass(frozen=True)
class Manner:
    """What holds for every request of a run.

    Attributes:
        why: ask for reasons too; without, a model writes answers alone, which is faster.
        prompt_tokens: tokens of the paths that a prompt shows, as estimated; what is left out is
            told.
        max_tokens: longest reply in tokens, in place of each stage's own.
        seed: sampling seed of requests that have none of their own.
        extra: further fields of every request's body, e.g. `{"enable_thinking": False}`.

    Raises:
        JaxkgError: a number is below 1.
    """

    why: bool = False
    prompt_tokens: int = PROMPT_TOKENS
    max_tokens: int | None = None
    seed: int | None = None
    extra: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("prompt_tokens", "max_tokens"):
            number = getattr(self, name)
            if number is not None and number < 1:
                raise JaxkgError(f"{name} is at least 1, not {number}")
