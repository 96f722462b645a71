"""Questions over graphs of thousands of relations: a trained reader says paths step by step.

Each topic of a question has relation paths of its own, and an answer is what they agree on.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Sequence
from pathlib import Path

import jax
import numpy as np

from jaxkg.answer import Answer
from jaxkg.cite.queries import query_answer
from jaxkg.deadline import check
from jaxkg.kg import KnowledgeGraph, Linker
from jaxkg.kg.queries.sets import QuerySets
from jaxkg.learn.ranker.branches import branches_of
from jaxkg.learn.ranker.fit import label_table
from jaxkg.learn.ranker.steps import StepRanker, vectors_of
from jaxkg.records import PlanCandidate, RankedEntity
from jaxkg.score.path_steps import StepParams
from jaxkg.settings import Checked, Count, NotNegative, Share
from jaxkg.systems.cited import only_behind_answers
from jaxkg.systems.following import Join
from jaxkg.systems.parts import Built, Parts
from jaxkg.systems.paths import Found, Linked, PathAnswering, RelationPaths
from jaxkg.systems.value_conditions import ValueConditions, asked_of_values, conditioned
from jaxkg.tensors import TensorGraph, tensor_graph
from jaxkg.text import TextEncoder
from jaxkg.text.states import TokenReader
from jaxkg.types import NULL


@dataclasses.dataclass(frozen=True)
class SteppedSettings(Checked):
    """Knobs of paths read step by step.

    Attributes:
        width: relation paths of each topic that are kept at every step, and executed.
        floor: how probable an entity is by a topic none of whose paths reaches it: 0 would let a
            topic that the paths cannot use forbid every answer.
        share: entities at least this fraction as probable as the best are answers.
        join: what several topics come to, see `Join`; "auto" multiplies their probabilities.
        among: where a question orders or compares, entities at least this fraction as probable as
            the best take part.
        values: least score of the values by which it does, see `ValueConditions`; None leaves
            values alone.
        most_nodes: see `step_paths`.
        batch_size: questions a batch.
    """

    width: Count = 12
    floor: NotNegative = 1e-3
    share: Share = 0.5
    join: Join = "auto"
    among: Share = 0.3
    values: float | None = 3.5
    most_nodes: Count = 4000
    batch_size: Count = 64


@dataclasses.dataclass(frozen=True)
class SteppedPaths(PathAnswering[RelationPaths]):
    """Answers questions over one graph with the relation paths that a step ranker says."""

    name = "ranked"
    stage = "rank"
    each = 8

    kg: KnowledgeGraph
    tensors: TensorGraph
    ranker: StepRanker
    reader: TokenReader
    encoder: TextEncoder
    linker: Linker
    settings: SteppedSettings = SteppedSettings()

    @classmethod
    def build(
        cls,
        kg: KnowledgeGraph,
        ranker: StepRanker,
        reader: TokenReader,
        encoder: TextEncoder,
        *,
        tensors: TensorGraph | None = None,
        linker: Linker | None = None,
        settings: SteppedSettings = SteppedSettings(),
    ) -> SteppedPaths:
        """Put the parts together.

        Raises:
            JaxkgError: the ranker was trained above another text model.
        """
        ranker.check(reader)
        host = tensors or tensor_graph(kg)
        return cls(kg, host, ranker, reader, encoder, linker or Linker(kg), settings)

    @property
    def directed(self) -> bool:
        """Each step is walked either way."""
        return False

    @property
    def join(self) -> Join:
        """What follows does not choose for "auto": `entities` does, by probability."""
        return "intersect" if self.settings.join == "intersect" else "union"

    @functools.cached_property
    def _weights(self) -> tuple[StepParams, jax.Array]:
        params = jax.device_put(self.ranker.of_relations(self.kg.relations))
        return params, vectors_of(params, label_table(self.encoder, self.kg.relations))

    def propose(self, linked: Linked) -> RelationPaths:
        """The best relation paths of each topic, all to be followed."""
        settings, count = self.settings, len(linked.questions)
        tokens = self.reader.read([question.text for question in linked.questions])
        hops = self.ranker.hops
        branches = branches_of(tokens, linked.questions, linked.topics, hops=hops)
        branches = [branch for branch in branches if branch.starts]
        of = np.array([branch.question for branch in branches], np.int64)
        topic = np.arange(len(of)) - np.searchsorted(of, of)
        most = settings.width * int(topic.max(initial=0) + 1)
        relations = np.full((count, most, hops), NULL, np.int32)
        weight = np.zeros((count, most), np.float32)
        leaves = np.zeros((count, most), np.int64)
        complete = np.ones(count, bool)
        order = np.argsort(np.diff(tokens.offsets)[of], kind="stable")
        for first in range(0, len(of), settings.batch_size):
            check()
            rows = order[first : first + settings.batch_size]
            found = self.ranker.paths(
                self.tensors,
                *self._weights,
                tokens,
                [branches[row] for row in rows.tolist()],
                width=settings.width,
                most_nodes=settings.most_nodes,
            )
            places = topic[rows, None] * settings.width + np.arange(settings.width)
            relations[of[rows, None], places] = found.relations
            weight[of[rows, None], places] = np.exp(found.score)
            leaves[of[rows, None], places] = topic[rows, None]
            np.logical_and.at(complete, of[rows], found.complete)
            linked.tick("rank", min(first + settings.batch_size, len(of)), len(of))
        best = np.argsort(-weight, axis=1, kind="stable")
        weight, leaves = (np.take_along_axis(column, best, axis=1) for column in (weight, leaves))
        relations = np.take_along_axis(relations, best[:, :, None], axis=1)
        return RelationPaths(relations, weight, weight > 0, complete, topic=leaves)

    def entities(self, found: Found) -> tuple[RankedEntity, ...]:
        """The entities that the topics, each by its paths, make most probable together."""
        topics = max(1, len(found.topics.branches))
        mass: dict[int, list[float]] = {}
        backing: dict[int, list[str]] = {}
        for node, branch, path in zip(found.node.tolist(), found.branch.tolist(), found.paths):
            mass.setdefault(node, [0.0] * topics)[branch] += path.score
            backing.setdefault(node, []).append(path.id)
        if self.settings.join == "union":
            score = {node: sum(some) for node, some in mass.items()}
        else:
            floor = self.settings.floor
            score = {node: math.prod(one + floor for one in some) for node, some in mass.items()}
        least = self._share(found.question.text) * max(score.values(), default=0.0)
        kept = [node for node, each in score.items() if each >= least]
        return tuple(
            RankedEntity(
                self.kg.entity_ids[node], self.kg.name(node), score[node], tuple(backing[node])
            )
            for node in sorted(kept, key=lambda node: (-score[node], node))
        )

    def why_not(self, found: Found, plan: Sequence[PlanCandidate]) -> str:
        """Why a question has no answer."""
        if self.settings.join == "intersect" and len(found.topics.branches) > 1:
            return "the relation paths reach no entity from each of the topics"
        return (
            f"no relation path of up to {self.ranker.hops} steps leads from the topic to another "
            "entity"
        )

    def finish(self, answer: Answer) -> Answer:
        """Those that meet what the question asks of values, else those probable enough.

        Nothing is shown of paths to other entities.
        """
        query = None
        believed = self.settings.values
        if believed is not None and len(answer.entities) > 1 and self._asks(answer.question):
            nodes = [self.kg.entity(each.entity) for each in answer.entities]
            query = self._conditions.of(answer.question, nodes, least=believed)
        told = query and query_answer(self.sets, query, self.sets.execute(query))
        met = {each.entity: each for each in told.entities} if told else {}
        least = self.settings.share * max((each.score for each in answer.entities), default=0.0)
        kept = [
            each for each in answer.entities if (each.entity in met if met else each.score >= least)
        ]
        answer = only_behind_answers(
            dataclasses.replace(answer, entities=tuple(kept)), directed=self.directed
        )
        return conditioned(answer, told) if told and met else answer

    def _share(self, question: str) -> float:
        share = self.settings.share
        return min(self.settings.among, share) if self._asks(question) else share

    def _asks(self, question: str) -> bool:
        return self.settings.values is not None and asked_of_values(question) is not None

    @functools.cached_property
    def sets(self) -> QuerySets:
        """Executes what is asked of values."""
        return QuerySets(self.kg)

    @functools.cached_property
    def _conditions(self) -> ValueConditions:
        return ValueConditions(self.sets, self.encoder)


def reads(folder: str | Path) -> bool:
    """Whether a folder holds a model that reads paths step by step."""
    return StepRanker.there(folder)


def from_folder(parts: Parts, folder: str | Path) -> Built:
    """The system as the command builds it, where the model is a step ranker."""
    ranker, encoder = StepRanker.open(folder), parts.encoder
    settings = parts.settings(SteppedSettings, "encoder", "model")
    reader = TokenReader.open(encoder.name)
    built = parts.over(SteppedPaths.build, ranker, reader, encoder, settings=settings)
    return Built(built, parts.marks(settings, ranker=dict(ranker.about)))
