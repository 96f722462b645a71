"""PathMind: prioritise the entities around a question's topics, answer with the best, cite a walk.

On its own it needs no language model; `retrieve` gives the important paths to any adjudicator.
Reference: Liu, Lin, Shang, Li, Wang and Cao, "PathMind: a retrieve-prioritize-reason framework for
knowledge graph reasoning with large language models".
"""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Sequence
from typing import ClassVar, Literal

import jax
import numpy as np

from jaxkg.answer import Answer
from jaxkg.candidates import Revisit
from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph, Linker, Topics, find_topics
from jaxkg.kg.link.topics import masked_texts
from jaxkg.learn.priority.model import (
    PriorityModel,
    entity_features,
    graph_inflow,
    text_encoder,
)
from jaxkg.records import Question, RankedEntity, SupportingPath, TraceNode, Usage
from jaxkg.score.priority import entity_states
from jaxkg.settings import Checked, Count, Share
from jaxkg.systems.answering import Progress, QuestionAnswering, why_no_topic
from jaxkg.systems.cited import RetrievedEntities, cite_walks, cited_answer
from jaxkg.systems.pathmind.walks import (
    Prioritised,
    Ranked,
    Ranking,
    Strategy,
    grown_walks,
    prioritise_batch,
    random_walks,
)
from jaxkg.tensors import (
    Capacities,
    TensorGraph,
    batch_starts,
    bucket,
    pad,
    stream,
    tensor_graph,
)
from jaxkg.text import TextEncoder
from jaxkg.text.hashing import Encoder, HashingEncoder
from jaxkg.types import NULL
from jaxkg.words import below

_FEWEST_SLOTS = 1024
_SHOWN = 100
"""Entities of a relation path that are named; a hub has a hundred thousand."""


def priority_hops(
    kg: KnowledgeGraph, tensors: TensorGraph, ranked: Ranked, answer: Answer
) -> tuple[TraceNode, ...]:
    """What was reached in one hop, in two and so on.

    Args:
        kg, tensors: the graph.
        ranked: of the one question.
        answer: to it; its entities are kept.

    Returns:
        A node a hop; below it the relation paths of the heaviest walks of that length, each with
        the priority of its best entity, and below those the entities.
    """
    chosen = {entity.entity for entity in answer.entities}
    codes = np.where(ranked.heaviest == NULL, NULL, tensors.relation[ranked.heaviest])
    by_path: dict[tuple[int, ...], list[int]] = {}
    for place in np.argsort(-ranked.priority, kind="stable").tolist():
        path = tuple(code for code in codes[place].tolist() if code != NULL)
        by_path.setdefault(path, []).append(place)
    hops: list[list[TraceNode]] = [[] for _ in range(codes.shape[1])]
    sizes = [0] * codes.shape[1]
    for path, places in by_path.items():
        ends = [(int(ranked.node[place]), float(ranked.priority[place])) for place in places]
        nodes = {node for node, _ in ends if kg.entity_ids[node] in chosen}
        below = [TraceNode(kg.name(node), score, node in nodes) for node, score in ends[:_SHOWN]]
        if len(ends) > _SHOWN:
            below.append(TraceNode(f"… and {len(ends) - _SHOWN:,} of lower priority"))
        words = f"{' → '.join(map(kg.relation_name, path))}, reaches {len(ends):,}"
        sizes[len(path) - 1] += len(ends)
        hops[len(path) - 1].append(TraceNode(words, ends[0][1], bool(nodes), tuple(below)))
    return tuple(
        TraceNode(f"hop {hop}: {size:,} entities", below=tuple(paths))
        for hop, (size, paths) in enumerate(zip(sizes, hops), start=1)
    )


def iterations(answer: Answer, *, keep: int, grown: bool) -> tuple[TraceNode, ...]:
    """The walks that a reasoner is shown, iteration by iteration.

    Args:
        answer: as `PathMind.retrieve` gives it.
        keep: K.
        grown: a walk has grown by a triple an iteration; else each brought all its triples.
    """
    taken: dict[int, list[TraceNode]] = {}
    for place, path in enumerate(answer.paths):
        step = len(path.citations) if grown else place // keep + 1
        taken.setdefault(step, []).append(TraceNode(path.sentence, path.score, True))
    return tuple(
        TraceNode(f"iteration {step}: {len(walks)} walks taken", below=tuple(walks))
        for step, walks in taken.items()
    )


SYSTEM = "pathmind"


