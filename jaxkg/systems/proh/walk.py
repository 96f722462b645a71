"""One sub-question: re-anchor, deepen with the model choosing, answer from the paths it selects.

Reference: PRoH, Section 4.5 and Alg. 3.

Entity weights in the model's words.

Reference: PRoH, Section 4.5 and Eq. 4.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxkg.adjudicate.calls import proh as replies
from jaxkg.adjudicate.rounds import Steps
from jaxkg.candidates.hyperedges import within
from jaxkg.errors import JaxkgError
from jaxkg.search.hyperedges import BeamSettings, Texts, ask, path_scores, seed, tell
from jaxkg.select.hyper_beam import HyperBeam
from jaxkg.systems.proh.calls import Reasoner
from jaxkg.systems.proh.index import HyperIndex, chunk_text
from jaxkg.systems.proh.retrieval import Anchors, anchor_columns
from jaxkg.tensors import Capacities, bucket, rerun
from jaxkg.types import NULL, Fit, Hypergraph, Value

_MOST_WEIGHED = 40
"""Entities whose weights are asked for at once, the most similar ones."""


def weigh_entities(
    reasoner: Reasoner,
    question: str,
    paths: Sequence[tuple[int, ...]],
    weights: np.ndarray,
    weighed: set[int],
    cut: list[str],
) -> Steps[None]:
    """Ask for the weights of the last facts' entities that are similar enough (Eq. 4).

    Args:
        reasoner: what it is reasoned on with.
        question: the sub-question.
        paths: whose last facts count.
        weights: [N] float32, written to.
        weighed: entities that were weighed before, added to.
        cut: notes on what was left out, added to.
    """
    index, threshold = reasoner.retriever.index, reasoner.settings.threshold
    merged = index.tensors.node_of_entity
    rows = {
        int(merged[e]) for path in paths for e in index.graph.entities_of(path[-1]).tolist()
    } - weighed
    if not rows:
        return
    candidates = np.asarray(sorted(rows))
    vector = index.encode([question]).astype(np.float32)[0]
    near = index.entity_host[candidates] @ vector
    weighed |= rows
    best = [int(i) for i in np.argsort(-near, kind="stable") if near[i] >= threshold]
    asked = candidates[best[:_MOST_WEIGHED]].tolist()
    if not asked:
        return
    if len(best) > len(asked):
        cut.append(f"{len(best)} entities to weigh at once, the {len(asked)} most similar weighed")
    descriptions = [described(index, row) for row in asked]
    [reply] = yield from reasoner.calls.ask([replies.entity_weights(question, descriptions)])
    if reply is None:
        # The similarity stands in for weights that could not be had.
        weights[asked] = np.maximum(near[best[:_MOST_WEIGHED]], 0.0)
        return
    for each in reply.weights:
        if 1 <= each.number <= len(asked) and each.weight == each.weight:
            weights[asked[each.number - 1]] = min(max(each.weight, 0.0), 1.0)


def described(index: HyperIndex, row: int) -> str:
    """An entity by its name and what the hypergraph says of it."""
    description = index.graph.descriptions[row]
    name = index.graph.name(row)
    return f"{name}: {description}" if description else name


_LARGEST = 1 << 24

_within = functools.partial(jax.jit, static_argnames="hops")(within)


@functools.partial(jax.jit, static_argnames="capacities")
def _seed(graph, texts, columns, allowed, *, settings, capacities) -> Fit[HyperBeam]:
    beam, needed, overflow = seed(
        graph, texts, columns, allowed, settings=settings, capacity=capacities[0]
    )
    return Fit(beam, needed[None], overflow)


@functools.partial(jax.jit, static_argnames=("capacities", "width"))
def _step(graph, texts, beam, allowed, *, settings, capacities, width, every) -> Fit[HyperBeam]:
    """`ask` and `tell` in one program: the best `width` directions."""
    asked = ask(graph, texts, beam, settings=settings, capacities=capacities, every=every)
    asked = asked._replace(valid=asked.valid & allowed[asked.edge])
    grown = tell(beam, asked, settings=settings, width=width)
    return Fit(grown, asked.needed, asked.overflow)


@functools.partial(jax.jit, static_argnames="capacities")
def _path_scores(graph, texts, path, *, settings, capacities) -> Fit[jax.Array]:
    scores, needed, overflow = path_scores(
        graph, texts, path, settings=settings, capacity=capacities[0]
    )
    return Fit(scores, needed[None], overflow)


class AnswerPath(NamedTuple):
    """An answer of a sub-question and the path that supports it."""

    answer: str
    path: tuple[int, ...]
    score: float


@dataclasses.dataclass
class HyperWalk:
    """The search for one question, a depth at a time; the index keeps the slot counts it learns.

    Attributes:
        index: what is searched.
        settings: of the beam.
        allowed: [H] bool on the device, hyperedges of the question's subgraph.
    """

    index: HyperIndex
    settings: BeamSettings
    allowed: jax.Array

    def texts(self, question: str, weight: np.ndarray | None = None) -> Texts:
        """Vectors of one question; `weight` [N] are given entity weights."""
        index = self.index
        vector = index.encode([question]).astype(np.float32)
        given = np.zeros((0, 0), np.float32) if weight is None else weight[None].astype(np.float32)
        return Texts(
            question=jax.device_put(vector),
            entity=index.entity_vectors,
            edge=index.edge_vectors,
            prior=index.prior,
            weight=jax.device_put(given),
        )

    def start(self, texts: Texts, anchors: Anchors) -> HyperBeam:
        """The first beam, of the question's subgraph alone."""
        columns = jax.device_put(anchor_columns([anchors], self.index, 0.0, 1))
        step = functools.partial(
            _seed, self._graph, texts, columns, self.allowed, settings=self.settings
        )
        return self._fitting("start", step)

    def grow(self, texts: Texts, beam: HyperBeam, *, width: int) -> HyperBeam:
        """The best directions of a beam; those of overlap 0 stand last, where there is room.

        Reference: PRoH, Alg. 3, which leaves no direction out.
        """
        step = functools.partial(
            _step, self._graph, texts, beam, self.allowed, settings=self.settings, width=width
        )
        grown = self._fitting("grow", functools.partial(step, every=np.False_), 1024, 4096)
        if len(paths_of(grown)) == width:
            return grown  # the others would come after these
        return self._fitting("grow", functools.partial(step, every=np.True_), 1024, 4096)

    def rank(self, texts: Texts, paths: Sequence[tuple[int, ...]]) -> list[tuple[int, float]]:
        """Places of paths by their score (Eq. 6), best first."""
        length = self.settings.depth + 1
        table = np.full((1, bucket(len(paths), floor=32), length), NULL, np.int32)
        for place, path in enumerate(paths):
            table[0, place, : len(path)] = path
        paths_in = jax.device_put(table)
        scores = self._fitting(
            "rank",
            functools.partial(_path_scores, self._graph, texts, paths_in, settings=self.settings),
        )
        values = np.asarray(scores)[0, : len(paths)]
        return [(int(i), float(values[i])) for i in np.argsort(-values, kind="stable")]

    @property
    def _graph(self) -> Hypergraph:
        return self.index.tensors.graph

    def _fitting(self, name: str, step: Callable[..., Fit[Value]], *slots: int) -> Value:
        first = Capacities(slots or (1024,), limit=_LARGEST)
        result = rerun(
            lambda slots: step(capacities=slots), self.index.room.setdefault(name, first)
        )
        if result.overflow:
            raise JaxkgError(
                f"one step of the search requires {max(np.asarray(result.needed)):,} slots; raise "
                "the entity threshold or lower the width of the beam"
            )
        return result.value


