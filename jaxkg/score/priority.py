"""Path priority: which entities of a question's subgraph are worth walking to.

The walks from a topic to an entity are not listed but summed, hop by hop, in two channels
(PathMind, Eq. 3): `mass`, the number of walks, each weighted by how well its relations and its
length fit the question, and `cost`, the sum over those walks of what their triples say.
With all weights 1 (`walk_weights` off) this is Eq. 3 as printed. The weight of a relation at a hop
does not depend on the edge, so it is computed per (question, hop, relation), and an edge costs a
gather.
"""

from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp
import numpy as np

from jaxkg.score.message_passing import Inflow, pass_messages
from jaxkg.score.planner import bag
from jaxkg.score.priority_params import PriorityParams
from jaxkg.types import NULL, Frontier


class Question(NamedTuple):
    """What is taken from B questions once."""

    weight: jax.Array  # [B, L, C] float32, of each relation at each hop; sums to 1 over relations
    length: jax.Array  # [B, L] float32, of each walk length; sums to 1
    ask: jax.Array  # [B, S] float32, the q of Eq. 3
    future: jax.Array  # [B, X] float32, what q adds to the hidden layer of Eq. 4


class PathSums(NamedTuple):
    """Sums over all walks to the node at each slot of a layer."""

    mass: jax.Array  # [F] float32
    cost: jax.Array  # [F, H] float32


def read_questions(
    params: PriorityParams,
    ngrams: jax.Array,
    text: jax.Array,
    label_ngrams: jax.Array,
    label_text: jax.Array,
    *,
    walk_weights: bool = True,
) -> Question:
    """Attend over the relations of every hop, and over the lengths.

    The attention is ours: the paper counts all walks alike.

    Args:
        ngrams: [B, T] int32 of the questions, topics masked.
        text: [B, G] float32 of the same, by a text encoder; of length 1.
        label_ngrams: [R, T'] int32 of the relation labels.
        label_text: [R, G] float32 of the same.
        walk_weights: False weighs all relations and lengths 1; static.
    """
    reader = params.reader
    words = bag(reader.ngram, ngrams)
    read = words + text @ reader.text
    hidden = jnp.tanh(read @ reader.question) + read
    reads = jnp.tanh(jnp.einsum("bd,lde->ble", hidden, reader.step) + hidden[:, None])
    shared = words @ bag(reader.ngram, label_ngrams).T
    similar = text @ label_text.T
    meaning = jnp.einsum("rg,sgd->srd", label_text, reader.relation_text)
    relation = reader.relation + meaning.reshape(reader.relation.shape)
    logits = jnp.einsum("bld,cd->blc", reads[:, :-1], relation) + reader.relation_bias[None]
    logits += jnp.concatenate([gate * shared for gate in reader.label_gate], axis=1)[:, None]
    gate = reader.similarity_gate
    logits += jnp.concatenate(
        [gate[None, :, side, None] * similar[:, None] for side in (0, 1)], axis=2
    )
    length = reads[:, -1] @ reader.length.T + reader.length_bias[None]
    weight = jax.nn.softmax if walk_weights else jnp.ones_like
    return Question(
        weight=weight(logits),
        length=weight(length),
        ask=hidden @ params.cost.ask,
        future=hidden @ params.future.question,
    )


def entity_states(params: PriorityParams, inflow: Inflow, features: jax.Array) -> jax.Array:
    """States of all entities, by rounds of message passing over the whole graph.

    The question has no part in Eq. 2, so the states are those of the graph, computed once for all
    questions; in a question's subgraph the entities at its rim would lack some of their triples.

    Args:
        features: [N, F] float32 label features; [N, 0] for learned states.

    Returns:
        [N, S] float32, of root mean square 1 where there is any state.
    """
    network = params.entities
    states = features @ network.entity if features.shape[1] else network.entity
    for weights in network.rounds:
        states = pass_messages(weights, inflow, states)
    return states * jax.lax.rsqrt(jnp.mean(states**2, axis=1, keepdims=True) + 1e-6)


def triple_cost(
    head: jax.Array, relation: jax.Array, tail: jax.Array, ask: jax.Array, *, heads: int
) -> jax.Array:
    """What triples say to a question: `w_q(e', r, e) = (h_e' W_r h_e) q`.

    W_r is diagonal, so that the bilinear product keeps its S numbers; q weighs them and they are
    added up in H groups.

    Args:
        head, relation, tail, ask: [..., S] float32, S divisible by H.
        heads: H; static.

    Returns:
        [..., H] float32.

    Reference: PathMind, Eq. 3.
    """
    product = head * relation * tail * ask
    return jnp.sum(product.reshape(*product.shape[:-1], heads, -1), axis=-1)


