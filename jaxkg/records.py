"""Host records: what a question is, what an answer is made of.

Plain frozen dataclasses over Python values; nothing here imports jax, so the folders that never
touch a device (`kg`, `cite`, `evaluate`, `adjudicate`) can use them freely. The device
counterparts are in `jaxkg.types`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeVar

Record = TypeVar("Record")


def _written_at_once(cls: type[Record]) -> type[Record]:
    """A frozen dataclass that is made in less than half the time, for those made by the thousand.

    Its `__init__` writes into the record's dictionary; that of `dataclasses` goes through
    `object.__setattr__` for every field. Five fields take 0.38 µs so, 0.85 µs as a frozen
    dataclass, 0.90 µs with slots; a named tuple takes 0.30 µs, but would equal other tuples.
    """
    fields = dataclasses.fields(cls)  # type: ignore[arg-type]
    none = dataclasses.MISSING
    given = ", ".join(f.name if f.default is none else f"{f.name}=_.{f.name}" for f in fields)
    lines = "".join(f"; own[{f.name!r}] = {f.name}" for f in fields)
    made: dict[str, Any] = {"_": cls}
    exec(f"def __init__(self, {given}): own = self.__dict__{lines}", made)
    cls.__init__ = made["__init__"]
    return cls


@dataclasses.dataclass(frozen=True)
class Passages:
    """The texts that a question brings and is asked over, with what is known of the way through.

    Attributes:
        texts: (title, text) of each.
        support: places in `texts` of those that the answer needs; empty where nobody says.
        steps: gold (sub-question, answer) in order, `{1}` in the place of the first one's answer.
        kind: of question, in the set's own words; "" where it has none.
    """

    texts: tuple[tuple[str, str], ...]
    support: tuple[int, ...] = ()
    steps: tuple[tuple[str, str], ...] = ()
    kind: str = ""


@dataclasses.dataclass(frozen=True)
class Question:
    """One question as a benchmark or a user states it.

    Attributes:
        id: unique within its set.
        text: the wording, without brackets around the topic.
        topics: ids of the topic entities; if empty, the linker finds them.
        answers: gold answers (entity ids, or names if the set has no ids); None if unknown.
        paths: gold relation paths, if the set has them. They are used for scoring, not for training
            from answers. An inverse relation is written `^name`.
        mention: `(start, end)` of the topic in `text`, if brackets marked it.
        aliases: further names of a single gold answer, if the set has them.
        passages: the texts that the question is asked over, if it brings any.
    """

    id: str
    text: str
    topics: tuple[str, ...] = ()
    answers: tuple[str, ...] | None = None
    paths: tuple[tuple[str, ...], ...] = ()
    mention: tuple[int, int] | None = None
    aliases: tuple[str, ...] = ()
    passages: Passages | None = None


@_written_at_once
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


@_written_at_once
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

    @property
    def start(self) -> tuple[str, str]:
        """Id and display name of the node where the walk enters the triple."""
        return (self.tail, self.tail_name) if self.inverse else (self.head, self.head_name)

    @property
    def end(self) -> tuple[str, str]:
        """Id and display name of the node where the walk leaves the triple."""
        return (self.head, self.head_name) if self.inverse else (self.tail, self.tail_name)


@dataclasses.dataclass(frozen=True)
class HyperCitation:
    """A hyperedge of a knowledge hypergraph.

    Attributes:
        hyperedge: its row.
        name: what it says.
        kind: "fact", "relation", "passage", ...
        entities: (id, display name) of each entity, in the hyperedge's own order.
        chunk: id of the source text it was read from; None without one.
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


@_written_at_once
@dataclasses.dataclass(frozen=True)
class SupportingPath:
    """A walk through the graph that ends in an answer.

    Attributes:
        id: unique within its answer, e.g. "p1".
        citations: the triples walked, in order.
        relation_path: the relations walked, an inverse one written `^name`.
        score: of the path (higher is better).
        sentence: the path in words.
        hyperedges: of a path through a hypergraph, the hyperedges walked; such a path has no
            triples.
    """

    id: str
    citations: tuple[Citation, ...]
    relation_path: tuple[str, ...]
    score: float
    sentence: str
    hyperedges: tuple[HyperCitation, ...] = ()

    @property
    def end(self) -> tuple[str, str]:
        """Id and display name of the node that a walk over triples ends in."""
        return self.citations[-1].end


WORKED_OUT = ("count", "total", "truth")
"""Kinds of answers that are computed from the graph rather than stored in it."""


@_written_at_once
@dataclasses.dataclass(frozen=True)
class RankedEntity:
    """An answer with the ids of the paths that support it.

    Attributes:
        entity: entity id; of a count or a total its digits, of a yes or no "yes" or "no".
        name: display name.
        score: higher is better.
        paths: ids of the supporting paths.
        kind: what it is: "entity", or of literals "number", "date" or "boolean". A count is a
            "count", a sum or a mean a "total", a yes or no a "truth": these are computed from the
            graph rather than stored in it.
        cells: of a row of a table, what its columns tell, see `Answer.columns`.
    """

    entity: str
    name: str
    score: float
    paths: tuple[str, ...]
    kind: str = "entity"
    cells: tuple[str, ...] = ()


@_written_at_once
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
class OtherReading:
    """A way in which a question may be read that was not taken.

    Attributes:
        reading: the query graph in words.
        confidence: chance in [0, 1] that this was meant, and right.
        preview: names of the first few answers it has; a number, "yes" or "no".
        more: answers beside these.
        query: the query graph, see `jaxkg.query.query_to_dict`.
    """

    reading: str
    confidence: float
    preview: tuple[str, ...]
    more: int = 0
    query: Mapping[str, Any] | None = None


@dataclasses.dataclass(frozen=True)
class TraceNode:
    """What a system considered at one point on its way to an answer.

    Attributes:
        text: what it is.
        score: as its stage scores; None where it does not.
        kept: whether the search continued from it; None if nothing was selected.
        below: what it led to, best first.
    """

    text: str
    score: float | None = None
    kept: bool | None = None
    below: tuple[TraceNode, ...] = ()


@dataclasses.dataclass(frozen=True)
class Usage:
    """What an answer cost.

    Seconds are wall-clock; `stages` splits them by pipeline stage. A price of None is not known.
    `nodes` and `edges` of the graph are those that a search visited, each counted once a hop of a
    path; None where nobody counted.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    price: float | None = 0.0
    seconds: float = 0.0
    stages: Mapping[str, float] = dataclasses.field(default_factory=dict)
    nodes: int | None = None
    edges: int | None = None

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
            price=None if self.price is None or other.price is None else self.price + other.price,
            seconds=self.seconds + other.seconds,
            stages=stages,
            nodes=_both(self.nodes, other.nodes),
            edges=_both(self.edges, other.edges),
        )


def _both(one: int | None, other: int | None) -> int | None:
    """The sum of what was counted: a call to a model counts no nodes."""
    return one if other is None else other if one is None else one + other
