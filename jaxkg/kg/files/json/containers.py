"""Elements that hold one other each and say nothing, as standards for exchange have them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from jaxkg.kg.files.json.wrapping import VALUES
from jaxkg.kg.files.tables.keys import IDS
from jaxkg.words import relation_words

_SHARED = 3
"""Keys of elements that end in one word from which on it is a word for elements."""
_CALLED = frozenset((*IDS, "name", "title", "label"))


def without_containers(document: Any) -> Any:
    """A document in which elements that hold one other each, and no more, are as what they hold.

    Where several keys of such elements end in one word, as `titleSet` and `placeSet` do, it says
    nothing either. A document without such a word is left as it is.

    >>> work = {"titleSet": {"textSet": {"ownValue": "Clock"}}, "placeSet": {"ownValue": "Ely"},
    ...         "dateSet": {"day": {"from": 1801, "to": 1802}}, "maker": {"name": "Ann"}}
    >>> without_containers([work])[0].pop("maker"), without_containers([work | {"maker": 1}])
    ({'name': 'Ann'}, [{'title': 'Clock', 'place': 'Ely', 'day': {'from': 1801, 'to': 1802}, \
'maker': 1}])
    """
    inside, plain = defaultdict[str, set[frozenset[str]]](set), set[str]()
    for key, value in _pairs(document):
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, dict):
                inside[key].add(frozenset(item if isinstance(value, list) else _own(item)))
            else:
                plain.add(key)
    ends = defaultdict[str, set[str]](set)
    for key in inside.keys() - plain:
        *before, last = relation_words(key).lower().split() or [""]
        if before:
            ends[last].add(key)
    shared = {word for word, keys in ends.items() if len(keys) >= _SHARED}
    lone = {
        key: next(iter(only))
        for key, several in inside.items()
        if len(several) == 1 and len(only := next(iter(several))) == 1 and key not in plain
    }
    lone = {key: inner for key, inner in lone.items() if inner.lower() not in _CALLED}
    return _opened(document, lone, shared) if shared and lone else document


def _pairs(value: Any) -> Iterator[tuple[str, Any]]:
    """Keys with what is under each, at any depth."""
    around = [value]
    while around:
        value = around.pop()
        if isinstance(value, dict):
            yield from value.items()
            around += value.values()
        elif isinstance(value, list):
            around += value


def _own(item: dict[str, Any]) -> list[str]:
    """Keys of an object, but for those that say something of one of them: its language."""
    return [key for key in item if key.rpartition(" ")[0] not in item]


def _opened(value: Any, lone: dict[str, str], shared: set[str]) -> Any:
    if isinstance(value, list):
        return [_opened(item, lone, shared) for item in value]
    if not isinstance(value, dict):
        return value
    opened: dict[str, Any] = {}
    for key, item in value.items():
        chain, beside = [key], {}
        while chain[-1] in lone and lone[chain[-1]] not in chain:
            inner = lone[chain[-1]]
            chain.append(inner)
            of = item if isinstance(item, dict) else {}
            beside |= {word.removeprefix(inner): v for word, v in of.items() if word != inner}
            item = _held(item, inner)
        name = _called(chain, shared) if len(chain) > 1 else key
        name = key if name in opened or (name in value and name != key) else name
        opened[name] = _opened(item, lone, shared)
        opened |= {f"{name}{word}": said for word, said in beside.items()}
    return opened


def _held(value: Any, key: str) -> Any:
    """What is under the one key of an object, or of each of several."""
    if isinstance(value, dict):
        return value[key]
    held = [item[key] for item in value]
    return [inner for item in held for inner in (item if isinstance(item, list) else [item])]


def _called(chain: list[str], shared: set[str]) -> str:
    """The keys of a chain of elements in words, without those that say nothing."""
    words = [relation_words(key).lower().split() for key in chain]
    says_nothing = [
        (bool(parts[1:]) and parts[-1] in shared) or parts[-1] in VALUES for parts in words
    ]
    telling = [parts for parts, empty in zip(words, says_nothing) if not empty]
    if not telling:
        first = words[0][:-1] if words[0][1:] and words[0][-1] in shared else words[0]
        telling = [first]
    return " ".join(dict.fromkeys(word for parts in telling for word in parts))
