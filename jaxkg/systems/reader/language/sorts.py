"""Sorts of things in a graph that does not say what anything is: told by the relations they have.

Relations belong together where the same entities have them (cosine of their sets of entities), and
an entity is of the sort that most of its relations belong to; after characteristic sets (Neumann
and Moerkotte, "Characteristic Sets", ICDE 2011). A sort is named by labels, names and ids.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from jaxkg.kg import KnowledgeGraph
from jaxkg.kg.link.folding import split_words
from jaxkg.kg.neighbourhood import distinct
from jaxkg.systems.reader.language.lexicon.cue_words import LIGHT, STOP
from jaxkg.systems.reader.language.lexicon.stems import is_past
from jaxkg.systems.reader.words import words
from jaxkg.words import singular

_LOOKED_AT = 6_000
"""Entities that are looked at to tell sorts apart."""
_LABELS, _NAMES = 16, 5
"""Labels and names that tell what a sort is like."""
_DENSE = 1_000
"""Relation codes up to which all pairs of them fit in a table."""
_TOGETHER = 0.4
_PURE = 0.9
_SHARED = 0.6
_PARTICLE_WORDS = "by to from for in of at on with as under von aus bei im am"
_PARTICLES = frozenset(_PARTICLE_WORDS.split())
_TELL_HEADS = frozenset(["name", "id", "code", "ref", "tag", "key", "since", "nummer", "seit"])
_HAVING = frozenset(["has", "have", "had", "is", "was", "are", "were", "hat", "ist"])

_SITUATED = words("sorts.situated")
"""Words before an "in" that a place follows."""

ROLES = dict.fromkeys(map(singular, words("sorts.place")), "place")
ROLES |= dict.fromkeys(map(singular, words("sorts.person")), "person")
"""Nouns that say what someone or something is: "person" or "place"."""

_FEATURES = dict.fromkeys(words("sorts.local"), "place")
_FEATURES |= dict.fromkeys(words("sorts.personal"), "person")
"""Words of relations that persons, or places, have."""


@dataclasses.dataclass(frozen=True)
class Sort:
    """Entities that are alike.

    Attributes:
        codes: whoever has one of these relation codes is of the sort.
        members: [K] these entities, ascending.
        every: all relation codes that are of the sort alone; `codes` are few that lead to as many.
        words: what the sort may be called.
        general: "person", "place" or "".
        labels: of the relations that its members have.
        names: of some of its members.
    """

    codes: tuple[int, ...]
    members: np.ndarray
    words: tuple[str, ...]
    general: str = ""
    every: tuple[int, ...] = ()
    labels: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


def inferred_sorts(
    kg: KnowledgeGraph,
    codes: Sequence[int],
    domain: Callable[[int], np.ndarray],
    wordings: Callable[[int], tuple[str, ...]],
    typed: np.ndarray,
) -> list[Sort]:
    """The sorts of the entities that have no class.

    Args:
        kg: the graph.
        codes: relation codes whose entities are things.
        domain: entities that a relation code leaves.
        wordings: a relation code in words.
        typed: [N] bool, entities that have a class.
    """
    of_code = {code: domain(code) for code in codes}
    bare = {c: rows for c, rows in of_code.items() if len(rows) and typed[rows].mean() < 0.5}
    if not bare:
        return []
    kept = sorted(bare)
    having, had = _incidence(kg, kept, bare)
    group = _together(having, had, len(kept))
    sorts, codes_had, times = _counted(_of_entity(having, group[had])[having], had)
    all_had = np.bincount(had, minlength=len(kept))
    found = []
    for start, end in itertools.pairwise([*np.flatnonzero(np.diff(sorts, prepend=-1)), len(sorts)]):
        near = codes_had[start:end]
        share = times[start:end] / all_had[near]
        places = np.sort(near[share >= 0.5])
        pure = [kept[place] for place in np.sort(near[share >= _PURE])]
        if not pure:
            continue
        codes_of = _covering(pure, bare)
        members = distinct(np.concatenate([bare[code] for code in codes_of]))
        named = [kept[place] for place in places]
        general = general_sort(kg, named, wordings)
        # "Father" names a few of all persons, "skill" all that anyone has.
        wide = [c for c in named if c < kg.num_relations or len(bare[c]) >= _SHARED * len(members)]
        words = _words(kg, members, wide, wordings)
        words = (*words, general) if general and general not in words else words
        labels = tuple(wordings(code)[0] for code in pure[:_LABELS])
        some = members[:: max(1, len(members) // _NAMES)][:_NAMES].tolist()
        names = tuple(kg.name(node) for node in some)
        words = words or ("thing",)
        found.append(Sort(codes_of, members, words, general, tuple(pure), labels, names))
    return found


def _incidence(
    kg: KnowledgeGraph, kept: Sequence[int], of_code: dict[int, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Which relation codes some entities have: places of the entities, and of the codes."""
    each = max(5, _LOOKED_AT // len(kept))
    some = [rows[:: max(1, len(rows) // each)] for rows in of_code.values()]
    if kg.num_entities <= _LOOKED_AT:
        some = list(of_code.values())
    rows = distinct(np.concatenate(some))
    having = [np.searchsorted(rows, of_code[code][_among(of_code[code], rows)]) for code in kept]
    return np.concatenate(having), np.repeat(np.arange(len(kept)), [len(some) for some in having])


def _among(rows: np.ndarray, there: np.ndarray) -> np.ndarray:
    """[K] bool: which of some rows are among others, which ascend and are not empty."""
    return there[np.minimum(np.searchsorted(there, rows), len(there) - 1)] == rows


def _together(having: np.ndarray, had: np.ndarray, count: int) -> np.ndarray:
    """[C] group of each of `count` relation codes; groups are counted as they come."""
    one, other, shared = _shared(having, had, count)
    size = np.sqrt(np.maximum(np.bincount(had, minlength=count), 1))
    near = shared / size[one] / size[other] >= _TOGETHER
    first = np.arange(count)
    while True:
        least = first.copy()
        np.minimum.at(least, one[near], first[other[near]])
        least = least[least]
        if (least == first).all():
            return np.unique(first, return_inverse=True)[1]
        first = least


def _shared(
    having: np.ndarray, had: np.ndarray, count: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pairs of relation codes that some entity has both of, and how many have both."""
    if count <= _DENSE:
        table = np.zeros((having.max() + 1, count), np.float32)
        table[having, had] = 1
        product = table.T @ table
        one, other = np.nonzero(product)
        return one, other, product[one, other]
    # Not needed by small graphs, for which importing it would be a tenth of a first answer.
    from scipy.sparse import coo_array, csr_array

    sparse = csr_array((np.ones(len(had), np.float32), (having, had)))
    both = coo_array(sparse.T @ sparse)
    return both.row, both.col, both.data


def _of_entity(having: np.ndarray, group: np.ndarray) -> np.ndarray:
    """[E] the group that most of an entity's relations are in; of equals, the rarer one."""
    entity, groups, votes = _counted(having, group)
    size = np.bincount(groups)
    told = votes - size[groups] / (1 + size.max()) / 2
    best = np.lexsort((groups, -told, entity))
    return groups[best][np.unique(entity[best], return_index=True)[1]]


def _counted(one: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The pairs that there are, ascending, and how often each is there."""
    width = int(other.max()) + 1
    pairs, times = np.unique(one.astype(np.int64) * width + other, return_counts=True)
    return pairs // width, pairs % width, times


def _covering(codes: Sequence[int], of_code: dict[int, np.ndarray]) -> tuple[int, ...]:
    """Few relation codes whose entities are all that any of these has."""
    kept: list[int] = []
    there = np.array([-1])
    for code in sorted(codes, key=lambda c: (-len(of_code[c]), c)):
        if not _among(of_code[code], there).all():
            kept.append(code)
            there = distinct(np.concatenate([there, of_code[code]]))
    return tuple(kept)


def general_sort(
    kg: KnowledgeGraph, codes: Sequence[int], wordings: Callable[[int], tuple[str, ...]]
) -> str:
    """Whether those who have these relations are persons or places, as far as labels tell.

    The head of "born in" is a person and its tail a place; the tail of "project lead" is a person.
    """
    votes: Counter[str] = Counter()
    for code in codes:
        ahead = code < kg.num_relations
        for wording in wordings(code):
            words = split_words(wording).folded
            told = (
                {_FEATURES.get(w) or _FEATURES.get(singular(w)) for w in words} if ahead else set()
            )
            if not ahead and words:
                told = {ROLES.get(singular(words[-1]))}
                if words[-1] in ("in", "at") and len(words) > 1:
                    told = {"place"} if words[-2] in _SITUATED else set()
            votes.update(kind for kind in told if kind)
    best = votes.most_common(2)
    clear = best and (len(best) == 1 or best[0][1] > best[1][1])
    return best[0][0] if clear else ""


def _words(
    kg: KnowledgeGraph,
    members: np.ndarray,
    codes: Sequence[int],
    wordings: Callable[[int], tuple[str, ...]],
) -> tuple[str, ...]:
    """What a sort may be called: words of its names and ids, and of what leads to and from it."""
    some = members[:: max(1, len(members) // 200)].tolist()
    told: Counter[str] = Counter()
    if len(some) > 1:
        names: Counter[str] = Counter()
        for row in some:
            tag = re.search(r"(?:^|[/#:])([A-Za-z]{3,})[/_:#-]?\w*\d\w*$", kg.entity_ids[row])
            parts = [singular(w) for w in split_words(kg.name(row)).folded]
            # Each word once, in its order: of words as common the first is kept.
            names.update(list(dict.fromkeys([*parts, *([tag[1].lower()] if tag else [])])))
        told.update({w: 3 for w, n in names.items() if n >= _SHARED * len(some) and _says(w)})
    heads: Counter[str] = Counter()
    named: set[str] = set()
    for code in codes:
        for wording in wordings(code):
            words = [w for w in split_words(wording).folded if w not in _HAVING]
            if not words or words[-1] in _PARTICLES or is_past(words[-1]):
                continue  # "reports to", "bought": no noun
            if code >= kg.num_relations:
                told.update({" ".join(words): 2} | ({words[-1]: 2} if _says(words[-1]) else {}))
            elif len(words) > 1 and not set(words) & _PARTICLES and not is_past(words[0]):
                # A "project lead" is of a project; but a "job title" of no job.
                head = " ".join(words[:-1])
                tells = words[-1] in _TELL_HEADS or singular(words[-1]) in ROLES  # "member since"
                heads[head] += 2 if tells else 1
                named |= {head} if words[-1] == "name" else set()
    # What tells the names of tracks and of artists is neither.
    apart = named if len(named) > 1 else set[str]()
    told.update({head: n for head, n in heads.items() if n > 1 and head not in apart})
    return tuple(word for word, _ in told.most_common(12))


def _says(word: str) -> bool:
    return word not in STOP and word not in LIGHT and len(word) > 2 and not word.isdigit()
