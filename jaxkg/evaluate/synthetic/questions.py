"""Questions about a synthetic graph: relation paths of one to four hops, said in several ways."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Sequence

import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.evaluate.synthetic.schema import OPENERS
from jaxkg.evaluate.synthetic.world import World
from jaxkg.kg.neighbourhood import Neighbourhood
from jaxkg.kg.questions.read import split_brackets
from jaxkg.records import Question

LONGEST = 4
"""Hops that a nested noun phrase can still be read through."""
_DRAWS = 20
"""Topics drawn for every question that is wanted of a path, at most."""


@dataclasses.dataclass(frozen=True)
class QuestionConfig:
    """What synthetic questions are like.

    Attributes:
        train, test: how many of each, about equally many of every number of hops. The two share
            relation paths and never topic and path together.
        hops: numbers of hops asked about, each in 1 ... 4.
        paths: relation paths of every number of hops; more where topics run short.
        most_answers: questions with more answers than this are not asked.
    """

    train: int = 2000
    test: int = 500
    hops: tuple[int, ...] = (1, 2, 3)
    paths: int = 12
    most_answers: int = 50

    def __post_init__(self) -> None:
        if not self.hops or not all(1 <= hop <= LONGEST for hop in self.hops):
            raise JaxkgError(f"hops are in 1 ... {LONGEST}, not {self.hops}")
        if min(self.train, self.test) < 0 or min(self.paths, self.most_answers) < 1:
            raise JaxkgError("train and test must be at least 0, paths and most_answers at least 1")


def make_questions(
    world: World, config: QuestionConfig = QuestionConfig(), *, seed: int = 0
) -> tuple[list[Question], list[Question]]:
    """Ask about a synthetic graph.

    Gold answers follow the relation path through *all* facts, dropping the topic after every hop;
    those that are missing from the graph asked included.

    Args:
        world: from `make_world`.
        config: how many and what.
        seed: of everything random.

    Returns:
        Training questions and test questions, each with topic, mention, answers and relation path.

    Raises:
        JaxkgError: the graph is too small to ask that much of it.
    """
    rng = np.random.default_rng([seed, 1])
    around = Neighbourhood(world.full)
    each = -(-(config.train + config.test) // (len(config.hops) * config.paths))
    parts: tuple[list[Question], list[Question]] = ([], [])
    for hops in config.hops:
        wanted = [_part(size, config.hops, hops) for size in (config.test, config.train)]
        asked: dict[tuple[int, ...], list[tuple[int, np.ndarray]]] = {}
        for _ in range(_DRAWS * config.paths):
            # Rare paths lead from fewer topics than their share: then there are more paths.
            if len(asked) >= config.paths and sum(map(len, asked.values())) >= sum(wanted):
                break
            path = _typed_walk(world, hops, rng)
            if path not in asked and (pairs := _asked(around, path, each, config, rng)):
                asked[path] = pairs
        pool = [
            _question(world, path, topic, answers, rng)
            for path, pairs in asked.items()
            for topic, answers in pairs
        ]
        pool = [pool[row] for row in rng.permutation(len(pool))]
        if len(pool) < sum(wanted):
            raise JaxkgError(
                f"{sum(wanted)} questions of {hops} hops are wanted and {len(pool)} found among "
                f"{world.full.num_entities:,} entities: ask for fewer, or for a larger graph"
            )
        parts[1].extend(pool[: wanted[0]])
        parts[0].extend(pool[wanted[0] : sum(wanted)])
    train, test = (
        [dataclasses.replace(q, id=f"{name}-{n}") for n, q in enumerate(part, start=1)]
        for name, part in zip(("train", "test"), parts)
    )
    return train, test


def _part(size: int, all_hops: Sequence[int], hops: int) -> int:
    """How many of `size` questions have so many hops."""
    place = list(all_hops).index(hops)
    return (place + 1) * size // len(all_hops) - place * size // len(all_hops)


def _asked(
    around: Neighbourhood,
    path: tuple[int, ...],
    count: int,
    config: QuestionConfig,
    rng: np.random.Generator,
) -> list[tuple[int, np.ndarray]]:
    """Topics that the path leads from, in proportion to their facts, and its answers."""
    inverse, code = divmod(path[0], around.kg.num_relations)
    near = around.kg.triples[around.kg.rows_of(code), 2 if inverse else 0]
    drawn = near[rng.integers(len(near), size=_DRAWS * count)]
    topics = dict.fromkeys(drawn.tolist())
    pairs = ((topic, _followed(around, topic, path, config.most_answers)) for topic in topics)
    return list(itertools.islice((pair for pair in pairs if len(pair[1])), count))


def _followed(around: Neighbourhood, topic: int, path: tuple[int, ...], most: int) -> np.ndarray:
    """Entities that the path reaches; none where they are more than `most` at some hop."""
    nodes = np.array([topic], np.int64)
    for code in path:
        ends, _, _ = around.walks(nodes, np.array([code]))
        nodes = np.setdiff1d(ends, [topic])
        if not 0 < len(nodes) <= most or len(ends) > 20 * most:
            return nodes[:0]
    return nodes


@functools.cache
def _codes_from(relations: tuple, kind: str) -> tuple[int, ...]:
    """Codes of asked relations that leave entities of a kind."""
    forward = [
        r for r, relation in enumerate(relations) if relation.forward and relation.head == kind
    ]
    inverse = [
        r + len(relations)
        for r, relation in enumerate(relations)
        if relation.inverse and relation.tail == kind
    ]
    return (*forward, *inverse)


def _end(world: World, code: int) -> str:
    inverse, relation = divmod(code, len(world.relations))
    schema = world.relations[relation]
    return schema.head if inverse else schema.tail


def _typed_walk(world: World, hops: int, rng: np.random.Generator) -> tuple[int, ...]:
    """A relation path that the kinds of entities allow."""
    count = len(world.relations)
    starts = [r for r, relation in enumerate(world.relations) if relation.forward]
    starts += [r + count for r in starts]
    path = [int(rng.choice(starts))]
    for _ in range(hops - 1):
        path.append(int(rng.choice(_codes_from(world.relations, _end(world, path[-1])))))
    return tuple(path)


def _question(
    world: World, path: tuple[int, ...], topic: int, answers: np.ndarray, rng: np.random.Generator
) -> Question:
    phrase = f"[{world.full.name(topic)}]"
    for code in path:
        inverse, relation = divmod(code, len(world.relations))
        schema = world.relations[relation]
        wordings = schema.inverse if inverse else schema.forward
        phrase = wordings[rng.integers(len(wordings))].format(x=phrase)
    openers = OPENERS[_end(world, path[-1])]
    text, mention = split_brackets(openers[rng.integers(len(openers))].format(p=phrase))
    return Question(
        id="",
        text=text,
        topics=(world.full.entity_ids[topic],),
        answers=tuple(world.full.entity_ids[row] for row in answers.tolist()),
        paths=(tuple(world.full.relation_name(code) for code in path),),
        mention=mention,
    )
