"""Lists of words, English and German: a file a subject, each of its lists by name."""

from __future__ import annotations

import functools
import tomllib
from importlib import resources


@functools.cache
def _lists(subject: str) -> dict[str, str]:
    file = resources.files(__name__) / f"{subject}.toml"
    return tomllib.loads(file.read_text("utf-8"))


def lines(name: str) -> list[str]:
    """Return the lines of a list; one that is indented goes on with the one before.

    Args:
        name: of the subject and of the list, "cues.stop".

    Raises:
        KeyError: the subject has no such list.

    >>> lines("cues.months")[0].split()[:2]
    ['january', 'february']
    """
    subject, _, key = name.partition(".")
    return _lists(subject)[key].strip().replace("\n  ", " ").splitlines()


def words(name: str) -> frozenset[str]:
    """Return all words of a list, see `lines`."""
    return frozenset(word for line in lines(name) for word in line.split())


def heads(name: str) -> dict[str, str]:
    """Return what stands before the colon of a line by each word after it, the first that has it.

    >>> heads("cues.asks")["whose"]
    'person'
    """
    found: dict[str, str] = {}
    for line in lines(name):
        head, _, some = line.partition(":")
        for word in some.split():
            found.setdefault(word, head)
    return found


def pairs(name: str) -> dict[str, str]:
    """Return what stands after the colon of each word of a list, by what stands before it.

    >>> pairs("abbreviations.spelt")["dob"]
    'date-of-birth'
    """
    split = (word.partition(":") for line in lines(name) for word in line.split())
    return {before: after for before, _, after in split}
