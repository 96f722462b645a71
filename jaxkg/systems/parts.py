"""What a method is built of, as its `from_parts` sees it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from jaxkg.adjudicate.backend import Backend
    from jaxkg.kg import KnowledgeGraph, Linker
    from jaxkg.kg.hypergraph.graph import KnowledgeHypergraph
    from jaxkg.learn.planner.model import Planner
    from jaxkg.learn.planner.traces import PlanTrace
    from jaxkg.tensors import TensorGraph
    from jaxkg.text import TextEncoder

T = TypeVar("T")


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
