"""Blocks of options that several subcommands take, each a record that is stated once."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

from jaxkg.cli import options
from jaxkg.errors import JaxkgError
from jaxkg.experiments.loading import FileOptions, StoreOptions
from jaxkg.settings import wishes_from
from jaxkg.systems.parts import Devices

if TYPE_CHECKING:
    from jaxkg.adjudicate.backend import Manner


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
        return StoreOptions(
            self.graph,
            self.language,
            self.label_property,
            self.endpoint,
            self.reach,
            self.labels,
        )


@dataclasses.dataclass(frozen=True)
class SystemOptions:
    """What a system is made of."""

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
