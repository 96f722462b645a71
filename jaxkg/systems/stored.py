"""Any system over a graph that is not held whole: asked around the topics of the questions.

A small graph is fetched whole. Of a larger one what lies around the topics is fetched as a small
graph, a system is built on it and answers, and what was not fetched is told where the answer's
relations could have led there.
"""

from __future__ import annotations

import dataclasses
import functools
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from jaxkg.answer import Answer
from jaxkg.cite import check
from jaxkg.deadline import check as check_time
from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.kg.link.folding import split_words
from jaxkg.kg.queries.sets import QuerySets
from jaxkg.kg.stores.around import (
    Reach,
    Surroundings,
    TopicGraph,
    cut_words,
    everything,
    sample_graph,
    surroundings,
    topic_graph,
)
from jaxkg.kg.stores.cuts import counted_rows, cuts_met
from jaxkg.kg.stores.labels import spans
from jaxkg.kg.stores.store import Runs, Store
from jaxkg.query import path_query, query_from_dict
from jaxkg.records import Question, SupportingPath, TraceNode
from jaxkg.systems.answering import Progress, QuestionAnswering

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


INCOMPLETE = "incomplete"
"""Begins the note of an answer to which there may be more than was fetched."""


class StoredQA(QuestionAnswering):
    """Answers questions over a store, a group of questions at a time.

    Args:
        store: the graph.
        build: makes the system that answers, of what lies around the topics.
        name: of that system.
        reach: how far to look around topics.
        whole_schema: see `topic_graph`.
        sampled: see `FetchedParts`.
        together: questions whose surroundings are fetched and asked as one graph, at most.

    Attributes:
        parts: what was fetched.
    """

    def __init__(
        self,
        store: Store,
        build: Callable[[TopicGraph], QuestionAnswering],
        *,
        name: str = "",
        reach: Reach = Reach(),
        whole_schema: bool = True,
        sampled: bool = True,
        together: int = 256,
    ) -> None:
        self.store = store
        self.parts = FetchedParts(store, build, reach, whole_schema=whole_schema, sampled=sampled)
        self._name, self._together = name, together
        self._last: dict[str, FetchedPart] = {}
        self._asked = 0

    def answer(
        self,
        questions: Sequence[Question],
        *,
        use_given: bool = True,
        on_progress: Progress | None = None,
    ) -> list[Answer]:
        """See `QuestionAnswering.answer`."""
        return self._answered(
            questions,
            lambda system, told: system.answer(told, use_given=use_given),
            use_given=use_given,
            on_progress=on_progress,
        )

    def traced(self, question: Question) -> tuple[Answer, tuple[TraceNode, ...]]:
        """An answer, and what the system over the fetched part tells of its stages."""
        stages: list[TraceNode] = []

        def ask(system: QuestionAnswering, told: Sequence[Question]) -> list[Answer]:
            answer, considered = system.traced(told[0])
            stages.extend(considered)
            return [answer]

        [answer] = self._answered([question], ask)
        return answer, tuple(stages)

    def _answered(
        self,
        questions: Sequence[Question],
        ask: Callable[[QuestionAnswering, Sequence[Question]], list[Answer]],
        *,
        use_given: bool = True,
        on_progress: Progress | None = None,
    ) -> list[Answer]:
        self._last.clear()
        self._asked += len(questions)
        answers: dict[int, Answer] = {}
        for group, part in self._groups(questions, use_given):
            told = [questions[place] for place in group]
            found: Sequence[Answer]
            if part is None:
                found = [self._nothing(question) for question in told]
            elif part.graph.num_triples:
                found = ask(part.system, told)
            else:
                found = [self._nothing(question, "no fact is about the topic") for question in told]
            for place, answer in zip(group, found):
                answers[place] = answer if part is None else self._told(answer, part)
                if part is not None:
                    self._last[_key(answers[place])] = part
            if on_progress is not None:
                on_progress("answer", len(answers), len(questions))
        return [answers[place] for place in range(len(questions))]

    def requests(self) -> int | None:
        """Sent to the store so far; None where it is not asked over a network."""
        endpoint = getattr(self.store, "endpoint", None)
        return None if endpoint is None else endpoint.sent

    def spent(self) -> str:
        """Requests in words; "" where there are none to tell of."""
        sent = self.requests()
        if sent is None or not self._asked:
            return ""
        return f"{self.store.title}: {sent:,} requests, {sent / self._asked:.3g} a question"

    def topics(
        self, questions: Sequence[Question], *, use_given: bool = True
    ) -> list[tuple[int, ...]]:
        """Entities that each question may be about; the store is asked once for all of them."""
        found: dict[int, dict[int, None]] = {}
        said: dict[int, list[str]] = {}
        listed = (topic for question in questions for topic in question.topics)
        names = list(dict.fromkeys(listed)) if use_given else []
        given = dict(zip(names, self.store.named(names)))
        for place, question in enumerate(questions):
            if use_given and question.topics:
                found[place] = dict.fromkeys(row for t in question.topics for row in given[t])
            elif use_given and question.mention is not None:
                said[place] = [question.text[slice(*question.mention)].strip()]
            else:
                words = split_words(question.text)
                said[place] = spans(words.folded, words.written)
        texts = list(dict.fromkeys(text for some in said.values() for text in some))
        rows = dict(zip(texts, self.store.search(texts)))
        for place, some in said.items():
            named = use_given and questions[place].mention is not None
            found[place] = dict.fromkeys(row for text in some for row in rows[text])
            if not found[place] and named:
                found[place] = dict.fromkeys(self.store.named(some)[0])
            if not found[place]:
                found[place] = dict.fromkeys(row for text in some for row in self.store.near(text))
        return [tuple(found[place]) for place in range(len(questions))]

    def _groups(
        self, questions: Sequence[Question], use_given: bool
    ) -> Iterator[tuple[list[int], FetchedPart | None]]:
        """Places of questions that are asked together, and where; None where no topic is known.

        Where what lies around all of them is too much, halves are asked on their own.
        """
        places = list(range(len(questions)))
        if self.parts.whole is not None:
            yield places, self.parts.whole
            return
        topics = self.topics(questions, use_given=use_given)
        if unknown := [place for place in places if not topics[place]]:
            yield unknown, None
        new: list[int] = []
        there: dict[FetchedPart, list[int]] = {}
        for place in (place for place in places if topics[place]):
            part = self.parts.known(topics[place])
            (new if part is None else there.setdefault(part, [])).append(place)
        for part, group in there.items():
            yield group, part
        waiting = [
            new[first : first + self._together] for first in range(0, len(new), self._together)
        ]
        while waiting:
            check_time()
            group = waiting.pop(0)
            together = dict.fromkeys(row for place in group for row in topics[place])
            part = self.parts.around(together, len(group))
            if part is None:
                middle = len(group) // 2
                waiting[:0] = [group[:middle], group[middle:]]
            else:
                yield group, part

    def _nothing(self, question: Question, why: str = "") -> Answer:
        return Answer(
            question.text,
            question_id=question.id,
            system=self._name,
            abstained=why or f"no entity of {self.store.title} is recognised in the question",
        )

    def _told(self, answer: Answer, part: FetchedPart) -> Answer:
        """With what was not fetched, and with the store's own numbers of facts."""
        notes = list(answer.notes)
        notes += [f"{INCOMPLETE}: {trouble}" for trouble in part.around.troubles]
        cuts, everywhere = self._concerned(answer, part)
        if words := cut_words(self.store, cuts):
            notes.append(f"{INCOMPLETE}: too many facts to look at, so left out: {words}")
        if everywhere:
            named = ", ".join(everywhere)
            notes.append(f"{INCOMPLETE}: {named} looked at around what is named alone")
        paths = answer.paths
        if self.store.numbered and part.graph.rows is not None:
            rows = part.graph.rows
            paths = tuple(_renumbered(path, lambda row: int(rows[row])) for path in paths)
        return dataclasses.replace(answer, notes=tuple(notes), paths=paths)

    def _concerned(self, answer: Answer, part: FetchedPart) -> tuple[Runs, tuple[str, ...]]:
        """What the answer rests on and runs into; all cuts where there is no answer."""
        cuts = part.around.cuts
        if part.whole or not answer.entities or any(path.hyperedges for path in answer.paths):
            return cuts, ()  # what is retrieved rests on all there is
        if answer.query is not None:
            queries = [query_from_dict(answer.query)]
        else:
            topics = tuple(link.entity for link in answer.topics if link.chosen)
            queries = [path_query(topics, plan.relations) for plan in answer.plan if plan.used]
        relations = self.store.schema.relations
        return cuts_met(part.graph, part.sets, queries, cuts, part.counted, relations)

    def check(self, answer: Answer) -> tuple[str, ...]:
        """Faults of an answer just given: as `jaxkg.cite.check`, and the store is asked again."""
        part = self._last.get(_key(answer))
        if part is None:
            return () if not (answer.entities or answer.paths) else ("nothing was fetched for it",)
        graph, fetched = part.graph, self._as_fetched(answer, part.graph)
        cited = list(dict.fromkeys(c for path in answer.paths for c in path.citations))
        facts = [(c.head, c.relation, c.tail) for c in cited]
        edges = (edge.hyperedge for path in fetched.paths for edge in path.hyperedges)
        known = (row for row in dict.fromkeys(edges) if 0 <= row < graph.num_triples)
        triples = (graph.triples[row].tolist() for row in known)
        ids, names = graph.entity_ids, graph.relations
        facts += [(ids[head], names[code], ids[tail]) for head, code, tail in triples]
        held = self.store.holds(facts)
        lost = tuple(
            f"{self.store.title} has no fact {fact!r}"
            for fact, holds in zip(facts, held)
            if not holds
        )
        own = getattr(part.system, "check", None)
        return lost or (check(graph, fetched) if own is None else own(fetched))

    def _as_fetched(self, answer: Answer, graph: TopicGraph) -> Answer:
        """The answer with rows of the graph it was looked for in."""
        if not self.store.numbered or graph.rows is None:
            return answer
        local = {row: place for place, row in enumerate(graph.rows.tolist())}
        paths = tuple(_renumbered(path, lambda row: local.get(row, -1)) for path in answer.paths)
        return dataclasses.replace(answer, paths=paths)


def _renumbered(path: SupportingPath, number: Callable[[int], int]) -> SupportingPath:
    """With other numbers of its facts, which are hyperedges to a system that reads them so."""
    edges = (dataclasses.replace(e, hyperedge=number(e.hyperedge)) for e in path.hyperedges)
    cited = (dataclasses.replace(each, triple=number(each.triple)) for each in path.citations)
    return dataclasses.replace(path, citations=tuple(cited), hyperedges=tuple(edges))


def _key(answer: Answer) -> str:
    return f"{answer.question_id}\0{answer.question}"
