"""Where a search starts: the topic entities of a question, given or linked."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.kg.link.linker import Linker
from jaxkg.limits import LIMITS, first_ones
from jaxkg.records import Link, Question
from jaxkg.words import mask_mentions


@dataclasses.dataclass(frozen=True)
class Topics:
    """The topic entities of one question.

    Attributes:
        links: chosen ones first, then runners-up.
        entities: indices of the chosen entities: of those linked in a text, all that share the best
            mention's name; of those given, all. A search starts from all of them together, so what
            it reaches from any is found, not only what it reaches from all.
        spans: where the chosen ones are mentioned, to be masked before planning.
        missing: given topics that the graph does not have.
        notes: of topics that are not looked at.
    """

    links: tuple[Link, ...]
    entities: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def branches(self) -> tuple[tuple[int, ...], ...]:
        """The entities topic by topic: those of one name cannot be told apart, and are one."""
        named: dict[str, list[int]] = {}
        for link, entity in zip(self.links, self.entities):
            named.setdefault(link.name, []).append(entity)
        return tuple(map(tuple, named.values()))


def find_topics(
    linker: Linker, questions: Sequence[Question], *, use_given: bool = True
) -> list[Topics]:
    """Find the topics of questions.

    Args:
        questions: questions with or without topics.
        use_given: use the `topics` and the `mention` of a question if it has them; False links
            every question from its text alone.

    Returns:
        Topics of each question. A given topic is used as it is; the linker only finds its mention,
        if the question has none.
    """
    found = []
    for question in questions:
        mention = question.mention if use_given else None
        if use_given and question.topics:
            found.append(_given(linker, question))
        else:
            linked = linker.linked(question.text, mention)
            chosen = [(link, entity) for link, entity in linked if link.chosen]
            found.append(
                Topics(
                    links=tuple(link for link, _ in linked),
                    entities=tuple(entity for _, entity in chosen),
                    spans=tuple(sorted({(link.start, link.end) for link, _ in chosen})),
                )
            )
    return found


def _given(linker: Linker, question: Question) -> Topics:
    graph = linker.graph
    given, notes = first_ones(question.topics, LIMITS.topics, "topics")
    rows = {topic: entity_rows(graph, topic) for topic in given}
    entities = tuple(dict.fromkeys(row for some in rows.values() for row in some))
    missing = tuple(topic for topic, some in rows.items() if not some)
    mentions: dict[str, tuple[int, int]] = {}
    spans: tuple[tuple[int, int], ...] = ()
    if question.mention is not None:
        spans = (question.mention,)
    elif entities:
        ids = {graph.entity_ids[row] for row in entities}
        found = [link for link in linker.link(question.text) if link.entity in ids]
        for link in found:
            mentions.setdefault(link.entity, (link.start, link.end))
        spans = tuple(sorted({(link.start, link.end) for link in found}))
    elsewhere = spans[0] if spans else (0, 0)
    links = tuple(
        Link(
            graph.entity_ids[row],
            graph.name(row),
            *mentions.get(graph.entity_ids[row], elsewhere),
            score=1.0,
            method="given",
        )
        for row in entities
    )
    return Topics(links, entities, spans, missing, tuple(notes))


def entity_rows(graph: KnowledgeGraph, name: str) -> tuple[int, ...]:
    """Entities that a string of a question file means: the one with that id, else all so named."""
    rows = graph.entity_ids.rows(name) or graph.entity_names.rows(name)
    return tuple(int(row) for row in rows)


def masked_texts(questions: Sequence[Question], topics: Sequence[Topics]) -> list[str]:
    """The questions as a model reads them, topic mentions masked."""
    return [mask_mentions(q.text, t.spans) for q, t in zip(questions, topics)]
