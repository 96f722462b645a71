"""Names as keys, so that what a question writes meets what the graph has; labels spelt out."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

import numpy as np

from jaxkg.kg import KnowledgeGraph
from jaxkg.kg.files.tables.keys import KEY
from jaxkg.kg.link.folding import split_words
from jaxkg.kg.neighbourhood import distinct
from jaxkg.systems.reader.language.lexicon.units import without_unit
from jaxkg.systems.reader.words import pairs
from jaxkg.words import relation_words, singular

_SPELT = {short: long.replace("-", " ") for short, long in pairs("abbreviations.spelt").items()}
_AREA = re.compile(r"\b(?:sq ?m|sq ?ft|m2|m²)\b", re.IGNORECASE)


def spelt_out(label: str) -> str:
    """A label with what is clipped in it spelt out; a number's "no" where something stands before.

    >>> spelt_out("cust dob"), spelt_out("order no"), spelt_out("directed by")
    ('customer date of birth', 'order number', 'directed by')
    """
    words = _AREA.sub("area", label).split()
    told = [_SPELT.get(word.lower().rstrip("."), word) for word in words]
    if len(words) > 1 and words[-1].lower().rstrip(".") == "no":
        told[-1] = "number"
    return " ".join(told)


_PART = 3
"""Letters of a word within another one, at least; but for the last words `_ENDS`."""
_ENDS = ("id", "no")


@functools.cache
def parted_words(label: str) -> str:
    """A label with words apart that are written as one.

    >>> parted_words("duedate"), parted_words("max unitprice"), parted_words("betrag")
    ('due date', 'max unit price', 'betrag')
    >>> parted_words("accountid"), parted_words("username")
    ('account id', 'username')
    """
    return " ".join(map(_parted_word, label.split()))


def _parted_word(word: str) -> str:
    if len(word) <= 2 * _PART or not (word.isascii() and word.isalpha() and word.islower()):
        return word
    from wordninja import split

    *before, last = parts = split(word)
    whole = all(len(part) >= _PART for part in before) and (len(last) >= _PART or last in _ENDS)
    return " ".join(parts) if whole else word


_BRACKETS = re.compile(r"\s*[(\[][^)\]]*[)\]]\s*$")
_LETTER = re.compile(r"\b([^\W\d_])[ -](?=[^\W\d_]{3})")
"""A letter that is a word's first part: an "e mail" is an email."""
_IN_BRACKETS = re.compile(r"[(\[]([^)\]]*[^\W\d]{2}[^)\]]* [^)\]]*)[)\]]$")
"""Several words at the end of a label, by which its exporter tells it: "custom field (due day)"."""
_ARTICLE_WORDS = "the a an der die das den dem des ein eine einen prof dr mr mrs ms"
ARTICLES = frozenset(_ARTICLE_WORDS.split())
"""Words before a name that are no part of it."""
_COUNTED = re.compile(r"(\w+) (?:count|total|quantity|qty)")
_AGAIN = frozenset({"id", "name"})
"""Last words of a label that calls what it leads to, where that comes again."""
_NO_ENDS = np.zeros(0, np.int64)
_APART = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[a-z]{3})(?=\d)")
_ROMAN: dict[str, str] = dict(zip(("ii", "iii", "iv", "vi", "vii", "viii", "ix"), "2346789"))


@functools.lru_cache(100_000)
def key_of(text: str) -> str:
    """Key of a name: articles and a bracketed end left out; see `key_of_words`.

    >>> key_of("The Night Herons (lamp)") == key_of("night heron"), key_of("Iron Valley II")
    (True, 'iron valley 2')
    """
    words = split_words(_BRACKETS.sub("", text) or text).folded
    while len(words) > 1 and words[0] in ARTICLES:
        words = words[1:]
    return key_of_words(words)


def opened(name: str) -> str:
    """A name with its words apart, where capitals or digits alone tell them.

    >>> opened("BrassMonkeyRag"), opened("Iron Valley"), opened("brass_monkey"), opened("Room101")
    ('Brass Monkey Rag', 'Iron Valley', 'brass_monkey', 'Room 101')
    """
    return name if any(map(str.isspace, name)) else _APART.sub(" ", name)


def key_of_words(words: Sequence[str]) -> str:
    """Folded words in the singular; Roman numbers that are no letters, too, as digits.

    >>> key_of_words(["world", "wars", "ii"]), key_of_words(["ii"])
    ('world war 2', 'ii')
    """
    alone = len(words) == 1
    return " ".join(word if alone else _ROMAN.get(word, word) for word in map(singular, words))


def relation_wordings(
    kg: KnowledgeGraph, code: int, *, rows: bool, ends: np.ndarray = _NO_ENDS
) -> tuple[str, ...]:
    """How a relation may be called: its label, its other labels, what they stand for.

    Args:
        kg: the graph.
        code: of the relation, in [0, R).
        rows: whether all that it leads to has facts of its own; "driver id" is the driver then.
        ends: what it leads to, fact by fact. Where something comes again, which an id of the heads
            does not, a "driver id" or "driver name" is the driver, too, unless another relation is.

    >>> graph = KnowledgeGraph.from_triples([("trip", "cust_no", "Ann")])
    >>> relation_wordings(graph, 0, rows=True), relation_wordings(graph, 0, rows=False)
    (('cust', 'customer', 'cust no', 'customer number'), ('cust no', 'customer number'))
    >>> graph = KnowledgeGraph.from_triples([("Ann", "E-mail", "a@x.org")])
    >>> relation_wordings(graph, 0, rows=False)
    ('e mail', 'email')
    """
    words = [
        relation_words(label)
        for label in (kg.relation_labels[code], *kg.relation_aliases.get(code, ()))
    ]
    if (own := relation_words(kg.relations[code])).replace(" ", "").isalpha():
        words.append(own)
    words += [relation_words(m[1]) for word in words if (m := _IN_BRACKETS.search(word))]
    words += [one for word in words if (one := parted_words(word)) != word]
    words += filter(None, [*map(without_unit, words)])
    words += [one for word in words if (one := _LETTER.sub(r"\1", word)) != word]
    words += [f"number of {m[1]}" for word in words if (m := _COUNTED.fullmatch(word))]
    keyed = [word.rpartition(" ") for word in words]
    again = any(last.lower() in _AGAIN for _, _, last in keyed) and len(distinct(ends)) < len(ends)
    keys = KEY if rows else {"id"} if again else ()
    meant = [stem for stem, _, last in keyed if stem and last.lower() in keys]
    named = [stem for stem, _, last in keyed if again and stem.isalpha() and last.lower() == "name"]
    if named or (meant and not rows):
        others = {relation_words(label).lower() for label in kg.relation_labels}
        meant = [stem for stem in meant if rows or stem.lower() not in others]
        named = [stem for stem in named if stem.lower() not in others]
    meant += [spelt_out(word) for word in meant]
    return tuple(dict.fromkeys([*meant, *words, *map(spelt_out, words), *named]))
