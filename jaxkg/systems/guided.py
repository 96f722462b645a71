"""Guided search: a learned edge scorer leads from the topic to the answers. No LLM.

Reference: Shrestha and Kim, "Efficient multi-hop question answering over knowledge graphs via LLM
planning and embedding-guided search", Sec. III-B.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import ClassVar, Literal

import jax
import numpy as np

from jaxkg.answer import Answer
from jaxkg.candidates import Revisit
from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph, Linker
from jaxkg.learn.edges.model import TrainedScorer
from jaxkg.records import TraceNode
from jaxkg.score.edges import EdgeScorer, EdgeTables, edge_tables, given_depth
from jaxkg.search.guided import BestTargets, GuidedBeam, ScoredEdges, guided_paths
from jaxkg.search.relation_beam import Layer
from jaxkg.settings import Checked, Count, NotNegative, Share
from jaxkg.systems.following import Followed, Join, KeepRows
from jaxkg.systems.parts import Built, Parts
from jaxkg.systems.paths import Linked, PathAnswering, RelationPaths, good_paths
from jaxkg.systems.trace import told_hops
from jaxkg.tensors import TensorGraph, tensor_graph
from jaxkg.text import TextEncoder


@dataclasses.dataclass(frozen=True)
class GuidedSettings(Checked):
    """Knobs of guided search.

    Attributes:
        width: partial paths kept at every hop: 1 is the paper's greedy variant, its B (3 or 5) the
            whole-path one.
        share: paths whose chain score is at least this fraction of the best are answered with.
        threshold: least chain score of the best path to answer at all. Where the facts that a
            question asks for are missing, whatever else leaves the topic scores far below it.
        sample: edges that stand for a relation of a path when relations are chosen; None scores
            every edge of the frontier.
        targets: M, edges of a path whose targets go on to the next hop, the best-scored ones
            (Algorithm 2 has about 30); the last hop's are the answers. None takes all. It bounds
            what a wrong path through a hub answers with, and cuts right answers off long lists:
            on MetaQA's dev questions 100 costs no F1, 30 costs 0.06 at three hops.
        margin: paths whose log chain score is this far below the best are dropped.
        hops: the hop count, told as the paper does; None predicts it for each question.
        join: what several topics of a question come to, see `Join`.
        revisit: which nodes a path may return to; None takes what the scorer was trained with.
        dtype: of the scorer's products, float32 or bfloat16.
        batch_size: questions a batch.
    """

    width: Count = 1
    share: Share = 1.0
    threshold: NotNegative = 0.15
    sample: Count | None = 4
    targets: Count | None = None
    margin: NotNegative = 5.0
    hops: Count | None = None
    join: Join = "auto"
    revisit: Revisit | None = None
    dtype: Literal["float32", "bfloat16"] = "float32"
    batch_size: Count = 256

    presets: ClassVar = {"paper": {"threshold": 0.0, "sample": None, "targets": 30, "margin": 1e9}}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.share == 0:
            raise JaxkgError("share is above 0, not 0")


@dataclasses.dataclass(frozen=True, kw_only=True)
class GuidedPaths(RelationPaths):
    """Relation paths, and what they were found with.

    Attributes:
        vectors: [Q, T] float32 text vectors of the questions.
        hops: of a traced question, what every hop of the search considered.
    """

    vectors: np.ndarray
    hops: tuple[TraceNode, ...] = ()


@dataclasses.dataclass(frozen=True)
class GuidedSearch(PathAnswering[GuidedPaths]):
    """Answers questions over one graph with the relation paths of the best chain scores."""

    name = "guided"
    stage = "search"
    nothing = "no edge leaves the topic"
    measure = "chain score"
    each = 4
    learnt = "scorer"

    kg: KnowledgeGraph
    tensors: TensorGraph
    scorer: TrainedScorer
    encoder: TextEncoder
    linker: Linker
    settings: GuidedSettings = GuidedSettings()

    @classmethod
    def build(
        cls,
        kg: KnowledgeGraph,
        scorer: TrainedScorer,
        encoder: TextEncoder,
        *,
        tensors: TensorGraph | None = None,
        linker: Linker | None = None,
        settings: GuidedSettings = GuidedSettings(),
    ) -> GuidedSearch:
        """Put the parts together, and take the scorer's products with every node and relation.

        Raises:
            JaxkgError: the scorer was trained with another encoder or for another graph, or takes
                fewer hops than are told.
        """
        if (settings.hops or 1) > scorer.sizes.hops:
            most = scorer.sizes.hops
            raise JaxkgError(f"the scorer takes {most} hops at most, not {settings.hops}")
        search = cls(
            kg, tensors or tensor_graph(kg), scorer, encoder, linker or Linker(kg), settings
        )
        search._tables  # noqa: B018  fails here rather than at the first question
        return search

    @functools.cached_property
    def _tables(self) -> EdgeTables:
        inputs = self.scorer.inputs(self.kg, self.encoder)
        return jax.jit(edge_tables)(self._params, inputs)

    @functools.cached_property
    def _params(self) -> EdgeScorer:
        hops = self.settings.hops
        return self.scorer.params if hops is None else given_depth(self.scorer.params, hops)

    def propose(self, linked: Linked) -> GuidedPaths:
        """Relation paths with their chain scores; none is used where the best scores too low."""
        distinct = list(dict.fromkeys(linked.masked))
        place = {text: row for row, text in enumerate(distinct)}
        vectors = self.encoder(distinct)[[place[text] for text in linked.masked]]
        plans = guided_paths(
            self.tensors,
            self._params,
            self._tables,
            vectors,
            linked.starts,
            GuidedBeam(
                self.scorer.sizes.hops,
                self.settings.width,
                self.settings.sample,
                self.settings.targets,
                self.settings.margin,
                self.revisit,
                self.scorer.sizes.context,
                self.settings.dtype,
            ),
            batch_size=self.settings.batch_size,
            traced=linked.traced,
            on_progress=linked.telling("search"),
        )
        best = plans.probability[:, 0]
        used = good_paths(plans.probability, self.settings.share)
        used &= (best >= self.settings.threshold)[:, None]
        return GuidedPaths(
            plans.relations,
            plans.probability,
            used,
            plans.complete,
            best,
            visited=plans.visited,
            vectors=vectors,
            hops=tuple(
                hop for batch in plans.hops for hop in told_hops(self.kg, *batch, self._edges)
            ),
        )

    def considered(
        self, paths: GuidedPaths, followed: Followed, answer: Answer
    ) -> tuple[TraceNode, ...]:
        """Every hop of the beam, then the relation paths that it came to."""
        return (*paths.hops, *super().considered(paths, followed, answer))

    def _edges(self, layer: Layer, place: int) -> dict[int, list[TraceNode]]:
        """The scored edges of one partial path, by relation code and best first."""
        behind: ScoredEdges = layer.scored.behind
        mine = np.flatnonzero(behind.row == place)
        told: dict[int, list[TraceNode]] = {}
        for at in mine[np.argsort(-behind.score[mine], kind="stable")].tolist():
            edge = int(behind.edge[at])
            head, tail = self.tensors.head[edge], self.tensors.tail[edge]
            node = TraceNode(
                f"{self.kg.name(int(head))} → {self.kg.name(int(tail))}", float(behind.score[at])
            )
            told.setdefault(int(self.tensors.relation[edge]), []).append(node)
        return told

    def keeps(self, paths: GuidedPaths) -> KeepRows | None:
        """The best targets of each hop."""
        if (targets := self.settings.targets) is None:
            return None
        return lambda question, rows: BestTargets(
            self.tensors.graph,
            self._params,
            self._tables,
            jax.device_put(paths.vectors[question]),
            targets,
            use_context=self.scorer.sizes.context,
            dtype=self.settings.dtype,
        )


def from_parts(parts: Parts) -> Built:
    """The system as the command builds it."""
    scorer = TrainedScorer.open(parts.folder("guided", "guided"))
    settings = parts.settings(GuidedSettings, "encoder", "model")
    built = parts.over(GuidedSearch.build, scorer, parts.encoder, settings=settings)
    return Built(built, parts.marks(settings, scorer=dict(scorer.about)))