def extend_sums(
    before: PathSums, parent: jax.Array, place: jax.Array, weight: jax.Array, cost: jax.Array
) -> PathSums:
    """One hop of the sum over all walks.

    Args:
        before: sums at the slots of the layer before, G of them.
        parent: [F] int32 slot each edge leaves from.
        place: [F] int32 slot of the node each edge enters, NULL for no edge.
        weight: [F] float32 of each edge.
        cost: [F, H] float32 of each edge.

    Returns:
        Sums at F slots; 0 where no node is placed. An edge adds its cost once to every walk that
        takes it, so `mass' = sum of mass w` and `cost' = sum of (cost + mass c) w`.

    Reference: PathMind, Eq. 3.
    """
    size = place.shape[0]
    there = place != NULL
    target = jnp.where(there, place, size)
    taken = jnp.where(there, weight * before.mass[parent], 0.0)
    carried = jnp.where(there, weight, 0.0)[:, None] * before.cost[parent]
    added = carried + taken[:, None] * jnp.where(there[:, None], cost, 0.0)
    columns = jnp.concatenate([taken[:, None], added], axis=1)
    sums = jnp.zeros((size, columns.shape[1])).at[target].add(columns, mode="drop")
    return PathSums(sums[:, 0], sums[:, 1:])


def sum_over_paths(
    params: PriorityParams,
    question: Question,
    states: jax.Array,
    trail: tuple[Frontier, ...],
    place: tuple[jax.Array, ...],
    code: tuple[jax.Array, ...],
) -> tuple[PathSums, ...]:
    """Sums over all walks of every length, layer by layer.

    Args:
        question: from `read_questions`.
        states: [N, S] float32 entity states.
        trail, place: of the subgraphs, see `candidates.subgraph.Subgraphs`.
        code: L times [F] int32, relation code of each edge of layers 1 … L, in range.

    Returns:
        L sums, of layers 1 … L; `mass` and `cost` weighted by length too.

    Reference: PathMind, Eq. 3.
    """
    heads = params.future.out.shape[1] - 2
    relation = params.cost.mix @ params.cost.diagonal
    sums = PathSums((place[0] != NULL).astype(jnp.float32), jnp.zeros((place[0].shape[0], heads)))
    out = []
    for hop, (level, slot, codes) in enumerate(zip(trail[1:], place[1:], code)):
        head = states[trail[hop].node[level.parent]]
        cost = triple_cost(
            head, relation[codes], states[level.node], question.ask[level.row], heads=heads
        )
        weight = question.weight[level.row, hop, codes]
        sums = extend_sums(sums, level.parent, slot, weight, cost)
        share = question.length[level.row, hop]
        out.append(PathSums(sums.mass * share, sums.cost * share[:, None]))
    return tuple(out)


def entity_sums(sums: tuple[PathSums, ...], entity: jax.Array) -> PathSums:
    """Sums over the walks of all lengths, at the slot that stands for each entity.

    Args:
        sums: of layers 1 … L.
        entity: [sum of F] int32, see `Subgraphs.entity`.
    """
    size = entity.shape[0]
    target = jnp.where(entity == NULL, size, entity)
    columns = jnp.concatenate(
        [
            jnp.concatenate([part.mass for part in sums])[:, None],
            jnp.concatenate([part.cost for part in sums]),
        ],
        axis=1,
    )
    total = jnp.zeros(columns.shape).at[target].add(columns, mode="drop")
    return PathSums(total[:, 0], total[:, 1:])


def priority_logits(
    params: PriorityParams, question: Question, sums: PathSums, row: jax.Array, *, mass: bool = True
) -> jax.Array:
    """Priority of entities, before the sigmoid of Eq. 5.

    `d` enters as the log of the mass and the mean cost of a walk: one walk and a thousand are both
    legible, and nothing of the two sums is lost; the log of the mass also goes past both networks.
    As printed `d` is the sum of costs alone, here in signed logarithms: a thousand walks overflow
    the networks.

    Args:
        question: from `read_questions`.
        sums: at K slots.
        row: [K] int32, question of each.
        mass: False takes `d` as printed; static.

    Returns:
        [K] float32.

    Reference: PathMind, Eq. 4 and 5.
    """
    chex.assert_equal_shape([row, sums.mass])
    readout = params.readout
    there = sums.mass > _LEAST_MASS
    total = jnp.where(there, sums.mass, 1.0)
    log_mass = jnp.where(there, jnp.log(total), float(np.log(_LEAST_MASS)))
    cost = jnp.where(there[:, None], sums.cost, 0.0)
    if mass:
        # By way of the log: the gradient of a quotient squares the mass, which would underflow.
        cost = cost * jnp.exp(-log_mass)[:, None]
    else:
        cost, log_mass = jnp.sign(cost) * jnp.log1p(jnp.abs(cost)), jnp.zeros_like(log_mass)
    accumulated = jnp.concatenate([0.1 * log_mass[:, None], jnp.ones_like(cost[:, :1]), cost], 1)
    hidden = jax.nn.gelu(accumulated @ params.future.cost + question.future[row])
    expected = accumulated + hidden @ params.future.out
    hidden = jax.nn.gelu(expected @ readout.inner + readout.bias[None])
    slope, offset = readout.mass_gate
    return slope * log_mass + offset + hidden @ readout.out


_LEAST_MASS = 1e-30
