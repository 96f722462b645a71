"""Words on standard error, so that standard output stays clean for answers and JSON."""

import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from jaxkg.cache import CacheWarning, forget_programs
from jaxkg.words import one_line

PATIENCE = 3.0
"""Seconds that a command may be silent where no bars are drawn; longer each time."""
LONGEST_SILENCE = 60.0


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


errors = _Cleaned(stderr=True, soft_wrap=True, emoji=False, markup=False, highlight=False)
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
        errors.print(f"jaxkg: {text}")


class Bars:
    """One bar a stage; where standard error is no terminal, what takes long is told in a line.

    Attributes:
        about: what is waited for while no stage is under way, and what it has come to; asked when
            something is to be shown.
    """

    def __init__(self, bars: Progress) -> None:
        self.about: Callable[[], str] = str
        self._bars, self._tasks = bars, {}
        self._stage, self._done, self._total = "working", 0, 0
        self._first, self._since = 0, time.monotonic()
        self._waiting = bars.add_task("", total=None, visible=False)

    def __call__(self, stage: str, done: int, total: int) -> None:
        """So many of so many steps of a stage are done."""
        if stage != self._stage:
            self._first, self._since = done, time.monotonic()
        self._stage, self._done, self._total = stage, done, total
        if stage not in self._tasks:
            self._tasks[stage] = self._bars.add_task(stage, total=total)
        self._bars.update(self._tasks[stage], completed=done, total=total)

    def told(self) -> str:
        """What is going on, in a line: how much of it is done, and how long the rest will take.

        A stage that is over is no longer going on, whatever comes after it.
        """
        about = self.about()
        if 0 < self._total <= self._done:
            return about or "working"
        parts = [self._stage + (f" {self._done:,} of {self._total:,}" if self._total > 1 else "")]
        parts += [about] if about else []
        if (new := self._done - self._first) > 0:
            left = (time.monotonic() - self._since) / new * (self._total - self._done)
            parts.append(f"about {left:,.0f} s left")
        return ", ".join(parts)

    def refresh(self) -> None:
        """Show what is waited for beside the bars."""
        over, about = 0 < self._total <= self._done, self.about()
        self._bars.update(self._waiting, description=about, visible=bool(over and about))


@contextmanager
def progress_bars() -> Iterator[Bars]:
    """Yields a function (stage, done, total) that shows one bar per stage while the block runs.

    Bars vanish at the end. Where standard error is no terminal, what takes long is told in a line.
    """
    bars = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=errors,
        transient=True,
    )
    drawn = errors.is_terminal and not _quiet[0]
    show = Bars(bars)
    done_with = threading.Event()

    def tell() -> None:
        start, wait = time.monotonic(), 1.0 if drawn else PATIENCE
        while not done_with.wait(wait):
            if drawn:
                show.refresh()
            else:
                note(f"{show.told()} … ({time.monotonic() - start:.0f} s)")
                wait = min(2 * wait, LONGEST_SILENCE)

    with bars if drawn else nullcontext():
        if not _quiet[0]:
            threading.Thread(target=tell, daemon=True).start()
        try:
            yield show
        finally:
            done_with.set()
