"""What executed relation paths reached, as ranked entities with the paths that support them."""

from __future__ import annotations

import dataclasses

import numpy as np

from jaxkg.cite import cite_paths
from jaxkg.kg import KnowledgeGraph
from jaxkg.records import PlanCandidate, RankedEntity, SupportingPath
from jaxkg.search.plans import Reached
from jaxkg.tensors import TensorGraph
from jaxkg.types import NULL


@dataclasses.dataclass
class Cited:
    """What the relation paths of one question reached.

    Attributes:
        paths: a cited walk for each entity and relation path.
        score: summed scores of the walks that end in a node.
        backing: ids of those walks.
        sizes: entities reached, by the place of the relation path.
        complete: False where the execution outgrew the largest bucket.
    """

    paths: list[SupportingPath] = dataclasses.field(default_factory=list)
    score: dict[int, float] = dataclasses.field(default_factory=dict)
    backing: dict[int, list[str]] = dataclasses.field(default_factory=dict)
    sizes: dict[int, int] = dataclasses.field(default_factory=dict)
    complete: bool = True

    def ranked(self, kg: KnowledgeGraph) -> tuple[RankedEntity, ...]:
        """The entities, best first."""
        order = sorted(self.score, key=lambda node: (-self.score[node], node))
        return tuple(
            RankedEntity(
                entity=kg.entity_ids[node],
                name=kg.name(node),
                score=self.score[node],
                paths=tuple(self.backing[node]),
            )
            for node in order
        )


def cite_reached(
    kg: KnowledgeGraph,
    tensors: TensorGraph,
    probability: np.ndarray,
    used: np.ndarray,
    reached: Reached,
) -> list[Cited]:
    """Cite what the used relation paths of each question reached.

    Args:
        kg, tensors: the graph.
        probability: [Q, W] float, of the relation paths.
        used: [Q, W] bool, those that were executed.
        reached: of the used ones, in row-major order.

    Returns:
        For each question; its walks are numbered p1, p2 ... in order of relation paths.
    """
    cited = [Cited() for _ in range(len(used))]
    question, place = np.nonzero(used)
    row_question, row_place = question[reached.row], place[reached.row]
    walked = reached.edges != NULL
    edges = np.maximum(reached.edges, 0)
    triples = np.where(walked, tensors.triple_of_edge[edges], NULL)
    inverse = walked & (tensors.relation[edges] >= kg.num_relations)
    # Rows are in order of questions: a path's number within its question is its distance from the
    # question's first.
    first = np.searchsorted(row_question, np.arange(len(used)))
    number = np.arange(len(row_question)) - first[row_question] + 1
    ids = [f"p{n}" for n in number.tolist()]
    scores = probability[row_question, row_place].astype(float)
    paths = cite_paths(kg, triples, inverse, ids=ids, scores=scores.tolist())
    for path, q, node in zip(paths, row_question.tolist(), reached.node.tolist()):
        of = cited[q]
        of.paths.append(path)
        of.score[node] = of.score.get(node, 0.0) + path.score
        of.backing.setdefault(node, []).append(path.id)
    sizes = np.diff(reached.offsets).tolist()
    for row, (q, w) in enumerate(zip(question.tolist(), place.tolist())):
        cited[q].sizes[w] = sizes[row]
        cited[q].complete &= bool(reached.complete[row])
    return cited


def plan_candidates(
    kg: KnowledgeGraph,
    relations: np.ndarray,
    probability: np.ndarray,
    used: np.ndarray,
    cited: Cited,
) -> tuple[PlanCandidate, ...]:
    """One question's relation paths as records, those of probability 0 left out.

    Args:
        kg: the graph.
        relations: [W, L] int32 codes, NULL past the end.
        probability: [W] float.
        used: [W] bool.
        cited: what they reached.
    """
    return tuple(
        PlanCandidate(
            relations=tuple(
                kg.relation_name(int(code)) for code in relations[place] if code != NULL
            ),
            probability=float(probability[place]),
            reached=cited.sizes.get(place),
            used=bool(used[place]),
        )
        for place in np.flatnonzero(probability > 0).tolist()
    )
