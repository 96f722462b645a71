"""Kin that a graph has no relation for: parents are fathers and mothers, grandchildren theirs."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from jaxkg.words import singular

_FATHER, _MOTHER = ("father", "vater"), ("mother", "mutter")
_PARENT = (*_FATHER, *_MOTHER, "parent", "elternteil")
_CHILD = ("child", "son", "daughter", "kind", "sohn", "tochter")
KIN = {
    "p": ("parent", "eltern"),
    "c": ("child", "kid", "offspring", "kind"),
    "pp": ("grandparent", "großeltern"),
    "cc": ("grandchild", "grandkid", "enkel", "enkelkind"),
    "pc": ("sibling", "geschwister"),
    "ccc": ("great-grandchild", "urenkel"),
    "pm": ("grandmother", "grandma", "granny", "oma", "großmutter"),
    "pf": ("grandfather", "grandpa", "granddad", "opa", "großvater"),
}
"""What kin is called by its steps: p to parents, m to mothers, f to fathers, c to children."""
_STEPS = {word: steps for steps, words in KIN.items() for word in words}
_PLURALS = {"grandchildren": "grandchild", "children": "child", "kinder": "kind"}
_PLURALS |= {"enkelkinder": "enkelkind", "enkeln": "enkel", "kindern": "kind"}


def kin_steps(word: str) -> str:
    """Steps to the kin that a word names; "" for no such word.

    >>> kin_steps("grandchildren"), kin_steps("parents"), kin_steps("garden")
    ('cc', 'p', '')
    """
    return _STEPS.get(_PLURALS.get(word, word), "") or _STEPS.get(singular(word), "")


def kin_told(words: Sequence[str], names: Collection[int]) -> list[str]:
    """Steps to the kin that each word of a question names; not to a child by "what kind of".

    Args:
        words: folded words.
        names: places of words that name something.

    >>> kin_told(["what", "kind", "of", "man", "is", "her", "grandpa"], ())
    ['pf']
    """
    plain = (
        word
        for place, word in enumerate(words)
        if place not in names and not (word == "kind" and words[place + 1 : place + 2] == ["of"])
    )
    return [steps for word in plain if (steps := kin_steps(word))]


def leads_to_parents(label: str) -> bool | None:
    """Whether a relation's tails are parents of its heads; False where they are children.

    >>> leads_to_parents("mother"), leads_to_parents("has child"), leads_to_parents("born in")
    (True, False, None)
    >>> leads_to_parents("mother of"), leads_to_parents("son of"), leads_to_parents("kind of")
    (False, True, None)
    """
    word, turned = _role(label)
    return (word in _PARENT) != turned if word in (*_PARENT, *_CHILD) else None


def kin_codes(labels: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Relation codes that lead to parents, "p", mothers, "m", fathers, "f", and children, "c".

    Args:
        labels: of R relations, "" for those that are not looked at.

    >>> kin_codes(["mother of", "father", "age"])
    {'p': (3, 1), 'm': (3,), 'f': (1,), 'c': (0, 4)}
    """
    found: dict[str, list[int]] = {"p": [], "m": [], "f": [], "c": []}
    for code, label in enumerate(labels):
        up = leads_to_parents(label)
        if up is not None:
            back = code + len(labels)
            found["p"].append(code if up else back)
            found["c"].append(back if up else code)
            for step, words in (("m", _MOTHER), ("f", _FATHER)):
                if _role(label)[0] in words:
                    found[step].append(code if up else back)
    return {step: tuple(codes) for step, codes in found.items()} if found["p"] else {}


def _role(label: str) -> tuple[str, bool]:
    """The noun of a label, and whether the head is it: "is mother of"."""
    words = label.lower().split()
    if words[-2:] == ["kind", "of"]:
        return "", False  # a sort, not a child
    turned = words[-1:] in (["of"], ["von"])
    last = words[: len(words) - turned][-1:]
    return (_PLURALS.get(last[0], singular(last[0])) if last else ""), turned
