"""A built system that answers one question after another, and how answers are printed."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from jaxkg.cli.blocks import GraphOptions, ModelOptions, SystemOptions
from jaxkg.cli.models import language_model
from jaxkg.deadline import TimeLimit
from jaxkg.errors import JaxkgError
from jaxkg.experiments.loading import keep_compiled_programs, parts_of
from jaxkg.experiments.progress import Bars
from jaxkg.experiments.registry import System, build_system, default_system, faults
from jaxkg.limits import checked_length
from jaxkg.systems.parts import Parts

if TYPE_CHECKING:
    from jaxkg.answer import Answer
    from jaxkg.records import Question, TraceNode


@dataclasses.dataclass(frozen=True)
class Session:
    """A system, what it was built of, and the seconds that one question may take."""

    system: System
    parts: Parts
    seconds: float | None = None

    def answers(self, questions: Sequence[Question]) -> list[Answer]:
        """Answer questions within the seconds of one.

        Raises:
            OutOfTime: it takes longer.
        """
        with TimeLimit(self.seconds):
            return self.system.answer(questions)

    def answer(self, question: str) -> Answer:
        """Answer a question; its citations are checked.

        Raises:
            JaxkgError: it is empty, is no text, or a citation does not hold.
        """
        from jaxkg.systems.answering import as_question

        return self._held(self.answers([as_question(checked_question(question))])[0])

    def right(self, question: str, number: int) -> Answer:
        """The answer by the reading of that number, which is kept for the next time.

        Raises:
            JaxkgError: the system gives no readings, or has none of that number.
        """
        from jaxkg.systems.answering import as_question

        correct = getattr(self.system, "correct", None)
        if correct is None:
            raise JaxkgError("--right requires --system reader and a graph that is read whole")
        with TimeLimit(self.seconds):
            correct(as_question(checked_question(question)), number)
        return self.answer(question)

    def traced(self, question: str) -> tuple[Answer, tuple[TraceNode, ...]]:
        """The same, and what the system tells of its stages."""
        from jaxkg.systems.answering import as_question

        with TimeLimit(self.seconds):
            answer, stages = self.system.traced(as_question(checked_question(question)))
        return self._held(answer), stages

    def _held(self, answer: Answer) -> Answer:
        """The answer, whose citations hold."""
        if wrong := faults(self.system, self.parts, answer):
            raise JaxkgError(f"the answer's citations do not hold, please report this: {wrong[0]}")
        return answer


@contextmanager
def session(
    made_of: SystemOptions,
    wanted: ModelOptions,
    show: Bars,
    graph: GraphOptions,
    *,
    seconds: float | None = None,
    **options: Any,
) -> Iterator[Session]:
    """Read the graph and build the system; `options` are further ones of `Parts`.

    Who asks again wants another answer: a kept reply that cannot be read is asked for anew, once.
    """
    with language_model(wanted, retry=True) as model:
        keep_compiled_programs()
        if model is not None:
            show.about = model.waiting
        backend = None if model is None else model.backend
        parts = parts_of(
            graph.kg,
            graph.reading,
            graph.stores,
            show,
            backend=backend,
            ask_model=wanted.ask_model,
            **made_of.given(),
            **options,
        )
        name = made_of.system or default_system(parts)
        yield Session(build_system(name, parts), parts, seconds)


def checked_question(text: str) -> str:
    """The question as it was typed.

    Raises:
        JaxkgError: it is blank, too long, or holds bytes that are no text.
    """
    if not text.strip():
        raise JaxkgError('the question is empty; try: jaxkg ask "who directed Alien?"')
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise JaxkgError(
            f"the question is not UTF-8 text (at character {error.start + 1})"
        ) from error
    return checked_length(text)


def failed(answer: Answer) -> bool:
    """Whether a model was asked and gave nothing."""
    return answer.error is not None and not answer.entities


def unjudged(answer: Answer) -> bool:
    """Whether a model was to judge what is told and gave nothing."""
    if answer.error is None:
        return False
    from jaxkg.adjudicate.calls.one_shot import FAILED

    return any(note.startswith(FAILED) for note in answer.notes)


def lines_of_input() -> Iterator[str]:
    """The lines of standard input that are not blank.

    Raises:
        JaxkgError: it is not UTF-8 text.
    """
    try:
        for line in sys.stdin:
            if line.strip():
                yield line.strip()
    except UnicodeDecodeError as error:
        raise JaxkgError(f"standard input is not UTF-8 text (byte {error.start})") from error


def print_answer(answer: Answer, limit: int) -> None:
    """The answer as text, with colours on a terminal."""
    from rich.console import Console

    from jaxkg.show.render import rich_text

    Console(soft_wrap=True, highlight=False, emoji=False).print(rich_text(answer, limit=limit))
