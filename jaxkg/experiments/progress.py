"""Words on standard error, so that standard output stays clean for answers and JSON."""

import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from jaxkg.cache import CacheWarning, forget_programs
from jaxkg.words import one_line

PATIENCE = 3.0
"""Seconds that a command may be silent where no bars are drawn."""


class _Cleaned(Console):
    """A console on which no text acts, wherever it comes from: file names too."""

    def print(self, *objects: Any, **named: Any) -> None:
        """As `rich` prints; texts without control characters and direction marks."""
        super().print(
            *(
                "\n".join(map(one_line, each.split("\n"))) if isinstance(each, str) else each
                for each in objects
            ),
            **named,
        )


errors = _Cleaned(stderr=True, soft_wrap=True, emoji=False)
_quiet = [False]


@contextmanager
def voice(*, quiet: bool) -> Iterator[None]:
    """While the block runs, warnings are lines on standard error; `quiet` leaves errors alone."""
    _quiet[0] = quiet
    told: set[str] = set()

    def tell(message: Warning | str, category: type[Warning], *about: Any, **more: Any) -> None:
        text = " ".join(str(message).split())
        kept = issubclass(category, CacheWarning)
        if "persistent compilation cache" in text:
            kept = True
            text = "compiled programs cannot be kept"
            if "reading" in str(message):  # one half written, by a full disk or a kill, spoils all
                forget_programs()
                text = "kept programs cannot be used; they are made anew"
        # One cause keeps several things from being kept.
        if (once := "cache" if kept else text) not in told:
            told.add(once)
            note(text)

    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("always", category=CacheWarning)
            warnings.filterwarnings("always", message="Error (reading|writing) persistent")
            warnings.showwarning = tell
            yield
    finally:
        _quiet[0] = False


def note(text: str) -> None:
    """One line that is no error."""
    if not _quiet[0]:
        errors.print(f"jaxkg: {text}", markup=False, highlight=False, soft_wrap=True)


@contextmanager
def progress_bars() -> Iterator[Callable[[str, int, int], None]]:
    """Yields a function (stage, done, total) that shows one bar per stage while the block runs.

    Bars vanish at the end. Where standard error is no terminal, what takes long is told in a line.
    """
    bars = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=errors,
        transient=True,
    )
    drawn = errors.is_terminal and not _quiet[0]
    tasks = {}
    latest = [("working", 0, 0)]
    done_with = threading.Event()

    def show(stage: str, done: int, total: int) -> None:
        latest[0] = stage, done, total
        if stage not in tasks:
            tasks[stage] = bars.add_task(stage, total=total)
        bars.update(tasks[stage], completed=done, total=total)

    def tell() -> None:
        start, wait = time.monotonic(), PATIENCE
        while not done_with.wait(wait):
            stage, done, total = latest[0]
            count = f" {done:,} of {total:,}" if total > 1 else ""
            note(f"{stage}{count} … ({time.monotonic() - start:.0f} s)")
            wait *= 2

    lines = threading.Thread(target=tell, daemon=True)
    with bars if drawn else nullcontext():
        if not drawn and not _quiet[0]:
            lines.start()
        try:
            yield show
        finally:
            done_with.set()
