"""Questions made of a user's own graph, in its own words and in those that `spoken.txt` knows."""

from __future__ import annotations

import dataclasses
import random
from collections import Counter, defaultdict

import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph
from jaxkg.systems.reader.language.vocabulary import Vocabulary
from jaxkg.systems.reader.reading import Readings
from jaxkg.systems.reader.training.maker import Asked
from jaxkg.systems.reader.training.spoken import Spoken, SpokenWorld, domains
from jaxkg.systems.reader.training.spoken_sets import set_questions

LARGEST = 50_000
"""Facts of a graph that questions are made of."""


def own_questions(readings: Readings, count: int, seed: int) -> list[Asked]:
    """Questions about a graph, half of them walks and half about sets, with names as answers.

    Args:
        readings: of the graph.
        count: of questions at most.
        seed: of what is asked.

    Raises:
        JaxkgError: the graph is too large to be told in questions about all of it.
    """
    if readings.kg.num_triples > LARGEST:
        raise JaxkgError(
            f"questions are made of graphs of up to {LARGEST:,} facts, and this one has "
            f"{readings.kg.num_triples:,}: give your own (--questions)"
        )
    world = own_world(readings, seed)
    if not world.relations:
        return []
    found = [*world.asked(count - count // 2), *set_questions(world, count // 2)]
    return list({one.text: one for one in found}.values())


def own_world(readings: Readings, seed: int) -> SpokenWorld:
    """A graph as one that questions are made of: what shares its name with another is left out."""
    kg, vocabulary = readings.kg, readings.vocabulary
    world = object.__new__(SpokenWorld)
    world.random, world.typed = random.Random(seed), True
    world.facts, world.label, world.triples = {}, {}, set()
    world.relations, world.members = [], defaultdict(list)
    named = Counter(kg.entity_names)
    for code, relation in enumerate(vocabulary.relations):
        if relation.role or relation.tails == "boolean":
            continue
        rows = kg.triples[kg.triples[:, 1] == code]
        heads, tails = _kind(readings, rows[:, 0]), relation.tails
        pairs = {(kg.name(int(h)), kg.name(int(t))) for h, _, t in rows}
        pairs = {(h, t) for h, t in pairs if named[h] == named[t] == 1}
        if tails == "thing":
            tails = _kind(readings, rows[:, 2])
        elif not all(_is_number(t) for _, t in pairs):
            tails = "value"
        spoken = _spoken(relation.wordings, heads, tails)
        if pairs and spoken not in world.facts:
            world.relations.append(spoken)
            world.facts[spoken], world.label[spoken] = pairs, kg.relations[code]
            for place, kind in enumerate((heads, tails)):
                known = dict.fromkeys((*world.members[kind], *sorted(p[place] for p in pairs)))
                world.members[kind] = list(known)
    return world


def _spoken(wordings: tuple[str, ...], heads: str, tails: str) -> Spoken:
    """A relation in the words of a known one of the same label and ends of the same sort."""
    labels = {wording.lower() for wording in wordings}
    for some in domains().values():
        for known in some:
            alike = (known.tails == tails) or tails not in ("date", "number", "person")
            if labels & set(known.labels) and alike:
                grades = known.grades if tails in ("date", "number") else ()
                return dataclasses.replace(known, heads=heads, tails=tails, grades=grades)
    label = min(labels, key=len)
    passive = label if label.endswith(" by") else ""
    return Spoken(heads, tails, tuple(sorted(labels)), (label,), passive=passive)


def _kind(readings: Readings, ends: np.ndarray) -> str:
    """What things are, in a word."""
    kinds = readings.find.ends_classes(np.unique(ends))
    return readings.vocabulary.class_words(kinds[0])[0] if kinds else "thing"


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).replace("-", "", 1).isdigit()


def without_classes(kg: KnowledgeGraph) -> KnowledgeGraph | None:
    """A graph that does not say what its things are, as most tables do not; None of such a one."""
    codes = Vocabulary(kg).type_codes
    said = kg.triples[np.isin(kg.triples[:, 1], codes)].tolist()
    ids = kg.entity_ids
    return kg.remove((ids[h], kg.relations[r], ids[t]) for h, r, t in said) if said else None
