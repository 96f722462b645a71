"""What every system does around its own steps: takes questions, times its stages, says why not."""

from __future__ import annotations

import abc
import time
from collections.abc import Callable, Mapping, Sequence

from jaxkg.answer import Answer
from jaxkg.deadline import check
from jaxkg.kg import Topics
from jaxkg.kg.questions.read import split_brackets
from jaxkg.limits import checked_length, shortened
from jaxkg.records import Question, TraceNode, Usage

OUTGROWN = "the search outgrew the largest bucket: answers may be missing"

Progress = Callable[[str, int, int], None]
"""Called with (stage, done, total)."""


class QuestionAnswering(abc.ABC):
    """Anything that answers questions with cited paths."""

    @abc.abstractmethod
    def answer(
        self,
        questions: Sequence[Question],
        *,
        use_given: bool = True,
        on_progress: Progress | None = None,
    ) -> list[Answer]:
        """Answer many questions in batches.

        Args:
            questions: any number.
            use_given: see `find_topics`.
            on_progress: called with (stage, done, total).

        Returns:
            An answer, or an abstention with its reason, for each question in order.
        """

    def ask(self, question: str | Question) -> Answer:
        """Answer one question."""
        return self.answer([as_question(question)])[0]

    def traced(self, question: Question) -> tuple[Answer, tuple[TraceNode, ...]]:
        """An answer, and what the stages before it considered where a system tells of that."""
        return self.answer([question])[0], ()


def as_question(question: str | Question) -> Question:
    """A question typed by a person; `[...]` around the topic is accepted.

    Example:
        >>> as_question("who wrote [Alien]?").text
        'who wrote Alien?'

    Raises:
        JaxkgError: it is longer than is read.
    """
    if isinstance(question, Question):
        return question
    bare, mention = split_brackets(checked_length(question))
    return Question(id="q1", text=bare, mention=mention)


class Stages:
    """A stopwatch: seconds of the stages of a batch.

    Args:
        before: seconds that stages took already.
    """

    def __init__(self, before: Mapping[str, float] | None = None) -> None:
        self._last = time.perf_counter()
        self.seconds = dict(before or {})

    def end(self, name: str) -> None:
        """The stage that began where the last one ended is over; it may go on later.

        Raises:
            OutOfTime: the question's time is up.
        """
        check()
        now = time.perf_counter()
        self.seconds[name] = self.seconds.get(name, 0.0) + now - self._last
        self._last = now

    def skip(self) -> None:
        """What went on since the last stage ended is timed elsewhere."""
        self._last = time.perf_counter()

    def usage(self, count: int) -> Usage:
        """The share of each of `count` questions."""
        stages = {name: seconds / count for name, seconds in self.seconds.items()}
        return Usage(seconds=sum(stages.values()), stages=stages)


def notes_on(topics: Topics, *, complete: bool) -> list[str]:
    """Notes about given topics that the graph lacks or that are too many, and a cut search."""
    notes = [f"the graph has no entity {shortened(topic)!r}" for topic in topics.missing]
    notes += topics.notes
    return notes if complete else [*notes, OUTGROWN]


def why_no_topic(topics: Topics) -> str:
    """Why a question has no topic entity to start from."""
    if topics.missing:
        return (
            f"the topic {', '.join(map(repr, map(shortened, topics.missing)))} is not in the graph"
        )
    near = ", ".join(f"{shortened(link.name)!r} ({link.score:.2f})" for link in topics.links[:3])
    return "no entity of the graph is recognised in the question" + (
        f"; nearest: {near}" if near else ""
    )
