"""Progress on standard error, so that standard output stays clean for answers and JSON."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

errors = Console(stderr=True, soft_wrap=True)


@contextmanager
def progress_bars() -> Iterator[Callable[[str, int, int], None]]:
    """Yields a function (stage, done, total) that shows one bar per stage while the block runs.

    Bars are drawn on a terminal only and vanish at the end.
    """
    bars = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=errors,
        transient=True,
        disable=not errors.is_terminal,
    )
    tasks = {}
    with bars:

        def show(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total)
            bars.update(tasks[stage], completed=done, total=total)

        yield show
