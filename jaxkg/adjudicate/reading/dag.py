"""Reasoning plans as checked graphs: whatever a model drafts, what comes out is a small DAG.

Reference: PRoH, Definitions 3 and 5, Section 4.3 (Hasse reduction, topological levels).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

MOST_SUBQUESTIONS = 12
"""Sub-questions of a plan; what is drafted beyond them is left out, and said."""


@dataclasses.dataclass(frozen=True)
class SubQuestion:
    """One step of a plan.

    Attributes:
        id: unique within its plan.
        text: the question; `{id}` stands for the answer of another step, which it depends on.
        needs: ids of the steps to be answered before.
    """

    id: str
    text: str
    needs: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class ReasoningDag:
    """Sub-questions whose dependencies have no cycle and no transitive edge.

    Attributes:
        steps: in an order in which every step comes after those it needs.
        notes: what was wrong with the draft and how it was mended.
    """

    steps: tuple[SubQuestion, ...]
    notes: tuple[str, ...] = ()

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """(before, after) pairs, the immediate dependencies."""
        return tuple((before, step.id) for step in self.steps for before in step.needs)

    @property
    def levels(self) -> tuple[tuple[SubQuestion, ...], ...]:
        """Steps by the length of the longest chain that leads to them."""
        depth: dict[str, int] = {}
        for step in self.steps:
            depth[step.id] = 1 + max((depth[before] for before in step.needs), default=-1)
        return tuple(
            tuple(step for step in self.steps if depth[step.id] == level)
            for level in range(1 + max(depth.values()))
        )

    def next_level(self, answered: Mapping[str, object]) -> tuple[SubQuestion, ...]:
        """The unanswered steps that need nothing unanswered."""
        return tuple(
            step
            for step in self.steps
            if step.id not in answered and all(before in answered for before in step.needs)
        )


def checked_dag(
    drafted: Sequence[SubQuestion], question: str, *, most: int = MOST_SUBQUESTIONS
) -> ReasoningDag:
    """Make a DAG of whatever was drafted.

    Blank steps go; ids that occur twice are told apart; dependencies on unknown steps and on the
    step itself go; a dependency that closes a cycle goes; steps beyond `most` go. A plan of which
    nothing is left asks the question itself.

    Args:
        drafted: steps in the order of the draft.
        question: what the plan is for.
        most: see `MOST_SUBQUESTIONS`.

    Example:
        >>> dag = checked_dag([SubQuestion("a", "who?", ("c",)), SubQuestion("b", "where?", ("a",)),
        ...                    SubQuestion("c", "when?", ("a", "b", "x"))], "all?")
        >>> dag.edges
        (('a', 'b'), ('b', 'c'))
        >>> dag.notes
        ("'c' needs 'x', which is no step", "'a' needs 'c', which closes a cycle")
    """
    notes: list[str] = []
    steps: dict[str, SubQuestion] = {}
    for number, step in enumerate(drafted, start=1):
        text = step.text.strip()
        if not text:
            notes.append(f"step {number} asks nothing")
        elif len(steps) == most:
            notes.append(f"{len(drafted)} steps drafted, the first {most} are kept")
            break
        else:
            id = step.id.strip() or f"{number}"
            if id in steps:
                notes.append(f"two steps are called {id!r}")
                id = next(f"{id}.{n}" for n in range(2, 2 + number) if f"{id}.{n}" not in steps)
            steps[id] = SubQuestion(id, text, tuple(dict.fromkeys(step.needs)))
    if not steps:
        notes.append("the plan is empty: the question itself is asked")
        return ReasoningDag((SubQuestion("1", question),), tuple(notes))
    needs: dict[str, list[str]] = {}
    for id, step in steps.items():
        needs[id] = [before for before in step.needs if before in steps and before != id]
        notes += [f"{id!r} needs {b!r}, which is no step" for b in step.needs if b not in steps]
        notes += [f"{id!r} needs itself" for b in step.needs if b == id]
    kept: dict[str, list[str]] = {id: [] for id in steps}
    # Drafts tell steps in order of asking: a need of an earlier step is kept before a later one.
    position = {id: at for at, id in enumerate(steps)}
    pairs = [(id, before) for id, all_ in needs.items() for before in all_]
    for id, before in sorted(pairs, key=lambda pair: position[pair[1]] > position[pair[0]]):
        if _reaches(kept, before, id):
            notes.append(f"{id!r} needs {before!r}, which closes a cycle")
        else:
            kept[id].append(before)
    reduced = hasse_reduction(kept)
    ordered = _in_order(reduced)
    return ReasoningDag(
        tuple(SubQuestion(id, steps[id].text, tuple(reduced[id])) for id in ordered), tuple(notes)
    )


def refined_dag(
    dag: ReasoningDag,
    answered: Mapping[str, str],
    proposal: Sequence[SubQuestion],
    question: str,
) -> ReasoningDag:
    """Merge a proposed refinement into a plan under way.

    Answered steps stay as they are, whatever is proposed for them. Open steps are replaced by the
    proposal of the same id, new ones are added, and open ones that the proposal leaves out are kept
    out only where it proposes something; an empty proposal changes nothing.

    Args:
        dag: the plan so far.
        answered: answers by id.
        proposal: steps, usually the open ones with the answers filled in.
        question: what the plan is for.

    Reference: PRoH, Section 4.4, state transitions.
    """
    done = [step for step in dag.steps if step.id in answered]
    fresh = [step for step in proposal if step.id not in answered and step.text.strip()]
    if not fresh:
        return dataclasses.replace(dag, notes=())
    return checked_dag([*done, *fresh], question)


def hasse_reduction(needs: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Dependencies that others imply are left out.

    >>> hasse_reduction({"a": [], "b": ["a"], "c": ["a", "b"]})
    {'a': [], 'b': ['a'], 'c': ['b']}
    """
    return {
        id: [
            before
            for before in all_
            if not any(other != before and _reaches(needs, other, before) for other in all_)
        ]
        for id, all_ in needs.items()
    }


def filled_in(step: SubQuestion, answers: Mapping[str, str]) -> str:
    """The step's question with `{id}` or `#id` replaced by the answers that are known.

    >>> filled_in(SubQuestion("2", "where was {1} born?"), {"1": "Ada"})
    'where was Ada born?'
    """
    text = step.text
    for id in sorted(answers, key=len, reverse=True):
        text = text.replace(f"{{{id}}}", answers[id]).replace(f"#{id}", answers[id])
    return text


def _reaches(needs: Mapping[str, Sequence[str]], start: str, goal: str) -> bool:
    """Whether `start` is `goal` or needs it, directly or not."""
    waiting, seen = [start], {start}
    while waiting:
        at = waiting.pop()
        if at == goal:
            return True
        for before in needs.get(at, ()):
            if before not in seen:
                seen.add(before)
                waiting.append(before)
    return False


def _in_order(needs: Mapping[str, Sequence[str]]) -> list[str]:
    """Ids after what they need, otherwise in the given order."""
    placed: dict[str, None] = {}
    while len(placed) < len(needs):
        for id, before in needs.items():
            if id not in placed and all(b in placed for b in before):
                placed[id] = None
    return list(placed)
