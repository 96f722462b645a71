"""A question set answered by a system, line by line into a run folder, and answers judged."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from jaxkg.answer import Answer
from jaxkg.errors import JaxkgError
from jaxkg.experiments.loading import make_room
from jaxkg.experiments.registry import faults
from jaxkg.records import Question
from jaxkg.systems.parts import Built, Parts

if TYPE_CHECKING:
    from jaxkg.adjudicate.backend import Backend
    from jaxkg.adjudicate.calls.judging import Answered, Judged
    from jaxkg.evaluate.runs.lines import Line, Status
    from jaxkg.learn.planner.traces import PlanTrace

T = TypeVar("T")

CHUNK_WITH_MODEL = 128
"""Questions answered at a time at most, where a model is asked."""
_QUICK, _SLOW = 1.0, 10.0  # seconds of a chunk, from which the next one is larger or smaller


def run_questions(
    folder: Path,
    asked: Sequence[Question],
    built: Built,
    parts: Parts,
    *,
    name: str,
    link: bool,
    fresh: bool,
    retry: Sequence[Status] = (),
    show: Callable[[str, int, int], None],
) -> None:
    """Answer what the folder has no line of yet; citations are checked as lines are written.

    Args:
        folder: of the run.
        asked: all its questions.
        built, parts: what answers, and what it was built of.
        name: the system's.
        link: hide given topics.
        fresh, retry: see `open_run`.
        show: told of (stage, done, total).

    Raises:
        JaxkgError: the folder is of another run; or every call of a batch failed for one reason
            that will not pass, nothing of which is kept.
    """
    from jaxkg.evaluate import open_run
    from jaxkg.experiments.measure import CHUNK, lines_of

    system, graph = built.system, parts.kg if built.graph is None else built.graph

    def check(answer: Answer) -> bool:
        return not faults(system, parts, answer)

    marks = json.dumps({**built.marks, "link": link}, sort_keys=True, default=repr)
    mark = {
        "system": name,
        "graph": graph.fingerprint,
        "settings": hashlib.sha256(marks.encode()).hexdigest(),
    }
    least, most = CHUNK, CHUNK
    if parts.backend is not None:
        least, most = min(parts.backend.at_once, CHUNK_WITH_MODEL), CHUNK_WITH_MODEL
    with open_run(folder, asked, fingerprint=mark, retry=retry, fresh=fresh) as run:
        pending = run.pending
        total, done = len(asked), len(asked) - len(pending)
        show("answer", done, total)
        for chunk in paced(pending, least=least, most=most):
            make_room()
            answers = system.answer(chunk, use_given=not link)
            _check_outage(answers)
            _keep(parts.traces, folder)
            for line in lines_of(chunk, answers, graph, check):
                run.write(line)
            done += len(chunk)
            show("answer", done, total)


def paced(items: Sequence[T], *, least: int, most: int) -> Iterator[Sequence[T]]:
    """Items in chunks of some seconds each: what is done is written soon, if not one by one.

    Args:
        items: in order.
        least, most: of a chunk; the first has the least.
    """
    first, size = 0, least
    while first < len(items):
        begun = time.monotonic()
        yield items[first : first + size]
        first += size
        seconds = time.monotonic() - begun
        if seconds < _QUICK:
            size = min(most, 4 * size)
        elif seconds > _SLOW:
            size = max(least, size // 2)


def judge_run(
    folder: Path, judge: Backend, *, repair: bool = False, show: Callable[[str, int, int], None]
) -> Judged:
    """Let a language model judge the answers of a run; questions without gold answers are not.

    Args:
        folder: of the run.
        judge: who is asked, once for each answer.
        repair: allow one more call for a reply that cannot be read.
        show: told of (stage, done, total).

    Raises:
        JaxkgError: the run cannot be read; or no call of a batch came through, for one reason that
            will not pass.
    """
    from jaxkg.adjudicate.calls.judging import Judged, judge_answers
    from jaxkg.adjudicate.requests import OUTAGES
    from jaxkg.evaluate import read_predictions

    asked = [_answered(line) for line in read_predictions(folder) if line["gold"]]
    judged = Judged({})
    done = 0
    least = min(judge.at_once, CHUNK_WITH_MODEL)
    for chunk in paced(asked, least=least, most=CHUNK_WITH_MODEL):
        show("judge", done, len(asked))
        some = judge_answers(judge, chunk, repair=repair)
        done += len(chunk)
        reasons = list(some.unjudged.values())
        kinds = {why.partition(":")[0] for why in reasons}
        if kinds and kinds <= OUTAGES and not some.judgements:
            raise JaxkgError(
                f"the judge answers no call: {reasons[0]}; `jaxkg llm check` says more. What was "
                "answered is kept: start the run again to go on"
            )
        judged |= some
    show("judge", len(asked), len(asked))
    return judged


def _answered(line: Line) -> Answered:
    """A prediction line as a judge is shown it."""
    from jaxkg.adjudicate.calls.judging import Answered
    from jaxkg.evaluate.runs.lines import answered_names

    cited = {path for answer in line["answers"] for path in answer.get("paths") or ()}
    told = tuple(line.get("cited") or ())
    return Answered(
        line["id"],
        line["question"],
        tuple(line["gold"]),
        tuple(answered_names(line)),
        told,
        max(0, len(cited) - len(told)),
        line.get("rationale") or "",
    )


def _check_outage(answers: Sequence[Answer]) -> None:
    """Stop where nothing but a wrong key, name or address can be the reason."""
    from jaxkg.adjudicate.requests import OUTAGES

    asked = [answer for answer in answers if answer.usage.calls]
    kinds = {(answer.error or "").partition(":")[0] for answer in asked}
    if asked and len(kinds) == 1 and kinds <= OUTAGES:
        many, them = ("question", "it") if len(asked) == 1 else ("questions", "them")
        raise JaxkgError(
            f"every call for {len(asked)} {many} failed, so nothing is saved for {them}: "
            f"{asked[0].error}; `jaxkg llm check` says more"
        )


def _keep(traces: list[PlanTrace], folder: Path) -> None:
    """Append what a planning model said to the folder's traces, for `jaxkg distill`."""
    if traces:
        from jaxkg.learn.planner.traces import TRACES, append_traces

        append_traces(traces, folder / TRACES)
        traces.clear()
