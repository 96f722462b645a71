"""Made-up graphs around public questions that come with their meaning but without a graph.

The questions of a domain share a small world: classes with invented members, the relations that the
questions ask for among them, and for each question what makes its meaning true. Labels are written
as users write them: words, snake case, camel case, the schema's own long names.
"""

from __future__ import annotations

import dataclasses
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jaxkg.kg import KnowledgeGraph
from training.made_up import made_up_questions
from training.maker import Asked, WorldMaker
from training.splice import spliced


@dataclasses.dataclass(frozen=True)
class World:
    """A graph and what is asked of it."""

    kg: KnowledgeGraph
    asked: tuple[Asked, ...]


def make_world(
    questions: Sequence[Mapping[str, Any]],
    seed: int,
    *,
    made_up: int = 10,
    gone: float = 0.0,
    alone: bool = False,
    longer: float = 0.0,
) -> World:
    """A world of questions in the form of GrailQA.

    Args:
        questions: with `nodes` and `edges`, of one domain.
        seed: of all that is invented.
        made_up: questions to make up beside, of the kinds that the sets lack.
        alone: leave out the questions themselves, to ask those made up.
        longer: questions made longer (`spliced`) that are asked beside, as a share of all.
        gone: share of the relations that are taken out again; what asks for them has no answer.
    """
    maker = WorldMaker(seed)
    order = random.Random(seed)
    some = [q for q in questions if order.random() < longer]
    questions = [*questions, *filter(None, (spliced(q, questions, order) for q in some))]
    maker.learn_schema(questions)
    maker.populate()
    for question in questions:
        maker.plant(question)
    asked = [
        Asked(q["question"], maker.answers(q), frozenset(maker.relation(e[1]) for e in q["edges"]))
        for q in questions
        if not alone
    ]
    asked += made_up_questions(maker, made_up)
    asked = [one for one in asked if one.answers]
    names = sorted({maker.relation(id) for id in maker.ranges})
    out = set(maker.random.sample(names, int(gone * len(names))))
    kg = KnowledgeGraph.from_triples(sorted(t for t in maker.triples if t[1] not in out))
    left = [one if not one.relations & out else Asked(one.text, frozenset()) for one in asked]
    return World(kg, tuple(left))


def grouped(
    questions: Sequence[Mapping[str, Any]], *, size: int, seed: int
) -> Iterator[list[Mapping[str, Any]]]:
    """Questions of one domain together, `size` at most; domains that are all alike are thinned."""
    by_domain: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for question in questions:
        if question["edges"]:
            by_domain[question["group"]].append(question)
    order = random.Random(seed)
    for domain in sorted(by_domain):
        some = by_domain[domain]
        order.shuffle(some)
        for first in range(0, min(len(some), 4 * size), size):
            yield some[first : first + size]
