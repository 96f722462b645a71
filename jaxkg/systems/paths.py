"""Methods that propose relation paths: linked, proposed, followed, cited, told in one way.

A method is a class with a `name`, what it is built of, and `propose`: from linked questions to
relation paths. Everything after that is done here, once for all of them.
"""

from __future__ import annotations

import abc
import dataclasses
import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np

from jaxkg.answer import Answer
from jaxkg.candidates import Revisit
from jaxkg.kg import KnowledgeGraph, Linker, Topics, find_topics
from jaxkg.kg.link.topics import masked_texts
from jaxkg.query import path_query
from jaxkg.readings import say
from jaxkg.readings.labels import graph_words
from jaxkg.readings.phrases import Speaker, all_of
from jaxkg.records import (
    PlanCandidate,
    Question,
    RankedEntity,
    SupportingPath,
    TraceNode,
    Usage,
)
from jaxkg.systems.answering import Progress, QuestionAnswering, Stages, why_no_topic
from jaxkg.systems.cited import Remarks, RetrievedEntities, by_mass, cite_walks, cited_answer
from jaxkg.systems.following import Followed, Join, KeepRows, both_ways, follow_paths
from jaxkg.tensors import TensorGraph
from jaxkg.types import NULL
from jaxkg.words import below

_FRAMES = 100_000
"""Relation paths whose words are kept."""


@dataclasses.dataclass(frozen=True)
class Linked:
    """Questions whose topics were found: what a method is given.

    Attributes:
        questions, topics: Q of each.
        masked: the texts, topic mentions masked.
        clock: ends the stages that a method wants told apart.
        tick: called with (stage, done, total).
        traced: what the search considered is wanted too, of a method that can keep it.
    """

    questions: Sequence[Question]
    topics: Sequence[Topics]
    masked: Sequence[str]
    clock: Stages = dataclasses.field(default_factory=Stages)
    tick: Progress = lambda stage, done, total: None
    traced: bool = False

    @property
    def starts(self) -> list[tuple[int, ...]]:
        """The topic nodes of each question; a path is followed from all of them together."""
        return [some.entities for some in self.topics]

    @property
    def branches(self) -> list[tuple[tuple[int, ...], ...]]:
        """The topic nodes of each question by topic: entities of one name are one topic."""
        return [some.branches for some in self.topics]

    def telling(self, stage: str) -> Callable[[int, int], None]:
        """`tick` for one stage."""
        return functools.partial(self.tick, stage)


@dataclasses.dataclass(frozen=True)
class RelationPaths:
    """Relation paths proposed for Q questions, best first.

    Attributes:
        relations: [Q, W, L] int32 codes, NULL past the end of a path and of the list; or
            [Q, W, L, A] where a hop allows several.
        weight: [Q, W] float, the score of every walk along a path, 0 where there are fewer than W.
        used: [Q, W] bool, those to answer with.
        complete: [Q] bool, False where the search outgrew the largest bucket.
        confidence: [Q] float, told where a question is not answered for want of it; None where the
            method has none.
        remarks: on each question; None where there are none.
        topic: [Q, W] int, which of its question's topics each path leaves; None for any.
        visited: [Q, 2] integers, nodes and edges visited to find them; None where nobody counted.
    """

    relations: np.ndarray
    weight: np.ndarray
    used: np.ndarray
    complete: np.ndarray
    confidence: np.ndarray | None = None
    remarks: Sequence[Remarks] | None = None
    topic: np.ndarray | None = None
    visited: np.ndarray | None = None


def good_paths(probability: np.ndarray, share: float) -> np.ndarray:
    """[Q, W] bool: the paths at least `share` times as probable as the best, [Q, W], best first."""
    return (probability > 0) & (probability >= share * probability[:, :1])


class Found(NamedTuple):
    """One question, and the walks that were found for it."""

    question: Question
    topics: Topics
    confidence: float
    place: np.ndarray  # [K], see `Followed`
    node: np.ndarray  # [K]
    edges: np.ndarray  # [K, L]
    branch: np.ndarray  # [K]
    paths: Sequence[SupportingPath]  # K, the same walks, cited


Proposed = TypeVar("Proposed", bound=RelationPaths)


def path_words(
    kg: KnowledgeGraph, relations: Sequence[str], reached: int | None = None, *, told: bool = True
) -> str:
    """A relation path from what is asked about, and how many entities it reaches, for a trace.

    Args:
        kg: the graph.
        relations: the path; those that share a hop stand with | between.
        reached: how many entities it leads to; None where it was not followed.
        told: whether that is told, too.

    >>> kg = KnowledgeGraph.from_triples([("Alien", "director", "Ridley Scott")])
    >>> path_words(kg, ["director"], 1)
    'the director of it, reaches 1'
    """
    words = say(kg, path_query(("it",), relations), masked=("it",))
    how_far = "not followed" if reached is None else f"reaches {reached:,}"
    return f"{words}, {how_far}" if told else words


