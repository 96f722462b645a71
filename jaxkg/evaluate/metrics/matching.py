"""Which predicted answer is which gold answer: ids where there are ids, normalised names elsewhere.

- `"auto"`: where the gold answer is known to be an entity, the ids must be equal; where it is
  known to be none, the normalised names; where nothing is known, either will do. A prediction
  without an id is compared by name.
- `"id"`: the prediction's id must equal the gold id (the gold string, where no id is known).
- `"name"`: the normalised names must be equal.

Names are normalised by `strict_normalise`. Homonyms are told apart by id alone: by name they are
one answer.

Text normalisation: the published one, letter for letter, and a strict one without its holes.
"""

from __future__ import annotations

import functools
import re
import string
import unicodedata
from collections.abc import Hashable, Iterable, Sequence
from typing import Literal, NamedTuple

from jaxkg.errors import JaxkgError

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_ASCII_PUNCTUATION = str.maketrans("", "", string.punctuation)


def published_normalise(text: str) -> str:
    """Normalise as the scripts of MRQA, RoG and its descendants do.

    Lower case, the 32 ASCII punctuation characters dropped (not replaced by a space), the words
    a, an and the dropped, runs of white space collapsed. Holes kept on purpose: other scripts'
    punctuation stays, and a name that is all punctuation or an article becomes empty, which is
    then a substring of everything.

    >>> published_normalise("The  Spider-Man!"), published_normalise("A"), published_normalise("¿?")
    ('spiderman', '', '¿')
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_ASCII_PUNCTUATION)).split())


@functools.lru_cache(maxsize=1 << 17)
def strict_normalise(text: str) -> str:
    """Normalise a name for equality.

    As `published_normalise`, after Unicode compatibility composition (NFKC) and case folding, and
    with every Unicode punctuation character dropped. A name that would become empty keeps its
    folded form, so it equals itself and nothing else.

    >>> strict_normalise("L’Été"), strict_normalise("A"), strict_normalise("!!!")
    ('lété', 'a', '!!!')
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    plain = folded.translate(_ASCII_PUNCTUATION)
    if not plain.isascii():
        plain = "".join(c for c in plain if not unicodedata.category(c).startswith("P"))
    return " ".join(_ARTICLES.sub(" ", plain).split()) or " ".join(folded.split())


Match = Literal["auto", "id", "name"]


class Keys(NamedTuple):
    """One question in keys: equal keys are the same answer.

    Attributes:
        gold: the distinct gold answers.
        ranked: (key, score) of the predictions, best first, repetitions included.
    """

    gold: frozenset[Hashable]
    ranked: list[tuple[Hashable, float]]


def match_answers(
    gold: Sequence[str],
    gold_ids: Sequence[str | None] | None,
    predictions: Iterable[tuple[str | None, str, float]],
    *,
    match: Match = "auto",
    aliases: Sequence[str] = (),
) -> Keys:
    """Give gold answers and predictions of one question keys by which to compare them.

    Args:
        gold: display names of the gold answers (or their ids, where that is all there is).
        gold_ids: the entity id of each, None for one that is no entity; None as a whole where
            nobody knows.
        predictions: (id or None, display name, score), best first.
        match: see the module.
        aliases: further names of the gold answer; of no use where there are several.

    >>> keys = match_answers(["Heat"], ["m.1"], [("m.2", "Heat", 0.9), ("m.1", "Heat", 0.8)])
    >>> [key in keys.gold for key, _ in keys.ranked]
    [False, True]
    """
    if match not in ("auto", "id", "name"):
        raise JaxkgError(f"match is 'auto', 'id' or 'name', not {match!r}")
    if gold_ids is not None and len(gold_ids) != len(gold):
        raise JaxkgError(f"{len(gold_ids)} gold ids for {len(gold)} gold answers")
    by_id: dict[str, str] = {}
    by_name: dict[str, str] = {}
    for index, name in enumerate(gold):
        entity = gold_ids[index] if gold_ids is not None else None
        if match == "id":
            by_id[entity or name] = entity or name
        elif match == "name":
            by_name[strict_normalise(name)] = strict_normalise(name)
        elif entity is not None:
            by_id[entity] = entity
        else:
            key = strict_normalise(name)
            by_name[key] = key
            if gold_ids is None:
                by_id[name] = key
    unlinked = by_name
    if match == "auto" and gold_ids is not None:
        unlinked = by_name | {
            strict_normalise(name): entity for name, entity in zip(gold, gold_ids) if entity
        }
    if len(gold) == 1 and match != "id":
        for names in (by_name, unlinked):
            if key := next(iter(names.values()), None):
                names |= {strict_normalise(alias): key for alias in aliases}
    ranked: list[tuple[Hashable, float]] = []
    for entity, name, score in predictions:
        key = by_id.get(entity) if entity else None
        if key is None and match != "id":
            names = by_name if entity else unlinked
            key = names.get(strict_normalise(name)) if names else None
        # A pair never equals a gold key, so a wrong answer's id cannot collide with a gold name.
        wrong = ("id", entity) if entity and match != "name" else ("name", strict_normalise(name))
        ranked.append((wrong if key is None else key, score))
    return Keys(frozenset(by_id.values()) | frozenset(by_name.values()), ranked)
