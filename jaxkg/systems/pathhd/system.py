"""PathHD: plan, encode, retrieve by hypervector similarity, reason with at most one model call.

Reference: "PathHD: efficient large language model reasoning over knowledge graphs via
hyperdimensional retrieval", Sections 2 and 3, Algorithm 1.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import jax
import numpy as np

from jaxkg.adjudicate.backend import Backend
from jaxkg.answer import Answer
from jaxkg.candidates import Revisit
from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph, Linker, Topics, find_topics
from jaxkg.kg.link.topics import masked_texts
from jaxkg.learn.planner.model import Planner
from jaxkg.records import Question
from jaxkg.search.hypervectors import Nearest, retrieve_grown, retrieve_listed
from jaxkg.search.plans import Plans, plan_paths
from jaxkg.systems.answering import Progress, QuestionAnswering, Stages
from jaxkg.systems.pathhd.answers import Grounded, answers_from, ground_schemas
from jaxkg.systems.pathhd.calibration import Calibration
from jaxkg.systems.pathhd.explain import explain_paths
from jaxkg.systems.pathhd.queries import PlanQuery, Query, encode_queries
from jaxkg.systems.pathhd.refine import refine_schemas
from jaxkg.systems.pathhd.settings import PathHDSettings, QueryKind, make_algebra
from jaxkg.systems.pathhd.space import ListedSchemas, SymbolSpace, listed_schemas
from jaxkg.systems.ranked import RankedPaths, either_way
from jaxkg.tensors import Capacities, TensorGraph, bucket, pad, starts_table, stream, tensor_graph
from jaxkg.text.hashing import Encoder, HashingEncoder
from jaxkg.types import NULL

_SCORES = 1 << 23
"""Scores a batch of grown candidates may hold at a time."""


@dataclasses.dataclass(frozen=True)
class Asked:
    """Q questions as queries.

    Attributes:
        query: of all of them, on the host.
        confidence: [Q] of the planner; 1 for queries from text.
        complete: [Q] bool, False where planning outgrew the largest bucket.
    """

    query: Query
    confidence: np.ndarray
    complete: np.ndarray


@dataclasses.dataclass(frozen=True)
class Retrieved:
    """Candidate relation paths of each question, best calibrated score first.

    Attributes:
        relations: [Q, K, L] int32 codes, NULL-padded.
        similarity: [Q, K] float32, -inf where there are fewer than K.
        score: [Q, K] float32, calibrated.
        complete: [Q] bool, False where the search outgrew the largest bucket.
    """

    relations: np.ndarray
    similarity: np.ndarray
    score: np.ndarray
    complete: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class PathHD(QuestionAnswering):
    """Answers questions over one graph; `read`, `retrieve` and `ground` are its steps.

    Without a planner nothing is trained: the question's text is compared with the relation labels.
    With `top_k` schemas their walks are all given, and `AdjudicatedQA` around the system lets a
    language model decide among them, in one call a question.

    Example:
        >>> from jaxkg.kg import demo_graph
        >>> qa = PathHD.build(demo_graph(), settings=PathHDSettings(dimension=512))
        >>> qa.ask("who directed [Alien]?").entities[0].name
        'Ridley Scott'
    """

    kg: KnowledgeGraph
    tensors: TensorGraph
    linker: Linker
    settings: PathHDSettings
    kind: QueryKind
    hops: int
    symbols: SymbolSpace
    schemas: ListedSchemas | None
    named: np.ndarray
    planner: Planner | None = None
    ranked: RankedPaths | None = None
    calibration: Calibration | None = None
    refiner: Backend | None = None

    @classmethod
    def build(
        cls,
        kg: KnowledgeGraph,
        planner: Planner | None = None,
        *,
        ranked: RankedPaths | None = None,
        encoder: Encoder | None = None,
        tensors: TensorGraph | None = None,
        linker: Linker | None = None,
        settings: PathHDSettings | None = None,
        calibration: Calibration | None = None,
        refiner: Backend | None = None,
        seed: int = 0,
    ) -> PathHD:
        """Put the parts together.

        Args:
            kg: the graph.
            planner: trained for it.
            ranked: a path ranker at work on it, whose best paths are bundled. Without planner and
                ranker the question's text is compared with the relation labels.
            encoder: of label and question texts; None hashes their words and letters.
            tensors, linker: of the graph; None makes them.
            settings: knobs.
            calibration: from `fit_calibration`; none by default.
            refiner: chooses among the candidates where the settings say `refine`.
            seed: of the hypervectors.

        Raises:
            JaxkgError: the planner is of another graph, the query needs one, the operator cannot
                do what the graph or the query needs, or nobody is there to refine.
        """
        settings = settings or PathHDSettings()
        kind = settings.query or ("bundle" if planner else "ranked" if ranked else "text")
        if planner is not None:
            planner.check_graph(kg)
        elif kind in ("bundle", "plan"):
            raise JaxkgError(f'a query from a {kind} needs a planner; give one, or query="text"')
        if kind == "ranked" and ranked is None:
            raise JaxkgError('a query from ranked paths needs a path ranker; or query="text"')
        if kind == "text" and settings.symbols == "random":
            raise JaxkgError(
                'random symbols say nothing of a text: give symbols="labels", or '
                'query="projection" for the paper\'s projection'
            )
        if settings.refine and refiner is None:
            raise JaxkgError("refine needs a language model: give one (--llm MODEL), or refine=0")
        tensors = tensors or tensor_graph(kg)
        if encoder is None and (settings.symbols == "labels" or kind == "projection"):
            encoder = HashingEncoder()
        bandwidth = settings.bandwidth or (0.7 if kind in ("text", "projection") else 0.5)
        symbols = SymbolSpace.build(
            make_algebra(settings),
            kg.relations,
            encoder=encoder,
            bandwidth=bandwidth if settings.symbols == "labels" else None,
            key=jax.random.key(seed),
        )
        trained = (planner.hops,) if planner else (ranked.ranker.hops,) if ranked else ()
        schemas, hops = None, 0
        for hops in (settings.hops,) if settings.hops else trained or (3, 2):
            schemas = listed_schemas(tensors, symbols, hops=hops, precision=settings.precision)
            if schemas is not None:
                break
        if schemas is None and not symbols.algebra.isometric:
            raise JaxkgError(
                f"this graph has too many schemas of {hops} hops to list, and {settings.operator} "
                "cannot be unbound exactly: use a GHRR operator or FHRR, or fewer hops"
            )
        return cls(
            kg=kg,
            tensors=tensors,
            linker=linker or Linker(kg),
            settings=settings,
            kind=kind,
            hops=hops,
            symbols=symbols,
            schemas=schemas,
            named=np.array([kg.has_name(i) for i in range(kg.num_entities)]),
            planner=planner,
            ranked=ranked if kind == "ranked" else None,
            calibration=calibration,
            refiner=refiner if settings.refine else None,
        )

    @property
    def revisit(self) -> Revisit:
        """The rule in force."""
        trained = None if self.planner is None else self.planner.about.get("revisit")
        return self.settings.revisit or trained or "topic"

    @property
    def length_weight(self) -> tuple[float, ...]:
        """[L] factor of the similarity of paths of 1, 2, ... hops."""
        if self.kind == "text":
            return self.settings.length_weight[: self.hops]
        return (1.0,) * self.hops

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
        stages = Stages()
        topics = find_topics(self.linker, questions, use_given=use_given)
        stages.end("link")
        asked = self.read(questions, topics, on_progress=on_progress)
        stages.end("plan")
        found = self.retrieve(asked, topics, on_progress=on_progress)
        stages.end("retrieve")
        refined = None
        if self.refiner is not None:
            refined = refine_schemas(
                self.refiner, self.kg, questions, found, most=self.settings.refine
            )
            found = refined.found
            stages.skip()
        wanted = asked.confidence >= self.settings.threshold
        grounded = self.ground(found, topics, count=self.settings.top_k, wanted=wanted)
        stages.end("follow")
        best = grounded.best(found.relations)
        reasons = explain_paths(
            self.kg,
            self.symbols,
            asked.query,
            best,
            length_weight=self.length_weight,
            batch_size=self.settings.batch_size,
        )
        answers = answers_from(self, questions, topics, asked, found, grounded, reasons)
        stages.end("cite")
        usage = stages.usage(len(questions))
        answers = [dataclasses.replace(answer, usage=usage) for answer in answers]
        return (
            answers
            if refined is None
            else [
                dataclasses.replace(
                    answer,
                    usage=answer.usage + refined.usage[i],
                    notes=(*answer.notes, *refined.notes[i]),
                    dropped=refined.dropped[i],
                )
                for i, answer in enumerate(answers)
            ]
        )

    def read(
        self,
        questions: Sequence[Question],
        topics: Sequence[Topics],
        *,
        on_progress: Progress | None = None,
    ) -> Asked:
        """Questions, their topics masked, as queries."""
        masked = masked_texts(questions, topics)
        count = len(masked)
        everything = np.ones(count, bool)
        if self.ranked is not None:
            tick = _stage(on_progress, "rank")
            ranked = self.ranked.rank(questions, topics, tick)
            best = Plans(
                ranked.relations[:, : self.settings.plans],
                ranked.probability[:, : self.settings.plans],
                ranked.complete,
            )
            if self.ranked.ranker.directed:
                query = PlanQuery(best.relations, best.probability)
            else:
                query = PlanQuery(*either_way(best, self.kg.num_relations))
            return Asked(query, np.ones(count), best.complete)
        if self.kind == "text":
            return Asked(self.symbols.text_query(masked), np.ones(count), everything)
        if self.kind == "projection":
            return Asked(self.symbols.projected_query(masked), np.ones(count), everything)
        assert self.planner is not None
        plans = plan_paths(
            self.tensors,
            self.planner,
            masked,
            [some.entities for some in topics],
            width=self.settings.plans,
            revisit=self.revisit,
            batch_size=self.settings.batch_size,
            on_progress=_stage(on_progress, "plan"),
        )
        known = np.array([self.planner.known_share(text) for text in masked])
        query = PlanQuery(plans.relations, plans.probability.astype(np.float32))
        if self.kind == "plan":
            query = PlanQuery(plans.relations[:, :1], query.weight[:, :1])
        return Asked(query, plans.probability[:, 0] * known, plans.complete)

    def retrieve(
        self, asked: Asked, topics: Sequence[Topics], *, on_progress: Progress | None = None
    ) -> Retrieved:
        """The candidate schemas nearest to each query, calibrated (PathHD, Eq. 5 to 7)."""
        count, codes = len(topics), 2 * self.kg.num_relations
        settings, symbols = self.settings, self.symbols
        size = min(settings.batch_size, bucket(count))
        keep = settings.keep
        if self.schemas is None:
            size = min(size, max(8, _SCORES // (settings.beam * codes)))
            capacities = Capacities(
                (bucket(32 * size), *(bucket(64 * size),) * 3 * (self.hops - 1))
            )
        else:
            keep = min(keep, self.schemas.count)
            capacities = Capacities((bucket(8 * size, floor=1024),))
        rows = bucket(size)
        relations = np.full((count, keep, self.hops), NULL, np.int32)
        similarity = np.full((count, keep), -np.inf, np.float32)
        complete = asked.complete.copy()
        weight = jax.device_put(np.asarray(self.length_weight, np.float32))

        def run(indices: np.ndarray, slots: tuple[int, ...]) -> Nearest:
            row, node = starts_table([topics[i].entities for i in indices], num_rows=rows)
            query = jax.tree.map(lambda column: pad(column[indices], rows), asked.query)
            encoded = encode_queries(
                symbols.algebra,
                symbols.space,
                query,
                hops=self.hops,
                metric=settings.metric,
                prefixes=self.schemas is None,
            )
            if self.schemas is None:
                return retrieve_grown(
                    self.tensors.graph, row, node, symbols.algebra, symbols.space.table, encoded,
                    weight, num_rows=rows, width=settings.beam, keep=keep, capacities=slots,
                    revisit=self.revisit,
                )  # fmt: skip
            return retrieve_listed(
                self.tensors.graph, row, node, encoded, weight, self.schemas.paths,
                self.schemas.encoded, num_rows=rows, keep=keep, capacities=slots,
                precision=settings.precision,
            )  # fmt: skip

        tick = _stage(on_progress, "retrieve")
        for indices, found, whole in stream(count, size, run, capacities):
            relations[indices] = found.relations[: len(indices)]
            similarity[indices] = found.similarity[: len(indices)]
            complete[indices] &= whole
            if tick:
                tick(int(indices[-1]) + 1, count)
        score = similarity
        if self.calibration is not None:
            score = self.calibration.score(similarity, relations, num_codes=codes)
        order = np.argsort(-score, axis=1, kind="stable")
        relations = np.take_along_axis(relations, order[:, :, None], axis=1)
        similarity, score = (np.take_along_axis(x, order, axis=1) for x in (similarity, score))
        return Retrieved(relations, similarity, score, complete)

    def ground(
        self,
        found: Retrieved,
        topics: Sequence[Topics],
        *,
        count: int = 1,
        wanted: np.ndarray | None = None,
    ) -> Grounded:
        """Execute candidates, best first, until `count` of each question reach an entity.

        Args:
            found: candidates.
            topics: of each question.
            count: schemas wanted a question.
            wanted: [Q] bool, the questions to answer; all if None.
        """
        return ground_schemas(
            self.tensors,
            [some.entities for some in topics],
            found.relations,
            np.isfinite(found.score) & (True if wanted is None else wanted[:, None]),
            self.named,
            count=count,
            revisit=self.revisit,
            batch_size=4 * self.settings.batch_size,
        )


def _stage(tick: Progress | None, stage: str) -> Callable[[int, int], None] | None:
    return None if tick is None else lambda done, total: tick(stage, done, total)
