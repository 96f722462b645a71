"""What a relation of true and false says no to: "closed" against "open to the public"."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from jaxkg.systems.reader.words import lines

_TURNED = {
    word: frozenset(others.split())
    for word, _, others in (line.partition(": ") for line in lines("opposites.turned"))
}
"""What a relation of true and false says no to."""


def turned(words: Collection[str], label: Sequence[str]) -> bool:
    """Whether words ask for what a label says no to, and not for what it says.

    >>> turned(["which", "are", "closed"], ["open", "to", "public"])
    True
    >>> turned(["which", "are", "open"], ["open", "to", "public"])
    False
    """
    said = set(words)
    return any(
        part not in said and not _TURNED[part].isdisjoint(said) for part in label if part in _TURNED
    )
