"""What a super-relation search should compute, in plain Python over sets: ReKnoS, Eq. 1 to 9."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Sequence

from brute_force import Facts, step

Places = tuple[int, ...]


def members(group: Sequence[int], which: int) -> list[int]:
    """Relation codes of a super-relation."""
    return [code for code, of in enumerate(group) if of == which]


def connects(facts: Facts, group: Sequence[int], first: int, second: int) -> bool:
    """Definition 1."""
    return any(
        middle == again and group[one] == first and group[two] == second
        for _, one, middle in facts.edges
        for again, two, _ in facts.edges
    )


@dataclasses.dataclass
class Search:
    """What one question's search has come to; paths are named by places in the sets."""

    sets: list[list[int]]
    weights: list[list[float]]
    candidates: list[int]
    entities: list[dict[Places, set[int]]]
    totals: list[dict[Places, float]]

    def groups(self, path: Places) -> tuple[int, ...]:
        """Eq. 6."""
        return tuple(kept[place] for kept, place in zip(self.sets, path))

    def best(self, length: int, keep: int) -> list[Places]:
        """Eq. 8 for the paths of one length."""
        totals = self.totals[length]
        return sorted(totals, key=lambda path: (-totals[path], path))[:keep]


def search_by_hand(
    facts: Facts,
    topics: Collection[int],
    group: Sequence[int],
    score: Callable[[int, int], float],
    *,
    width: int,
    hops: int,
    revisit: str = "topic",
    floor: float = 0.0,
) -> Search:
    """Search for one question; `score(step, super-relation)` is not negative."""
    barred = set(topics) if revisit == "topic" else set()
    found = Search([], [], [], [{(): set(topics)}], [{(): 0.0}])
    for hop in range(hops):
        paths, totals = found.entities[-1], found.totals[-1]
        candidates = {
            group[code]
            for nodes in paths.values()
            for node in nodes
            for code in facts.codes(node)
            if set(facts.tails(node, code)) - barred
        }
        if not candidates:
            break
        ranked = sorted(candidates, key=lambda g: (-score(hop, g), g))
        kept = [g for g in ranked[:width] if score(hop, g) >= floor * score(hop, ranked[0])]
        total = sum(score(hop, g) for g in kept)
        weights = [score(hop, g) / total if total else 1 / len(kept) for g in kept]
        longer = {
            (*path, place): reached
            for path, nodes in paths.items()
            for place, g in enumerate(kept)
            if (reached := step(facts, nodes, members(group, g)) - barred)
        }
        found.sets.append(kept)
        found.weights.append(weights)
        found.candidates.append(len(candidates))
        found.entities.append(longer)
        found.totals.append({path: totals[path[:-1]] + weights[path[-1]] for path in longer})
    return found
