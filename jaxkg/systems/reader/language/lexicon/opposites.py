"""What a relation of true and false says no to: "closed" against "open to the public"."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from jaxkg.systems.reader.words import lines


def _opposites(pairs: Iterable[str]) -> dict[str, frozenset[str]]:
    parts = (pair.partition(": ") for pair in pairs)
    return {word: frozenset(others.split()) for word, _, others in parts}


_TURNED = _opposites(lines("opposites.turned"))
"""What a relation of true and false says no to."""
_LACKING = _opposites(lines("opposites.lacking"))
"""What things are of which a relation says nothing, or nothing yet."""


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


def not_yet(words: Sequence[str], label: Sequence[str]) -> frozenset[int]:
    """Places of words that ask for things of which a relation of a label says nothing.

    >>> not_yet(["which", "are", "still", "open"], ["date", "closed"])
    frozenset({3})
    """
    asked = frozenset().union(*(_LACKING.get(part, ()) for part in label))
    return frozenset(place for place, word in enumerate(words) if word in asked)
