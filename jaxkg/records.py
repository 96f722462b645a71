"""Host records: what a question is, what an answer carries.

Plain frozen dataclasses over Python values; nothing here imports jax, so the folders that never
touch a device (`kg`, `cite`, `evaluate`, `adjudicate`) can use them freely. The device
counterparts are in `jaxkg.types`.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any, Self


class JaxkgError(ValueError):
    """Bad input, told in one line: what is wrong, where, and what would work."""


@dataclasses.dataclass(frozen=True)
class Question:
    """One question as a benchmark or a user states it.

    Attributes:
        id: unique within its set.
        text: the wording, without brackets around the topic.
        topics: ids of the topic entities where they are given; empty means "to be linked".
        answers: gold answers (entity ids, or names where the set has no ids); None where unknown.
        paths: gold relation paths, where the set has them; used for scoring only, never to train
            from answers. An inverse relation is written `^name`.
        mention: `(start, end)` of the topic in `text`, where it was bracketed.
    """

    id: str
    text: str
    topics: tuple[str, ...] = ()
    answers: tuple[str, ...] | None = None
    paths: tuple[tuple[str, ...], ...] = ()
    mention: tuple[int, int] | None = None


@dataclasses.dataclass(frozen=True)
class Link:
    """A candidate topic entity: where it was read in the question and how sure the linker is.

    Attributes:
        entity: entity id.
        name: display name.
        start, end: character span in the question's text.
        score: in [0, 1]; 1 is an exact match of the whole mention.
        method: "given", "bracket", "exact", "folded", "alias" or "fuzzy".
        chosen: True for the candidates the answer started from, False for runners-up.
    """

    entity: str
    name: str
    start: int
    end: int
    score: float
    method: str
    chosen: bool = True


@dataclasses.dataclass(frozen=True)
class Citation:
    """A triple of the graph, in the graph's own direction.

    Attributes:
        triple: row of the triple in the graph's table.
        head, relation, tail: entity id, relation name, entity id.
        head_name, tail_name: display names.
        inverse: True where the path walks it from tail to head.
        source: provenance (file, line, document), where the graph keeps it.
    """

    triple: int
    head: str
    relation: str
    tail: str
    head_name: str
    tail_name: str
    inverse: bool = False
    source: str | None = None


@dataclasses.dataclass(frozen=True)
class HyperCitation:
    """A hyperedge of a knowledge hypergraph.

    Attributes:
        hyperedge: its row.
        name: what it says.
        kind: "fact", "relation", "passage", ...
        entities: (id, display name) of each entity, in the hyperedge's own order.
        chunk: id of the source text it was read from; None where there is none.
        title: of that text.
    """

    hyperedge: int
    name: str
    kind: str
    entities: tuple[tuple[str, str], ...]
    chunk: str | None = None
    title: str | None = None


@dataclasses.dataclass(frozen=True)
class Passage:
    """A source text behind an answer, with the score it was ranked by."""

    chunk: str
    title: str
    text: str
    score: float


@dataclasses.dataclass(frozen=True)
class SupportingPath:
    """A walk through the graph that ends in an answer.

    Attributes:
        id: unique within its answer, e.g. "p1".
        citations: the triples walked, in order.
        relation_path: the relations walked, an inverse one written `^name`.
        score: of the path (higher is better).
        sentence: the path told in words.
        hyperedges: of a path through a hypergraph, the hyperedges walked; such a path has no
            triples.
    """

    id: str
    citations: tuple[Citation, ...]
    relation_path: tuple[str, ...]
    score: float
    sentence: str
    hyperedges: tuple[HyperCitation, ...] = ()


@dataclasses.dataclass(frozen=True)
class RankedEntity:
    """An answer entity with the ids of the paths that support it."""

    entity: str
    name: str
    score: float
    paths: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class PlanCandidate:
    """A relation path the planner proposed.

    Attributes:
        relations: the relation path, an inverse relation written `^name`.
        probability: the planner's, in [0, 1].
        reached: number of distinct entities it executes to; None where it was not executed.
        used: True where its entities are among the answers.
    """

    relations: tuple[str, ...]
    probability: float
    reached: int | None = None
    used: bool = False


@dataclasses.dataclass(frozen=True)
class Usage:
    """What an answer cost. Seconds are wall-clock; `stages` splits them by pipeline stage."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    price: float = 0.0
    seconds: float = 0.0
    stages: Mapping[str, float] = dataclasses.field(default_factory=dict)

    def __add__(self, other: Usage) -> Usage:
        """Both together.

        >>> (Usage(calls=1, stages={"plan": 2.0}) + Usage(calls=1, stages={"plan": 1.0})).stages
        {'plan': 3.0}
        """
        stages = dict(self.stages)
        for stage, seconds in other.stages.items():
            stages[stage] = stages.get(stage, 0.0) + seconds
        return Usage(
            calls=self.calls + other.calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            price=self.price + other.price,
            seconds=self.seconds + other.seconds,
            stages=stages,
        )


