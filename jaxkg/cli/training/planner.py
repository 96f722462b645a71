"""`jaxkg train planner`, `jaxkg train pathmind` and `jaxkg train lm`."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from jaxkg.cli import options
from jaxkg.cli.blocks import spread
from jaxkg.errors import JaxkgError
from jaxkg.experiments.datasets import Dataset, material
from jaxkg.experiments.loading import keep_compiled_programs, load_graph, pooled
from jaxkg.experiments.progress import errors, progress_bars
from jaxkg.settings import settings_made, wishes_from

if TYPE_CHECKING:
    from jaxkg.kg import KnowledgeGraph
    from jaxkg.learn.planner.train import PlannerConfig
    from jaxkg.learn.supervision import Training
    from jaxkg.records import Question
    from jaxkg.tensors import TensorGraph

T = TypeVar("T")

training = typer.Typer(help="Train models.", no_args_is_help=True, rich_markup_mode=None)

Output = Annotated[
    Path,
    typer.Option("-o", "--output", help="Folder for the model; training resumes if it exists."),
]
Questions = Annotated[
    list[Path] | None, typer.Option(help="File of questions with answers; may be repeated.")
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", help="Setting of the training, NAME=VALUE; may be repeated."),
]
Fresh = Annotated[
    bool,
    typer.Option(
        "--fresh", help="Start anew if the folder holds a model or the state of a training."
    ),
]


@dataclasses.dataclass(frozen=True)
class FitOptions:
    """Over which graph and how something is learned, and into which folder."""

    output: Output
    kg: options.Graph = None
    settings: Settings = None
    fresh: Fresh = False
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0


@dataclasses.dataclass(frozen=True)
class TrainingOptions(FitOptions):
    """The same, from questions and answers."""

    questions: Questions = None
    dataset: options.DatasetName = None
    names: options.Names = None

    @contextlib.contextmanager
    def learning(
        self, card: str, *, state: Path | None = None, evidence: bool = False
    ) -> Iterator[tuple[tuple[KnowledgeGraph, TensorGraph, Sequence[Question]], Dataset, Training]]:
        """What every fit learns from, the data set that it is of, and how it is run.

        Args:
            card, state: see `trained_into`.
            evidence: take in the graph that only shows the way, where the data set has one.
        """
        from jaxkg.learn.supervision import Training
        from jaxkg.tensors import tensor_graph

        found = material(self.dataset, self.kg, self.names, self.questions, part="train")
        with trained_into(self.output, card, self.fresh, state=state) as (folder, show):
            how = Training(seed=self.seed, folder=folder, on_progress=show)
            graph = load_graph(found.graph, names=found.names)
            if evidence and found.evidence:
                graph = pooled(graph, load_graph(found.evidence))
            yield (graph, tensor_graph(graph), found.questions), found, how


@training.callback()
def _group() -> None:
    """Train models."""


def config_from(kind: type[T], settings: Sequence[str] | None, **defaults: Any) -> T:
    """A training's configuration: its defaults, options that were given, `--set NAME=VALUE`.

    Raises:
        JaxkgError: there is no such setting, or the value is none for it.
    """
    given = {name: value for name, value in defaults.items() if value is not None}
    return settings_made(kind, wishes_from(settings or ()), **given)


@contextlib.contextmanager
def trained_into(
    output: Path, name: str, fresh: bool, *, state: Path | None = None
) -> Iterator[tuple[Path, Callable[[str, int, int], None]]]:
    """The folder for a training's state, and what shows its progress.

    Args:
        output: the model's folder.
        name: of the model's card, e.g. "planner.json".
        fresh: forget what was done.
        state: another folder for it.

    Raises:
        JaxkgError: the folder holds something that this training is not to replace.
    """
    from jaxkg.learn.folder import state_folder

    keep_compiled_programs()
    state = state_folder(output, name, state=state, fresh=fresh)
    with progress_bars() as show:
        try:
            yield state, show
        except KeyboardInterrupt:
            errors.print(
                f"stopped; the same command resumes from {state}"
                if state.exists()
                else "stopped before the first step; nothing was saved",
            )
            raise typer.Exit(130) from None


def left_out(*counts: tuple[str, int]) -> None:
    """Say what could not be learned from, where there is any."""
    for what, count in counts:
        if count:
            print(f"  {count:,} {what}")


def epochs_run(epochs: Sequence[tuple[float, float]], kept: float, config: PlannerConfig) -> str:
    """How many epochs a planner's training ran, and why no more.

    Args:
        epochs: (loss, held-out score) of each.
        kept: score of the one that was kept.
        config: of the training.
    """
    best = 1 + [score for _, score in epochs].index(kept)
    why = f", none of the last {config.patience} did better on what was held out"
    ended = why if len(epochs) < config.epochs else ""
    return f"ran {len(epochs)} of {config.epochs} epochs{ended}; kept number {best}"


@training.command("planner")
@spread
def planner(
    given: TrainingOptions,
    hops: Annotated[
        int, typer.Option(min=1, max=4, help="Length of the longest relation path.")
    ] = 3,
    epochs: Annotated[int, typer.Option(min=1, help="Maximum number of epochs.")] = 8,
    held_out: Annotated[
        float,
        typer.Option(
            min=0, max=0.9, help="Share of the questions that is held out to choose the epoch."
        ),
    ] = 0.1,
) -> None:
    """Learn which relation paths questions mean, from questions and answers alone."""
    from jaxkg.learn.planner.fit import fit_planner
    from jaxkg.learn.planner.train import PlannerConfig

    config = config_from(PlannerConfig, given.settings, hops=hops, epochs=epochs)
    with given.learning("planner.json") as (taught, _, how):
        made, report = fit_planner(*taught, held_out=held_out, config=config, training=how)
    made.save(given.output)
    print(
        f"{given.output}: a planner for {len(made.relations)} relations, up to {config.hops} hops"
    )
    print(f"trained on {report.questions:,} questions, revisit rule {made.about['revisit']!r}")
    left_out(
        ("without a topic in the graph", report.without_topic),
        ("without an answer in the graph", report.without_answer),
        ("without a relation path to an answer", report.without_path),
        ("too large to search whole", report.incomplete),
    )
    print(epochs_run(report.epochs, report.held_out_f1, config))
    print(f"mean F1 of the best mined path {report.mined_f1:.4f}")
    print(f"expected F1 on the held-out questions {report.held_out_f1:.4f}")


@training.command("pathmind")
@spread
def pathmind(
    given: TrainingOptions,
    hops: Annotated[int, typer.Option(min=1, max=4, help="Length of the longest walk.")] = 3,
    encoder: Annotated[
        str | None,
        typer.Option(
            help="Text encoder of questions and relations: minilm (default: hashed words)."
        ),
    ] = None,
    paths: Annotated[
        bool, typer.Option("--paths", help="Learn from gold relation paths, too.")
    ] = False,
    epochs: Annotated[int, typer.Option(min=1, help="Number of passes over the questions.")] = 2,
    checkpoints: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the state of the training (default: inside the model folder)."
        ),
    ] = None,
) -> None:
    """Learn which entities around a topic answer, for `--system pathmind --set model=FOLDER`."""
    from jaxkg.learn.priority.fit import fit_priority
    from jaxkg.learn.priority.train import PriorityConfig
    from jaxkg.text.best import encoder_kept

    config = config_from(PriorityConfig, given.settings, epochs=epochs)
    with given.learning("priority.json", state=checkpoints) as (taught, _, how):
        model, report = fit_priority(
            *taught,
            config=config,
            hops=hops,
            encoder=None if encoder is None else encoder_kept(encoder),
            use_paths=paths,
            training=how,
        )
    model.save(given.output)
    print(
        f"{given.output}: path priorities for {len(model.relations)} relations, up to {hops} hops"
    )
    print(f"trained on {report.trained_on:,} of {report.questions:,} questions")
    left_out(
        ("without a topic in the graph", report.without_topic),
        ("without an answer in the graph", report.without_answer),
        ("with too large a subgraph", report.too_large),
    )


@training.command("lm")
def lm(
    output: Output,
    sft: Annotated[
        Path | None,
        typer.Option(help='JSON Lines to imitate: {"prompt": "...", "completion": "..."}.'),
    ] = None,
    dpo: Annotated[
        Path | None,
        typer.Option(
            help="File of preferences, a line each: "
            '{"prompt": "...", "chosen": "...", "rejected": "..."}.'
        ),
    ] = None,
    base: Annotated[
        Path | None,
        typer.Option(
            "--base",
            "--from",
            help="Folder or GGUF file of the model to start from (default: a small new model).",
        ),
    ] = None,
    lora: Annotated[
        int | None, typer.Option(min=1, help="Rank of a LoRA (default: all weights are trained).")
    ] = None,
    vocabulary: Annotated[
        int, typer.Option(min=300, help="Vocabulary size of a small new model.")
    ] = 2048,
    settings: Settings = None,
    fresh: Fresh = False,
    seed: Annotated[int, typer.Option(help="Random seed of the weights and the order.")] = 0,
) -> None:
    """Train a language model for `--llm local:FOLDER`: imitate (--sft) or prefer (--dpo)."""
    if (sft is None) == (dpo is None):
        raise JaxkgError("give either --sft FILE or --dpo FILE")
    if dpo is not None and base is None:
        raise JaxkgError("--dpo requires --base FOLDER, a model that was trained before")
    from jaxkg.learn.lm import TrainConfig, align, train
    from jaxkg.lm import LanguageModel, LMConfig, LMTokenizer
    from jaxkg.lm.examples import examples_of, lesson_texts, read_lessons

    # As `align`'s own: preferences move a model that can write already.
    gentle = {} if dpo is None else {"epochs": 1, "learning_rate": 1e-4}
    config = config_from(TrainConfig, settings, lora_rank=lora, **gentle)
    lessons = read_lessons(sft or dpo or "", pairs=dpo is not None)
    with trained_into(output, "config.json", fresh) as (state, show):
        if base is None:
            tokenizer = LMTokenizer.train(lesson_texts(lessons), vocab_size=vocabulary)
            sizes = LMConfig.small(tokenizer.size)
            language = LanguageModel.create(tokenizer, sizes, seed=seed, about={"prompts": "chat"})
        else:
            language = LanguageModel.open(base, dtype="float32")
        examples = [examples_of(language.tokenizer, *lesson) for lesson in lessons]
        given: dict[str, Any] = {
            "config": config,
            "checkpoints": state,
            "seed": seed,
            "on_progress": lambda done, steps, loss: show("train", done, steps),
        }
        if dpo is None:
            made = train(language, [one for (one,) in examples], **given)
        else:
            made = align(language, [(chosen, other) for chosen, other in examples], **given)
    about = {**language.about, "trained": dataclasses.asdict(config) | {"examples": len(examples)}}
    dataclasses.replace(made.language, about=about).save(output)
    what = "all weights" if not config.lora_rank else f"a LoRA of rank {config.lora_rank}, merged"
    print(f"{output}: a language model of {language.config.num_hidden_layers} layers")
    print(f"taught {len(examples):,} {'pairs' if dpo else 'examples'} ({what})")
    print(f"loss {made.losses[0]:.4f} at first, {made.losses[-1]:.4f} at last")
