"""A question set answered by a system, line by line into a run folder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from jaxkg.answer import Answer
from jaxkg.errors import JaxkgError
from jaxkg.experiments.loading import make_room
from jaxkg.experiments.parts import Parts
from jaxkg.experiments.registry import System, faults
from jaxkg.records import Question

if TYPE_CHECKING:
    from jaxkg.evaluate.runs.lines import Status
    from jaxkg.learn.planner.traces import PlanTrace

CHUNK_WITH_MODEL = 128
"""As `measure.CHUNK`, where a model is asked. Its replies are kept, so none is asked twice."""


def run_questions(
    folder: Path,
    asked: Sequence[Question],
    system: System,
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
        system, parts: what answers, and what it was built of.
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

    graph = parts.graph

    def check(answer: Answer) -> bool:
        return not faults(system, parts, answer)

    marks = json.dumps({**parts.marks, "link": link}, sort_keys=True, default=repr)
    mark = {
        "system": name,
        "graph": graph.fingerprint,
        "settings": hashlib.sha256(marks.encode()).hexdigest(),
    }
    size = CHUNK if parts.backend is None else CHUNK_WITH_MODEL
    with open_run(folder, asked, fingerprint=mark, retry=retry, fresh=fresh) as run:
        pending = run.pending
        total, done = len(asked), len(asked) - len(pending)
        show("answer", done, total)
        for first in range(0, len(pending), size):
            make_room()
            chunk = pending[first : first + size]
            answers = system.answer(chunk, use_given=not link)
            _check_outage(answers)
            _keep(parts.traces, folder)
            for line in lines_of(chunk, answers, graph, check):
                run.write(line)
            show("answer", done + first + len(chunk), total)


def _check_outage(answers: Sequence[Answer]) -> None:
    """Stop where nothing but a wrong key, name or address can be the reason."""
    from jaxkg.adjudicate.requests import OUTAGES

    asked = [answer for answer in answers if answer.usage.calls]
    kinds = {(answer.error or "").partition(":")[0] for answer in asked}
    if asked and len(kinds) == 1 and kinds <= OUTAGES:
        raise JaxkgError(
            f"every call for {len(asked)} questions failed, so nothing is kept of them: "
            f"{asked[0].error}; `jaxkg llm check` says more"
        )


def _keep(traces: list[PlanTrace], folder: Path) -> None:
    """Append what a planning model said to the folder's traces, for `jaxkg distill`."""
    if traces:
        from jaxkg.learn.planner.traces import TRACES, append_traces

        append_traces(traces, folder / TRACES)
        traces.clear()
