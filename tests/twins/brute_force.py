"""What the numeric cores should compute, in plain Python over sets: slow, and easy to trust.

Relation code `r + R` walks relation `r` backwards, as everywhere.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Iterable, Sequence

Path = tuple[int, ...]


class Facts:
    """Triples as a sorted list of edges, inverse edges included."""

    def __init__(self, triples: Iterable[Sequence[int]], num_relations: int) -> None:
        both = []
        for head, relation, tail in triples:
            both += [(head, relation, tail), (tail, relation + num_relations, head)]
        self.num_relations = num_relations
        self.edges: list[tuple[int, int, int]] = sorted(both)

    def leaving(self, node: int) -> list[int]:
        """Ids of the edges that leave a node."""
        return [i for i, (head, _, _) in enumerate(self.edges) if head == node]

    def codes(self, node: int) -> list[int]:
        """Relation codes that leave a node, ascending."""
        return sorted({code for head, code, _ in self.edges if head == node})

    def tails(self, node: int, code: int) -> list[int]:
        return [t for head, c, t in self.edges if head == node and c == code]


def expand_ragged(lengths: Sequence[int], capacity: int) -> list[tuple[int, int]]:
    """(list, place in it) of each slot."""
    slots = [(row, i) for row, length in enumerate(lengths) for i in range(length)]
    return slots[:capacity]


def first_of_each(keys: Sequence[tuple], valid: Sequence[bool]) -> list[int]:
    seen: dict[tuple, int] = {}
    return [seen.setdefault(key, i) if ok else -1 for i, (key, ok) in enumerate(zip(keys, valid))]


def top_in_group(group, score, valid, num_groups: int, k: int) -> list[list[int]]:
    chosen = []
    for wanted in range(num_groups):
        slots = [i for i, (g, ok) in enumerate(zip(group, valid)) if ok and g == wanted]
        best = sorted(slots, key=lambda i: (-score[i], i))[:k]
        chosen.append(best + [-1] * (k - len(best)))
    return chosen


def choose(scores: Sequence[Sequence[float]], width: int, margin: float = math.inf):
    """(path, action, score) of the best continuations of one question."""
    flat = [
        (score, path, action)
        for path, row in enumerate(scores)
        for action, score in enumerate(row)
        if score > -math.inf
    ]
    flat.sort(key=lambda entry: (-entry[0], entry[1], entry[2]))
    return [(p, a, s) for s, p, a in flat[:width] if s >= flat[0][0] - margin]


def step(facts: Facts, nodes: Iterable[int], codes: Collection[int], longest: float = math.inf):
    """Nodes one hop on, over runs no longer than `longest`."""
    reached = set()
    for node in nodes:
        for code in codes:
            tails = facts.tails(node, code)
            if len(tails) <= longest:
                reached |= set(tails)
    return reached


def follow(
    facts: Facts, topics: Collection[int], allowed: Sequence[Collection[int]], revisit: str
) -> list[set[int]]:
    """Nodes of every hop, hop 0 first."""
    hops = [set(topics)]
    for codes in allowed:
        reached = step(facts, hops[-1], codes)
        if revisit == "topic":
            reached -= hops[0]
        elif revisit == "none":
            reached -= set().union(*hops)
        hops.append(reached)
    return hops


def answers(
    facts: Facts, topics: Collection[int], allowed: Sequence[Collection[int]], revisit: str
) -> set[int]:
    """Nodes where a path ends: at the hop before the first that allows nothing."""
    length = next((hop for hop, codes in enumerate(allowed) if not codes), len(allowed))
    return follow(facts, topics, allowed, revisit)[length] if length else set()


def walk_fault(
    facts: Facts,
    walk: Sequence[int],
    topics: Collection[int],
    allowed: Sequence[Collection[int]],
    end: int,
    revisit: str,
) -> str | None:
    """What is wrong with a walk (edge ids, -1 past its end); None where it is a valid witness."""
    edges = [facts.edges[edge] for edge in itertools.takewhile(lambda e: e >= 0, walk)]
    if any(edge != -1 for edge in walk[len(edges) :]):
        return "an edge past the end"
    if not edges:
        return "no edge at all"
    if edges[0][0] not in topics:
        return "starts elsewhere"
    if edges[-1][2] != end:
        return "ends elsewhere"
    for (_, _, tail), (head, _, _) in itertools.pairwise(edges):
        if tail != head:
            return "is broken"
    for (_, code, _), codes in zip(edges, allowed):
        if code not in codes:
            return "takes a relation that is not allowed"
    hops = follow(facts, topics, allowed, revisit)
    barred = {"topic": hops[:1], "none": hops, "any": []}[revisit]
    for hop, (_, _, tail) in enumerate(edges):
        if any(tail in earlier for earlier in barred[: hop + 1]):
            return "returns where the rule forbids"
    return None


def relation_paths(
    facts: Facts,
    topics: Collection[int],
    hops: int,
    revisit: str = "topic",
    longest: float = math.inf,
) -> dict[Path, set[int]]:
    """Every relation path of 1 to `hops` hops that reaches something, and what it reaches.

    Past the first hop, runs of more than `longest` edges are not walked. Only returns to a topic
    are barred, and only under "topic".
    """
    barred = set(topics) if revisit == "topic" else set()
    found: dict[Path, set[int]] = {}
    grown: dict[Path, set[int]] = {(): set(topics)}
    for hop in range(hops):
        limit = longest if hop else math.inf
        grown = {
            (*path, code): reached
            for path, nodes in grown.items()
            for code in range(2 * facts.num_relations)
            if (reached := step(facts, nodes, [code], limit) - barred)
        }
        found |= grown
    return found


def f1(reached: Collection[int], targets: Collection[int]) -> float:
    hits = len(set(reached) & set(targets))
    return 2 * hits / max(len(set(reached)) + len(set(targets)), 1)


class Place:
    """One partial path of a beam."""

    def __init__(self, path: Path, score: float, nodes: set[int], finished: bool) -> None:
        self.path, self.score, self.nodes, self.finished = path, score, nodes, finished


def beam_search(
    facts: Facts,
    topics: Collection[int],
    score: Callable[[Path, int], float],
    *,
    width: int,
    hops: int,
    margin: float = math.inf,
    revisit: str = "topic",
) -> list[Place | None]:
    """The last beam of one question, empty places None.

    `score(path, action)` is the log-probability of the next relation after `path`, or of
    stopping for action 2R.
    """
    stop = 2 * facts.num_relations
    barred = set(topics) if revisit == "topic" else set()
    beam: list[Place | None] = [None] * width
    if topics:
        beam[0] = Place((), 0.0, set(topics), False)
    for hop in range(hops):
        table = []
        for place in beam:
            row = [-math.inf] * (stop + 1)
            if place and place.finished:
                row[stop] = place.score
            elif place:
                for code in {c for node in place.nodes for c in facts.codes(node)}:
                    row[code] = place.score + score(place.path, code)
                if hop:
                    row[stop] = place.score + score(place.path, stop)
            table.append(row)
        following: list[Place | None] = []
        for parent, action, value in choose(table, width, margin):
            old = beam[parent]
            assert old is not None
            if action == stop:
                following.append(Place(old.path, value, set(), True))
                continue
            nodes = step(facts, old.nodes, [action]) - barred
            grown = Place((*old.path, action), value, nodes, hop == hops - 1)
            following.append(grown if nodes else None)
        beam = following + [None] * (width - len(following))
    return beam