def subgraph(index: HyperIndex, anchors: Anchors, hops: int) -> jax.Array:
    """[H] bool, the hyperedges within some hops of the anchors.

    Reference: PRoH, Section 4.2, question subgraph construction.
    """
    graph = index.tensors.graph
    nodes, edges = np.zeros(graph.num_nodes, bool), np.zeros(graph.num_edges, bool)
    nodes[list(anchors.topics)] = True
    edges[list(anchors.targets)] = True
    return _within(graph, jnp.asarray(nodes), jnp.asarray(edges), hops=hops)[1]


def scored_paths(beam: HyperBeam) -> list[tuple[tuple[int, ...], float]]:
    """The open paths of one question's beam with their scores, best first."""
    table, scores = jax.device_get((beam.path, beam.score))
    return [
        (tuple(edge for edge in row.tolist() if edge != NULL), score)
        for row, score in zip(table[0], scores[0].tolist())
        if np.isfinite(score)
    ]


def paths_of(beam: HyperBeam) -> list[tuple[int, ...]]:
    """The open paths of one question's beam, best first."""
    return [path for path, _ in scored_paths(beam)]


def only(beam: HyperBeam, places: Sequence[int], width: int) -> HyperBeam:
    """The beam of these places, at most `width`."""
    index = np.full(width, NULL, np.int32)
    index[: len(places[:width])] = places[:width]
    there = jnp.asarray(index != NULL)
    safe = jnp.asarray(np.maximum(index, 0))
    return HyperBeam(
        jnp.where(there[None, :, None], beam.path[:, safe], NULL),
        jnp.where(there[None], beam.score[:, safe], -jnp.inf),
        beam.length,
    )


