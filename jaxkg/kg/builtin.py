"""A small graph of true facts about films, people and countries, with questions to try.

Enough to see every stage at work without downloading anything: 979 facts, 40 sample questions of
one to three hops with their answers, and over two thousand training questions in other wordings.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from importlib import resources

from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.kg.questions.formats import split_brackets
from jaxkg.kg.questions.read import read_questions
from jaxkg.records import Question

_TOPICS_PER_WORDING = 5


def demo_graph() -> KnowledgeGraph:
    """Return the built-in graph of films.

    Two people are called Steve McQueen; their ids tell them apart.

    >>> graph = demo_graph()
    >>> graph
    KnowledgeGraph(463 entities, 17 relations, 979 triples)
    >>> [graph.entity_ids[row] for row in graph.entity_names.rows("Steve McQueen")]
    ['Steve McQueen (actor)', 'Steve McQueen (director)']
    """
    facts = list(_table("facts.tsv"))
    aliases: dict[str, list[str]] = {}
    for entity, alias in _table("aliases.tsv"):
        aliases.setdefault(entity, []).append(alias)
    return KnowledgeGraph.from_triples(
        facts,
        names=dict(_table("names.tsv")),
        aliases=aliases,
        provenance=[f"demo/facts.tsv:{line}" for line in range(1, len(facts) + 1)],
    )


@functools.cache
def _demo_questions() -> tuple[Question, ...]:
    with resources.as_file(resources.files("jaxkg.kg") / "demo" / "questions.jsonl") as path:
        return tuple(read_questions(path))


def demo_questions() -> list[Question]:
    """Return 40 questions about the demo graph, with gold answers and relation paths.

    >>> question = demo_questions()[0]
    >>> question.text, question.answers, question.paths
    ('Who made Parasite?', ('Bong Joon-ho',), (('directed_by',),))
    """
    return list(_demo_questions())


def demo_training_questions() -> list[Question]:
    """Questions to train a planner on: the same relation paths in other wordings.

    Every wording of `demo/templates.jsonl` is put about a few entities; the answers are what its
    relation path leads to. No sample question's topic appears with the sample's path.
    """
    graph = demo_graph()
    names = graph.entity_names.tolist()
    unique = [row for row, name in enumerate(names) if len(graph.entity_names.rows(name)) == 1]
    asked = {(q.topics[0], path) for q in _demo_questions() for path in q.paths}
    questions: list[Question] = []
    steps = _neighbours(graph)
    for template in map(json.loads, _lines("templates.jsonl")):
        path, wordings = tuple(template["path"]), template["wordings"]
        reached = {row: {row} for row in unique}
        for relation in path:
            code = graph.relation_code(relation)
            # The search never returns to its topic.
            reached = {
                topic: set().union(*(steps.get((row, code), ()) for row in rows)) - {topic}
                for topic, rows in reached.items()
            }
        topics = [row for row in unique if reached[row] and (names[row], path) not in asked]
        for number, wording in enumerate(wordings):
            for shift in range(min(_TOPICS_PER_WORDING, len(topics))):
                topic = topics[(number * _TOPICS_PER_WORDING + shift) % len(topics)]
                text, mention = split_brackets(wording.replace("[X]", f"[{names[topic]}]"))
                questions.append(
                    Question(
                        id=f"demo-train-{len(questions) + 1}",
                        text=text,
                        topics=(graph.entity_ids[topic],),
                        answers=tuple(graph.entity_ids[row] for row in sorted(reached[topic])),
                        paths=(path,),
                        mention=mention,
                    )
                )
    return questions


def _lines(name: str) -> list[str]:
    text = (resources.files("jaxkg.kg") / "demo" / name).read_text(encoding="utf-8")
    return text.rstrip("\n").split("\n")


def _table(name: str) -> Iterator[list[str]]:
    return (line.split("\t") for line in _lines(name))


def _neighbours(graph: KnowledgeGraph) -> dict[tuple[int, int], set[int]]:
    """Entities one step from (entity, relation code)."""
    steps: dict[tuple[int, int], set[int]] = {}
    for head, relation, tail in graph.triples.tolist():
        steps.setdefault((head, relation), set()).add(tail)
        steps.setdefault((tail, relation + graph.num_relations), set()).add(head)
    return steps
