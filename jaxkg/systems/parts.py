"""What a method is built of, as its `from_parts` sees it, and what it builds."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypeVar

from jaxkg.errors import JaxkgError
from jaxkg.settings import Checked, Count, NotNegative, Share, settings_made

if TYPE_CHECKING:
    from jaxkg.adjudicate.backend import Backend
    from jaxkg.kg import KnowledgeGraph, Linker
    from jaxkg.kg.hypergraph.graph import KnowledgeHypergraph
    from jaxkg.kg.stores.around import Reach
    from jaxkg.kg.stores.store import Store
    from jaxkg.learn.planner.model import Planner
    from jaxkg.learn.planner.traces import PlanTrace
    from jaxkg.tensors import TensorGraph
    from jaxkg.text import TextEncoder

T = TypeVar("T")

Trust: TypeAlias = Literal["exam", "always", "never"]
"""When a model is answered by wherever its SELECT finds something."""
AskModel: TypeAlias = Literal["unsure", "always", "never"]
"""When a language model is asked about what a system found."""


@dataclasses.dataclass(frozen=True)
class OfferSettings(Checked):
    """What a language model is asked about a system's findings, and when; `--set judge.NAME=`.

    Attributes:
        judge: offer it "readings" of the question, or the "paths" of the answer, as PathHD does.
        ask: always, never, or where the system withholds its answer or is not certain of it. Where
            the model writes, it chooses only if it is always asked.
        offered: K, readings offered at most, the system's own among them.
        weight: of the model's logits beside the system's log-score.
        certain: confidence of the system from which on the model is not asked.
        prompts: a "list" of all readings, or a "point" prompt for each, which requires
            log-probabilities.
        seed: of the order of a list.
        write: where an answer stays withheld, let the model write a SELECT over the graph's tables,
            which is executed; of a system that executes query graphs.
        likely: least chance of a SELECT that is answered by, where the endpoint tells
            log-probabilities and the model is not trusted.
        trust: answer by whatever SELECT of the model finds something: always, never, or where it
            passes an exam (`jaxkg.systems.exam`). If it is always asked, it then writes for every
            question, and chooses no reading.
    """

    judge: Literal["readings", "paths"] = "readings"
    ask: AskModel = "unsure"
    offered: Count = 6
    weight: NotNegative = 0.67
    certain: Share = 0.75
    prompts: Literal["list", "point"] = "list"
    seed: int = 0
    write: bool = True
    likely: Share = 0.57
    trust: Trust = "exam"


@dataclasses.dataclass(frozen=True)
class Devices:
    """How `--devices` shares out the work.

    Attributes:
        questions: groups of devices, each with questions of its own, the whole graph and all
            weights.
        graph: devices of a group, over which the graph's tensors are divided.
    """

    questions: int = 1
    graph: int = 1

    @classmethod
    def read(cls, text: str) -> Devices:
        """From "4", questions over four devices, or "2x4", questions x graph.

        Raises:
            JaxkgError: it is neither.

        >>> Devices.read("4"), Devices.read("1x4")
        (Devices(questions=4, graph=1), Devices(questions=1, graph=4))
        """
        if not re.fullmatch(r"0*[1-9][0-9]{0,5}(x0*[1-9][0-9]{0,5})?", text):
            raise JaxkgError(
                f"--devices {text}: write 4 for questions over four devices, or 2x4 for two groups "
                "of four that divide the graph"
            )
        return cls(*map(int, text.split("x")))

    def groups(self) -> list[list[Any]]:
        """The `jax.Device`s of each group.

        Raises:
            JaxkgError: there are not that many.
        """
        from jaxkg.tensors.mesh import device_mesh

        try:
            return device_mesh(data=self.questions, graph=self.graph).devices.tolist()
        except JaxkgError as error:
            raise JaxkgError(f"--devices: {error}") from None


class Built(NamedTuple):
    """A system that was built.

    Attributes:
        system: answers questions.
        marks: what decides its answers, for a run's fingerprint.
        graph: what is asked; None for the graph of its `Parts`.
    """

    system: Any
    marks: Mapping[str, Any]
    graph: KnowledgeGraph | KnowledgeHypergraph | None = None


@dataclasses.dataclass(frozen=True)
class Parts:
    """A graph and what the user wishes; what several systems share is made when first read.

    Attributes:
        kg: the graph.
        show: called with (stage, done, total).
        backend: the language model; None where none was named.
        hypergraph: folder of the hypergraph; None where none was named.
        planner_folder: of a trained planner.
        trained: folders of other trained models, by the system they are trained for.
        wishes: settings by name as the user wrote them.
        top_k, repair, keep_on_failure: see `AdjudicatedQA`.
        ask_model: when a model is asked about what a system found.
        seed: of a planner made here.
        requires_planner: a planner made of relation labels alone is none, as in a comparison of
            benchmarks.
        traces: what a planning model said, added to as the system answers.
        passages: (title, text) of what the questions bring, where they are asked over that.
        store: where the graph is asked for what lies around topics; `kg` is its schema then.
        reach: how far to look there; None for the default.
        devices: that share the work.
        group: which group of them these parts lie on.
        shared: what was made so far, by name.
    """

    kg: KnowledgeGraph
    show: Callable[[str, int, int], None]
    backend: Backend | None = None
    hypergraph: Path | None = None
    planner_folder: Path | None = None
    trained: Mapping[str, Path] = dataclasses.field(default_factory=dict)
    wishes: Mapping[str, str] = dataclasses.field(default_factory=dict)
    top_k: int = 50
    repair: bool = False
    keep_on_failure: bool = False
    ask_model: AskModel = "unsure"
    seed: int = 0
    requires_planner: bool = False
    traces: list[PlanTrace] = dataclasses.field(default_factory=list)
    passages: tuple[tuple[str, str], ...] = ()
    store: Store | None = None
    reach: Reach | None = None
    devices: Devices = Devices()
    group: int = 0
    shared: dict[str, Any] = dataclasses.field(default_factory=dict, repr=False)

    @property
    def offers(self) -> OfferSettings:
        """What a model is asked about a system's findings: the wishes `judge=` and `judge.NAME=`.

        Raises:
            JaxkgError: there is no such setting, or the value is none for it.
        """
        if self.backend is None:
            return OfferSettings()
        from jaxkg.adjudicate.backend import innermost

        # A small model of `jaxkg train lm` has learnt to judge paths, and nothing else.
        judge = "paths" if getattr(innermost(self.backend), "compact", False) else "readings"
        mine = {
            name.removeprefix("judge."): text
            for name, text in self.wishes.items()
            if _is_of_judge(name)
        }
        return settings_made(OfferSettings, mine, ask=self.ask_model, judge=judge)

    @property
    def judges_paths(self) -> bool:
        """Whether a model is to judge paths that a system is to retrieve for it."""
        offers = self.offers
        return self.backend is not None and offers.ask != "never" and offers.judge == "paths"

    @property
    def offered(self) -> int:
        """Readings that a model is offered of each question at most; 0 where it chooses none."""
        offers = self.offers
        asked = self.backend is not None and offers.ask != "never"
        return offers.offered if asked and offers.judge == "readings" else 0

    def beside(self, backend: Backend | None, wishes: Mapping[str, str], **changes: Any) -> Parts:
        """Parts for another system over the same graph; `changes` are of further fields."""
        shared = {name: self.shared[name] for name in ("tensors", "linker") if name in self.shared}
        fresh = {"traces": [], "hypergraph": None, "shared": shared, **changes}
        return dataclasses.replace(self, backend=backend, wishes=wishes, **fresh)

    def around(self, kg: KnowledgeGraph) -> Parts:
        """Parts for the same system over a part of the store's graph."""
        shared = {name: self.shared[name] for name in OF_ALL_PARTS if name in self.shared}
        return dataclasses.replace(self, kg=kg, store=None, shared=shared)

    def _once(self, name: str, make: Callable[[], T]) -> T:
        if name not in self.shared:
            self.shared[name] = make()
        return self.shared[name]

    @property
    def tensors(self) -> TensorGraph:
        """The graph on the device, or divided over several.

        Raises:
            JaxkgError: there are not that many.
        """
        return self._once("tensors", self._tensors)

    def _tensors(self) -> TensorGraph:
        from jaxkg.tensors import tensor_graph

        if self.devices.graph == 1:
            return tensor_graph(self.kg)
        import jax

        from jaxkg.tensors.mesh import device_mesh

        group = self.devices.groups()[self.group]

        # Devices that a CPU pretends to have share a pool of threads, in which two programs that
        # exchange rows would wait for each other for ever. Real ones work program by program.
        jax.config.update("jax_cpu_enable_async_dispatch", False)
        mesh = device_mesh(data=1, graph=self.devices.graph, devices=group)
        return tensor_graph(self.kg, mesh=mesh)

    @property
    def linker(self) -> Linker:
        """Of the graph."""
        from jaxkg.kg import Linker

        return self._once("linker", lambda: Linker(self.kg))

    @property
    def planner(self) -> Planner:
        """The planner named, or one made and kept.

        Raises:
            JaxkgError: none is named, and one is required.
        """
        from jaxkg.learn.planner.kept import planner_for

        if self.requires_planner and self.planner_folder is None:
            raise JaxkgError(
                "no trained planner: --planner DATASET=FOLDER or --parts FOLDER, "
                "made by `jaxkg train planner --dataset DATASET`"
            )
        return self._once(
            "planner",
            lambda: planner_for(
                self.kg,
                self.tensors,
                folder=self.planner_folder,
                seed=self.seed,
                on_progress=self.show,
            ),
        )

    @property
    def encoder(self) -> TextEncoder:
        """Of texts, as `--set encoder=NAME` says; see `encoder_kept`.

        Raises:
            JaxkgError: there is no such encoder.
        """
        from jaxkg.text.best import encoder_kept

        return self._once("encoder", lambda: encoder_kept(self.wishes.get("encoder", "minilm")))

    def folder(self, kind: str, system: str) -> str | Path:
        """Folder of a model as `jaxkg train KIND` makes them, named by `--set model=FOLDER`.

        Raises:
            JaxkgError: none is named.
        """
        given = self.wishes.get("model") or self.trained.get(kind)
        if given is None:
            raise JaxkgError(
                f"--system {system} needs a trained model: --set model=FOLDER, made by "
                f"`jaxkg train {kind}`"
            )
        return given

    def settings(self, kind: type[T], *own: str, **defaults: Any) -> T:
        """A system's settings: its own defaults, these, and what the user wishes.

        Args:
            kind: of settings.
            own: names of wishes that the system reads itself, such as "encoder".
            defaults: values where the user wishes none.

        Raises:
            JaxkgError: a wish for something it does not have, or of the wrong kind.
        """
        with_model = self.backend is not None
        wishes = {
            name: text
            for name, text in self.wishes.items()
            if name not in own and not (with_model and _is_of_judge(name))
        }
        return settings_made(kind, wishes, **defaults)

    def over(self, build: Callable[..., T], *models: Any, **more: Any) -> T:
        """What `build` makes of the graph, its tensors and its linker, with `models` and `more`."""
        return build(self.kg, *models, tensors=self.tensors, linker=self.linker, **more)

    def marks(self, settings: Any, **more: Any) -> dict[str, Any]:
        """What decides a system's answers: its settings, the shared models it reads, and `more`."""
        marks = {"settings": repr(settings), **more}
        if (planner := self.shared.get("planner")) is not None:
            marks["planner"] = dict(planner.about)
        if (encoder := self.shared.get("encoder")) is not None:
            marks["encoder"] = [encoder.name, encoder.revision]
        return marks


OF_ALL_PARTS = ("planner", "encoder", "texts", "advice")
"""What `Parts.around` shares between the parts of a store's graph."""


def _is_of_judge(name: str) -> bool:
    return name.partition(".")[0] == "judge"
