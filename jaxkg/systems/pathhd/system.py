"""PathHD: plan, encode, retrieve by hypervector similarity, reason with at most one model call.

Reference: "PathHD: efficient large language model reasoning over knowledge graphs via
hyperdimensional retrieval", Sections 2 and 3, Algorithm 1.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Literal

import jax
import numpy as np

from jaxkg.adjudicate.backend import Backend
from jaxkg.adjudicate.calls.refinement import Unrefined, choose_patterns
from jaxkg.answer import Answer
from jaxkg.deadline import check
from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph, Linker, Topics
from jaxkg.kg.link.topics import masked_texts
from jaxkg.learn.planner.model import Planner
from jaxkg.records import PlanCandidate, Question, RankedEntity, TraceNode
from jaxkg.search.hypervectors import Nearest, retrieve_grown, retrieve_listed
from jaxkg.search.plans import plan_paths
from jaxkg.systems.answering import Progress
from jaxkg.systems.cited import Remarks
from jaxkg.systems.following import Followed, follow_paths
from jaxkg.systems.pathhd.answers import best_entities, best_schemas
from jaxkg.systems.pathhd.calibration import Calibration
from jaxkg.systems.pathhd.explain import candidate_nodes, hop_shares
from jaxkg.systems.pathhd.queries import PlanQuery, encode_queries
from jaxkg.systems.pathhd.records import Asked, Retrieved, Schemas
from jaxkg.systems.pathhd.settings import PathHDSettings, QueryKind, make_algebra
from jaxkg.systems.pathhd.space import ListedSchemas, SymbolSpace, key_of, listed_schemas
from jaxkg.systems.paths import Found, Linked, PathAnswering
from jaxkg.tensors import Capacities, TensorGraph, batch_starts, bucket, pad, stream, tensor_graph
from jaxkg.text.hashing import Encoder, HashingEncoder
from jaxkg.types import NULL
from jaxkg.words import below, relation_path_words

_SCORES = 1 << 23
"""Scores a batch of grown candidates may hold at a time."""

_SHOWN = 5
"""Candidate schemas of an answer that are shown with their similarity."""


@dataclasses.dataclass(frozen=True, eq=False)
class PathHD(PathAnswering[Schemas]):
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

    name = "pathhd"
    stage = "retrieve"
    learnt = "planner"

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
    calibration: Calibration | None = None
    refiner: Backend | None = None

    @classmethod
    def build(
        cls,
        kg: KnowledgeGraph,
        planner: Planner | None = None,
        *,
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
            planner: trained for it; without one the question's text is compared with the relation
                labels.
            encoder: of label and question texts; None hashes their words and letters.
            tensors, linker: of the graph; None makes them.
            settings: knobs.
            calibration: from `fit_calibration`; None takes the settings' weights.
            refiner: chooses among the candidates where the settings say `refine`.
            seed: of the hypervectors.

        Raises:
            JaxkgError: the planner is of another graph, the query needs one, the operator cannot
                do what the graph or the query needs, or nobody is there to refine.
        """
        settings = settings or PathHDSettings()
        kind = settings.query or ("bundle" if planner else "text")
        if planner is not None:
            planner.check_graph(kg)
        elif kind in ("bundle", "plan"):
            raise JaxkgError(f'a query from a {kind} needs a planner; give one, or query="text"')
        if kind in ("text", "ordered") and settings.symbols == "random":
            raise JaxkgError(
                'with random symbols a text cannot be a query: use symbols="labels", or '
                'query="projection" for the paper\'s projection'
            )
        if settings.refine and refiner is None:
            raise JaxkgError("refine needs a language model: give one (--llm MODEL), or refine=0")
        tensors = tensors or tensor_graph(kg)
        if encoder is None and (settings.symbols == "labels" or kind == "projection"):
            encoder = HashingEncoder()
        bandwidth = settings.bandwidth or (
            0.7 if kind in ("text", "ordered", "projection") else 0.5
        )
        symbols = SymbolSpace.build(
            make_algebra(settings),
            kg.relations,
            encoder=encoder,
            bandwidth=bandwidth if settings.symbols == "labels" else None,
            key=key_of(seed),
        )
        trained = (planner.hops,) if planner else ()
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
            calibration=calibration or Calibration.weighted(settings),
            refiner=refiner if settings.refine else None,
        )

    @property
    def single_paths(self) -> int | None:
        """K, where a model is offered so many relation paths, a line each; None for groups."""
        return self.settings.top_k if self.settings.offered == "paths" else None

    @property
    def prompt(self) -> Literal["ours", "a", "b"]:
        """In which words a language model is asked."""
        return self.settings.prompt

    @property
    def length_weight(self) -> tuple[float, ...]:
        """[L] factor of the similarity of paths of 1, 2, ... hops."""
        if self.kind in ("text", "ordered"):
            return self.settings.length_weight[: self.hops]
        return (1.0,) * self.hops

    def propose(self, linked: Linked) -> Schemas:
        """The candidate schemas nearest to each question, those left out that a model refuses."""
        asked = self.read(linked.questions, linked.topics, on_progress=linked.tick)
        linked.clock.end("plan")
        candidates = self.retrieve(asked, linked.topics, on_progress=linked.tick)
        linked.clock.end("retrieve")
        remarks = None
        if self.refiner is not None:
            candidates, remarks = self._refined(self.refiner, linked.questions, candidates)
            linked.clock.skip()  # calls are charged to their questions
        sure = asked.confidence >= self.settings.threshold
        return Schemas(
            candidates.relations,
            candidates.score,
            np.isfinite(candidates.score) & sure[:, None],
            asked.complete & candidates.complete,
            asked.confidence,
            remarks,
            visited=None if asked.visited is None else asked.visited + candidates.visited,
            query=asked.query,
            similarity=candidates.similarity,
        )

    def _refined(
        self, backend: Backend, questions: Sequence[Question], candidates: Retrieved
    ) -> tuple[Retrieved, list[Remarks]]:
        """Keep the schemas that a language model chooses; they stay in order of their scores.

        A question with no more candidates than wanted costs no call. Where a call fails, or nothing
        offered is chosen, all candidates are kept and the note says so.

        Reference: PathHD, Appendix K.
        """
        there, most = np.isfinite(candidates.score), self.settings.refine
        unsure = np.flatnonzero(there.sum(axis=1) > most).tolist()
        offered = {row: np.flatnonzero(there[row]) for row in unsure}
        asked = [
            Unrefined(
                questions[row].text,
                questions[row].id,
                tuple(
                    relation_path_words(self.kg.relation_name(int(c)) for c in codes if c != NULL)
                    for codes in candidates.relations[row, places]
                ),
            )
            for row, places in offered.items()
        ]
        score = candidates.score.copy()
        remarks = [Remarks() for _ in questions]
        for row, outcome in zip(unsure, choose_patterns(backend, asked, most=most), strict=True):
            cut = (outcome.note,) if outcome.note else ()
            if outcome.value is None:
                note = f"schemas not refined ({outcome.error}: {outcome.detail})"
                remarks[row] = Remarks(usage=outcome.usage, notes=(note, *cut))
                continue
            numbers = list(dict.fromkeys(outcome.value.patterns))
            real = [n for n in numbers if 1 <= n <= len(offered[row])]
            remarks[row] = Remarks(
                usage=outcome.usage,
                notes=cut if real else ("schemas not refined: the model chose none of them", *cut),
                dropped=tuple(f"pattern {n}" for n in numbers if n not in real),
            )
            if real:
                chosen = offered[row][np.array(real[:most]) - 1]
                score[row, np.setdiff1d(offered[row], chosen)] = -np.inf
        return dataclasses.replace(candidates, score=score), remarks

    def follow(self, linked: Linked, paths: Schemas) -> Followed:
        """The first `top_k` schemas of each question that reach an entity."""
        score = np.where(paths.used, paths.weight, -np.inf)
        candidates = Retrieved(paths.relations, paths.similarity, score, paths.complete)
        return self.ground(candidates, linked.topics, count=self.settings.top_k)

    def entities(self, found: Found) -> tuple[RankedEntity, ...]:
        """What the best schema reaches."""
        return best_entities(self.kg, found)

    def plan_of(self, paths: Schemas, followed: Followed, row: int) -> tuple[PlanCandidate, ...]:
        """Schemas considered; `probability` holds the similarity, negative ones as 0."""
        there, used = np.isfinite(paths.weight[row]), followed.used[row]
        shown = there & ((np.arange(len(there)) < _SHOWN) | used)
        return tuple(
            self.candidate(
                paths.relations[row, place],
                float(np.clip(paths.similarity[row, place], 0, 1)),
                int(followed.sizes[row, place]),
                used=bool(used[place] and not used[:place].any()),
            )
            for place in np.flatnonzero(shown).tolist()
        )

    def considered(
        self, paths: Schemas, followed: Followed, answer: Answer
    ) -> tuple[TraceNode, ...]:
        """Every candidate schema by the score it was ranked by, and what the K kept reach."""
        return candidate_nodes(self.kg, paths, followed, calibrated=self.calibration is not None)

    def why_not(self, found: Found, plan: Sequence[PlanCandidate]) -> str:
        """Why a question has no answer."""
        if not plan:
            return "no relation of the graph leaves the topic"
        if found.confidence < self.settings.threshold:
            return f"the planner's confidence is {below(found.confidence, self.settings.threshold)}"
        return "none of the nearest relation paths leads from the topic to another entity"

    def remarks(self, linked: Linked, paths: Schemas, followed: Followed) -> Sequence[Remarks]:
        """Each answer says how much every hop of its schema contributed to the similarity."""
        remarks = list(super().remarks(linked, paths, followed))
        if not self.symbols.algebra.isometric:  # its hops cannot be unbound exactly
            return remarks
        schemas = best_schemas(followed, paths.relations)
        wanted = np.flatnonzero(schemas[:, 0] != NULL)
        size = min(self.settings.batch_size, bucket(len(wanted)))
        for first in range(0, len(wanted), size):
            rows = wanted[first : first + size]
            query = jax.tree.map(lambda column, rows=rows: pad(column[rows], size), paths.query)
            space = self.symbols.algebra, self.symbols.space
            parts = jax.device_get(hop_shares(*space, query, pad(schemas[rows], size)))
            for place, i in enumerate(rows.tolist()):
                names = [self.kg.relation_name(c) for c in schemas[i].tolist() if c != NULL]
                by = self.length_weight[len(names) - 1]
                words = [
                    f"{by * share:+.2f} for {relation_path_words([name])}"
                    for share, name in zip(parts.share[place].tolist(), names)
                ]
                reason = (
                    f"similarity {by * parts.score[place]:.2f} = {by * parts.baseline[place]:.2f} "
                    f"for any path of that length {' '.join(words)}"
                )
                remarks[i] = dataclasses.replace(remarks[i], notes=(reason, *remarks[i].notes))
        return remarks

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
        if self.planner is None or self.kind not in ("bundle", "plan"):
            hops = self.hops if self.kind == "ordered" else None
            if self.kind == "projection":
                query = self.symbols.projected_query(masked)
            else:
                query = self.symbols.text_query(masked, hops=hops)
            return Asked(query, np.ones(count), np.ones(count, bool), np.zeros((count, 2), int))
        plans = plan_paths(
            self.tensors,
            self.planner,
            masked,
            [topic.entities for topic in topics],
            width=self.settings.plans,
            revisit=self.revisit,
            batch_size=self.settings.batch_size,
            on_progress=on_progress and functools.partial(on_progress, "plan"),
        )
        known = np.array([self.planner.known_share(text) for text in masked])
        query = PlanQuery(plans.relations, plans.probability.astype(np.float32))
        if self.kind == "plan":
            query = PlanQuery(plans.relations[:, :1], query.weight[:, :1])
        return Asked(query, plans.probability[:, 0] * known, plans.complete, plans.visited)

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
            # Of copies, edges, and the runs on from there, which are the most.
            between = tuple(bucket(each * size) for each in (64, 64, 256))
            capacities = Capacities((bucket(32 * size), *between * (self.hops - 1)))
        else:
            keep = min(keep, self.schemas.count)
            capacities = Capacities((bucket(8 * size, floor=1024),))
        rows, starts = bucket(size), batch_starts([topic.entities for topic in topics], size)
        relations = np.full((count, keep, self.hops), NULL, np.int32)
        similarity = np.full((count, keep), -np.inf, np.float32)
        complete, visited = asked.complete.copy(), np.zeros((count, 2), np.int64)
        weight = jax.device_put(np.asarray(self.length_weight, np.float32))

        def run(indices: np.ndarray, slots: tuple[int, ...]) -> Nearest:
            row, node = starts(indices)
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

        for indices, batch, whole in stream(count, size, run, capacities):
            relations[indices] = batch.relations[: len(indices)]
            similarity[indices] = batch.similarity[: len(indices)]
            complete[indices] &= whole
            visited[indices] = batch.visited[: len(indices)]
            if on_progress:
                on_progress("retrieve", int(indices[-1]) + 1, count)
        score = similarity
        if self.calibration is not None:
            score = self.calibration.score(similarity, relations, num_codes=codes)
        order = np.argsort(-score, axis=1, kind="stable")
        relations = np.take_along_axis(relations, order[:, :, None], axis=1)
        similarity, score = (np.take_along_axis(x, order, axis=1) for x in (similarity, score))
        return Retrieved(relations, similarity, score, complete, visited)

    def ground(
        self, candidates: Retrieved, topics: Sequence[Topics], *, count: int = 1
    ) -> Followed:
        """Follow candidates, best first, until `count` of each question reach an entity.

        Twice as many are tried in every round, so that a question whose best candidates do not
        exist from its topic costs few rounds.

        Args:
            candidates: of a score above -inf.
            topics: of each question.
            count: schemas wanted a question.

        Returns:
            Their walks; `sizes` are the nodes reached that can be answers.
        """
        relations, there = candidates.relations, np.isfinite(candidates.score)
        branches = [topic.branches for topic in topics]
        size, places, hops = relations.shape
        used, followed = np.zeros((2, size, places), bool)
        entities = np.zeros((size, places), np.int64)
        complete = np.ones(size, bool)
        visited = np.zeros((size, 2), np.int64)
        nothing = np.zeros(0, np.int64)
        walks = [(nothing, nothing, nothing, np.zeros((0, hops), np.int32), nothing)]
        tried, step = 0, count
        while tried < places:
            check()
            more = there & (np.arange(places) >= tried) & (np.arange(places) < tried + step)
            more &= (used.sum(axis=1) < count)[:, None]
            tried, step = tried + step, 2 * step
            if not more.any():
                continue
            followed |= more
            walk = follow_paths(
                self.tensors,
                branches,
                relations,
                more,
                join=self.join,
                revisit=self.revisit,
                batch_size=4 * self.settings.batch_size,
            )
            complete &= walk.complete
            visited += walk.visited
            np.add.at(entities, (walk.question, walk.place), self.named[walk.node])
            used |= more & (entities > 0)
            used &= np.cumsum(used, axis=1) <= count
            walks.append((walk.question, walk.place, walk.node, walk.edges, walk.branch))
        question, place, node, edges, branch = (np.concatenate(column) for column in zip(*walks))
        order = np.lexsort((place, question))
        every = Followed(
            question[order],
            place[order],
            node[order],
            edges[order],
            branch[order],
            used,
            np.where(followed, entities, NULL),
            complete,
            visited,
        )
        return every.only(used)
