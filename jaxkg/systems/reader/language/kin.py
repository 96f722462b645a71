"""Kin that a graph has no relation for: parents are fathers and mothers, grandchildren theirs."""

from __future__ import annotations

from jaxkg.systems.reader.language.lexicon.stems import singular

_PARENT = ("father", "mother", "parent", "vater", "mutter", "elternteil")
_CHILD = ("child", "son", "daughter", "kind", "sohn", "tochter")
KIN = {
    "p": ("parent", "eltern"),
    "c": ("child", "kid", "offspring", "kind"),
    "pp": ("grandparent", "großeltern"),
    "cc": ("grandchild", "grandkid", "enkel", "enkelkind"),
    "pc": ("sibling", "geschwister"),
    "ccc": ("great-grandchild", "urenkel"),
}
"""What kin is called by its steps: p to parents, c to children."""
_STEPS = {word: steps for steps, words in KIN.items() for word in words}
_PLURALS = {"grandchildren": "grandchild", "children": "child", "kinder": "kind"}
_PLURALS |= {"enkelkinder": "enkelkind", "enkeln": "enkel", "kindern": "kind"}


def kin_steps(word: str) -> str:
    """Steps to the kin that a word names; "" for no such word.

    >>> kin_steps("grandchildren"), kin_steps("parents"), kin_steps("garden")
    ('cc', 'p', '')
    """
    return _STEPS.get(_PLURALS.get(word, word), "") or _STEPS.get(singular(word), "")


def leads_to_parents(label: str) -> bool | None:
    """Whether a relation's tails are parents of its heads; False where they are children.

    >>> leads_to_parents("mother"), leads_to_parents("has child"), leads_to_parents("born in")
    (True, False, None)
    """
    last = label.lower().split()[-1:]
    word = _PLURALS.get(last[0], singular(last[0])) if last else ""
    return True if word in _PARENT else False if word in _CHILD else None
