"""Keeps keys out of whatever is stored, logged, shown or raised."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import SplitResult, unquote, urlsplit

from jaxkg.errors import JaxkgError

_STAND_INS = frozenset(
    {"empty", "none", "unused", "ollama", "vllm", "lm-studio", "not-needed", "sk-no-key-required"}
)
_SHORTEST = 8
_BACKSLASH = r"(?:\\|%(?:25)*5[cC]|&#0*92;)"
_NAMED = {"&": "amp", '"': "quot", "<": "lt", ">": "gt", "'": "apos"}


class Secrets:
    """Hides the strings it was told in any text that passes through, however they are escaped.

    Told of "sk-a/b" it also finds `sk-a\\/b`, `sk-a%2Fb`, `sk-a\\u002fb`, `sk-a\\x2fb` and
    `sk-a&#47;b`. A key shorter than 8 characters, or one of the words that stand in for a key where
    a local server wants none, is no secret: hiding it would garble ordinary replies.

    Example:
        >>> Secrets(["sk-a-long-key"]).hide("bad key sk-a%2Dlong-key")
        'bad key [key]'
    """

    def __init__(self, values: Iterable[str]) -> None:
        """Take keys; of a value with blanks in it ("Bearer ...") each word is one as well."""
        told = {word for value in values for word in (value, *value.split())}
        secret = {v for v in told if len(v) >= _SHORTEST and v.casefold() not in _STAND_INS}
        self._count = len(secret)
        patterns = (
            "".join(map(_however_written, v)) for v in sorted(secret, key=len, reverse=True)
        )
        self._pattern = re.compile("|".join(patterns)) if secret else None

    def hide(self, text: str) -> str:
        """The text with every secret replaced by `[key]`."""
        return self._pattern.sub("[key]", text) if self._pattern else text

    def __repr__(self) -> str:
        return f"Secrets({self._count} hidden)"


def checked_key(value: str, what: str) -> str:
    """A key or header value without the blanks around it, such as a file's line end.

    Raises:
        JaxkgError: it holds a character that no HTTP header takes; the message does not repeat it.
    """
    value = value.strip()
    for place, char in enumerate(value, start=1):
        if not " " <= char <= "~":
            raise JaxkgError(
                f"{what} holds a character that no HTTP header takes, at place {place} of "
                f"{len(value)}: is it copied whole, and from the right place?"
            )
    return value


def checked_base_url(url: str) -> str:
    """A base URL that HTTP clients may write to their logs, but for keys in its path.

    Raises:
        JaxkgError: it is not http(s), or carries a user name, password or query; the message does
            not repeat it.
    """
    url = url.strip()
    parts = _split(url)
    if parts is None or not all(" " < char <= "~" for char in url):
        raise JaxkgError(
            "the base URL of the endpoint must read http://host:port/v1 or https://host/v1"
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise JaxkgError(
            "the base URL of the endpoint carries a user name, password or query, which would be "
            "written to logs; pass a key as api_key (or OPENAI_API_KEY), others as headers"
        )
    return url


def secret_segments(url: str) -> list[str]:
    """Parts of an address's path that look like keys, as written and without percent signs.

    Taken for one: digits and letters, 16 characters or more; 8 where small and capital letters mix;
    any length behind `sk-`, `pk-` or `key-`.

    Example:
        >>> secret_segments("https://host/t/9f8e7d6c5b4a3928/v1")
        ['9f8e7d6c5b4a3928']
    """
    written = urlsplit(url).path.split("/")
    both = dict.fromkeys([*written, *map(unquote, written)])
    return [segment for segment in both if _looks_secret(segment)]


def _looks_secret(segment: str) -> bool:
    if segment.startswith(("sk-", "pk-", "key-")):
        return True
    if not any(map(str.isdigit, segment)) or not any(map(str.isalpha, segment)):
        return False
    mixed = segment != segment.lower() and segment != segment.upper()
    return len(segment) >= (_SHORTEST if mixed else 2 * _SHORTEST)


def _split(url: str) -> SplitResult | None:
    """The parts of an http(s) address; None where it is none."""
    try:
        parts = urlsplit(url)
        named = parts.scheme in ("http", "https") and parts.hostname and (parts.port or True)
    except ValueError:
        return None
    return parts if named else None


def _however_written(char: str) -> str:
    """A pattern of one character as it stands, or escaped for JSON, Python, an address or HTML."""
    if char == "\\":
        return rf"{_BACKSLASH}+(?:(?:u00|x)5[cC])?"
    code, plain = ord(char), re.escape(char)
    digits = "".join(f"[{d}{d.upper()}]" if d.isalpha() else d for d in f"{code:02x}")
    escaped = [
        rf"%(?:25)*{digits}",
        rf"{_BACKSLASH}+(?:u00|x){digits}",
        rf"&#(?:0*{code}|[xX]0*{digits});",
    ]
    if char in _NAMED:
        escaped.append(f"&{_NAMED[char]};")
    if char.isalnum():
        return f"(?:{'|'.join([plain, *escaped])})"
    return f"{_BACKSLASH}*(?:{'|'.join([plain, *escaped])})"
