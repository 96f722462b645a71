"""Synonyms of a hypergraph: near names found on the device, confirmed, written as hyperedges."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable

import jax
import numpy as np

from jaxkg.adjudicate import Backend, Message, Prompted, ask
from jaxkg.adjudicate.calls.proh import SynonymGroups
from jaxkg.adjudicate.calls.prompts_proh import SYNONYM_SYSTEM, SYNONYM_USER
from jaxkg.adjudicate.prompts import block
from jaxkg.candidates.nearest import near_pairs
from jaxkg.errors import JaxkgError
from jaxkg.kg.hypergraph import edit
from jaxkg.kg.hypergraph.edit import components, synonym_edges
from jaxkg.kg.hypergraph.graph import KnowledgeHypergraph
from jaxkg.systems.proh.index import Encode
from jaxkg.tensors import Capacities, bucket, pad, rerun

ALIKE = 0.85
"""tau, least cosine of two names that may mean the same; ours, as the paper gives none."""

_pairs = functools.partial(jax.jit, static_argnames="capacities")(near_pairs)


def near_names(
    vectors: np.ndarray,
    *,
    threshold: float,
    block_rows: int = 4096,
) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of rows with cosine >= threshold.

    Only blocks on and above the diagonal are multiplied.

    Args:
        vectors: [N, D] float32 of length 1.
        threshold: tau.
        block_rows: rows of a block.

    Returns:
        [P, 2] int64 pairs, the smaller row first, ascending; [P] float32 cosines.

    Reference: PRoH, Eq. 1.
    """
    count = len(vectors)
    size = min(block_rows, bucket(count, floor=64))
    blocks = -(-count // size)
    table = [
        jax.device_put(pad(vectors[i * size : (i + 1) * size].astype(np.float32), size))
        for i in range(blocks)
    ]
    capacities = Capacities((1024, 4096))
    rows, scores = [], []
    for i, j in itertools.combinations_with_replacement(range(blocks), 2):
        pair_up = functools.partial(_pairs, table[i], table[j], threshold=threshold)
        pairs = rerun(lambda slots, run=pair_up: run(capacities=slots), capacities)
        first, second, cosine, _, overflow = jax.device_get(pairs)
        if overflow:
            raise JaxkgError(
                f"a block of {size} names has more than {capacities.limit:,} near pairs; raise the "
                "threshold or take smaller blocks"
            )
        there = first >= 0
        pair = np.stack([first[there] + i * size, second[there] + j * size], 1).astype(np.int64)
        keep = (pair[:, 0] < pair[:, 1]) & (pair[:, 1] < count)
        rows.append(pair[keep])
        scores.append(cosine[there][keep])
    pairs, cosines = np.concatenate(rows), np.concatenate(scores)
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    return pairs[order], cosines[order]


def with_synonyms(
    graph: KnowledgeHypergraph,
    encode: Encode,
    *,
    threshold: float = ALIKE,
    confirm: float | Backend | None = None,
    largest: int = 50,
    on_left_out: Callable[[str], None] | None = None,
) -> KnowledgeHypergraph:
    """The hypergraph with a synonym hyperedge for every confirmed group of near names.

    Args:
        graph: without synonyms.
        encode: of names.
        threshold: tau, least cosine of two names that may mean the same.
        confirm: a stricter least cosine, or a language model that is shown each group; None takes
            the groups as they are.
        largest: bigger groups are left out.
        on_left_out: told, in a sentence, where groups were too big, or a prompt was cut.

    Reference: PRoH, Section 4.1.
    """
    vectors = encode(graph.entity_names.tolist())
    pairs, cosine = near_names(vectors, threshold=threshold)
    if isinstance(confirm, float | int):
        pairs = pairs[cosine >= confirm]
    groups = components(pairs, graph.num_entities)
    edges = synonym_edges(graph, groups, largest=largest)
    sizes = np.bincount(groups)
    if on_left_out and (big := sizes[sizes > largest]).size:
        on_left_out(
            f"{len(big)} groups of more than {largest} near names are left out, the largest of "
            f"{big.max():,}: raise the threshold"
        )
    if confirm is not None and not isinstance(confirm, float | int) and edges:
        groups = _confirmed(graph, confirm, [edge.entities for edge in edges], on_left_out)
        edges = synonym_edges(graph, groups, largest=largest)
    return edit.add(graph, edges)


def _confirmed(
    graph: KnowledgeHypergraph,
    backend: Backend,
    groups: list[tuple[str, ...]],
    tell: Callable[[str], None] | None,
) -> np.ndarray:
    """Representatives of the groups a model confirms; a group whose call fails is not confirmed."""
    rows = [[graph.entity(id) for id in group] for group in groups]
    prompted = []
    for group in rows:
        lines = [
            f"{number}. {graph.name(row)}"
            + (f": {graph.descriptions[row]}" if graph.descriptions[row] else "")
            for number, row in enumerate(group, start=1)
        ]
        user = SYNONYM_USER.format(names=block(lines))
        prompted.append(
            Prompted(
                messages=(Message("system", SYNONYM_SYSTEM), Message("user", user)),
                schema=SynonymGroups,
                stage="synonyms",
                max_tokens=256,
                offered={"groups": range(1, len(lines) + 1)},
            )
        )
    pairs = [np.zeros((0, 2), np.int64)]
    for group, outcome in zip(rows, ask(backend, prompted)):
        if outcome.note and tell:
            tell(outcome.note)
        for numbers in outcome.value.groups if outcome.value else ():
            same = [group[n - 1] for n in numbers if 1 <= n <= len(group)]
            pairs += [np.asarray([[same[0], other]]) for other in same[1:]]
    return components(np.concatenate(pairs), graph.num_entities)