def walk_words(kg: KnowledgeGraph, topics: tuple[str, ...], relations: tuple[str, ...]) -> str:
    """What a relation path leads to from its topics, in words.

    As `say` says it; what stands around the name of one topic is kept for the next question.

    >>> kg = KnowledgeGraph.from_triples([("Alien", "director", "Ridley Scott")])
    >>> walk_words(kg, ("Alien",), ("director",))
    'the director of Alien'
    """
    words, frames = graph_words(kg), _frames(kg)
    # A class is said otherwise: "all films" of what is a film.
    if len(topics) != 1 or all_of(Speaker(words, ()), path_query(topics, relations[:1])):
        return say(words, path_query(topics, relations))
    [topic] = topics
    name = words.name(topic)
    if frame := frames.get(relations):
        return name.join(frame)
    sentence = say(words, path_query(topics, relations))
    if sentence.find(name) == sentence.rfind(name) and len(frames) < _FRAMES:
        frames[relations] = sentence.split(name)
    return sentence


@functools.lru_cache(maxsize=3)
def _frames(kg: KnowledgeGraph) -> dict[tuple[str, ...], list[str]]:
    """What is said before and after a topic's name, by relation path; kept as `graph_words` is."""
    return {}


class PathAnswering(QuestionAnswering, Generic[Proposed]):
    """Answers with what relation paths reach; a method adds `propose` and what differs in it.

    Attributes:
        kg, tensors, linker: the graph, its tensors and its linker.
        settings: knobs; `join`, `threshold`, `revisit` and `batch_size` are read where there are.
        name: of the method, on its answers.
        stage: what proposing is called where seconds are told.
        nothing: why there is no answer where nothing was proposed.
        measure: what its confidence is called.
        each: paths followed at a time for every question of a batch.
        learnt: field of a trained model, whose training says where a path may return; "" for none.
    """

    kg: KnowledgeGraph
    tensors: TensorGraph
    linker: Linker
    settings: Any
    name: ClassVar[str]
    stage: ClassVar[str] = "propose"
    nothing: ClassVar[str] = "no relation path leaves the topic"
    measure: ClassVar[str] = "confidence"
    each: ClassVar[int] = 1
    learnt: ClassVar[str] = ""

    @abc.abstractmethod
    def propose(self, linked: Linked) -> Proposed:
        """Relation paths of each question; a question without topics has none."""

    @property
    def revisit(self) -> Revisit:
        """The rule in force on which nodes a path may return to."""
        about = getattr(getattr(self, self.learnt, None), "about", {})
        return self._knob("revisit", None) or about.get("revisit") or "topic"

    @property
    def directed(self) -> bool:
        """Whether relations tell the direction of a step; without, each is walked both ways."""
        return True

    @property
    def join(self) -> Join:
        """What several topics come to."""
        return self._knob("join", "auto")

    @property
    def threshold(self) -> float:
        """Least confidence to answer at all."""
        return self._knob("threshold", 0.0)

    def _knob(self, name: str, default: Any) -> Any:
        return getattr(getattr(self, "settings", None), name, default)

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
        linked = self.link(questions, use_given=use_given, on_progress=on_progress)
        return self.conclude(linked, self.propose(linked))

    def traced(self, question: Question) -> tuple[Answer, tuple[TraceNode, ...]]:
        """An answer, and what the very search that found it considered."""
        linked = dataclasses.replace(self.link([question]), traced=True)
        paths = self.propose(linked)
        [answer], followed = self._concluded(linked, paths)
        return answer, self.considered(paths, followed, answer)

    def considered(
        self, paths: Proposed, followed: Followed, answer: Answer
    ) -> tuple[TraceNode, ...]:
        """What one question was answered from: its relation paths, and how much they reach."""
        told = (
            TraceNode(
                path_words(self.kg, some.relations, some.reached), some.probability, some.used
            )
            for some in answer.plan
        )
        return (TraceNode("relation paths", below=tuple(told)),)

    def link(
        self,
        questions: Sequence[Question],
        *,
        use_given: bool = True,
        on_progress: Progress | None = None,
    ) -> Linked:
        """Find the topics of questions; the first stage."""
        clock = Stages()
        topics = find_topics(self.linker, questions, use_given=use_given)
        masked = masked_texts(questions, topics)
        clock.end("link")
        return Linked(questions, topics, masked, clock, on_progress or (lambda *step: None))

    def conclude(self, linked: Linked, paths: Proposed) -> list[Answer]:
        """Follow what was proposed, cite it, and tell it: the stages after `propose`."""
        return self._concluded(linked, paths)[0]

    def _concluded(self, linked: Linked, paths: Proposed) -> tuple[list[Answer], Followed]:
        linked.clock.end(self.stage)
        followed = self.follow(linked, paths)
        linked.clock.end("follow")
        remarks = self.remarks(linked, paths, followed)
        found = self._found(linked, paths, followed)
        linked.clock.end("cite")
        usage = linked.clock.usage(len(found))
        visited = None if paths.visited is None else (paths.visited + followed.visited).tolist()
        answers = []
        for i, some in enumerate(found):
            entities, plan = self.entities(some), self.plan_of(paths, followed, i)
            why = self.why_not(some, plan) if some.topics.entities else why_no_topic(some.topics)
            nodes, edges = visited[i] if visited else (None, None)
            answer = cited_answer(
                some.question,
                some.topics,
                entities,
                some.paths,
                system=self.name,
                why_not="" if entities else why,
                complete=bool(paths.complete[i] and followed.complete[i]),
                plan=plan,
                usage=Usage(seconds=usage.seconds, stages=usage.stages, nodes=nodes, edges=edges),
                remarks=remarks[i],
                retrieved=RetrievedEntities(self.kg.entity_ids, self.retrieved(paths, some, i)),
                reading=self.reading(some, plan),
            )
            answers.append(self.finish(answer))
        return answers, followed

    def reading(self, found: Found, plan: Sequence[PlanCandidate]) -> str:
        """The likeliest relation path that was answered by, in words; how many others were, too."""
        used = [some for some in plan if some.used]
        if not used or len(found.topics.branches) != 1:
            return ""
        topics = tuple(self.kg.entity_ids[row] for row in found.topics.entities)
        others = f"; and {len(used) - 1} more relation paths" * (len(used) > 1)
        return walk_words(self.kg, topics, used[0].relations) + others

    def keeps(self, paths: Proposed) -> KeepRows | None:
        """Which edges a path is followed along, see `follow_paths`; None for all."""
        return None

    def follow(self, linked: Linked, paths: Proposed) -> Followed:
        """What the used paths reach."""
        relations = paths.relations
        if not self.directed:
            relations = both_ways(relations, self.kg.num_relations)
        return follow_paths(
            self.tensors,
            linked.branches,
            relations,
            paths.used,
            join=self.join,
            topic=paths.topic,
            revisit=self.revisit,
            keep=self.keeps(paths),
            batch_size=self.each * self._knob("batch_size", 1024),
            on_progress=linked.telling("follow"),
        )

    def entities(self, found: Found) -> tuple[RankedEntity, ...]:
        """Answers to one question: by the summed weights of the walks that end in them."""
        return by_mass(self.kg, found.node.tolist(), found.paths)

    def retrieved(self, paths: Proposed, found: Found, row: int) -> np.ndarray:
        """[K] nodes that a question's answers are chosen among: all that its paths reach."""
        return found.node

    def plan_of(self, paths: Proposed, followed: Followed, row: int) -> tuple[PlanCandidate, ...]:
        """One question's relation paths as records, those of weight 0 left out."""
        columns = paths.weight[row], followed.sizes[row], followed.used[row]
        told = zip(paths.relations[row], *(column.tolist() for column in columns), strict=True)
        return tuple(
            self.candidate(relations, weight, size, used=used)
            for relations, weight, size, used in told
            if weight > 0
        )

    def candidate(
        self, relations: np.ndarray, probability: float, size: int, *, used: bool
    ) -> PlanCandidate:
        """One relation path as a record; relations that share a hop stand with | between.

        Args:
            relations: [L] or [L, A] codes.
            probability: told of it.
            size: nodes it reaches; NULL where it was not followed.
            used: see `PlanCandidate`.
        """
        hops = relations.reshape(len(relations), -1).tolist()
        names = ("|".join(self.kg.relation_name(c) for c in hop if c != NULL) for hop in hops)
        return PlanCandidate(
            tuple(filter(None, names)), probability, None if size == NULL else size, used
        )

    def why_not(self, found: Found, plan: Sequence[PlanCandidate]) -> str:
        """Why a question that has a topic has no answer."""
        if not plan:
            return self.nothing
        best = path_words(self.kg, plan[0].relations, told=False)
        if not any(some.used for some in plan):
            told = self.made_of(found.confidence, plan[0])
            return (
                f"the best relation path ({best}) has {self.measure} "
                f"{below(found.confidence, self.threshold)}{told}"
            )
        if self.join == "intersect" and len(found.topics.branches) > 1:
            return "the relation paths reach no entity from each of the topics"
        return f"the relation path {best} leads nowhere but back to the topic"

    def made_of(self, confidence: float, best: PlanCandidate) -> str:
        """What is to be said where the confidence is not the best path's probability; or ""."""
        return ""

    def remarks(self, linked: Linked, paths: Proposed, followed: Followed) -> Sequence[Remarks]:
        """What is said of each question beside its paths."""
        return paths.remarks or [Remarks()] * len(linked.questions)

    def finish(self, answer: Answer) -> Answer:
        """The last word on an answer."""
        return answer

    def _found(self, linked: Linked, paths: Proposed, followed: Followed) -> list[Found]:
        count, question = len(linked.questions), followed.question
        weight = paths.weight[question, followed.place].astype(float)
        cited = cite_walks(self.kg, self.tensors, followed.edges, question, weight)
        sure = np.ones(count) if paths.confidence is None else paths.confidence
        bounds = np.searchsorted(question, np.arange(count + 1)).tolist()
        return [
            Found(
                linked.questions[i],
                linked.topics[i],
                float(sure[i]),
                followed.place[first:last],
                followed.node[first:last],
                followed.edges[first:last],
                followed.branch[first:last],
                cited[first:last],
            )
            for i, (first, last) in enumerate(itertools.pairwise(bounds))
        ]
