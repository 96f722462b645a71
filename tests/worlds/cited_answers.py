"""Answers made by walking relation paths in plain Python, for tests of what is told of them."""

from collections.abc import Iterator, Sequence

from jaxkg.answer import Answer
from jaxkg.cite import cite_paths
from jaxkg.kg import KnowledgeGraph
from jaxkg.records import Link, PlanCandidate, RankedEntity, Usage


def walks(
    kg: KnowledgeGraph, start: int, path: Sequence[str]
) -> Iterator[tuple[list[int], list[bool], int]]:
    """Every walk along a relation path that visits no node twice: rows, directions, end."""

    def further(node: int, at: int, rows: list[int], inverse: list[bool], seen: set[int]):
        if at == len(path):
            yield rows, inverse, node
            return
        back = path[at].startswith("^")
        code = kg.relation_code(path[at].removeprefix("^"))
        for row, (head, relation, tail) in enumerate(kg.triples.tolist()):
            here, there = (tail, head) if back else (head, tail)
            if relation == code and here == node and there not in seen:
                yield from further(there, at + 1, [*rows, row], [*inverse, back], seen | {there})

    return further(start, 0, [], [], {start})


def answer_along(
    kg: KnowledgeGraph, topics: Sequence[str], path: Sequence[str], question: str = "Which?"
) -> Answer:
    """What a relation path leads to from the topics, every walk cited, scores falling by 0.01."""
    found = [walk for topic in topics for walk in walks(kg, kg.entity(topic), path)]
    paths = cite_paths(
        kg,
        [rows for rows, _, _ in found],
        [inverse for _, inverse, _ in found],
        ids=[f"p{number}" for number in range(1, len(found) + 1)],
        scores=[0.9] * len(found),
    )
    support: dict[int, list[str]] = {}
    for (_, _, end), cited in zip(found, paths):
        support.setdefault(end, []).append(cited.id)
    return Answer(
        question=question,
        question_id="q1",
        topics=tuple(Link(t, kg.name(kg.entity(t)), 0, 5, 1.0, "exact") for t in topics),
        entities=tuple(
            RankedEntity(kg.entity_ids[end], kg.name(end), 0.99 - 0.01 * rank, tuple(ids))
            for rank, (end, ids) in enumerate(support.items())
        ),
        paths=tuple(paths),
        plan=(PlanCandidate(tuple(path), 0.75, len(support), True),),
        usage=Usage(seconds=0.5, stages={"plan": 0.25, "execute": 0.25}),
        system="walker",
    )
