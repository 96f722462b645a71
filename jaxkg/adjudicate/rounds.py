"""Several lines of questioning side by side: what they ask next goes out in one batch."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeAlias, TypeVar

from jaxkg.adjudicate.ask import Outcome, Prompted, ask
from jaxkg.adjudicate.backend import Backend

Value = TypeVar("Value")

Steps: TypeAlias = Generator[Sequence[Prompted[Any]], list[Outcome[Any]], Value]
"""Yields prompts and is sent their outcomes, as often as it likes; what it returns is its value."""
_Live: TypeAlias = dict[int, tuple[Steps[Value], Sequence[Prompted[Any]]]]


def in_rounds(
    backend: Backend, lines: Iterable[Steps[Value]], *, at_once: int, repair: bool = False
) -> Iterator[tuple[int, Value]]:
    """Run lines of questioning to their ends, all that are under way a step further each round.

    Until there is a first reply one goes alone: a wrong key or address is as wrong for the others.
    Who asks what another already has in the round waits for the next: it then gets a reply that is
    kept, or is charged, held back or fails on its own account, as it would be alone.

    Args:
        backend: who answers; is given a round's prompts as one batch, earlier lines first.
        lines: begun in order, as soon as there is room.
        at_once: most that are under way.
        repair: allow one more call for each reply that cannot be read.

    Yields:
        Place and value of each line, as they end.

    Raises:
        JaxkgError: what the backend or a line raises.
    """
    arriving = enumerate(lines)
    live: _Live[Value] = {}
    heard = False
    while True:
        begun = False
        for place, line in islice(arriving, (at_once if heard else 1) - len(live)):
            begun = True
            yield from _advanced(live, place, line, None)
        if begun and len(live) < at_once:
            continue  # some ended at once
        if not live:
            return
        asking = _apart(backend, live)
        prompted = [each for place in asking for each in live[place][1]]
        outcomes = ask(backend, prompted, repair=repair)
        heard = heard or any(r.error is None for outcome in outcomes for r in outcome.replies)
        told = iter(outcomes)
        for place in asking:
            line, prompted = live[place]
            yield from _advanced(live, place, line, list(islice(told, len(prompted))))


def _advanced(
    live: _Live[Value], place: int, line: Steps[Value], told: list[Outcome[Any]] | None
) -> Iterator[tuple[int, Value]]:
    """Take a line one step further; yields where it ends."""
    try:
        # None begins a generator.
        live[place] = line, next(line) if told is None else line.send(told)
    except StopIteration as end:
        live.pop(place, None)
        yield place, end.value


def _apart(backend: Backend, live: _Live[Value]) -> list[int]:
    """Places of lines of which no two ask the same."""
    taken: set[str] = set()
    apart: list[int] = []
    for place, (_, prompted) in live.items():
        keys = {each.request().key(backend.model) for each in prompted}
        if taken.isdisjoint(keys):
            taken |= keys
            apart.append(place)
    return apart
