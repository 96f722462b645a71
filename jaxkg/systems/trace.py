"""One question, step by step: every candidate of every stage with its score, pruned ones too."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import jax
import numpy as np

from jaxkg.candidates import start
from jaxkg.kg import find_topics
from jaxkg.kg.link.topics import masked_texts
from jaxkg.records import Question
from jaxkg.score.planner import label_vectors, next_relation_logits, read_question
from jaxkg.search.relation_beam import ask, init, tell
from jaxkg.systems.planned import PlannedQA
from jaxkg.tensors import bucket, starts_table
from jaxkg.types import NULL

TRACE_FORMAT = "jaxkg-trace"


def trace_question(qa: PlannedQA, question: Question, *, use_given: bool = True) -> dict[str, Any]:
    """Answer a question and keep what every stage considered.

    The beam is driven from Python, one hop at a time, so that what it dropped can be seen; it is
    the same `init`, `ask` and `tell` that `plan_paths` runs inside jit.

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
    planner, graph = qa.planner, qa.tensors.graph
    params, label_ngrams = jax.device_put((planner.params, planner.label_ngrams()))
    labels = label_vectors(params, label_ngrams)
    reading = read_question(params, jax.device_put(planner.ngrams([masked])[0]))
    beam = init(
        start(*map(jax.numpy.asarray, starts_table([entities], num_rows=1))),
        num_questions=1,
        width=qa.settings.width,
        hops=planner.hops,
    )
    hops = []
    for hop in range(planner.hops):
        options, beam = _fitting(lambda n, b=beam: _ask(graph, b, capacity=n))
        scores = _score(params, labels, reading, beam)
        following = _fitting(
            lambda n, b=beam, o=options, s=scores: _tell(
                graph, b, o, s, capacity=n, margin=qa.settings.margin, revisit=qa.revisit
            )
        )
        hops.append(_read_hop(qa, hop, beam, options, scores, following))
        beam = following
    return hops


# Compiled: run eagerly, every operation of a hop would be compiled by itself.
@functools.partial(jax.jit, static_argnames="capacity")
def _ask(graph, beam, *, capacity):
    options, noted = ask(graph, beam, capacity=capacity)
    return (options, noted), noted.overflow


@jax.jit
def _score(params, labels, reading, beam):
    def of_path(taken):
        return next_relation_logits(params, labels, reading, taken)[beam.hop]

    return jax.vmap(of_path)(beam.relations[0])[None]


@functools.partial(jax.jit, static_argnames=("capacity", "margin", "revisit"))
def _tell(graph, beam, options, scores, *, capacity, margin, revisit):
    following = tell(
        graph,
        beam,
        options,
        scores,
        capacities=(capacity, capacity),
        margin=margin,
        revisit=revisit,
    )
    return following, following.overflow


def _fitting(step):
    """Run a step in a bucket that holds it."""
    capacity = bucket(1024)
    while True:
        result, overflow = step(capacity)
        if not overflow:
            return result
        capacity *= 4


def _read_hop(qa: PlannedQA, hop: int, beam, options, scores, following) -> dict[str, Any]:
    """What one hop of the beam considered and what it kept, in names."""
    options, scores, relations, total = map(
        np.asarray, (options[0], scores[0], beam.relations[0], beam.score[0])
    )
    kept = {
        _path(qa, row)
        for row, score in zip(np.asarray(following.relations[0]), np.asarray(following.score[0]))
        if np.isfinite(score)
    }
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


def _path(qa: PlannedQA, codes: np.ndarray) -> tuple[str, ...]:
    return tuple(qa.kg.relation_name(int(code)) for code in codes if code != NULL)
