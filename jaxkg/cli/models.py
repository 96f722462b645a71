"""The language model a subcommand talks to, put together from its options; `jaxkg llm check`."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from jaxkg.cli import options
from jaxkg.cli.blocks import ModelOptions
from jaxkg.errors import JaxkgError
from jaxkg.experiments.progress import errors

if TYPE_CHECKING:
    from jaxkg.adjudicate import Backend, Meter

models = typer.Typer(help="Language models.", no_args_is_help=True, rich_markup_mode=None)


@dataclasses.dataclass(frozen=True)
class Model:
    """A connected model: what systems ask, and what counts their calls."""

    backend: Backend
    meter: Meter

    def waiting(self) -> str:
        """That it is waited for, and how much it has said."""
        calls = self.meter.total.calls
        return f"{self.backend.model}: {calls:,} {'call' if calls == 1 else 'calls'} answered"


@contextmanager
def language_model(wanted: ModelOptions, *, retry: bool = False) -> Iterator[Model | None]:
    """Connect for as long as the block runs; None where no model is named.

    Args:
        wanted: what the options say.
        retry: ask again what failed before.

    Raises:
        JaxkgError: options that need a model come without one, or contradict each other.
    """
    if wanted.llm is None:
        plain = ModelOptions()
        for field in dataclasses.fields(wanted):
            if getattr(wanted, field.name) != getattr(plain, field.name):
                name = "--" + field.name.replace("_", "-")
                raise JaxkgError(
                    f"{name} says how to ask a language model; name one: --llm MODEL, or set "
                    "JAXKG_LLM_MODEL"
                )
        yield None
        return
    from jaxkg.adjudicate import Echo

    meter = _connected(wanted, retry)
    with meter:
        backend = Echo(meter, _show) if wanted.show_prompts else meter
        yield Model(backend, meter)


def language_models(
    stack: ExitStack, wanted: ModelOptions, names: Sequence[str]
) -> dict[str, Model]:
    """As `language_model`, several by name; each may have an address of its own, NAME@http://...

    Args:
        stack: closes them.
        wanted: what the options say of all.
        names: of the models.
    """
    found: dict[str, Model] = {}
    for name in names or (None,):
        model, at, address = (name or "").partition("@http")
        own = {"base_url": f"http{address}"} if at else {}
        each = dataclasses.replace(wanted, llm=model or None, **own)
        if (connected := stack.enter_context(language_model(each))) is not None:
            found[name or ""] = connected
    return found


@contextmanager
def answering_and_judging(
    wanted: ModelOptions, judge: str | None, *, retry: bool = False
) -> Iterator[tuple[Model | None, Model | None]]:
    """As `language_model`, and the model that judges answers, asked in the same way.

    Where both are one model, calls of both count towards one budget, else each has its own.

    Args:
        wanted: what the options say.
        judge: name of the judging model; None where none is wanted.
        retry: ask again what failed before.
    """
    # Without --llm the options say how the judge is asked.
    own = ModelOptions() if judge is not None and wanted.llm is None else wanted
    with language_model(own, retry=retry) as model:
        if judge is None or judge == wanted.llm:
            yield model, model if judge else None
        else:
            with language_model(dataclasses.replace(wanted, llm=judge), retry=retry) as judging:
                yield model, judging


def _connected(wanted: ModelOptions, retry: bool) -> Meter:
    from jaxkg.adjudicate import Budget, Caps, Meter, Replay, connect

    if wanted.no_cache and (wanted.replay or wanted.replies is not None):
        other = "--replay" if wanted.replay else "--replies"
        raise JaxkgError(f"{other} uses saved replies, --no-cache saves none: drop one of them")
    replies = wanted.replies if wanted.replies or wanted.no_cache else _usual_replies()
    if wanted.replay and replies is None:
        raise JaxkgError("--replay: there are no saved replies; name their file by --replies")
    run = Caps(wanted.budget_calls, wanted.budget_tokens, wanted.budget_price)
    question = Caps(wanted.question_calls)
    endpoint = None
    if wanted.llm is not None and wanted.llm.startswith("local:"):
        from jaxkg.lm.backend import LocalLM

        endpoint = LocalLM.open(wanted.llm)
    if wanted.replay and replies is not None:
        # Nothing is paid for, so the run's caps have nothing to hold back.
        kept = Replay(replies, endpoint.model if endpoint else wanted.llm or "")
        return Meter(Budget(kept, question=question), wanted.manner())
    return connect(
        wanted.llm,
        base_url=wanted.base_url,
        cache=replies,
        retry=retry,
        run=None if run == Caps() else run,
        question=None if question == Caps() else question,
        concurrency=wanted.concurrency,
        timeout=wanted.timeout,
        context=wanted.context,
        endpoint=endpoint,
        manner=wanted.manner(),
    )


def _usual_replies() -> Path | None:
    """The file in the user's cache, if it can be used."""
    from jaxkg.adjudicate.around.store import ReplyStore
    from jaxkg.cache import cache_for, nothing_kept

    if (folder := cache_for("")) is None:
        return None
    try:
        ReplyStore(folder / "replies.sqlite").close()
    except JaxkgError as error:
        nothing_kept(error)
        return None
    return folder / "replies.sqlite"


def _show(exchange: str) -> None:
    from jaxkg.words import one_line

    text = "\n".join(map(one_line, exchange.splitlines()))
    errors.print(text)


@models.callback()
def _group() -> None:
    """Language models."""


@models.command("check")
def check(
    llm: options.LLM = None,
    base_url: options.BaseURL = None,
    timeout: options.Timeout = 60.0,
    context: options.Context = None,
    extra_body: options.ExtraBody = None,
) -> None:
    """Say whether a model answers, how fast and how good it is, and how long a question will take.

    The model also sits an exam: it writes SELECTs for 12 questions over a small graph. If it
    passes, jaxkg trusts what it writes; the replies are saved, so that later commands know. The
    check costs about 12,000 tokens read and 400 written. --llm or JAXKG_LLM_MODEL names the model,
    OPENAI_API_KEY holds the key. Exit code 2 means that jaxkg cannot work with the model.
    """
    from jaxkg.adjudicate import Backoff, OpenAIBackend, check
    from jaxkg.adjudicate.around.cache import Cache
    from jaxkg.systems.exam import examined
    from jaxkg.words import one_line

    wanted = ModelOptions(llm=llm, extra_body=extra_body)
    with ExitStack() as stack:
        if wanted.llm is not None and wanted.llm.startswith("local:"):
            from jaxkg.lm.backend import LocalLM

            backend = LocalLM.open(wanted.llm)
        else:
            backend = OpenAIBackend(
                wanted.llm,
                base_url=base_url,
                timeout=timeout,
                context=context,
                backoff=Backoff(retries=1),
                manner=wanted.manner(),
            )
        found = check(stack.enter_context(backend))
        print("\n".join(map(one_line, found.text().splitlines())), flush=True)
        if found.ok:
            replies = _usual_replies()
            keeps = backend if replies is None else stack.enter_context(Cache(backend, replies))
            exam = examined(keeps)
            print("Exam: not finished, a call failed." if exam is None else exam.line)
    if not found.ok:
        sys.exit(2)
