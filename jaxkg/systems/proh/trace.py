"""What planning, or retrieval alone, considered of one question, for a saved trace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from jaxkg.answer import Answer
from jaxkg.records import TraceNode
from jaxkg.systems.proh.index import HyperIndex
from jaxkg.systems.proh.retrieval import Retrieved
from jaxkg.systems.proh.walk import chain


def retrieved_nodes(
    index: HyperIndex, retrieval: Retrieved, answer: Answer
) -> tuple[TraceNode, ...]:
    """Anchors, paths and entities of retrieval alone; `kept` is what the answer holds."""
    graph = index.graph
    entities = {entity.entity for entity in answer.entities}
    topics = [graph.name(row) for row in retrieval.anchors.topics]
    paths = tuple(
        TraceNode(chain(index, path), score, place < len(answer.paths))
        for place, (path, score) in enumerate(retrieval.paths)
    )
    reached = tuple(
        TraceNode(graph.name(row), score, graph.entity_ids[row] in entities)
        for row, score in retrieval.entities
    )
    return (
        _anchors(index, topics, retrieval.anchors.targets),
        TraceNode("paths", below=paths),
        TraceNode("entities", below=reached),
    )


def reasoned_nodes(index: HyperIndex, trace: Mapping[str, Any]) -> tuple[TraceNode, ...]:
    """Anchors, the facts that plans were drafted from, and every state of the search.

    Args:
        index: names of what was found.
        told: as `ProhQA.trace` returns it.
    """
    context = tuple(
        TraceNode(
            f"{depth} steps further" if depth else "at the question",
            below=tuple(TraceNode(index.told(edge)) for edge in layer),
        )
        for depth, layer in enumerate(trace["context"])
    )
    return (
        _anchors(index, trace["topics"], trace["targets"]),
        TraceNode("facts that plans are drafted from", below=context),
        *(_state(index, state, trace["best"]) for state in trace["states"]),
    )


def shown_edges(states: Iterable[Mapping[str, Any]]) -> set[int]:
    """The hyperedges of all paths that were shown to the model for a sub-question."""
    return {
        edge
        for state in states
        for level in state["level"]
        for depth in level["depths"]
        for path, _ in depth["paths"]
        for edge in path
    }


def _anchors(index: HyperIndex, topics: Sequence[str], targets: Sequence[int]) -> TraceNode:
    facts = tuple(TraceNode(index.told(edge)) for edge in targets)
    named = tuple(TraceNode(name) for name in topics)
    return TraceNode(
        "anchors", below=(TraceNode("topics", below=named), TraceNode("facts", below=facts))
    )


def _state(index: HyperIndex, state: Mapping[str, Any], best: str | None) -> TraceNode:
    """A plan with its sub-questions, then the search for those that could be asked."""
    steps = []
    for step in state["plan"]:
        waits = f", after {', '.join(step['needs'])}" if step["needs"] else ""
        answer, path = state["answered"].get(step["id"], ("", ()))
        below = (TraceNode(chain(index, path)),) if path else ()
        steps.append(
            TraceNode(
                f"{step['id']}. {step['text']}{waits}{f': {answer}' if answer else ''}",
                kept=bool(answer),
                below=below,
            )
        )
    ended = state.get("dead") or ("complete" if state.get("complete") else "goes on")
    ended += ", the answer rests on it" if state["id"] == best else ""
    return TraceNode(
        f"plan {state['id']}: {ended}",
        kept="dead" not in state,
        below=(*steps, *(_search(index, level) for level in state["level"])),
    )


def _search(index: HyperIndex, level: Mapping[str, Any]) -> TraceNode:
    """The search for one sub-question."""
    words = f"search for {level['step']}: {level['question']}"
    if level["again"]:
        return TraceNode(f"{words}, as answered before", kept=bool(level.get("answers")))
    named = tuple(TraceNode(name) for name in level["topics"])
    weights = tuple(TraceNode(name, weight) for name, weight in level["weights"])
    answers = tuple(
        TraceNode(f"answer {answer}: {chain(index, path)}", kept=True)
        for answer, path in level.get("answers", ())
    )
    stages = [TraceNode("topics", below=named)]
    if weights:
        stages.append(TraceNode("entity weights", below=weights))
    for depth in level["depths"]:
        followed, enough = set(depth["followed"]), set(depth["sufficient"])
        directions = tuple(
            TraceNode(chain(index, path), overlap, place in followed)
            for place, (path, overlap) in enumerate(depth["directions"])
        )
        paths = tuple(
            TraceNode(chain(index, path), score, place in enough)
            for place, (path, score) in enumerate(depth["paths"])
        )
        stages += [
            TraceNode(f"depth {depth['depth']}: directions by overlap", below=directions),
            TraceNode(f"depth {depth['depth']}: paths that are enough", below=paths),
        ]
    cut = (TraceNode(why) for why in level["cut"])
    return TraceNode(words, kept=bool(answers), below=(*stages, *cut, *answers))
