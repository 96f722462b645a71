"""Public questions about a large schema as a phrasebook: `training.sources` in the form of `fit`.

Their graphs are not needed, only which relations each question asks for. A large schema is cut into
parts of neighbouring relations, since a question is told apart from the others of its part.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from jaxkg.systems.reader.linking.phrasebook import Domain, Phrase, masked_words
from jaxkg.words import relation_words

Walked = tuple[str, frozenset[str], frozenset[str]]
"""A question with its names masked, relations walked ahead, relations walked backwards."""


def walked(sample: Mapping[str, Any]) -> Walked | None:
    """What a question walks, from what it names to what it asks for.

    Args:
        sample: with `question`, `nodes` and `edges` (start, relation, label, end), as GrailQA has.

    Returns:
        None where a name is not in the question as it stands, or nothing leads from it.

    >>> nodes = [{"nid": 0, "node_type": "entity", "friendly_name": "Alien"},
    ...          {"nid": 1, "node_type": "class", "friendly_name": "person"}]
    >>> walked({"question": "Who made Alien?", "nodes": nodes,
    ...         "edges": [[1, "film.director.film", "film", 0]]})
    ('who made it', frozenset(), frozenset({'film.director.film'}))
    """
    text, left = sample["question"].replace("@", " "), list(sample["edges"])
    named = [node for node in sample["nodes"] if node["node_type"] == "entity"]
    if not named:
        every = frozenset(edge[1] for edge in left)
        return masked_words(text), every, every
    for node in named:
        found = re.search(re.escape(node["friendly_name"]), text, re.IGNORECASE)
        if found is None:
            return None
        text = f"{text[: found.start()]}@{text[found.end() :]}"
    reached = {node["nid"] for node in named}
    ahead, backwards = set(), set()
    while left:
        step = [edge for edge in left if reached & {edge[0], edge[3]}]
        if not step:
            return None
        ahead |= {edge[1] for edge in step if edge[0] in reached}
        backwards |= {edge[1] for edge in step if edge[0] not in reached}
        reached |= {end for edge in step for end in (edge[0], edge[3])}
        left = [edge for edge in left if edge not in step]
    return masked_words(text), frozenset(ahead), frozenset(backwards)


def public_domains(
    samples: Iterable[Mapping[str, Any]], *, each: int = 30, width: int = 48, seed: int = 0
) -> list[Domain]:
    """Parts of a large schema and what is asked of each.

    Args:
        samples: of one schema, each with its `group`.
        each: questions that ask for one relation, at most.
        width: relations of a part, at most.
        seed: of the order.

    Returns:
        Parts with one question or more.
    """
    order = random.Random(seed)
    drawn = list(samples)
    order.shuffle(drawn)
    told: Counter[str] = Counter()
    labels: dict[str, dict[str, None]] = defaultdict(dict)
    groups: dict[str, list[Walked]] = defaultdict(list)
    for one in drawn:
        found = walked(one)
        if found is not None and min(told[id] for id in found[1] | found[2]) < each:
            told.update(found[1] | found[2])
            groups[one["group"]].append(found)
            for _, id, label, _ in one["edges"]:
                labels[id].update(dict.fromkeys((relation_words(id), label.lower())))
    names = sorted(groups)
    order.shuffle(names)
    parts: list[tuple[set[str], list[Walked]]] = [(set(), [])]
    for one in (one for name in names for one in groups[name]):
        asks = one[1] | one[2]
        if len(parts[-1][0] | asks) > width:
            parts.append((set(), []))
        parts[-1][0].update(asks)
        parts[-1][1].append(one)
    return [
        _domain(f"public {n}", sorted(ids), labels, some) for n, (ids, some) in enumerate(parts)
    ]


def _domain(
    title: str, ids: Sequence[str], labels: Mapping[str, Iterable[str]], some: Sequence[Walked]
) -> Domain:
    place = {id: row for row, id in enumerate(ids)}
    phrases = tuple(
        Phrase(text, *(frozenset(place[id] for id in way) for way in ways)) for text, *ways in some
    )
    return Domain(title, tuple(tuple(labels[id]) for id in ids), (("", ""),) * len(ids), phrases)
