"""Questions that bring their own graphs: RoG's lines, asked together over one graph of all.

A line is a JSON object, or a row of a Parquet table, with `id`, `question`, `q_entity`, `a_entity`
and `graph`, a list of [head, relation, tail] (the WebQSP and CWQ files of RoG, GNN-RAG and
SubgraphRAG). The graphs are put side by side: an entity's id is `QUESTION|NAME`, so that no walk
from a question's topics leaves its graph, and one batch on the device serves many questions.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jaxkg.errors import JaxkgError
from jaxkg.kg.files.parquet import PARQUET_ENDS, parquet_records
from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.kg.questions.formats import freebase, json_objects, read_lines
from jaxkg.records import Question


def read_own_graphs(
    path: str | Path, *, limit: int | None = None
) -> tuple[KnowledgeGraph, list[Question]]:
    """The graphs of a file's questions side by side, and the questions, their topics given.

    Args:
        path: JSON Lines, or a Parquet table (extra `parquet`).
        limit: the first so many questions, with their graphs.

    Returns:
        The graph; facts with a blank part are left out and counted in its `skipped`. And the
        questions: topics, and those answers that a question's graph has, are ids in it.

    Raises:
        JaxkgError: a line without a graph, or none that has a fact.
    """
    path = Path(path)
    numbered = itertools.islice(_records(path), limit)
    lines, graphs, blank = list[str](), list[list[list[str]]](), 0
    for number, record in numbered:
        facts = record.pop("graph", None)
        if not isinstance(facts, list) or not all(map(_is_fact, facts)):
            raise JaxkgError(
                f"{path}:{number}: no 'graph' of [head, relation, tail]: --own-graphs reads lines "
                "with question, q_entity, a_entity and graph"
            )
        kept = [fact for fact in facts if all(part.strip() for part in fact)]
        blank += len(facts) - len(kept)
        graphs.append(kept)
        lines.append(json.dumps(record))
    questions = list(freebase(path, lines))
    triples, names = list[tuple[str, str, str]](), dict[str, str]()
    asked = list[Question]()
    for question, facts in zip(questions, graphs, strict=True):
        ids = {name: f"{question.id}|{name}" for head, _, tail in facts for name in (head, tail)}
        triples += [(ids[head], relation, ids[tail]) for head, relation, tail in facts]
        names |= {id: name for name, id in ids.items()}
        asked.append(
            dataclasses.replace(
                question,
                # An entity of another question's graph may be called as an absent topic is.
                topics=tuple(f"{question.id}|{topic}" for topic in question.topics),
                answers=tuple(ids.get(name, name) for name in question.answers or ()),
            )
        )
    if not triples:
        raise JaxkgError(f"{path}: none of its {len(asked)} questions has a graph")
    if len({question.id for question in asked}) < len(asked):
        raise JaxkgError(f"{path}: an id is given twice; ids must be unique")
    kg = KnowledgeGraph.from_triples(triples, names=names)
    told = (f"{blank:,} facts with a blank part",) if blank else ()
    return dataclasses.replace(kg, skipped=told), asked


def _records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    if path.suffix.lower() in PARQUET_ENDS:
        yield from enumerate(parquet_records(path), start=1)
        return
    for number, _, record in json_objects(path, read_lines(path)):
        yield number, record


def _is_fact(fact: Any) -> bool:
    return isinstance(fact, list) and len(fact) == 3 and all(isinstance(p, str) for p in fact)
