"""Questions read step by step: a model chooses among the steps that the graph really has.

Each call offers what leads on from what is reached: typed relations with what they lead to, the
foremost by a value or a count, how many there are, and those that are related to another topic. A
step that is chosen is executed before the next call, so that a query graph grows that holds.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Sequence

import numpy as np

from jaxkg.adjudicate.calls.stepping import Steps, choose_steps
from jaxkg.answer import Answer
from jaxkg.cite.queries import query_answer
from jaxkg.kg import KnowledgeGraph, Topics
from jaxkg.kg.queries.rules import refusal
from jaxkg.kg.queries.sets import QuerySets
from jaxkg.kg.typed_schema import DIGITS, TypedSchema
from jaxkg.query import Count, Domain, Entities, Extreme, Node, Step, Where
from jaxkg.readings import say
from jaxkg.records import Question, TraceNode, Usage
from jaxkg.systems.answering import Progress, QuestionAnswering, Stages, notes_on, why_no_topic
from jaxkg.systems.llm_planned.system import LLMPlannedQA
from jaxkg.words import TOPIC_WORD

_MARKS = re.compile(r"[^\w ]+")
_SHOWN = 3
"""Names told of what a step leads to."""
_CLASSES = 8
"""Classes offered to start from beside topics."""


@dataclasses.dataclass(frozen=True)
class Option:
    """A step that can be taken.

    Attributes:
        query: what is denoted when it is taken.
        words: it, and what it leads to.
        near: how near its relation is to the question.
        topics: what it starts from, or holds what is reached against.
    """

    query: Node | Count
    words: str
    near: float
    topics: tuple[int, ...] = ()


@dataclasses.dataclass
class _Walk:
    """A question on its way.

    Attributes:
        query: what is reached; None before the first step.
        nodes: the entities of that.
        left: topics that no step has used.
        done: no further step is taken.
    """

    question: Question
    topics: Topics
    text: str
    query: Node | Count | None = None
    nodes: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros(0, np.int32))
    left: tuple[int, ...] = ()
    done: bool = False
    failed: str | None = None
    error: str | None = None
    usage: Usage = dataclasses.field(default_factory=Usage)
    notes: list[str] = dataclasses.field(default_factory=list)
    seen: list[TraceNode] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True, eq=False)
class LLMSteps(QuestionAnswering):
    """Answers questions over one graph by a short call a step, `hops` calls at most.

    A question that names no entity starts from a class, where the schema has classes.

    Attributes:
        planned: links; its settings say how many steps, and how many are offered.
    """

    planned: LLMPlannedQA

    @property
    def kg(self) -> KnowledgeGraph:
        """The graph."""
        return self.planned.kg

    @functools.cached_property
    def sets(self) -> QuerySets:
        """Executes query graphs."""
        return QuerySets(self.kg)

    @property
    def schema(self) -> TypedSchema:
        """The relations with the classes at their ends."""
        return self.planned.typed

    def answer(
        self,
        questions: Sequence[Question],
        *,
        use_given: bool = True,
        on_progress: Progress | None = None,
    ) -> list[Answer]:
        """An answer, or an abstention with its reason, for each question in order."""
        if not questions:
            return []
        return [self._concluded(walk) for walk in self._walked(questions, use_given, on_progress)]

    def traced(self, question: Question) -> tuple[Answer, tuple[TraceNode, ...]]:
        """An answer, and of each step what was offered and what was chosen."""
        [walk] = self._walked([question], True, None)
        return self._concluded(walk), tuple(walk.seen)

    def options(self, walk: _Walk) -> list[Option]:
        """Every step from what is reached, the nearest to the question first."""
        like = self.schema.likeness(walk.text, self.planned.encoder)
        if walk.query is None:
            kg, found = self.kg, self._classes(walk)
            for branch in walk.topics.branches:
                topic = Entities(tuple(kg.entity_ids[node] for node in branch))
                name = self.schema.shown(branch[0])
                found += self._onwards(topic, np.array(branch), walk, like, name)
            return self._ranked(walk, found)
        assert not isinstance(walk.query, Count)
        found = self._ranked(walk, self._onwards(walk.query, walk.nodes, walk, like, "them"))
        if len(walk.nodes) > 1:
            counted = Option(Count(walk.query), f"how many of them there are: {len(walk.nodes)}", 0)
            found.append(counted)
        return found

    def _ranked(self, walk: _Walk, found: Sequence[Option]) -> list[Option]:
        """By the likeness of the relation alone, and of all that is said of the step."""
        if not found:
            return []
        said = [_MARKS.sub(" ", option.words.partition(": ")[0]) for option in found]
        vectors = np.asarray(self.planned.encoder([walk.text, *said]))
        like = (vectors[1:] @ vectors[0]).round(DIGITS).tolist()
        ranked = [dataclasses.replace(o, near=o.near + more) for o, more in zip(found, like)]
        return sorted(ranked, key=lambda option: -option.near)

    def _walked(
        self, questions: Sequence[Question], use_given: bool, on_progress: Progress | None
    ) -> list[_Walk]:
        linked = self.planned.link(questions, use_given=use_given, on_progress=on_progress)
        share = linked.clock.usage(len(questions))
        walks = [
            _Walk(
                question, topics, text.replace(TOPIC_WORD, " "), left=topics.entities, usage=share
            )
            for question, topics, text in zip(questions, linked.topics, linked.masked)
        ]
        settings = self.planned.settings
        for number in range(settings.hops):
            clock = Stages()
            asked: list[tuple[_Walk, list[Option]]] = []
            for walk in walks:
                if not walk.done and (options := self._offered(walk)):
                    asked.append((walk, options))
            spent = clock.usage(max(len(asked), 1))
            offers = [
                Steps(
                    walk.question.text,
                    walk.question.id,
                    self._reached(walk),
                    tuple(option.words for option in options),
                    walk.query is not None,
                )
                for walk, options in asked
            ]
            outcomes = choose_steps(self.planned.backend, offers, repair=settings.repair)
            for (walk, options), offer, outcome in zip(asked, offers, outcomes):
                walk.usage = walk.usage + spent + outcome.usage
                walk.notes += [outcome.note] if outcome.note else []
                chosen = None if outcome.value is None else offer.place(outcome.value)
                below = (TraceNode(o.words, o.near, n == chosen) for n, o in enumerate(options, 1))
                walk.seen.append(TraceNode(f"step {number + 1}", below=tuple(below)))
                if chosen is None:
                    walk.done = True
                    walk.failed = f"{outcome.error}: {outcome.detail}"
                    walk.error = None if outcome.error == "budget" else walk.failed
                elif chosen == 0:
                    walk.done = True
                else:
                    self._take(walk, options[chosen - 1])
            if on_progress:
                on_progress("step", number + 1, settings.hops)
        return walks

    def _take(self, walk: _Walk, option: Option) -> None:
        walk.query = option.query
        walk.left = tuple(node for node in walk.left if node not in option.topics)
        if isinstance(option.query, Count):
            walk.done = True
        else:
            walk.nodes = self.sets.execute(option.query).rows

    def _offered(self, walk: _Walk) -> list[Option]:
        """The steps that a call offers; none ends the walk."""
        options, settings = self.options(walk), self.planned.settings
        left, kept = settings.tokens, []
        for option in options[: settings.offered]:
            left -= -(-(len(option.words) + 4) // 4)
            if left < 0:
                break
            kept.append(option)
        if len(kept) < len(options):
            walk.notes.append(f"the model was offered {len(kept)} of {len(options)} steps")
        walk.done = not kept
        return kept

    def _onwards(
        self, query: Node, nodes: np.ndarray, walk: _Walk, like: np.ndarray, name: str
    ) -> list[Option]:
        """Steps from a set of entities, called by a name in the words."""
        kg, found, forth = self.kg, [], {}
        barred = np.array(walk.topics.entities, np.int64)
        started = () if walk.query is not None else tuple(nodes.tolist())
        for code, every in self.sets.around.ends(nodes).items():
            inverse, relation = divmod(code, kg.num_relations)
            called, liked = kg.relation_name(code), float(like[relation])
            if relation in self.schema.types:  # what a thing is, its name says to a reader
                liked = -1.0
            ends = every[~np.isin(every, barred)]
            label = self.schema.names[relation]
            other = self.schema.end(relation, 0 if inverse else 2)
            ways = f"({other})-[{label}]->({name})" if inverse else f"({name})-[{label}]->({other})"
            forth[code] = ends
            # Of a relation that holds both ways, one way is enough.
            same = inverse and np.array_equal(ends, forth.get(relation, ()))
            if len(ends) and not same:
                told = f"{ways}: {self._some(ends)}"
                found.append(Option(Step(query, (called,), returns=False), told, liked, started))
            if len(nodes) > 1:
                if not same:
                    found += self._foremost(query, nodes, code, ways, liked)
                found += [
                    self._kept(query, called, ways.replace(f"({other})", f"({topic})"), node, liked)
                    for node in walk.left
                    if node in every and (topic := self.schema.shown(node))
                ]
        return found

    def _foremost(
        self, query: Node, nodes: np.ndarray, code: int, ways: str, near: float
    ) -> list[Option]:
        """Those with the largest and the smallest value, or with the most of what is related."""
        name, relation = self.kg.relation_name(code), code % self.kg.num_relations
        kinds = ("number", "date")
        if code == relation and self.sets.values.relation_kinds.get(name) in kinds:
            told = self.schema.names[relation]
            found = [
                (Extreme(query, (name,), True), f"largest {told}"),
                (Extreme(query, (name,), False), f"smallest {told}"),
            ]
        else:
            sources, _ = self.sets.around.pairs(nodes, code)
            if len(sources) == len(np.unique(sources)):
                return []
            found = [(Extreme(query, (name,), True, by="count"), f"most {ways}")]
        return [
            Option(
                best,
                f"the one of them with the {words}: "
                f"{self._some(self.sets.execute(best).rows, count=False)}",
                near - 1e-3,
            )
            for best, words in found
            if refusal(self.sets.values, best) is None
        ]

    def _kept(self, query: Node, relation: str, ways: str, node: int, near: float) -> Option:
        kept = Where(query, (relation,), "=", self.kg.entity_ids[node])
        rows = self.sets.execute(kept).rows
        return Option(
            kept, f"only those of them with {ways}: {self._some(rows)}", near + 1, (node,)
        )

    def _classes(self, walk: _Walk) -> list[Option]:
        """All of a class to start from; of many classes, the nearest to the question."""
        classes = self.schema.classes
        if not classes:
            return []
        vectors = np.asarray(self.planned.encoder([walk.text, *classes]))
        near = (vectors[1:] @ vectors[0]).round(DIGITS)
        found = []
        for place in np.argsort(-near, kind="stable")[:_CLASSES].tolist():
            name, relations = list(classes.items())[place]
            rows = self.sets.execute(Domain(relations)).rows
            found.append(Option(Domain(relations), f"all ({name}): {self._some(rows)}", 0.0))
        return found

    def _some(self, rows: np.ndarray, *, count: bool = True) -> str:
        """How many, and the first of them that have names."""
        names = dict.fromkeys(map(self.schema.shown, rows[: 4 * _SHOWN].tolist()))
        told = "; ".join(list(names)[:_SHOWN])
        return f"{len(rows)}, {told}" if count else told

    def _reached(self, walk: _Walk) -> str:
        if walk.query is None:
            names = dict.fromkeys(map(self.schema.shown, walk.topics.entities))
            return "; ".join(names) or "nothing yet"
        return f"{say(self.kg, walk.query)}: {self._some(walk.nodes)}"

    def _concluded(self, walk: _Walk) -> Answer:
        question, topics = walk.question, walk.topics
        clock = Stages()
        if walk.failed is not None:
            why = f"planning failed ({walk.failed})"
            told = Answer(question.text, topics=topics.links, abstained=why, error=walk.error)
        elif walk.query is None:
            why = "the model finds no step that helps" if walk.seen else why_no_topic(topics)
            told = Answer(question.text, topics=topics.links, abstained=why)
        else:
            result = self.sets.execute(walk.query)
            told = query_answer(
                self.sets, walk.query, result, question=question.text, topics=topics.links
            )
        clock.end("execute")
        return dataclasses.replace(
            told,
            question_id=question.id,
            system=LLMPlannedQA.name,
            usage=walk.usage + clock.usage(1),
            notes=(*notes_on(topics, complete=True), *walk.notes, *told.notes),
        )
