"""Relations to other names of things, in other languages, too; what they lead to is no thing."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

_NAME, _OTHER = "name", "other name"
_RELATIONS = re.compile(rf"{_OTHER}(?: in .+)?|{_NAME} in .+")


def other_names(language: str, *, is_alias: bool) -> str:
    """The relation to a name that is not shown; "" for one in no other language.

    >>> other_names("Finnish", is_alias=False), other_names("", is_alias=True)
    ('name in Finnish', 'other name')
    >>> other_names("", is_alias=False)
    ''
    """
    sort = _OTHER if is_alias else _NAME if language else ""
    return f"{sort} in {language}" if language else sort


def are_names(relations: Sequence[str], triples: np.ndarray, entities: int) -> frozenset[int]:
    """Rows of what is but another name of something: it is found as what bears the name.

    Args:
        relations: of the graph.
        triples: [T, 3].
        entities: how many there are.

    >>> are_names(["other name", "by"], np.array([[0, 0, 1], [0, 1, 2]]), 3)
    frozenset({1})
    """
    codes = [code for code, name in enumerate(relations) if _RELATIONS.fullmatch(name)]
    if not codes:
        return frozenset()
    naming = np.bincount(triples[np.isin(triples[:, 1], codes), 2], minlength=entities)
    degree = np.bincount(triples[:, ::2].ravel(), minlength=entities)
    return frozenset(np.flatnonzero((naming > 0) & (naming == degree)).tolist())
