"""Words that are near to one another and never mean the same: a phone number is no e-mail address.

Sentence vectors hold them for alike, since they stand in the same places.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Collection, Sequence

from jaxkg.systems.reader.language.lexicon.stems import stem
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


@functools.cache
def _sides() -> dict[str, dict[int, int]]:
    """Side of each stem on the lines that it is on."""
    found: dict[str, dict[int, int]] = defaultdict(dict)
    for number, line in enumerate(lines("opposites.sides")):
        for side, words in enumerate(line.split("|")):
            for word in words.split():
                found[stem(word)][number] = side
    return dict(found)


def opposed(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether a phrase speaks of what another one rules out, and of nothing of its own.

    Args:
        one, other: folded words.

    >>> opposed(("phone", "number"), ("email",)), opposed(("phone",), ("email", "or", "phone"))
    (True, False)
    """
    mine, theirs = _on(one), _on(other)
    lines = mine.keys() & theirs.keys()
    return any(not mine[line] & theirs[line] for line in lines)


def _on(words: tuple[str, ...]) -> dict[int, set[int]]:
    found: dict[int, set[int]] = defaultdict(set)
    for word in words:
        for line, side in _sides().get(stem(word), {}).items():
            found[line].add(side)
    return found
