"""Rules of the reader by name: each can be left out, and tells how often it changes something.

A veto takes readings away where there are others, a contradiction withholds the best reading, a
rewriting changes a question's words or what they name before they are read. `--set
without=NAME,...` leaves rules out, as it does the ranker's groups of views.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, TypeVar

from jaxkg.errors import JaxkgError

T = TypeVar("T")
F = TypeVar("F", bound=Callable)

REWRITINGS = (
    *("topic-first", "asides", "label-superlative", "apposition", "spelling"),
    "class-verbs",
)
"""Names of the rewritings, in the order in which a question meets them."""
_NAMES: dict[str, str] = dict.fromkeys(REWRITINGS, "rewriting")


class Rules:
    """Rules that are followed, and how often each changed something.

    Attributes:
        without: names of the rules that are left out.
        fires: how often each of the others changed something.

    Example:
        >>> rules = Rules(["manners"])
        >>> rules.rewritten("lead", "so", str.upper), rules.rewritten("manners", "a", str.upper)
        ('SO', 'a')
        >>> rules.fires
        Counter({'lead': 1})
    """

    def __init__(self, without: frozenset[str] | list[str] | tuple[str, ...] = ()) -> None:
        self.without = frozenset(without)
        self.fires: Counter[str] = Counter()

    def rewritten(self, name: str, what: T, how: Callable[[T], T]) -> T:
        """What a rewriting makes of something; the thing itself where the rule is left out."""
        if name in self.without:
            return what
        other = how(what)
        if other != what:
            self.fires[name] += 1
        return other

    def holds(self, rule: Callable[..., bool], *about: Any) -> bool:
        """Whether a rule that is not left out says so of what it is told about."""
        found = named(rule) not in self.without and rule(*about)
        if found:
            self.fires[named(rule)] += 1
        return found


def named(rule: Callable) -> str:
    """The name of a rule that is a function: `_taken_in` is "taken-in"."""
    return rule.__name__.strip("_").replace("_", "-")


def veto(rule: F) -> F:
    """Register a function that tells of a reading whether no question means it."""
    _NAMES[named(rule)] = "veto"
    return rule


def contradiction(rule: F) -> F:
    """Register a function that tells whether the best reading may not answer."""
    _NAMES[named(rule)] = "contradiction"
    return rule


def rules() -> dict[str, str]:
    """All rules by name: "veto", "contradiction" or "rewriting"."""
    return dict(_NAMES)


def left_out(without: str, others: frozenset[str]) -> frozenset[str]:
    """The names in a list with commas.

    Args:
        without: the list.
        others: names that are no rules, of groups of views.

    Raises:
        JaxkgError: there is none of such a name.
    """
    names = frozenset(filter(None, map(str.strip, without.split(","))))
    if unknown := names - _NAMES.keys() - others:
        known = ", ".join((*sorted(others), *_NAMES))
        raise JaxkgError(f"the reader has no part {min(unknown)!r} to leave out; it has {known}")
    return names


ALL = Rules()
"""For those who ask without a reader: nothing is left out."""
