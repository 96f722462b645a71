"""Plans in words held against the graph: names matched, directions read, hops that cannot follow
one another found before anything is executed."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

import numpy as np

from jaxkg.adjudicate.reading.match import Candidates
from jaxkg.kg import KnowledgeGraph
from jaxkg.types import inverse_code

WIDTH = 2
"""Relations a hop may allow (Shrestha and Kim, Appendix A)."""

_BACKWARDS = re.compile(
    r"^\s*(?:[\^~]\s*|inverse\s+of\s+)|\s*(?:\^-1|\((?:inverse|reversed?)\))\s*$", re.IGNORECASE
)


@dataclasses.dataclass(frozen=True)
class ReadPlan:
    """A plan that the graph bears.

    Attributes:
        hops: relation codes allowed at each hop, one or two.
    """

    hops: tuple[tuple[int, ...], ...]

    @property
    def path(self) -> tuple[int, ...]:
        """The relation of each hop, the first where there are two."""
        return tuple(hop[0] for hop in self.hops)

    def names(self, kg: KnowledgeGraph) -> tuple[tuple[str, ...], ...]:
        """Relation names of each hop, an inverse one written `^name`."""
        return tuple(tuple(kg.relation_name(code) for code in hop) for hop in self.hops)


@dataclasses.dataclass(frozen=True)
class ReadPlans:
    """What became of a reply.

    Attributes:
        plans: those that hold, in the reply's order, each once.
        dropped: names that were never offered, and relations beyond two a hop.
        refused: plans that do not hold, each with the reason.
        nearest: the last of the plans where it is none of the reply's, but what exists nearest to
            one.
    """

    plans: tuple[ReadPlan, ...]
    dropped: tuple[str, ...]
    refused: tuple[str, ...]
    nearest: ReadPlan | None = None


class PlanSchema:
    """Which relation can follow which in a graph.

    A plan holds where its first relations leave a topic and every later one leaves a node that one
    before it leads to. That it reaches anything from this topic is shown by executing it.
    """

    def __init__(self, kg: KnowledgeGraph) -> None:
        self.kg = kg
        self._names = frozenset(kg.relations)
        self._ends: dict[int, np.ndarray] = {}
        self._follows: dict[tuple[int, int], bool] = {}

    def starts(self, code: int) -> np.ndarray:
        """Nodes that a relation leaves, sorted."""
        if code not in self._ends:
            count = self.kg.num_relations
            relation, column = (code - count, 2) if code >= count else (code, 0)
            self._ends[code] = np.unique(self.kg.triples[self.kg.rows_of(relation), column])
        return self._ends[code]

    def leaves(self, topics: Sequence[int], code: int) -> bool:
        """Whether a relation leaves one of these nodes."""
        return bool(np.isin(np.asarray(topics), self.starts(code)).any())

    def follows(self, before: int, code: int) -> bool:
        """Whether a relation leaves some node that another leads to."""
        key = (before, code)
        if key not in self._follows:
            reached = self.starts(inverse_code(before, self.kg.num_relations))
            common = np.intersect1d(reached, self.starts(code), assume_unique=True)
            self._follows[key] = bool(len(common))
        return self._follows[key]

    def read(
        self,
        plans: Sequence[Sequence[Sequence[str]]],
        topics: Sequence[int],
        offered: Candidates,
        *,
        hops: int,
    ) -> ReadPlans:
        """Match the names of plans to relations and hold the plans against the graph.

        A relation named without its direction, or with the wrong one, is walked the way that can
        follow. A hop none of whose relations can be walked refuses the whole plan: half a plan
        would answer another question.

        Args:
            plans: relation names of each hop of each plan.
            topics: topic nodes.
            offered: the relations that were offered, name by name.
            hops: longest plan.
        """
        read: dict[ReadPlan, None] = {}
        dropped: dict[str, None] = {}
        refused: dict[str, None] = {}
        for plan in plans:
            told = " → ".join(" or ".join(names) or "nothing" for names in plan)
            if len(plan) > hops:
                refused[f"{told}: {len(plan)} hops, {hops} are allowed"] = None
                continue
            before: tuple[int, ...] | None = None
            codes: list[tuple[int, ...]] = []
            for number, names in enumerate(plan, start=1):
                named, missing = self._named(names[:WIDTH], offered)
                dropped.update(dict.fromkeys([*missing, *names[WIDTH:]]))
                where = "the topic" if number == 1 else f"hop {number - 1}"
                walkable = {code: self._walkable(code, topics, before) for code in named}
                before = tuple(dict.fromkeys(c for c in walkable.values() if c is not None))
                for code in (code for code, way in walkable.items() if way is None):
                    name = self.kg.relation_name(code)
                    refused[f"{told}: {name} does not leave {where}"] = None
                if not names:
                    refused[f"{told}: hop {number} names nothing"] = None
                if not before:
                    break
                codes.append(before)
            else:
                if codes:
                    read[ReadPlan(tuple(codes))] = None
        return ReadPlans(tuple(read), tuple(dropped), tuple(refused))

    def codes(self, plan: Sequence[Sequence[str]], offered: Candidates) -> tuple[int, ...]:
        """The relations that a plan names, as it names them, whether it holds or not."""
        return tuple(code for names in plan for code in self._named(names, offered)[0][:1])

    def _named(self, names: Sequence[str], offered: Candidates) -> tuple[list[int], list[str]]:
        """Codes of the names that were offered, and the names that were not."""
        found: dict[int, None] = {}
        missing: list[str] = []
        for name in names:
            # A relation's own name may read like a direction.
            backwards = name.strip() not in self._names and bool(_BACKWARDS.search(name))
            known = offered.find(_BACKWARDS.sub("", name) if backwards else name)
            for relation in known:
                code = self.kg.relation_code(relation)
                found[inverse_code(code, self.kg.num_relations) if backwards else code] = None
            if not known:
                missing.append(name)
        return list(found), missing

    def _walkable(
        self, code: int, topics: Sequence[int], before: tuple[int, ...] | None
    ) -> int | None:
        """The relation, or the same the other way, if it can be walked from there."""
        for way in (code, inverse_code(code, self.kg.num_relations)):
            if before is None:
                can = self.leaves(topics, way)
            else:
                can = any(self.follows(last, way) for last in before)
            if can:
                return way
        return None
