"""One question, step by step: every candidate of every stage with its score, pruned ones too."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxkg.candidates import start
from jaxkg.kg import find_topics
from jaxkg.kg.link.topics import masked_texts
from jaxkg.records import Question
from jaxkg.search.plans import planner_scorer
from jaxkg.search.relation_beam import Beam, Layer, search_layers
from jaxkg.systems.planned import PlannedQA
from jaxkg.tensors import Capacities, rerun, starts_table
from jaxkg.types import NULL

TRACE_FORMAT = "jaxkg-trace"

_FIRST_SLOTS = 1024


def trace_question(qa: PlannedQA, question: Question, *, use_given: bool = True) -> dict[str, Any]:
    """Answer a question and keep what every stage considered.

    It is the search that `plan_paths` runs, with its layers kept.

    Args:
        qa: the system.
        question: to be traced.
        use_given: see `find_topics`.

    Returns:
        Plain values, ready for JSON: topics, masked text, share of known words, for every hop the
        open paths with all their continuations and whether each was kept, and the answer.
    """
    [topics] = find_topics(qa.linker, [question], use_given=use_given)
    [masked] = masked_texts([question], [topics])
    answer = qa.answer([question], use_given=use_given)[0]
    return {
        "format": TRACE_FORMAT,
        "question": question.text,
        "topics": [dataclasses.asdict(link) for link in topics.links],
        "masked": masked,
        "known_share": qa.planner.known_share(masked),
        "settings": {**dataclasses.asdict(qa.settings), "revisit": qa.revisit},
        "hops": _hops(qa, masked, topics.entities) if topics.entities else [],
        "answer": answer.to_dict(),
    }


def _hops(qa: PlannedQA, masked: str, entities: tuple[int, ...]) -> list[dict[str, Any]]:
    planner = qa.planner
    row, node = starts_table([entities], num_rows=1)

    def run(slots: tuple[int, ...]) -> Layers:
        return _layers(
            qa.tensors.graph, planner.params, planner.label_ngrams(), row, node,
            planner.ngrams([masked]), qa.settings.margin,
            width=qa.settings.width, hops=planner.hops, capacities=slots, revisit=qa.revisit,
        )  # fmt: skip

    layers, beam, *_ = jax.device_get(rerun(run, Capacities((_FIRST_SLOTS,) * 3 * planner.hops)))
    after = [*(layer.beam for layer in layers[1:]), beam]
    return [_read_hop(qa, hop, *pair) for hop, pair in enumerate(zip(layers, after))]


class Layers(NamedTuple):
    """Every hop of one search."""

    layers: tuple[Layer, ...]
    last: Beam
    needed: jax.Array
    overflow: jax.Array


@functools.partial(jax.jit, static_argnames=("width", "hops", "capacities", "revisit"))
def _layers(
    graph, params, label_ngrams, row, node, ngrams, margin, *, width, hops, capacities, revisit
) -> Layers:
    layers, last = search_layers(
        graph, start(row, node), planner_scorer(params, label_ngrams, ngrams),
        num_questions=1, width=width, hops=hops, capacities=capacities, margin=margin,
        revisit=revisit,
    )  # fmt: skip
    return Layers(layers, last, last.needed, last.overflow)


def _read_hop(qa: PlannedQA, hop: int, layer: Layer, after: Beam) -> dict[str, Any]:
    """What one hop of the beam considered and what it kept, in names."""
    beam = layer.beam
    options, scores, relations, total = (
        column[0] for column in (layer.options, layer.scored.logits, beam.relations, beam.score)
    )
    kept = {_path(qa, row) for row in after.relations[0][np.isfinite(after.score[0])]}
    paths = []
    for place in np.flatnonzero(np.isfinite(total)):
        path = _path(qa, relations[place])
        finished = bool(beam.finished[0, place])
        ways = [
            {
                "relation": qa.kg.relation_name(int(code)),
                "log_probability": float(scores[place, code]),
                "kept": (*path, qa.kg.relation_name(int(code))) in kept,
            }
            for code in np.flatnonzero(options[place])
        ]
        ways.sort(key=lambda way: -way["log_probability"])
        paths.append(
            {
                "path": list(path),
                "log_probability": float(total[place]),
                "finished": finished,
                "continuations": ways,
                "stop": None
                if finished or not path
                else {"log_probability": float(scores[place, -1]), "kept": path in kept},
            }
        )
    return {"hop": hop + 1, "paths": paths}


def _path(qa: PlannedQA, codes: jax.Array) -> tuple[str, ...]:
    return tuple(qa.kg.relation_name(int(code)) for code in codes if code != NULL)