def chain(index: HyperIndex, path: Sequence[int]) -> str:
    """A path in words."""
    return " → ".join(index.told(edge) for edge in path)


def answer_paths(
    reasoner: Reasoner, question: str, allowed: jax.Array, *, filled: Sequence[str] = ()
) -> Steps[tuple[list[AnswerPath], dict[str, Any]]]:
    """Answers of a sub-question, each with its path.

    Args:
        reasoner: what it is reasoned on with.
        question: the sub-question, earlier answers filled in.
        allowed: see `HyperWalk`.
        filled: the earlier answers in it: keywords, whatever the model says.

    Returns:
        At most `settings.answers` pairs, and what was considered, ready for JSON.

    Reference: PRoH, Alg. 3.
    """
    retriever, calls, settings = reasoner
    index = retriever.index
    inside = np.asarray(allowed)
    keywords = [question, *filled]
    if settings.keywords:
        [named] = yield from calls.ask([replies.keywords(question)])
        keywords += named.keywords if named is not None else []
    [anchors] = retriever.anchor([question], [keywords])
    anchors = Anchors(anchors.topics, tuple(e for e in anchors.targets if inside[e]))
    trace: dict[str, Any] = {
        "question": question,
        "topics": [index.graph.name(row) for row in anchors.topics],
        "targets": list(anchors.targets),
        "weights": [],
        "cut": [],
        "depths": [],
    }
    cut: list[str] = trace["cut"]
    if (near := _first_facts(index, anchors)) > settings.beam.seeds:
        cut.append(f"{near} facts at a sub-question's topics, started from {settings.beam.seeds}")
    beam_settings = settings.beam
    if settings.entity_scores:
        beam_settings = dataclasses.replace(beam_settings, weigh="given")
    walk = HyperWalk(index, beam_settings, allowed)
    weights = np.zeros(index.tensors.graph.num_nodes, np.float32)
    weighed: set[int] = set()
    texts = walk.texts(question, weights if settings.entity_scores else None)
    beam, width = walk.start(texts, anchors), beam_settings.width
    paths = paths_of(beam)

    def weigh(reached: Sequence[tuple[int, ...]], texts: Texts) -> Steps[Texts]:
        if not settings.entity_scores:
            return texts
        yield from weigh_entities(reasoner, question, reached, weights, weighed, cut)
        rows = sorted(weighed, key=lambda row: (-weights[row], row))
        trace["weights"] = [[index.graph.name(row), float(weights[row])] for row in rows]
        return texts._replace(weight=jax.device_put(weights[None]))

    texts = yield from weigh(paths, texts)
    for depth in range(1, beam_settings.depth + 1):
        grown = walk.grow(texts, beam, width=2 * width)
        directions = scored_paths(grown)
        options = [path for path, _ in directions]
        chosen = yield from _choose(reasoner, question, options, width)
        beam = only(grown, chosen, width)
        # What the last facts reach counts in Eq. 6, and in the next directions.
        texts = yield from weigh([options[place] for place in chosen], texts)
        paths = list(dict.fromkeys([*paths, *(options[place] for place in chosen)]))
        if not paths:
            break
        ranked = walk.rank(texts, paths)[: settings.chains]
        shown = [paths[place] for place, _ in ranked]
        chains = [chain(index, path) for path in shown]
        [reply] = yield from calls.ask([replies.sufficient_paths(question, chains)])
        places = replies.chosen_places(reply, len(shown)) if reply else []
        trace["depths"].append(
            {
                "depth": depth,
                "directions": [[list(path), overlap] for path, overlap in directions],
                "followed": chosen,
                "paths": [[list(p), score] for p, (_, score) in zip(shown, ranked)],
                "sufficient": places,
            }
        )
        if places:
            if len(places) > settings.answers:
                cut.append(f"{len(places)} sufficient paths, answered from {settings.answers}")
            selected = [(shown[p], ranked[p][1]) for p in places[: settings.answers]]
            answers = yield from _answers(reasoner, question, selected)
            trace["answers"] = [[each.answer, list(each.path)] for each in answers]
            return answers, trace
        if calls.stopped or not chosen:
            break
    return [], trace


