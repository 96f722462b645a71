"""What a method is built of, as its `from_parts` sees it."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar

from jaxkg.settings import Checked, Count, NotNegative, Share

if TYPE_CHECKING:
    from jaxkg.adjudicate.backend import Backend
    from jaxkg.kg import KnowledgeGraph, Linker
    from jaxkg.kg.hypergraph.graph import KnowledgeHypergraph
    from jaxkg.learn.planner.model import Planner
    from jaxkg.learn.planner.traces import PlanTrace
    from jaxkg.tensors import TensorGraph
    from jaxkg.text import TextEncoder

T = TypeVar("T")

AskModel: TypeAlias = Literal["unsure", "always", "never"]
"""When a language model is asked about what a system found."""


@dataclasses.dataclass(frozen=True)
class OfferSettings(Checked):
    """What a language model is asked about a system's findings, and when; `--set judge.NAME=`.

    Attributes:
        judge: offer it "readings" of the question, or the "paths" of the answer, as PathHD does.
        ask: always, never, or where the system withholds its answer or is not certain of it.
        offered: K, readings offered at most, the system's own among them.
        weight: of the model's logits beside the system's log-score.
        certain: confidence of the system from which on the model is not asked.
        prompts: a "list" of all readings, or a "point" prompt for each, which requires
            log-probabilities.
        seed: of the order of a list.
    """

    judge: Literal["readings", "paths"] = "readings"
    ask: AskModel = "unsure"
    offered: Count = 6
    weight: NotNegative = 0.67
    certain: Share = 0.75
    prompts: Literal["list", "point"] = "list"
    seed: int = 0


class Parts(Protocol):
    """A graph, what several methods share, and the user's wishes.

    `jaxkg.experiments.parts.Parts` is one. Parts are made when first read, so a method reads those
    alone that it needs.
    """

    kg: KnowledgeGraph
    backend: Backend | None
    hypergraph: Path | None
    wishes: dict[str, str]
    marks: dict[str, Any]
    traces: list[PlanTrace]
    repair: bool
    seed: int
    asked: KnowledgeHypergraph | None
    passages: tuple[tuple[str, str], ...]
    kept: dict[str, Any]

    @property
    def judges_paths(self) -> bool:
        """Whether a model is to judge paths that a system is to retrieve for it."""
        ...

    @property
    def offered(self) -> int:
        """Readings that a model is offered of each question at most; 0 where it chooses none."""
        ...

    @property
    def tensors(self) -> TensorGraph:
        """The graph on the device."""
        ...

    @property
    def linker(self) -> Linker:
        """Of the graph."""
        ...

    @property
    def planner(self) -> Planner:
        """The planner named, or one made and kept."""
        ...

    @property
    def encoder(self) -> TextEncoder:
        """Of texts."""
        ...

    def folder(self, kind: str, system: str) -> str | Path:
        """Folder of a model as `jaxkg train KIND` makes them."""
        ...

    def settings(self, kind: type[T], **defaults: Any) -> T:
        """A method's settings: its own defaults, these, and what the user wishes."""
        ...
