"""What a super-relation search did, read back from the device for people and reports."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from jaxkg.answer import Answer
from jaxkg.records import TraceNode
from jaxkg.search.super_relations import BestPaths, SuperSearch
from jaxkg.systems.reknos.super_relations import SuperRelations
from jaxkg.types import NULL


@dataclasses.dataclass(frozen=True)
class SuperStep:
    """One step of a search path.

    Attributes:
        candidates: super-relations to choose among (M).
        kept: those chosen, best first, with their normalised scores (Eq. 4 and 5).
    """

    candidates: int
    kept: tuple[tuple[str, float], ...]


@dataclasses.dataclass(frozen=True, eq=False)
class Trace:
    """One question's search.

    Attributes:
        steps: of the search path; their number is L*.
        paths: the best super-relation paths with their scores (Eq. 8), shortest first.
        extracted: [X] int32 entities that those extract (Eq. 9), ascending.
        triples: size of the search space: triples walked, each counted once a step.
        reached: nodes those lead to, each counted once a step of a super-relation path.
        complete: False where the search outgrew the largest bucket.
        failed: calls to a language model that brought nothing, by stage.
    """

    steps: tuple[SuperStep, ...]
    paths: tuple[tuple[tuple[str, ...], float], ...]
    extracted: np.ndarray
    triples: int
    reached: int = 0
    complete: bool = True
    failed: tuple[str, ...] = ()

    def nodes(self) -> tuple[TraceNode, ...]:
        """The steps and the paths, for a saved trace."""
        steps = [
            TraceNode(
                f"step {number}: {step.candidates} super-relations to choose among",
                below=tuple(TraceNode(name, weight, True) for name, weight in step.kept),
            )
            for number, step in enumerate(self.steps, start=1)
        ]
        best = sorted(self.paths, key=lambda path: -path[1])
        paths = tuple(TraceNode(" → ".join(names), score) for names, score in best)
        return (*steps, TraceNode("best super-relation paths", below=paths))


@dataclasses.dataclass(frozen=True)
class Solved:
    """An answer and the search behind it."""

    answer: Answer
    trace: Trace


def read_traces(
    search: SuperSearch, best: BestPaths, groups: SuperRelations, count: int, *, complete: bool
) -> list[Trace]:
    """Traces of the first `count` questions of a batch.

    Args:
        search, best: on the host.
        groups: names of the super-relations.
        count: questions that are real.
        complete: whether everything fitted.
    """
    extracted = extracted_entities(search, best, count)
    reached = np.concatenate([frontier.valid for frontier in search.trail[1:]])
    nodes = np.bincount(slot_questions(search)[reached], minlength=count)
    traces = []
    for i in range(count):
        steps = tuple(
            SuperStep(int(search.candidates[step][i]), _kept(search, step, i, groups))
            for step in range(int(search.steps[i]))
        )
        paths = tuple(
            (tuple(groups.names[g] for g in path if g != NULL), score)
            for path, score in zip(best.groups[i].tolist(), best.score[i].tolist())
            if path[0] != NULL
        )
        triples = int(search.walked[i])
        traces.append(Trace(steps, paths, extracted[i], triples, int(nodes[i]), complete))
    return traces


def slot_questions(search: SuperSearch) -> np.ndarray:
    """[E] int32: the question of every slot after hop 0, in the order of `BestPaths`."""
    batch = len(search.steps)
    return np.concatenate(
        [
            np.clip(frontier.row // totals.shape[1], 0, batch - 1)
            for frontier, totals in zip(search.trail[1:], search.totals[1:])
        ]
    )


def extracted_entities(search: SuperSearch, best: BestPaths, count: int) -> list[np.ndarray]:
    """The distinct entities that each question's best paths extract, ascending."""
    there = np.flatnonzero(best.extracted_by != NULL)
    question = slot_questions(search)[there]
    node = np.concatenate([frontier.node for frontier in search.trail[1:]])[there]
    order = np.lexsort((node, question))
    bounds = np.searchsorted(question[order], np.arange(count + 1))
    return [np.unique(node[order[a:b]]) for a, b in pairwise(bounds)]


def entities_by_path(search: SuperSearch, best: BestPaths) -> dict[int, dict[int, list[int]]]:
    """The entities that each best path extracts, ascending, by question and place of the path."""
    there = np.flatnonzero(best.extracted_by != NULL)
    question = slot_questions(search)[there].tolist()
    node = np.concatenate([frontier.node for frontier in search.trail[1:]])[there].tolist()
    places: dict[int, dict[int, list[int]]] = {}
    for i, place, n in sorted(zip(question, best.extracted_by[there].tolist(), node)):
        places.setdefault(i, {}).setdefault(place, []).append(n)
    return places


def _kept(
    search: SuperSearch, step: int, question: int, groups: SuperRelations
) -> tuple[tuple[str, float], ...]:
    chosen: Sequence[int] = search.sets[step][question].tolist()
    weight: Sequence[float] = search.weights[step][question].tolist()
    return tuple((groups.names[g], w) for g, w in zip(chosen, weight) if g != NULL)
