"""Any system over a graph that is not held whole: asked around the topics of the questions.

What lies around the topics is fetched as a small graph, a system is built on it and answers, and
what was not fetched is told where the answer's relations could have led there.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Sequence

from jaxkg.answer import Answer
from jaxkg.cite import check
from jaxkg.kg.link.folding import split_words
from jaxkg.kg.queries.sets import QuerySets
from jaxkg.kg.stores.around import (
    Reach,
    Surroundings,
    TopicGraph,
    cut_words,
    surroundings,
    topic_graph,
)
from jaxkg.kg.stores.cuts import cuts_met
from jaxkg.kg.stores.labels import spans
from jaxkg.kg.stores.store import Runs, Store
from jaxkg.query import Entities, Node, Step, query_from_dict
from jaxkg.records import Citation, Question
from jaxkg.systems.answering import Progress, QuestionAnswering

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
        together: questions whose surroundings are fetched and asked as one graph, at most.
    """

    def __init__(
        self,
        store: Store,
        build: Callable[[TopicGraph], QuestionAnswering],
        *,
        name: str = "",
        reach: Reach = Reach(),
        whole_schema: bool = True,
        together: int = 64,
    ) -> None:
        self.store = store
        self.reach = reach
        self._build, self._name = build, name
        self._whole_schema, self._together = whole_schema, together
        self._graphs: dict[str, TopicGraph] = {}

    def answer(
        self,
        questions: Sequence[Question],
        *,
        use_given: bool = True,
        on_progress: Progress | None = None,
    ) -> list[Answer]:
        """See `QuestionAnswering.answer`."""
        self._graphs.clear()
        topics = [self.topics(question, use_given=use_given) for question in questions]
        answers: dict[int, Answer] = {
            place: self._nothing(question)
            for place, (question, some) in enumerate(zip(questions, topics))
            if not some
        }
        asked = [place for place in range(len(questions)) if topics[place]]
        for group, around in self._groups(asked, topics):
            graph = topic_graph(self.store, around, whole_schema=self._whole_schema)
            told = [questions[place] for place in group]
            found: Sequence[Answer]
            if graph.num_triples:
                found = self._build(graph).answer(told, use_given=use_given)
            else:
                found = [self._nothing(question, "no fact is about the topic") for question in told]
            sets = functools.cache(functools.partial(QuerySets, graph))
            for place, answer in zip(group, found):
                answers[place] = self._told(answer, graph, around, sets)
                self._graphs[_key(answers[place])] = graph
            if on_progress is not None:
                on_progress("answer", len(answers), len(questions))
        return [answers[place] for place in range(len(questions))]

    def topics(self, question: Question, *, use_given: bool = True) -> tuple[int, ...]:
        """Entities that a question may be about."""
        if use_given and question.topics:
            given = [self.store.find(topic) for topic in question.topics]
            return tuple(dict.fromkeys(row for some in given for row in some))
        if use_given and question.mention is not None:
            text = question.text[slice(*question.mention)].strip()
            [found] = self.store.search([text])
            return tuple(found or self.store.find(text) or self.store.near(text))
        words = split_words(question.text)
        texts = spans(words.folded, words.written)
        found = dict.fromkeys(row for some in self.store.search(texts) for row in some)
        if not found:
            found = dict.fromkeys(row for text in texts for row in self.store.near(text))
        return tuple(found)

    def _groups(
        self, asked: list[int], topics: Sequence[tuple[int, ...]]
    ) -> Iterator[tuple[list[int], Surroundings]]:
        """Questions that are asked together, and what lies around all their topics.

        Where that is too much in all, halves are asked on their own.
        """
        waiting = [
            asked[first : first + self._together] for first in range(0, len(asked), self._together)
        ]
        while waiting:
            group = waiting.pop(0)
            around = surroundings(
                self.store, [row for place in group for row in topics[place]], self.reach
            )
            if around.full and len(group) > 1:
                middle = len(group) // 2
                waiting[:0] = [group[:middle], group[middle:]]
            else:
                yield group, around

    def _nothing(self, question: Question, why: str = "") -> Answer:
        return Answer(
            question.text,
            question_id=question.id,
            system=self._name,
            abstained=why or f"no entity of {self.store.title} is recognised in the question",
        )

    def _told(
        self,
        answer: Answer,
        graph: TopicGraph,
        around: Surroundings,
        sets: Callable[[], QuerySets],
    ) -> Answer:
        """With what was not fetched, and with the store's own numbers of facts."""
        notes = list(answer.notes)
        notes += [f"{INCOMPLETE}: {trouble}" for trouble in around.troubles]
        if cuts := cut_words(self.store, self._concerned(answer, graph, around.cuts, sets)):
            notes.append(f"{INCOMPLETE}: too many facts to look at, so left out: {cuts}")
        paths = answer.paths
        if self.store.numbered and graph.rows is not None:
            rows = graph.rows
            paths = tuple(
                dataclasses.replace(
                    path,
                    citations=tuple(
                        dataclasses.replace(cited, triple=int(rows[cited.triple]))
                        for cited in path.citations
                    ),
                )
                for path in paths
            )
        return dataclasses.replace(answer, notes=tuple(notes), paths=paths)

    def _concerned(
        self, answer: Answer, graph: TopicGraph, cuts: Runs, sets: Callable[[], QuerySets]
    ) -> Runs:
        """Those that what the answer rests on runs into; all where there is no answer."""
        if not (len(cuts.node) and answer.entities):
            return cuts
        if answer.query is not None:
            queries = [query_from_dict(answer.query)]
        else:
            topics = tuple(link.entity for link in answer.topics if link.chosen)
            queries = [_walked(topics, plan.relations) for plan in answer.plan if plan.used]
        return cuts_met(graph, sets(), queries, cuts, self.store.schema.relations)

    def graph_of(self, answer: Answer) -> TopicGraph | None:
        """What an answer just given was looked for in."""
        return self._graphs.get(_key(answer))

    def check(self, answer: Answer) -> tuple[str, ...]:
        """Faults of an answer just given: as `jaxkg.cite.check`, and the store is asked again."""
        graph = self.graph_of(answer)
        if graph is None:
            return () if not (answer.entities or answer.paths) else ("nothing was fetched for it",)
        cited = list(dict.fromkeys(c for path in answer.paths for c in path.citations))
        facts = [(c.head, c.relation, c.tail) for c in cited]
        held = self.store.holds(facts)
        lost = tuple(
            f"{self.store.title} has no fact {fact!r}"
            for fact, holds in zip(facts, held)
            if not holds
        )
        return lost or check(graph, self._as_fetched(answer, graph))

    def _as_fetched(self, answer: Answer, graph: TopicGraph) -> Answer:
        """The answer with rows of the graph it was looked for in."""
        if not self.store.numbered or graph.rows is None:
            return answer
        local = {row: place for place, row in enumerate(graph.rows.tolist())}

        def row(cited: Citation) -> Citation:
            return dataclasses.replace(cited, triple=local.get(cited.triple, -1))

        paths = tuple(
            dataclasses.replace(path, citations=tuple(map(row, path.citations)))
            for path in answer.paths
        )
        return dataclasses.replace(answer, paths=paths)


def _walked(topics: tuple[str, ...], hops: Sequence[str]) -> Node:
    """A relation path as a query graph; relations that share a hop stand with | between."""
    node: Node = Entities(topics)
    for hop in hops:
        node = Step(node, tuple(hop.split("|")))
    return node


def _key(answer: Answer) -> str:
    return f"{answer.question_id}\0{answer.question}"
