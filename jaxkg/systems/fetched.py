"""Parts of a store's graph that were fetched, each with the system that answers over it."""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable, Iterable

import numpy as np

from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.kg.queries.sets import QuerySets
from jaxkg.kg.stores.around import (
    Reach,
    Surroundings,
    TopicGraph,
    everything,
    sample_graph,
    surroundings,
    topic_graph,
)
from jaxkg.kg.stores.cuts import counted_rows
from jaxkg.kg.stores.store import Store
from jaxkg.systems.answering import QuestionAnswering

_KEPT = 2
"""Facts that are kept, as a multiple of those looked at together: asked in batches, a set of
questions comes round to the same parts again."""


class FetchedPart:
    """A part of a graph, or a small graph whole, and what answers over it.

    Args:
        graph: the part.
        around: what it was made of.
        build: makes the system.
    """

    def __init__(
        self,
        graph: TopicGraph,
        around: Surroundings,
        build: Callable[[TopicGraph], QuestionAnswering],
    ) -> None:
        self.graph, self.around, self._build = graph, around, build
        self.topics = frozenset(around.topics or ())
        self.whole = around.topics is None

    @functools.cached_property
    def system(self) -> QuestionAnswering:
        """Made once for all questions that are asked here."""
        return self._build(self.graph)

    @functools.cached_property
    def counted(self) -> np.ndarray:
        """[N] bool: entities of the part whose facts were counted."""
        return counted_rows(self.graph, self.around)

    @functools.cached_property
    def sets(self) -> QuerySets:
        """Executes query graphs here: the system's own, where it has any."""
        return getattr(self.system, "sets", None) or QuerySets(self.graph)


class FetchedParts:
    """The parts of a store, those that were used last kept.

    Args:
        store: the graph.
        build: makes the system that answers, of a part.
        reach: how far to look around topics.
        whole_schema: see `topic_graph`.
        sampled: whether systems look at a sample of the graph, too.

    Attributes:
        made: parts that were fetched and built so far.
        forgotten: parts given up for want of space.
    """

    def __init__(
        self,
        store: Store,
        build: Callable[[TopicGraph], QuestionAnswering],
        reach: Reach,
        *,
        whole_schema: bool,
        sampled: bool,
    ) -> None:
        self.store, self.reach = store, reach
        self._build, self._whole_schema, self._sampled = build, whole_schema, sampled
        self._kept: OrderedDict[frozenset[int], FetchedPart] = OrderedDict()
        self.made = self.forgotten = 0

    @functools.cached_property
    def whole(self) -> FetchedPart | None:
        """The whole graph, where it is small enough."""
        count = self.store.count if self.reach.whole else None
        if count is None or count > self.reach.whole:
            return None
        return self._part(everything(self.store))

    @functools.cached_property
    def _sample(self) -> KnowledgeGraph | None:
        return sample_graph(self.store) if self._sampled else None

    def known(self, topics: Iterable[int]) -> FetchedPart | None:
        """A part in which what lies around these entities is there already."""
        wanted = frozenset(topics)
        for key, part in reversed(self._kept.items()):
            if wanted <= part.topics:
                self._kept.move_to_end(key)
                return part
        return None

    def around(self, topics: Iterable[int], questions: int) -> FetchedPart | None:
        """Fetch what lies around the topics of some questions.

        Returns:
            None where that is too much for one part and the questions are several.
        """
        found = surroundings(self.store, list(topics), self.reach, questions=questions)
        if found.full and questions > 1:
            return None
        part = self._part(found)
        self._kept[part.topics] = part
        while len(self._kept) > 1 and self._facts > _KEPT * self.reach.together:
            self._kept.popitem(last=False)
            self.forgotten += 1
        return part

    def _part(self, found: Surroundings) -> FetchedPart:
        self.made += 1
        sample = None if found.topics is None else self._sample
        graph = topic_graph(self.store, found, whole_schema=self._whole_schema, sample=sample)
        return FetchedPart(graph, found, self._build)

    @property
    def _facts(self) -> int:
        return sum(part.graph.num_triples for part in self._kept.values())
