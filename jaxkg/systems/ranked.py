"""Questions over graphs of thousands of relations: link, rank the paths around, execute, cite.

No LLM: a learned ranker scores every relation path of a few steps around the topic.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Sequence

import numpy as np

from jaxkg.answer import Answer
from jaxkg.candidates import Revisit
from jaxkg.kg import KnowledgeGraph, Linker, Topics, find_topics
from jaxkg.kg.link.topics import masked_texts
from jaxkg.learn.ranker.fit import PathRanker
from jaxkg.learn.ranker.paths import surrounding_paths
from jaxkg.records import PlanCandidate, Question, Usage
from jaxkg.search.plans import Plans, Reached, execute_paths
from jaxkg.settings import Checked, Count, NotNegative, Positive, Share
from jaxkg.systems.answering import Progress, QuestionAnswering, Stages, notes_on, why_no_topic
from jaxkg.systems.cited import Cited, cite_reached
from jaxkg.tensors import TensorGraph, tensor_graph
from jaxkg.text import TextEncoder
from jaxkg.types import NULL


@dataclasses.dataclass(frozen=True)
class RankedSettings(Checked):
    """Knobs of ranked path search.

    Attributes:
        width: best relation paths that are executed.
        temperature: scores are divided by it before they become probabilities.
        share: entities at least this fraction as probable as the best are answers.
        mention: how many times more probable an entity becomes where it, or the node its path goes
            through, is linked to something else that the question names ("who played *Ken Barlow*
            in [Coronation Street]"); 1 ignores such names.
        revisit: which nodes a path may return to; None takes what the ranker was trained with.
        most_nodes: see `surrounding_paths`.
        batch_size: questions a batch.
    """

    width: Count = 10
    temperature: Positive = 1.0
    share: Share = 0.35
    mention: NotNegative = 4.0
    revisit: Revisit | None = None
    most_nodes: Count = 20_000
    batch_size: Count = 64


@dataclasses.dataclass(frozen=True)
class RankedPaths(QuestionAnswering):
    """Answers questions over one graph; `rank` and `execute` are its steps.

    Unless the ranker is directed, a relation path may be walked either way along each edge. An
    entity is as probable as the paths that reach it are together.
    """

    kg: KnowledgeGraph
    tensors: TensorGraph
    ranker: PathRanker
    encoder: TextEncoder
    linker: Linker
    settings: RankedSettings = RankedSettings()

    @classmethod
    def build(
        cls,
        kg: KnowledgeGraph,
        ranker: PathRanker,
        encoder: TextEncoder,
        *,
        tensors: TensorGraph | None = None,
        linker: Linker | None = None,
        settings: RankedSettings = RankedSettings(),
    ) -> RankedPaths:
        """Put the parts together.

        Raises:
            JaxkgError: the ranker was trained for another graph or another encoder.
        """
        ranker.check(kg.relations, encoder)
        return cls(kg, tensors or tensor_graph(kg), ranker, encoder, linker or Linker(kg), settings)

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
        tick = on_progress or (lambda stage, done, total: None)
        stages = Stages()
        topics = find_topics(self.linker, questions, use_given=use_given)
        stages.end("link")
        plans = self.rank(questions, topics, lambda done, total: tick("rank", done, total))
        stages.end("rank")
        used = plans.probability > 0
        reached = self.execute(plans, used, topics)
        stages.end("follow")
        cited = cite_reached(self.kg, self.tensors, plans.probability, used, reached)
        self._weigh_mentions(questions, topics, np.nonzero(used)[0], reached, cited)
        stages.end("cite")
        usage = stages.usage(len(questions))
        return [
            self._answer(question, topics[i], plans, i, cited[i], usage)
            for i, question in enumerate(questions)
        ]

    def rank(
        self,
        questions: Sequence[Question],
        topics: Sequence[Topics],
        on_progress: Callable[[int, int], None] | None = None,
    ) -> Plans:
        """The best relation paths around each question's topics.

        Returns:
            Paths of relations below R (codes below 2R by a directed ranker), best first.
        """
        settings = self.settings
        count = len(questions)
        relations = np.full((count, settings.width, self.ranker.hops), NULL, np.int32)
        probability = np.zeros((count, settings.width), np.float32)
        complete = np.ones(count, bool)
        texts, ngrams = self.ranker.read(
            self.encoder, [q.text for q in questions], masked_texts(questions, topics)
        )
        for first in range(0, count, settings.batch_size):
            rows = slice(first, min(first + settings.batch_size, count))
            table = surrounding_paths(
                self.tensors,
                [some.entities for some in topics[rows]],
                hops=self.ranker.hops,
                directed=self.ranker.directed,
                most_nodes=settings.most_nodes,
            )
            complete[rows] = table.complete
            scores = self.ranker.scores(texts[rows], ngrams[rows], table.question, table.relations)
            for place, row in enumerate(range(rows.start, rows.stop)):
                mine = slice(*table.offsets[place : place + 2])
                best = np.argsort(-scores[mine], kind="stable")[: settings.width]
                if len(best) == 0:
                    continue
                logits = (scores[mine] - scores[mine].max()) / settings.temperature
                share = np.exp(logits)
                probability[row, : len(best)] = (share / share.sum())[best]
                relations[row, : len(best)] = table.relations[mine][best]
            if on_progress:
                on_progress(rows.stop, count)
        return Plans(relations, probability, complete)

    def execute(self, plans: Plans, used: np.ndarray, topics: Sequence[Topics]) -> Reached:
        """Execute the used paths, in row-major order of `used`."""
        question, place = np.nonzero(used)
        steps = plans.relations[question, place][:, :, None]
        if not self.ranker.directed:
            back = np.where(steps == NULL, NULL, steps + self.kg.num_relations)
            steps = np.concatenate([steps, back], axis=2)
        return execute_paths(
            self.tensors,
            [topics[i].entities for i in question.tolist()],
            steps.astype(np.int32),
            revisit=self.settings.revisit or self.ranker.about.get("revisit", "topic"),
            batch_size=8 * self.settings.batch_size,
        )

    def _weigh_mentions(
        self,
        questions: Sequence[Question],
        topics: Sequence[Topics],
        question_of: np.ndarray,
        reached: Reached,
        cited: Sequence[Cited],
    ) -> None:
        """Raise the scores of entities that fit what else their question names."""
        if self.settings.mention == 1 or len(reached.row) == 0:
            return
        host = self.tensors
        through = np.where(
            reached.edges[:, 1] == NULL, NULL, host.tail[np.maximum(reached.edges[:, 0], 0)]
        )
        bounds = np.searchsorted(question_of[reached.row], np.arange(len(questions) + 1))
        offsets = np.asarray(host.graph.offsets)
        for row, question in enumerate(questions):
            mine = slice(int(bounds[row]), int(bounds[row + 1]))
            named = self._named(question.text, topics[row]) if mine.stop > mine.start else []
            if not named:
                continue
            beside = np.concatenate([host.tail[offsets[e] : offsets[e + 1]] for e in named])
            fits = np.isin(through[mine], beside) | np.isin(reached.node[mine], beside)
            for node in set(reached.node[mine][fits].tolist()):
                cited[row].score[node] *= self.settings.mention

    def _named(self, text: str, topics: Topics) -> list[int]:
        """Entities that a question names beside its topics."""
        links = self.linker.link(text)
        found = {self.kg.entity(link.entity) for link in links if link.method != "fuzzy"}
        return sorted(found - set(topics.entities))

    def _answer(
        self,
        question: Question,
        topics: Topics,
        plans: Plans,
        row: int,
        cited: Cited,
        usage: Usage,
    ) -> Answer:
        notes = notes_on(topics, complete=cited.complete and bool(plans.complete[row]))
        entities = cited.ranked(self.kg)
        if entities:
            least = self.settings.share * entities[0].score
            entities = tuple(entity for entity in entities if entity.score >= least)
        shown = {path for entity in entities for path in entity.paths}
        paths = tuple(path for path in cited.paths if path.id in shown)
        behind = {path.relation_path for path in paths}
        if not self.ranker.directed:
            behind = {tuple(step.removeprefix("^") for step in names) for names in behind}
        plan = tuple(
            PlanCandidate(
                relations=names,
                probability=float(plans.probability[row, place]),
                reached=cited.sizes.get(place),
                used=names in behind,
            )
            for place in np.flatnonzero(plans.probability[row] > 0).tolist()
            for names in [
                tuple(self.kg.relation_name(r) for r in plans.relations[row, place] if r != NULL)
            ]
        )
        return Answer(
            question=question.text,
            question_id=question.id,
            topics=topics.links,
            entities=entities,
            paths=paths,
            plan=plan,
            usage=usage,
            abstained=None if entities else _why_not(topics, self.ranker.hops),
            notes=tuple(notes),
            system="ranked",
        )


def _why_not(topics: Topics, hops: int) -> str:
    if topics.entities:
        return f"no relation path of up to {hops} steps leads from the topic to another entity"
    return why_no_topic(topics)


def either_way(plans: Plans, num_relations: int) -> tuple[np.ndarray, np.ndarray]:
    """Relation paths for searches that walk edges one way: every mix of directions of each.

    Args:
        plans: Q times W paths of relations below R.
        num_relations: R.

    Returns:
        [Q, W * 2^L, L] int32 codes below 2R and [Q, W * 2^L] float32 weights, 0 where a mix is told
        by another one or there is no path.
    """
    relations, weights = [], []
    hops = plans.relations.shape[2]
    walked = plans.relations != NULL
    for backward in itertools.product((0, num_relations), repeat=hops):
        relations.append(np.where(walked, plans.relations + np.array(backward, np.int32), NULL))
        new = np.all(walked | (np.array(backward) == 0), axis=2) & walked[:, :, 0]
        weights.append(np.where(new, plans.probability, 0.0))
    return (
        np.concatenate(relations, axis=1).astype(np.int32),
        np.concatenate(weights, axis=1).astype(np.float32),
    )
