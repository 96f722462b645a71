"""What systems are built of: a graph, what the user wishes, parts that several share."""

from __future__ import annotations

import dataclasses
import functools
import re
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from jaxkg.errors import JaxkgError
from jaxkg.settings import SettingError
from jaxkg.systems.parts import AskModel, OfferSettings

if TYPE_CHECKING:
    from jaxkg.adjudicate import Backend
    from jaxkg.kg import KnowledgeGraph, Linker
    from jaxkg.kg.hypergraph.graph import KnowledgeHypergraph
    from jaxkg.kg.stores.around import Reach
    from jaxkg.kg.stores.store import Store
    from jaxkg.learn.planner.model import Planner
    from jaxkg.learn.planner.traces import PlanTrace
    from jaxkg.tensors import TensorGraph
    from jaxkg.text import TextEncoder

T = TypeVar("T")


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


@dataclasses.dataclass
class Parts:
    """A graph, what the user wishes, and the parts systems share, each made when first wanted.

    Attributes:
        kg: the graph.
        show: told of (stage, done, total).
        backend: the language model; None where none was named.
        hypergraph: folder of the hypergraph; None where none was named.
        planner_folder: of a trained planner.
        trained: folders of other trained models, by the system they are trained for.
        wishes: settings by name as the user wrote them; a builder takes what it understands.
        top_k, repair, keep_on_failure: see `AdjudicatedQA`.
        ask_model: when a model is asked about what a system found.
        offers: what it is asked then; made of these and the wishes for it.
        seed: of a planner made here.
        marks: what decides the answers of the system built, for a run's fingerprint.
        traces: what a planning model said, added to as the system answers.
        asked: the graph that is asked, where it is not `kg`.
        passages: (title, text) of what the questions bring, where they are asked over that.
        store: where the graph is asked for what lies around topics; `kg` is its schema then.
        reach: how far to look there; None for the default.
        devices: that share the work.
        group: which group of them these parts lie on.
        kept: what a system leaves to those that are built of other parts of the same store.
    """

    kg: KnowledgeGraph
    show: Callable[[str, int, int], None]
    backend: Backend | None = None
    hypergraph: Path | None = None
    planner_folder: Path | None = None
    trained: Mapping[str, Path] = dataclasses.field(default_factory=dict)
    wishes: dict[str, str] = dataclasses.field(default_factory=dict)
    top_k: int = 50
    repair: bool = False
    keep_on_failure: bool = False
    ask_model: AskModel = "unsure"
    offers: OfferSettings = OfferSettings()
    seed: int = 0
    marks: dict[str, Any] = dataclasses.field(default_factory=dict)
    traces: list[PlanTrace] = dataclasses.field(default_factory=list)
    asked: KnowledgeHypergraph | None = None
    passages: tuple[tuple[str, str], ...] = ()
    store: Store | None = None
    reach: Reach | None = None
    devices: Devices = Devices()
    group: int = 0
    kept: dict[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def judges_paths(self) -> bool:
        """Whether a model is to judge paths that a system is to retrieve for it."""
        asked = self.backend is not None and self.offers.ask != "never"
        return asked and self.offers.judge == "paths"

    @property
    def offered(self) -> int:
        """Readings that a model is offered of each question at most; 0 where it chooses none."""
        asked = self.backend is not None and self.offers.ask != "never"
        return self.offers.offered if asked and self.offers.judge == "readings" else 0

    def read_offers(self) -> None:
        """Take the wishes `judge=` and `judge.NAME=`, where there is a model.

        Raises:
            JaxkgError: there is no such setting, or the value is none for it.
        """
        if self.backend is None:
            return
        mine = [name for name in self.wishes if name.partition(".")[0] == "judge"]
        wishes = {name.removeprefix("judge."): self.wishes.pop(name) for name in mine}
        from jaxkg.adjudicate.backend import innermost

        # A small model of `jaxkg train lm` has learnt to judge paths, and nothing else.
        judge = "paths" if getattr(innermost(self.backend), "compact", False) else "readings"
        self.offers = settings_made(OfferSettings, wishes, ask=self.ask_model, judge=judge)

    @property
    def graph(self) -> KnowledgeGraph | KnowledgeHypergraph:
        """The graph that is asked."""
        return self.kg if self.asked is None else self.asked

    def beside(self, backend: Backend | None, wishes: dict[str, str]) -> Parts:
        """Parts for another system over the same graph."""
        other = dataclasses.replace(
            self,
            backend=backend,
            wishes=wishes,
            marks={},
            kept={},
            traces=[],
            asked=None,
            hypergraph=None,
        )
        other.__dict__.update(
            {name: vars(self)[name] for name in ("tensors", "linker") if name in vars(self)}
        )
        return other

    def around(self, kg: KnowledgeGraph) -> Parts:
        """Parts for the same system over a part of the store's graph; models are opened once."""
        shared = {name: vars(self)[name] for name in ("planner", "encoder") if name in vars(self)}
        wishes = {k: v for k, v in self.wishes.items() if k != "encoder" or k not in shared}
        other = dataclasses.replace(self, kg=kg, store=None, wishes=wishes)
        other.__dict__.update(shared)
        return other

    @functools.cached_property
    def tensors(self) -> TensorGraph:
        """The graph on the device, or divided over several.

        Raises:
            JaxkgError: there are not that many.
        """
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

    @functools.cached_property
    def linker(self) -> Linker:
        """Of the graph."""
        from jaxkg.kg import Linker

        return Linker(self.kg)

    @functools.cached_property
    def planner(self) -> Planner:
        """The planner named, or one made and kept."""
        from jaxkg.learn.planner.kept import planner_for

        planner = planner_for(
            self.kg,
            self.tensors,
            folder=self.planner_folder,
            seed=self.seed,
            on_progress=self.show,
        )
        self.marks["planner"] = dict(planner.about)
        return planner

    @functools.cached_property
    def encoder(self) -> TextEncoder:
        """Of texts, as `--set encoder=NAME` says; see `encoder_kept`.

        Raises:
            JaxkgError: there is no such encoder.
        """
        encoder = encoder_kept(self.wishes.pop("encoder", "minilm"))
        self.marks["encoder"] = [encoder.name, encoder.revision]
        return encoder

    def folder(self, kind: str, system: str) -> str | Path:
        """Folder of a model as `jaxkg train KIND` makes them, named by `--set model=FOLDER`.

        Raises:
            JaxkgError: none is named.
        """
        given = self.wishes.pop("model", None) or self.trained.get(kind)
        if given is None:
            raise JaxkgError(
                f"--system {system} needs a trained model: --set model=FOLDER, made by "
                f"`jaxkg train {kind}`"
            )
        return given

    def settings(self, kind: type[T], **defaults: Any) -> T:
        """A system's settings: its own defaults, these, and what the user wishes.

        Raises:
            JaxkgError: a wish for something it does not have, or of the wrong kind.
        """
        made = settings_made(kind, self.wishes, **defaults)
        self.wishes.clear()
        self.marks["settings"] = repr(made)
        return made


def wishes_from(
    settings: Sequence[str],
    *,
    mode: str | None = None,
    threshold: float | None = None,
    today: str | None = None,
) -> dict[str, str]:
    """`NAME=VALUE` settings, and those that have an option of their own, by name.

    Raises:
        JaxkgError: one is not of that form.

    >>> wishes_from(["width=3"], threshold=0.2)
    {'width': '3', 'threshold': '0.2'}
    """
    wishes: dict[str, str] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not name or not equals:
            raise JaxkgError(f"--set {setting}: write it NAME=VALUE, for example --set width=3")
        wishes[name.strip().replace("-", "_")] = value.strip()
    if mode is not None:
        wishes["mode"] = mode
    if today is not None:
        wishes["today"] = today
    if threshold is not None:
        wishes["threshold"] = str(threshold)
    return wishes


def settings_made(kind: type[T], wishes: Mapping[str, str], **defaults: Any) -> T:
    """Settings: their own defaults, these, those of a preset, and what was written.

    `preset=NAME` takes a set of values that `kind` keeps under that name in `presets`: "paper" is
    the method as it is printed. `beam.width=4` sets the `width` of the nested settings `beam`.

    Raises:
        JaxkgError: as `settings_from`, no such preset, or a value is out of its range; says it as
            it was written.
    """
    wishes = dict(wishes)
    named, presets = wishes.pop("preset", None), getattr(kind, "presets", {})
    if named is not None and named not in presets:
        known = f"there is {', '.join(presets)}" if presets else "there is none"
        raise JaxkgError(f"--set preset={named}: no such preset of {kind.__name__}; {known}")
    whole = {name: text for name, text in wishes.items() if "." not in name}
    given = settings_from(kind, whole)
    values = {**defaults, **(presets[named] if named else {}), **given}
    for name in wishes.keys() - whole.keys():
        outer, _, inner = name.partition(".")
        fields = getattr(kind, "__dataclass_fields__", {})
        nested = values.get(outer, getattr(kind(**values), outer, None)) if outer in fields else 0
        if not dataclasses.is_dataclass(nested) or isinstance(nested, type):
            raise JaxkgError(f"{_typed(name, wishes[name])}: no such setting here")
        try:
            changed = settings_from(type(nested), {inner: wishes[name]})
            values[outer] = dataclasses.replace(nested, **changed)
        except SettingError as error:
            raise JaxkgError(
                f"{_typed(name, wishes[name])}: {error.setting} {error.problem}"
            ) from None
    try:
        return kind(**values)
    except SettingError as error:
        if error.setting not in given:
            raise
        typed = _typed(error.setting, wishes[error.setting])
        raise JaxkgError(f"{typed}: {error.setting} {error.problem}") from None


def settings_from(kind: type[Any], wishes: Mapping[str, str]) -> dict[str, Any]:
    """What was written, as the fields of a settings dataclass.

    Raises:
        JaxkgError: there is no such field, or the value is none for it.

    >>> from jaxkg.systems.planned import PlannedSettings
    >>> settings_from(PlannedSettings, {"width": "3", "mode": "union", "revisit": "none"})
    {'width': 3, 'mode': 'union', 'revisit': 'none'}
    """
    hints = typing.get_type_hints(kind)
    annotations = {field.name: hints[field.name] for field in dataclasses.fields(kind)}
    values: dict[str, Any] = {}
    for name, text in wishes.items():
        if name not in annotations:
            raise JaxkgError(
                f"{_typed(name, text)}: no such setting here; there are {', '.join(annotations)}"
            )
        try:
            values[name] = _value(text, annotations[name])
        except ValueError as error:
            raise JaxkgError(f"{_typed(name, text)}: {error}") from None
    return values


def _typed(name: str, text: str) -> str:
    """A setting as it was written on the command line."""
    return f"--{name} {text}" if name in ("mode", "threshold") else f"--set {name}={text}"


def _value(text: str, annotation: Any) -> Any:
    """Text as a value of a simple type; a `ValueError` says what would be one."""
    if typing.get_origin(annotation) is Literal:
        allowed = typing.get_args(annotation)
        if text not in allowed:
            raise ValueError(f"it is one of {', '.join(map(str, allowed))}")
        return text
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        choices = typing.get_args(annotation)
        if type(None) in choices and text.lower() in ("default", "null"):
            return None
        for choice in choices:
            if choice is not type(None):
                return _value(text, choice)
    if annotation is bool:
        if text.lower() not in ("true", "false"):
            raise ValueError("it is true or false")
        return text.lower() == "true"
    if annotation in (int, float, str):
        try:
            return annotation(text)
        except ValueError:
            raise ValueError(
                f"it is {'a whole number' if annotation is int else 'a number'}"
            ) from None
    raise ValueError("it can be set from Python only")


def encoder_named(name: str) -> TextEncoder:
    """An encoder of texts: "minilm", sentence vectors; "hashing", which needs no weights; a folder;
    "remote:MODEL", at the endpoint that OPENAI_BASE_URL and OPENAI_API_KEY name.

    Raises:
        JaxkgError: there is no such encoder, or its weights are not found.
    """
    if name == "minilm":
        from jaxkg.text.minilm import default_encoder

        return default_encoder()
    if name == "hashing":
        from jaxkg.text.hashing import HashingEncoder

        return HashingEncoder()
    if name.startswith("remote:"):
        from jaxkg.text.remote import RemoteEncoder

        return RemoteEncoder(name.removeprefix("remote:"))
    if Path(name).is_dir():
        from jaxkg.text.minilm import MiniLM

        return MiniLM.open(name)
    raise JaxkgError(
        f"the encoder is minilm, hashing, remote:MODEL or the folder of one, not {name!r}"
    )


def encoder_kept(name: str) -> TextEncoder:
    """As `encoder_named`; sentence vectors stay in the user's cache, for the next command."""
    from jaxkg.cache import cache_for
    from jaxkg.text.vectors import KeptVectors, file_of_vectors

    encoder = encoder_named(name)
    if name == "hashing":
        return encoder
    folder = cache_for("vectors")
    return encoder if folder is None else KeptVectors(encoder, file_of_vectors(folder, encoder))
