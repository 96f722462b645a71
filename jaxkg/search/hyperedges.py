"""PRoH's retrieval on the device: an iterative-deepening beam over hyperedges, guided by EWO.

`seed`, `ask` and `tell` are pure. `explore` runs them inside one jit-compiled program; with a
language model in the loop Python calls them, one transfer each way per depth.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp

from jaxkg.candidates.hyperedges import incident_to, members_of, overlaps, seed_edges
from jaxkg.ops import first_of_each, top_in_group
from jaxkg.score.overlap import Aggregate, aggregate_groups, entity_weight, gathered_similarity
from jaxkg.select.hyper_beam import HyperBeam, Merge, keep_directions, leads_back, start_beam
from jaxkg.settings import Checked, Count, NotNegative, Positive
from jaxkg.types import NULL, Hypergraph


@dataclasses.dataclass(frozen=True)
class BeamSettings(Checked):
    """Knobs of the search: a pytree whose sizes and choices are static; its numbers are traced.

    Attributes:
        depth: d_max, hyperedges added to the first of a path.
        width: paths kept at every depth.
        seeds: hyperedges a question starts from, the most similar ones.
        aggregate: of the entity weights over an overlap (Eq. 5).
        path_aggregate: of the entity weights along a path (Eq. 6).
        threshold: least similarity of an entity that counts (Eq. 4).
        weigh: an entity that counts weighs its similarity ("similarity", PRoH-L), the same as any
            other ("one"), or what `Texts.weight` gives it ("given").
        specificity: weights are multiplied by `Texts.prior` to this power; 0 leaves them as the
            paper has them.
        carry: a direction's score is its overlap alone ("overlap", the paper's); or the share of
            the question's attention that flows along it ("flow"): the share of the path it
            extends, times the overlap, times exp(similarity of the neighbour / temperature), made
            to sum to 1 over the directions that are kept.
        temperature: of "flow", over the directions; 0 leaves the neighbour's similarity out.
        seed_temperature: of "flow", over the first hyperedges.
        merge: what becomes of directions to the same hyperedge.
        guide: "overlap"; or "similarity", which ranks directions by the neighbour's own similarity
            to the question instead (the ablation without EWO).
    """

    depth: Count = 3
    width: Count = 16
    seeds: Count = 32
    aggregate: Aggregate = "sum"
    path_aggregate: Aggregate = "mean"
    threshold: float = 0.0
    weigh: Literal["similarity", "one", "given"] = "similarity"
    specificity: NotNegative = 0.0
    carry: Literal["overlap", "flow"] = "overlap"
    temperature: NotNegative = 0.2
    seed_temperature: Positive = 0.05
    merge: Merge = "max"
    guide: Literal["overlap", "similarity"] = "overlap"


_OFF = {"threshold": -1.0, "specificity": 0.0, "temperature": 0.0, "seed_temperature": 0.0}
"""The numbers, and up to which value each is left out: no cosine is below -1."""


def _number(settings: BeamSettings, name: str) -> Any:
    """One of the numbers, traced or not; None where it is left out."""
    value = getattr(settings, name)
    return None if isinstance(value, int | float) and value <= _OFF[name] else value


def _flatten(settings: BeamSettings) -> tuple[tuple[Any, ...], tuple[tuple[str, Any], ...]]:
    names = (field.name for field in dataclasses.fields(settings))
    rest = tuple((name, getattr(settings, name)) for name in names if name not in _OFF)
    return tuple(_number(settings, name) for name in _OFF), rest


def _unflatten(rest: tuple[tuple[str, Any], ...], numbers: tuple[Any, ...]) -> BeamSettings:
    settings = object.__new__(BeamSettings)  # checked when it was made
    for name, value in (*rest, *zip(_OFF, numbers)):
        object.__setattr__(settings, name, value)
    return settings


jax.tree_util.register_pytree_node(BeamSettings, _flatten, _unflatten)


class Texts(NamedTuple):
    """What a search compares: vectors of questions, entities and hyperedges."""

    question: jax.Array  # [B, D] float32
    entity: jax.Array  # [N, D] float32, of descriptions, or of names where there are none
    edge: jax.Array  # [H, D] float32, of names
    prior: jax.Array  # [N] float32, how much an entity tells apart from any question
    weight: jax.Array  # [B, N] float32, given weights; [0, 0] where none are


class Asked(NamedTuple):
    """Directions that the paths of a beam may take, one slot each."""

    parent: jax.Array  # [C] int32 place in [0, B * W)
    edge: jax.Array  # [C] int32
    score: jax.Array  # [C] float32
    valid: jax.Array  # [C] bool
    needed: jax.Array  # [2] int32, slots for members and for overlaps
    overflow: jax.Array  # [] bool


class Explored(NamedTuple):
    """Every path a search has kept, depth by depth."""

    path: jax.Array  # [B, K, L] int32 hyperedges, NULL past the end
    score: jax.Array  # [B, K] float32 score of the last direction, -inf for an empty place
    path_score: jax.Array  # [B, K] float32, Eq. 6
    needed: jax.Array  # [2 + 2 * depth] int32: seeds, (members, overlaps) per depth, path members
    overflow: jax.Array  # [] bool


def weights_of(
    texts: Texts,
    row: jax.Array,
    node: jax.Array,
    *,
    settings: BeamSettings,
) -> jax.Array:
    """EW(v|q) of entities, pair by pair.

    Args:
        texts: vectors.
        row: [S] int32 question; node: [S] int32 entity.
        settings: knobs.

    Returns:
        [S] float32, not negative.

    Reference: PRoH, Eq. 4; the prior is ours.
    """
    threshold, specificity = _number(settings, "threshold"), _number(settings, "specificity")
    if settings.weigh == "one" and threshold is None:
        weight = jnp.ones(node.shape)
    else:
        similarity = gathered_similarity(texts.question, texts.entity, row, node)
        if settings.weigh == "given":
            value = texts.weight[row, node]
        else:
            value = similarity if settings.weigh == "similarity" else jnp.ones_like(similarity)
        if threshold is not None:
            value = entity_weight(similarity, value, threshold=threshold)
        weight = jnp.maximum(value, 0.0)
    return weight if specificity is None else weight * texts.prior[node] ** specificity


def seed(
    graph: Hypergraph,
    texts: Texts,
    starts: tuple[jax.Array, ...],
    allowed: jax.Array | None = None,
    *,
    settings: BeamSettings,
    capacity: int,
) -> tuple[HyperBeam, jax.Array, jax.Array]:
    """The first beam: target hyperedges and those incident to the topics, the most similar first.

    Args:
        graph: padded tensors.
        texts: vectors.
        starts: [S] int32 rows and nodes of topics, [T] int32 rows and edges of targets, NULL for
            none; [S] float32 bonus, what a topic adds to the similarity of its hyperedges; 0 is the
            paper's.
        allowed: [H] bool, hyperedges that may be taken; None for all.
        settings: knobs; capacity: static.

    Returns:
        The beam, its scores similarities and bonuses (or, of "flow", shares that sum to 1); slots
        needed; overflow.
    """
    row, edge, valid, extra, needed, overflow = seed_edges(graph, *starts, capacity=capacity)
    score = gathered_similarity(texts.question, texts.edge, row, edge) + extra
    valid &= True if allowed is None else allowed[edge]
    beam = start_beam(
        row, edge, score, valid,
        num_questions=texts.question.shape[0], width=settings.seeds, depth=settings.depth,
    )  # fmt: skip
    if settings.carry == "flow":
        share = jax.nn.softmax(beam.score / settings.seed_temperature, axis=1)
        beam = beam._replace(score=jnp.where(jnp.isfinite(beam.score), share, -jnp.inf))
    return beam, needed, overflow


def ask(
    graph: Hypergraph,
    texts: Texts,
    beam: HyperBeam,
    *,
    settings: BeamSettings,
    capacities: tuple[int, int],
    every: bool | jax.Array = False,
) -> Asked:
    """Score the directions of every open path: EWO(e'|q, e) over the shared entities.

    Args:
        graph, texts: see `seed`.
        beam: where the search is.
        settings, capacities: knobs; slots for members and for overlaps, static.
        every: True takes directions of score 0 too, last of all; they cost slots.

    Reference: PRoH, Eq. 5 and Alg. 3.
    """
    edge, places = beam.last, beam.path.shape[1]
    members = members_of(graph, edge, beam.open, capacity=capacities[0])
    row = members.parent // places
    weight = weights_of(texts, row, members.node, settings=settings)
    # An entity of weight 0 adds nothing to a sum or maximum; to a mean it does.
    through = members.valid & ((weight > 0) | every | (settings.aggregate == "mean"))
    shared = overlaps(graph, edge, members, through, capacity=capacities[1])
    size = shared.edge.shape[0]
    score = aggregate_groups(
        weight[shared.member], shared.first, num_groups=size, how=settings.aggregate
    )
    once = shared.first == jnp.arange(size, dtype=jnp.int32)
    valid = shared.valid & once & ((score > 0) | every)
    valid &= ~leads_back(beam, shared.parent, shared.edge)
    temperature = _number(settings, "temperature") if settings.carry == "flow" else None
    if settings.guide == "similarity" or temperature is not None:
        near = gathered_similarity(texts.question, texts.edge, shared.parent // places, shared.edge)
        score = near if settings.guide == "similarity" else score
        if temperature is not None:
            score = score * jnp.exp((near - 1.0) / temperature)
    if settings.carry == "flow":
        score = score * jnp.where(beam.open, beam.score.reshape(-1), 0.0)[shared.parent]
    return Asked(
        parent=shared.parent,
        edge=shared.edge,
        score=score,
        valid=valid,
        needed=jnp.stack([members.needed, shared.needed]),
        overflow=members.overflow | shared.overflow,
    )


def tell(beam: HyperBeam, asked: Asked, *, settings: BeamSettings, width: int = 0) -> HyperBeam:
    """Take the best directions; `width` 0 is the settings'."""
    beam = keep_directions(
        beam, asked.parent, asked.edge, asked.score, asked.valid,
        width=width or settings.width, merge=settings.merge,
    )  # fmt: skip
    if settings.carry == "flow":
        open_ = jnp.isfinite(beam.score)
        total = jnp.sum(jnp.where(open_, beam.score, 0.0), axis=1, keepdims=True)
        share = beam.score / jnp.where(total > 0, total, 1.0)
        beam = beam._replace(score=jnp.where(open_, share, -jnp.inf))
    return beam


def path_scores(
    graph: Hypergraph,
    texts: Texts,
    path: jax.Array,
    *,
    settings: BeamSettings,
    capacity: int,
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """SP(p): the weights of a path's entities, each entity once.

    Args:
        graph: padded tensors.
        texts: vectors.
        path: [B, K, L] int32 hyperedges, NULL past the end.
        settings: knobs; capacity: slots for the members of all paths, static.

    Returns:
        [B, K] float32; slots needed [] int32; overflow [] bool.

    Reference: PRoH, Eq. 6.
    """
    batch, beam, length = path.shape
    flat = path.reshape(-1)
    members = members_of(graph, flat, flat != NULL, capacity=capacity)
    owner = members.parent // length
    weight = weights_of(texts, owner // beam, members.node, settings=settings)
    first = first_of_each((owner, members.node), members.valid)
    slots = jnp.arange(capacity, dtype=jnp.int32)
    group = jnp.where(members.valid & (first == slots), owner, NULL)
    score = aggregate_groups(weight, group, num_groups=batch * beam, how=settings.path_aggregate)
    return score.reshape(batch, beam), members.needed, members.overflow


def explore(
    graph: Hypergraph,
    texts: Texts,
    *starts: jax.Array,
    settings: BeamSettings,
    capacities: tuple[int, ...],
) -> Explored:
    """All depths of the search, with a scorer that runs on the device.

    Args:
        graph, texts, starts: see `seed`.
        settings: knobs.
        capacities: 2 + 2 * depth slots in the order of `Explored.needed`; static.

    Returns:
        The paths kept at every depth, seeds first.

    Reference: PRoH, Alg. 3, without the language model.
    """
    beam, needed, overflow = seed(graph, texts, starts, settings=settings, capacity=capacities[0])
    beams, wanted = [beam], [needed[None]]
    for step in range(settings.depth):
        room = capacities[1 + 2 * step], capacities[2 + 2 * step]
        asked = ask(graph, texts, beam, settings=settings, capacities=room)
        beam = tell(beam, asked, settings=settings)
        beams.append(beam)
        wanted.append(asked.needed)
        overflow |= asked.overflow
    path = jnp.concatenate([beam.path for beam in beams], axis=1)
    scores, needed, over = path_scores(
        graph, texts, path, settings=settings, capacity=capacities[-1]
    )
    return Explored(
        path=path,
        score=jnp.concatenate([beam.score for beam in beams], axis=1),
        path_score=scores,
        needed=jnp.concatenate([*wanted, needed[None]]),
        overflow=overflow | over,
    )


class Landed(NamedTuple):
    """Chunks that the paths of a search lead to, best first."""

    chunk: jax.Array  # [B, K] int32, NULL where there are fewer
    score: jax.Array  # [B, K] float32, -inf there
    needed: jax.Array  # [2] int32, slots for members and for chunks
    overflow: jax.Array  # [] bool


def land(
    graph: Hypergraph,
    chunks: Hypergraph,
    texts: Texts,
    explored: Explored,
    *,
    settings: BeamSettings,
    decay: float | jax.Array,
    keep: int,
    capacities: tuple[int, int],
) -> Landed:
    """The chunks that share entities with the ends of the paths.

    A chunk is a hyperedge over all its entities; it scores the sum, over all paths, of the path's
    score times the overlap of its last hyperedge with the chunk.

    Args:
        graph: hyperedges searched; chunks: the chunks' entities, nodes numbered alike.
        texts, explored: of the search.
        settings: knobs.
        decay: a path of l hyperedges counts decay^(l - 1).
        keep: chunks of a question; capacities: slots for members and for chunks; static.
    """
    batch, places, _ = explored.path.shape
    hops = jnp.sum(explored.path != NULL, axis=2)
    end = jnp.take_along_axis(explored.path, jnp.maximum(hops - 1, 0)[:, :, None], axis=2)
    open_ = jnp.isfinite(explored.score)
    steps = jnp.maximum(hops - 1, 0).astype(jnp.float32)
    mass = jnp.where(open_, explored.score, 0.0) * jnp.float32(decay) ** steps
    members = members_of(
        graph, jnp.maximum(end, 0).reshape(-1), open_.reshape(-1), capacity=capacities[0]
    )
    row = members.parent // places
    weight = weights_of(texts, row, members.node, settings=settings)
    weight = weight * mass.reshape(-1)[members.parent]
    incident = incident_to(
        chunks, members.node, members.valid & (weight > 0), capacity=capacities[1]
    )
    row = row[incident.parent]
    first = first_of_each((row, incident.edge), incident.valid)
    total = aggregate_groups(weight[incident.parent], first, num_groups=capacities[1], how="sum")
    slots = jnp.arange(capacities[1], dtype=jnp.int32)
    best = top_in_group(row, total, first == slots, num_groups=batch, k=keep)
    there, safe = best != NULL, jnp.maximum(best, 0)
    return Landed(
        jnp.where(there, incident.edge[safe], NULL),
        jnp.where(there, total[safe], -jnp.inf),
        jnp.stack([members.needed, incident.needed]),
        members.overflow | incident.overflow,
    )
