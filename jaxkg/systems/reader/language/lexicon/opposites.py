"""Words that are near to one another and never mean the same: a phone number is no e-mail address.

Sentence vectors hold them for alike, since they stand in the same places.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Collection, Sequence

from jaxkg.systems.reader.language.lexicon.stems import stem

# One line for what excludes one another, its sides parted by bars; not what tells one fact from its
# two ends, as "bought" and "sold to".
_LINES = """
phone telephone mobile | email mail | fax | website url | street postcode zip
birth born | death died dead buried | married wedding
mother mum mom mutter | father dad vater | son sohn | daughter tochter | brother bruder | sister
  schwester | uncle onkel | aunt tante | cousin | niece nichte | nephew neffe | wife husband
  | grandmother oma | grandfather opa
height tall | weight heavy weigh | width wide | depth deep
start begin began | end ended finish finished
arrive arrival arrives arrived | depart departure departs departed
minimum min lowest | maximum max highest
price cost fee charge | stock quantity
price cost fee charge fare | score metascore rating | age | population | elevation height | weight
  | area | duration | distance | year
colour color | size | shape | material
author wrote writer written | editor edited edit | translator translated translate | illustrator
  illustrated
director directed | producer produced | starring starred star actor cast act acted acts acting
doctor | nurse
language | population | currency
latitude | longitude
driver driven drove | passenger
plaintiff | defendant
metre metres meter meters m | kilometre kilometres kilometer kilometers km
  | centimetre centimetres cm | mile miles
gram grams g | kilo kilos kilogram kilograms kg | tonne tonnes
"""


_TURNED = {
    word: frozenset(others.split())
    for word, _, others in (
        line.partition(": ")
        for line in """
open: closed shut geschlossen
available: unavailable
working: broken faulty kaputt
paid: unpaid outstanding owing owe owes
accessible: inaccessible stuck
access: stuck
active: inactive dormant defunct
full: room space places free vacancies
finished: unfinished
sold: left remaining available
married: single unmarried
indoor: outdoor outdoors
heated: unheated
""".strip().splitlines()
    )
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
    for number, line in enumerate(_LINES.strip().replace("\n  ", " ").splitlines()):
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