@dataclasses.dataclass(frozen=True)
class PathMindSettings(Checked):
    """Knobs of PathMind.

    Attributes:
        threshold: least confidence to answer at all. Confidence is the best priority times the
            share of the question's words that training has shown.
        share: entities of at least this share of the best priority are answers too.
        floor: stretches of edges that weigh less than this share of the heaviest one of their hop
            are not walked; 0 walks the whole subgraph.
        keep: K, entities taken an iteration by `retrieve`.
        iterations: T; the paper takes 2 on WebQSP and 4 on CWQ.
        growth: what `retrieve` takes an entity with: the heaviest of its "walks", or walks that
            grow by "triples" through the entities taken before (the paper's rule).
        revisit: which nodes a walk may enter; None takes what the model was trained with.
        batch_size: questions a batch.
    """

    threshold: Share = 0.15
    share: Share = 0.5
    floor: Share = 0.01
    keep: Count = 3
    iterations: Count = 2
    growth: Literal["walks", "triples"] = "walks"
    revisit: Revisit | None = None
    batch_size: Count = 64

    presets: ClassVar = {"paper": {"growth": "triples", "floor": 0.0, "threshold": 0.0}}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.floor == 1:
            raise JaxkgError("floor is below 1, not 1")


@dataclasses.dataclass(frozen=True, eq=False)
class PathMind(QuestionAnswering):
    """Answers questions over one graph.

    Example:
        >>> from jaxkg.kg import demo_graph
        >>> qa = PathMind.build(demo_graph(), PriorityModel.open(folder))  # doctest: +SKIP
        >>> print(qa.ask("who directed Alien?"))  # doctest: +SKIP
    """

    kg: KnowledgeGraph
    tensors: TensorGraph
    model: PriorityModel
    linker: Linker
    encoder: Encoder
    names: Encoder
    settings: PathMindSettings = PathMindSettings()

    @classmethod
    def build(
        cls,
        kg: KnowledgeGraph,
        model: PriorityModel,
        *,
        tensors: TensorGraph | None = None,
        linker: Linker | None = None,
        encoder: TextEncoder | None = None,
        names: Encoder | None = None,
        settings: PathMindSettings | None = None,
    ) -> PathMind:
        """Put the parts together.

        Args:
            kg: the graph.
            model: trained path priority.
            tensors, linker: of the graph; None makes them.
            encoder: of questions, the one the model was trained with; None hashes words and
                letters.
            names: of entity names, likewise.
            settings: knobs; None takes the defaults.

        Raises:
            JaxkgError: the model was trained for another graph, or with another encoder.
        """
        model.check_graph(kg)
        trained = model.about.get("encoder")
        if trained and (encoder is None or [encoder.name, encoder.revision] != list(trained)):
            raise JaxkgError(f"this priority model reads vectors of {' '.join(trained)}")
        return cls(
            kg,
            tensors or tensor_graph(kg),
            model,
            linker or Linker(kg),
            text_encoder(encoder, kg.relations),
            names or HashingEncoder(),
            settings or PathMindSettings(),
        )

    @property
    def revisit(self) -> Revisit:
        """The rule in force."""
        return self.settings.revisit or self.model.about.get("revisit", "topic")

    def answer(
        self,
        questions: Sequence[Question],
        *,
        use_given: bool = True,
        on_progress: Progress | None = None,
        ranking: Ranking | None = None,
    ) -> list[Answer]:
        """Answer with the entities of highest priority, each with its heaviest walk.

        Args:
            questions: any number.
            use_given: see `find_topics`.
            on_progress: called with (stage, done, total).
            ranking: of these questions, from `rank`; None ranks.

        Returns:
            An answer, or an abstention with its reason, for each question in order.
        """
        if not questions:
            return []
        known = self._known(ranking, questions, use_given, on_progress)
        ranked, began = known.ranked, time.perf_counter()
        best = np.zeros(len(questions))
        np.maximum.at(best, ranked.row, ranked.priority)
        confidence = best * [self.model.known_share(text) for text in known.masked]
        taken = np.flatnonzero(
            (ranked.priority >= self.settings.share * best[ranked.row])
            & (confidence >= self.settings.threshold)[ranked.row]
        )
        walks = ranked.row[taken], ranked.heaviest[taken], ranked.priority[taken]
        return self._answers(questions, known, walks, confidence, began)

    def traced(self, question: Question) -> tuple[Answer, tuple[TraceNode, ...]]:
        """An answer, and the priorities of all that lies around the topics."""
        ranking = self.rank([question])
        [answer] = self.answer([question], ranking=ranking)
        return answer, priority_hops(self.kg, self.tensors, ranking.ranked, answer)

    def retrieve(
        self,
        questions: Sequence[Question],
        *,
        strategy: Strategy = "important",
        use_given: bool = True,
        seed: int = 0,
        on_progress: Progress | None = None,
        ranking: Ranking | None = None,
    ) -> list[Answer]:
        """The paths to show to a reasoner, at most K T a question, whatever the confidence.

        Args:
            questions: any number.
            strategy: "important", "shortest" or "random" paths.
            use_given: see `find_topics`.
            seed: of random walks.
            on_progress: called with (stage, done, total).
            ranking: of these questions, from `rank`; None ranks.

        Returns:
            For each question an answer that holds the paths and ranks the entities they end in,
            ready for `jaxkg.adjudicate.adjudicate`.
        """
        if not questions:
            return []
        known = self._known(ranking, questions, use_given, on_progress)
        began = time.perf_counter()
        starts, ranked = [topic.entities for topic in known.topics], known.ranked
        keep, rounds = self.settings.keep, self.settings.iterations
        if strategy == "random":
            walks = random_walks(
                self.tensors,
                starts,
                hops=ranked.heaviest.shape[1],
                count=keep * rounds,
                revisit=self.revisit,
                seed=seed,
            )
        elif strategy == "important" and self.settings.growth == "triples":
            walks = grown_walks(known.whole, self.tensors, starts, keep=keep, iterations=rounds)
        else:  # an entity brings its whole walk, out of back-pointers
            place = np.arange(len(ranked.row)) - ranked.offsets[ranked.row]
            taken = np.flatnonzero(place < keep * rounds)
            edges = ranked.heaviest if strategy == "important" else ranked.shortest
            walks = ranked.row[taken], edges[taken], ranked.priority[taken]
        return self._answers(questions, known, walks, np.ones(len(questions)), began)

    def rank(
        self,
        questions: Sequence[Question],
        *,
        use_given: bool = True,
        on_progress: Progress | None = None,
    ) -> Ranking:
        """Every entity around the topics by priority; `answer` and `retrieve` can share it.

        Args as `answer`.
        """
        tick = on_progress or (lambda stage, done, total: None)
        began = time.perf_counter()
        topics = find_topics(self.linker, questions, use_given=use_given)
        linked = time.perf_counter()
        masked = masked_texts(questions, topics)
        ranked = self._ranked(masked, topics, tick)
        seconds = (linked - began, time.perf_counter() - linked)
        return Ranking(topics, masked, self._sayable(ranked), ranked, seconds)

    def _ranked(self, masked: Sequence[str], topics: Sequence[Topics], tick: Progress) -> Ranked:
        """Every entity of every question's subgraph, by priority; no topic means no entity."""
        count, model = len(masked), self.model
        ngrams, text = model.ngrams(masked), self._encode(masked)
        params, labels = jax.device_put((model.params, (model.label_ngrams(), model.label_text)))
        size = min(self.settings.batch_size, bucket(count))
        rows, starts = bucket(size), batch_starts([topic.entities for topic in topics], size)

        def run(indices: np.ndarray, slots: tuple[int, ...]) -> Prioritised:
            return prioritise_batch(
                self.tensors.graph,
                params,
                self.states,
                labels,
                starts(indices),
                (pad(ngrams[indices], rows), pad(text[indices], rows)),
                capacities=slots,
                floor=self.settings.floor,
                revisit=self.revisit,
                walk_weights=model.sizes.walk_weights,
                mass=model.sizes.mass,
            )

        capacities = Capacities(
            slots=tuple(
                bucket(64 * size << 3 * (step // 2), floor=_FEWEST_SLOTS)
                for step in range(2 * model.sizes.hops)
            )
        )
        parts, completes, walked = [], np.ones(count, bool), np.zeros(count, np.int64)
        for indices, batch, complete in stream(count, size, run, capacities):
            walked[indices] = batch.walked[: len(indices)]
            # Priorities that differ by rounding alone are ties, and ties go to the smaller node.
            priority = (1 / (1 + np.exp(-np.clip(batch.logit, -80, 80)))).round(6)
            there = np.flatnonzero(batch.valid)
            there = there[np.lexsort((batch.node[there], -priority[there], batch.row[there]))]
            columns = (batch.node, priority, batch.heaviest, batch.shortest)
            row = batch.row[there] + int(indices[0])
            parts.append((row, *(column[there] for column in columns)))
            completes[indices] = complete
            tick("prioritise", int(indices[-1]) + 1, count)
        none = np.zeros((0, model.sizes.hops), np.int32)
        empty = (none[:, 0], none[:, 0], np.zeros(0, np.float32), none, none)
        row, node, priority, heaviest, shortest = (
            np.concatenate(column) for column in zip(*(parts or [empty]))
        )
        offsets = np.searchsorted(row, np.arange(count + 1))
        return Ranked(row, node, priority, heaviest, shortest, offsets, completes, walked)

    @functools.cached_property
    def states(self) -> jax.Array:
        """[N, S] float32 entity states, computed once."""
        features = entity_features(
            self.kg,
            self.names,
            rows=self.tensors.graph.num_nodes,
            width=self.model.sizes.features,
        )
        params = jax.device_put(self.model.params)
        return jax.jit(entity_states)(params, graph_inflow(self.tensors), features)

    @functools.cached_property
    def _has_name(self) -> np.ndarray:
        """[N] bool, see `KnowledgeGraph.has_name`."""
        return np.array([self.kg.has_name(row) for row in range(self.kg.num_entities)], bool)

    def _encode(self, masked: Sequence[str]) -> np.ndarray:
        vectors = self.encoder(masked).astype(np.float32)
        if vectors.shape[1] != self.model.sizes.text:
            raise JaxkgError(
                f"the encoder gives {vectors.shape[1]} numbers a text, the model was trained with "
                f"{self.model.sizes.text}; give the encoder it was trained with"
            )
        return vectors

    def _known(
        self,
        ranking: Ranking | None,
        questions: Sequence[Question],
        use_given: bool,
        on_progress: Progress | None,
    ) -> Ranking:
        if ranking is None:
            return self.rank(questions, use_given=use_given, on_progress=on_progress)
        if len(ranking.masked) != len(questions):
            raise JaxkgError(
                f"the ranking is of {len(ranking.masked)} questions, not of {len(questions)}"
            )
        return ranking

    def _sayable(self, ranked: Ranked) -> Ranked:
        """Without nodes that have no name of their own: events and roles are no answers.

        They stay where a question has reached nothing else.
        """
        named = self._has_name[ranked.node]
        has_named = np.zeros(len(ranked.complete), bool)
        has_named[ranked.row[named]] = True
        rows = np.flatnonzero(named | ~has_named[ranked.row])
        return dataclasses.replace(
            ranked,
            row=ranked.row[rows],
            node=ranked.node[rows],
            priority=ranked.priority[rows],
            heaviest=ranked.heaviest[rows],
            shortest=ranked.shortest[rows],
            offsets=np.searchsorted(ranked.row[rows], np.arange(len(ranked.complete) + 1)),
        )

    def _answers(
        self,
        questions: Sequence[Question],
        ranking: Ranking,
        walks: tuple[np.ndarray, np.ndarray, np.ndarray],
        confidence: np.ndarray,
        began: float,
    ) -> list[Answer]:
        """An answer a question from walks: their questions, ascending, edges and scores."""
        row, edges, score = walks
        paths = cite_walks(self.kg, self.tensors, edges, row, score)
        usage, whole = _usage(ranking, began, len(questions)), ranking.whole
        bounds = np.searchsorted(row, np.arange(len(questions) + 1)).tolist()
        answers = []
        for i, (question, first, last) in enumerate(zip(questions, bounds, bounds[1:])):
            nodes = whole.node[whole.offsets[i] : whole.offsets[i + 1]]
            walked = None if whole.walked is None else int(whole.walked[i])
            answers.append(
                cited_answer(
                    question,
                    ranking.topics[i],
                    _entities(paths[first:last]),
                    paths[first:last],
                    system=SYSTEM,
                    why_not=self._why_not(ranking.topics[i], float(confidence[i])),
                    complete=bool(whole.complete[i]),
                    usage=dataclasses.replace(usage, nodes=len(nodes), edges=walked),
                    retrieved=RetrievedEntities(self.kg.entity_ids, nodes),
                )
            )
        return answers

    def _why_not(self, topics: Topics, confidence: float) -> str:
        if not topics.entities:
            return why_no_topic(topics)
        if 0 < confidence < self.settings.threshold:
            return f"the best entity has confidence {below(confidence, self.settings.threshold)}"
        return "nothing but the topic is within reach"


def _entities(paths: Sequence[SupportingPath]) -> tuple[RankedEntity, ...]:
    """Where paths end, each entity with the score of its best path."""
    by_id: dict[str, RankedEntity] = {}
    for path in paths:
        entity, name = path.end
        known = by_id.get(entity)
        by_id[entity] = RankedEntity(
            entity,
            name,
            max(path.score, known.score) if known else path.score,
            (*(known.paths if known else ()), path.id),
        )
    return tuple(sorted(by_id.values(), key=lambda each: -each.score))


def _usage(ranking: Ranking, began: float, count: int) -> Usage:
    seconds = np.array([*ranking.seconds, time.perf_counter() - began]) / count
    return Usage(
        seconds=float(seconds.sum()),
        stages=dict(zip(("link", "prioritise", "cite"), seconds.tolist())),
    )
