"""Keeps keys out of whatever is stored, logged, shown or raised."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from jaxkg.errors import JaxkgError

_STAND_INS = frozenset(
    {"empty", "none", "unused", "ollama", "vllm", "lm-studio", "not-needed", "sk-no-key-required"}
)
_SHORTEST = 8


class Secrets:
    """Hides the strings it was told in any text that passes through.

    A key shorter than 8 characters, or one of the words that stand in for a key where a local
    server wants none, is no secret: hiding it would garble ordinary replies.

    Example:
        >>> Secrets(["sk-a-long-key"]).hide("bad key sk-a-long-key")
        'bad key [key]'
    """

    def __init__(self, values: Iterable[str]) -> None:
        secret = {v for v in values if len(v) >= _SHORTEST and v.casefold() not in _STAND_INS}
        self._values = tuple(sorted(secret, key=len, reverse=True))

    def hide(self, text: str) -> str:
        """The text with every secret replaced by `[key]`."""
        for value in self._values:
            text = text.replace(value, "[key]")
        return text

    def __repr__(self) -> str:
        return f"Secrets({len(self._values)} hidden)"


def checked_base_url(url: str) -> str:
    """A base URL that is safe to show.

    Raises:
        JaxkgError: it is not http(s), or carries a user name, password or query, which HTTP clients
            write to their logs; the message does not repeat it.
    """
    try:
        parts = urlsplit(url)
        named = parts.scheme in ("http", "https") and parts.hostname and (parts.port or True)
    except ValueError:
        parts, named = None, False
    if parts is None or not named:
        raise JaxkgError(
            "the base URL of the endpoint must read http://host:port/v1 or https://host/v1"
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise JaxkgError(
            "the base URL of the endpoint carries a user name, password or query, which would be "
            "written to logs; pass a key as api_key (or OPENAI_API_KEY), others as headers"
        )
    return url
