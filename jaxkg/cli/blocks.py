"""Blocks of options that several subcommands take, each a record that is stated once."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from jaxkg.cli import options
from jaxkg.errors import JaxkgError
from jaxkg.experiments.loading import FileOptions, StoreOptions
from jaxkg.settings import wishes_from
from jaxkg.systems.parts import Devices

if TYPE_CHECKING:
    from jaxkg.adjudicate.backend import Manner
    from jaxkg.serve.guard import Names


@dataclasses.dataclass(frozen=True)
class ReadingOptions:
    """How the file of a graph is read."""

    format: options.Format = None
    names: options.Names = None
    encoding: options.Encoding = "utf-8"
    columns: options.Columns = None
    mapping: options.MappingFile = None

    def reading(self, **more: Any) -> FileOptions:
        """With further fields of the record."""
        return FileOptions(**vars(self), **more)


@dataclasses.dataclass(frozen=True)
class EndpointOptions:
    """How an endpoint is asked."""

    graph: options.EndpointGraph = None
    language: options.Language = "en"
    label_property: options.LabelProperty = None
    endpoint: options.Endpoint = None

    @property
    def stores(self) -> StoreOptions:
        """The same as a record."""
        return StoreOptions(**vars(self))


@dataclasses.dataclass(frozen=True)
class GraphOptions:
    """The graph that is asked, and how its file is read."""

    kg: options.AnyGraph = None
    names: options.Names = None
    format: options.Format = None
    encoding: options.Encoding = "utf-8"
    columns: options.Columns = None
    mapping: options.MappingFile = None
    language: options.Language = "en"

    @property
    def reading(self) -> FileOptions:
        """File and line of every triple are kept: they are cited."""
        told = self.names, self.format, self.encoding, self.columns
        return FileOptions(*told, provenance=True, mapping=self.mapping, language=self.language)

    @property
    def stores(self) -> StoreOptions | None:
        """None: the graph is read whole."""
        return None


@dataclasses.dataclass(frozen=True)
class StoreGraphOptions(GraphOptions):
    """The same, or a store that is asked for what lies around topics."""

    kg: options.GraphOrStore = None
    graph: options.EndpointGraph = None
    label_property: options.LabelProperty = None
    endpoint: options.Endpoint = None
    reach: options.Around = None
    labels: options.Labels = None

    @property
    def stores(self) -> StoreOptions:
        """How it is asked."""
        return StoreOptions(*(getattr(self, f.name) for f in dataclasses.fields(StoreOptions)))


@dataclasses.dataclass(frozen=True)
class SystemOptions:
    """Which system, and what it is made of."""

    system: options.System = None
    hypergraph: options.Hypergraph = None
    planner: options.PlannerFolder = None
    mode: options.PlanMode = None
    threshold: options.Threshold = None
    today: options.Today = None
    settings: options.Settings = None
    devices: options.Devices = "1"

    def given(self) -> dict[str, Any]:
        """As `Parts` takes them.

        Raises:
            JaxkgError: a setting is not written NAME=VALUE, or devices are neither N nor NxM.
        """
        return {
            "hypergraph": self.hypergraph,
            "planner_folder": self.planner,
            "wishes": wishes_from(
                self.settings or (), mode=self.mode, threshold=self.threshold, today=self.today
            ),
            "devices": Devices.read(self.devices),
        }


@dataclasses.dataclass(frozen=True)
class OfferOptions:
    """What a model that judges paths is offered, and how often it is asked."""

    top_k: options.TopK = 50
    repair: options.Repair = False


@dataclasses.dataclass(frozen=True)
class QuestionOptions:
    """The questions of a run."""

    questions: Annotated[
        list[Path] | None,
        typer.Option(
            help="Files of questions with answers (default: questions of the demo graph)."
        ),
    ] = None
    link: options.Link = False
    limit: Annotated[int | None, typer.Option(min=1, help="Ask only the first N questions.")] = None


@dataclasses.dataclass(frozen=True)
class RunOptions:
    """Where a run is kept, and what is printed of it."""

    output: Annotated[
        Path, typer.Option("-o", "--output", help="Run folder; the run resumes if it exists.")
    ]
    fresh: Annotated[
        bool, typer.Option(help="Start a new run, also where the folder holds one.")
    ] = False
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False
    seed: Annotated[
        int, typer.Option(help="Random seed of the intervals, and of a planner that is made here.")
    ] = 0


@dataclasses.dataclass(frozen=True)
class CallerOptions:
    """Under which names callers may ask, and from which pages."""

    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host",
            help="Further host name under which callers may ask, for example behind a proxy; may "
            "be repeated.",
        ),
    ] = None
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-origin",
            help="Further origin whose pages may ask, such as https://example.org; may be "
            "repeated.",
        ),
    ] = None

    def names(self, *hosts: str) -> Names:
        """As the guard takes them, with names that the service has anyway.

        Raises:
            JaxkgError: one is no name or no origin.
        """
        from jaxkg.serve.guard import Names

        return Names((*hosts, *(self.allow_host or ())), self.allow_origin or ())


@dataclasses.dataclass(frozen=True)
class ModelOptions:
    """What is said about the language model."""

    llm: options.LLM = None
    base_url: options.BaseURL = None
    show_prompts: options.ShowPrompts = False
    budget_calls: options.BudgetCalls = None
    budget_tokens: options.BudgetTokens = None
    budget_price: options.BudgetPrice = None
    question_calls: options.QuestionCalls = None
    replies: options.Replies = None
    no_cache: options.NoCache = False
    replay: options.Replay = False
    concurrency: options.Concurrency = None
    timeout: options.Timeout = 120.0
    context: options.Context = None
    prompt_tokens: options.PromptTokens = 1200
    max_tokens: options.MaxTokens = None
    llm_seed: options.ModelSeed = None
    extra_body: options.ExtraBody = None
    why: options.Why = False
    ask_model: options.AskModel = "unsure"

    def __post_init__(self) -> None:
        # The name may come from the environment, for all commands: one says that it wants none.
        if self.llm in ("none", ""):
            object.__setattr__(self, "llm", None)

    def manner(self) -> Manner:
        """How every request is asked.

        Raises:
            JaxkgError: the extra body is no JSON object, in a file or as it stands.
        """
        from jaxkg.adjudicate.backend import Manner

        extra: Any = {}
        if self.extra_body is not None:
            extra = _object(self.extra_body)
        return Manner(self.why, self.prompt_tokens, self.max_tokens, self.llm_seed, extra)


def _object(text: str) -> dict[str, Any]:
    """A JSON object, as it stands or in a file."""
    from jaxkg.foreign_json import read_json

    if text.lstrip().startswith("{"):
        where, written = "--extra-body", text
    else:
        where = f"--extra-body {text}"
        try:
            written = Path(text).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise JaxkgError(
                f"{where}: neither a JSON object nor a file of one: {error}"
            ) from error
    value = read_json(written, where)
    if not isinstance(value, dict):
        raise JaxkgError(f'{where}: write a JSON object, such as {{"num_ctx": 8192}}')
    return value


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """A subcommand whose parameters of a block's type are that block's options, by keyword.

    >>> def ask(question: str, graph: GraphOptions) -> None:
    ...     print(question, graph.kg, graph.encoding)
    >>> asked = spread(ask)
    >>> asked(question="who?", kg="films.tsv")
    who? films.tsv utf-8
    >>> list(inspect.signature(asked).parameters)[:3]
    ['question', 'kg', 'names']
    """
    hints = get_type_hints(command, include_extras=True)
    blocks: dict[str, Any] = {}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        kind = hints[parameter.name]
        if not dataclasses.is_dataclass(kind):
            taken = parameter.replace(annotation=kind, kind=parameter.KEYWORD_ONLY)
            parameters.append(taken)
            continue
        blocks[parameter.name] = kind
        own = get_type_hints(kind, include_extras=True)
        parameters += [
            inspect.Parameter(
                field.name,
                parameter.KEYWORD_ONLY,
                default=parameter.empty if field.default is dataclasses.MISSING else field.default,
                annotation=own[field.name],
            )
            for field in dataclasses.fields(kind)
        ]

    @functools.wraps(command)
    def run(**given: Any) -> None:
        for name, kind in blocks.items():
            own = [field.name for field in dataclasses.fields(kind) if field.name in given]
            given[name] = kind(**{field: given.pop(field) for field in own})
        command(**given)

    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    vars(run)["__signature__"] = inspect.Signature(parameters)
    return run