def _first_facts(index: HyperIndex, anchors: Anchors) -> int:
    """Number of hyperedges that a search could start from."""
    rows = np.flatnonzero(np.isin(index.tensors.node_of_entity, anchors.topics))
    near = (index.graph.edges_of(row).tolist() for row in rows.tolist())
    return len({*anchors.targets}.union(*near))


def _choose(
    reasoner: Reasoner, question: str, options: Sequence[tuple[int, ...]], keep: int
) -> Steps[list[int]]:
    """Places of the directions to follow; all where there is nothing to choose."""
    if len(options) <= keep:
        return list(range(len(options)))
    chains = [chain(reasoner.retriever.index, path) for path in options]
    [reply] = yield from reasoner.calls.ask([replies.directions(question, chains, keep=keep)])
    if reply is None:
        return list(range(keep))  # the order of EWO stands
    return replies.chosen_places(reply, len(options))[:keep]


def _answers(
    reasoner: Reasoner, question: str, selected: Sequence[tuple[tuple[int, ...], float]]
) -> Steps[list[AnswerPath]]:
    """Answer from each selected path, all in one batch; equal answers keep the first path."""
    index, settings = reasoner.retriever.index, reasoner.settings
    graph = index.graph
    prompted = []
    for path, _ in selected:
        entities: list[str] = []
        passages: list[str] = []
        if settings.sources:
            rows = dict.fromkeys(e for edge in path for e in graph.entities_of(edge).tolist())
            entities = [described(index, row) for row in rows if graph.descriptions[row]]
            chunks = dict.fromkeys(int(graph.edge_chunk[edge]) for edge in path)
            passages = [
                chunk_text(graph.chunk_titles[row], graph.chunk_texts[row])
                for row in chunks
                if row != NULL
            ]
        prompted.append(
            replies.step_answer(
                question,
                [index.told(edge) for edge in path],
                entities=entities,
                passages=passages,
            )
        )
    by_answer: dict[str, AnswerPath] = {}
    readings = yield from reasoner.calls.ask(prompted)
    for (path, score), reply in zip(selected, readings):
        if reply is not None and reply.answer.strip():
            answer = reply.answer.strip()
            by_answer.setdefault(answer.casefold(), AnswerPath(answer, path, score))
    return list(by_answer.values())