@dataclasses.dataclass(frozen=True)
class Answer:
    """A cited answer, or an abstention with its reason.

    Attributes:
        question: the question's text.
        question_id: the question's id.
        topics: linked topic entities, best first, runners-up included (`chosen=False`).
        entities: answers, best first.
        paths: the paths behind them.
        plan: relation paths considered, best first.
        usage: calls, tokens, seconds.
        abstained: why there is no answer; None where there is one.
        notes: things the reader should know, e.g. a budget that stopped the search early.
        system: name of the system that answered.
        rationale: one or two sentences of a language model on why the cited paths imply the
            answers; None where no model was asked.
        dropped: what a model named that was never offered to it; no part of the answer.
        refused: names it chose among the offered without citing a path that ends there, or plans it
            made that the graph does not bear; no part of the answer either.
        error: what failed on the way, "kind: detail"; None where nothing did. Counted apart from
            abstentions.
        passages: source texts that were retrieved, best first; of hypergraphs alone.
    """

    question: str
    question_id: str = ""
    topics: tuple[Link, ...] = ()
    entities: tuple[RankedEntity, ...] = ()
    paths: tuple[SupportingPath, ...] = ()
    plan: tuple[PlanCandidate, ...] = ()
    usage: Usage = Usage()
    abstained: str | None = None
    notes: tuple[str, ...] = ()
    system: str = ""
    rationale: str | None = None
    dropped: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    error: str | None = None
    passages: tuple[Passage, ...] = ()

    def __str__(self) -> str:
        from jaxkg.render import text

        return text(self)

    def _repr_html_(self) -> str:
        from jaxkg.render import html

        return html(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain dictionaries and lists, ready for JSON."""
        return dataclasses.asdict(self)

    def to_json(self, *, indent: int | None = None) -> str:
        """The whole answer as JSON; `from_json` is its inverse."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=indent)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read an answer back from `to_json`.

        Raises:
            JaxkgError: the text is not such JSON.
        """
        try:
            raw = json.loads(text)
            return cls(
                question=raw["question"],
                question_id=raw["question_id"],
                topics=tuple(Link(**link) for link in raw["topics"]),
                entities=tuple(
                    RankedEntity(**{**e, "paths": tuple(e["paths"])}) for e in raw["entities"]
                ),
                paths=tuple(_path_from_dict(p) for p in raw["paths"]),
                plan=tuple(
                    PlanCandidate(**{**p, "relations": tuple(p["relations"])}) for p in raw["plan"]
                ),
                usage=Usage(**raw["usage"]),
                abstained=raw["abstained"],
                notes=tuple(raw["notes"]),
                system=raw["system"],
                rationale=raw["rationale"],
                dropped=tuple(raw["dropped"]),
                refused=tuple(raw["refused"]),
                error=raw["error"],
                passages=tuple(Passage(**some) for some in raw["passages"]),
            )
        except (json.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
            raise JaxkgError(f"not the JSON of a jaxkg Answer: {error!r}") from error


def _path_from_dict(raw: Mapping[str, Any]) -> SupportingPath:
    return SupportingPath(
        id=raw["id"],
        citations=tuple(Citation(**c) for c in raw["citations"]),
        relation_path=tuple(raw["relation_path"]),
        score=raw["score"],
        sentence=raw["sentence"],
        hyperedges=tuple(
            HyperCitation(**{**cited, "entities": tuple(map(tuple, cited["entities"]))})
            for cited in raw["hyperedges"]
        ),
    )
