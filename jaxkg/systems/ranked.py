"""Questions over graphs of thousands of relations: link, rank the paths around, execute, cite.

No LLM: a learned ranker scores every relation path of a few steps around the topic.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from jaxkg.answer import Answer
from jaxkg.candidates import Revisit
from jaxkg.kg import KnowledgeGraph, Linker, Topics
from jaxkg.kg.link.topics import masked_texts
from jaxkg.learn.ranker.fit import PathRanker
from jaxkg.learn.ranker.paths import surrounding_paths
from jaxkg.records import PlanCandidate, Question, RankedEntity
from jaxkg.search.plans import Plans
from jaxkg.settings import Checked, Count, NotNegative, Positive, Share
from jaxkg.systems import stepped
from jaxkg.systems.cited import by_mass, only_behind_answers
from jaxkg.systems.following import Join
from jaxkg.systems.parts import Built, Parts
from jaxkg.systems.paths import Found, Linked, PathAnswering, RelationPaths
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
        join: what several topics of a question come to, see `Join`.
        revisit: which nodes a path may return to; None takes what the ranker was trained with.
        most_nodes: see `surrounding_paths`.
        batch_size: questions a batch.
    """

    width: Count = 10
    temperature: Positive = 1.0
    share: Share = 0.35
    mention: NotNegative = 4.0
    join: Join = "auto"
    revisit: Revisit | None = None
    most_nodes: Count = 20_000
    batch_size: Count = 64


@dataclasses.dataclass(frozen=True)
class RankedPaths(PathAnswering[RelationPaths]):
    """Answers questions over one graph with the relation paths that rank best around the topics.

    Unless the ranker is directed, a relation path may be walked either way along each edge. An
    entity is as probable as the paths that reach it are together.
    """

    name = "ranked"
    stage = "rank"
    each = 8
    learnt = "ranker"

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

    @property
    def directed(self) -> bool:
        """Whether its paths tell the direction of a step."""
        return self.ranker.directed

    def propose(self, linked: Linked) -> RelationPaths:
        """The best relation paths around the topics, all to be followed."""
        plans = self.rank(linked.questions, linked.topics, linked.telling("rank"))
        there = plans.probability > 0
        return RelationPaths(plans.relations, plans.probability, there, plans.complete)

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
                directed=self.directed,
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

    def entities(self, found: Found) -> tuple[RankedEntity, ...]:
        """The most probable entities, those raised that fit what else the question names."""
        ranked = by_mass(self.kg, found.node.tolist(), found.paths)
        if self.settings.mention != 1 and (fits := self._fitting(found)):
            rows = {entity.entity: self.kg.entity(entity.entity) for entity in ranked}
            raised = [
                dataclasses.replace(entity, score=entity.score * self.settings.mention)
                if rows[entity.entity] in fits
                else entity
                for entity in ranked
            ]
            ranked = tuple(sorted(raised, key=lambda each: (-each.score, rows[each.entity])))
        least = self.settings.share * ranked[0].score if ranked else 0.0
        return tuple(entity for entity in ranked if entity.score >= least)

    def _fitting(self, found: Found) -> set[int]:
        """Nodes reached that are linked to what the question names, or through such a node."""
        named = self._named(found.question.text, found.topics) if len(found.node) else []
        if not named:
            return set()
        host, offsets = self.tensors, np.asarray(self.tensors.graph.offsets)
        beside = np.concatenate([host.tail[offsets[e] : offsets[e + 1]] for e in named])
        first, second = found.edges[:, 0], found.edges[:, 1]
        through = np.where(second == NULL, NULL, host.tail[np.maximum(first, 0)])
        fits = np.isin(through, beside) | np.isin(found.node, beside)
        return set(found.node[fits].tolist())

    def _named(self, text: str, topics: Topics) -> list[int]:
        """Entities that a question names beside its topics."""
        linked = self.linker.linked(text)
        found = {entity for link, entity in linked if link.method != "fuzzy"}
        return sorted(found - set(topics.entities))

    def why_not(self, found: Found, plan: Sequence[PlanCandidate]) -> str:
        """Why a question has no answer."""
        return (
            f"no relation path of up to {self.ranker.hops} steps leads from the topic to another "
            "entity"
        )

    def finish(self, answer: Answer) -> Answer:
        """Nothing is shown of paths whose entities are not probable enough."""
        return only_behind_answers(answer, directed=self.directed)


def from_parts(parts: Parts) -> Built:
    """The system as the command builds it; the model says whether paths are read step by step."""
    folder = parts.folder("ranked", "ranked")
    if stepped.reads(folder):
        return stepped.from_folder(parts, folder)
    ranker = PathRanker.open(folder)
    settings = parts.settings(RankedSettings, "encoder", "model")
    built = parts.over(RankedPaths.build, ranker, parts.encoder, settings=settings)
    return Built(built, parts.marks(settings, ranker=dict(ranker.about)))
