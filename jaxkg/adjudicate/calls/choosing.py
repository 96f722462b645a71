"""Which reading of a question is meant: a language model's part of the chooser.

One call chooses by number from a list in shuffled order, since models favour a place in a list. It
is asked again in the reverse order where it chose another reading than the system, or what happened
to stand first. Where an endpoint tells log-probabilities, each reading can be put to the model by
itself instead, and the logit is log P(yes) - log P(no) of its first token; a model of 1.5 billion
weights tells less so, in four times the calls.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import random
from collections.abc import Sequence
from typing import NamedTuple

from pydantic import AliasChoices, BaseModel, Field

from jaxkg.adjudicate.around.meter import usage
from jaxkg.adjudicate.ask import Outcome, Prompted, ask
from jaxkg.adjudicate.backend import Backend
from jaxkg.adjudicate.prompts import DATA_RULE, block, cut, line
from jaxkg.adjudicate.requests import Message, Reply, Request
from jaxkg.records import OtherReading, Usage
from jaxkg.wire.retry import FailureKind

STAGE = "choose"
VOTE = 2.0
"""Logit of a reading for each order of the list in which it was chosen."""
_ALTERNATIVES = 5
"""Tokens that are asked for; some endpoints tell no more."""
_LONGEST = 300
"""Characters of a reading or of its answers; what is cut off is marked."""

_SYSTEM = (
    "A question may be read in several ways. You are told the question, one reading of it, and "
    "what the reading answers. Say whether the reading asks for exactly what the question asks "
    "for, nothing more and nothing less. Reply with one word, yes or no.\n"
    'Example: the question is "which courses does Ada Quill take". The reading "courses whose '
    'student is Ada Quill": yes. The reading "the teacher of the courses whose student is Ada '
    'Quill": no.\n' + DATA_RULE
)
_USER = (
    "Question:\n{question}\n\nReading:\n{reading}\n\nDoes this reading ask for what the question "
    "asks for? Reply yes or no."
)
_LIST_SYSTEM = (
    "A question may be read in several ways. You are told the question and numbered readings, in "
    "no order, each with what it answers and the chance that a program gives it. Choose the "
    "reading that asks for exactly what the question asks for, nothing more and nothing less. "
    "Reply with its number.\n"
    'Example: the question is "which courses does Ada Quill take".\n'
    "1. the teacher of the courses whose student is Ada Quill: Bo Marsh (chance 0.30)\n"
    "2. courses whose student is Ada Quill: Algebra; Optics (chance 0.25)\n"
    'Reply: {"reading": 2}\n' + DATA_RULE
)
_LIST_USER = "Question:\n{question}\n\nReadings:\n{readings}"
_FORM = 'Reply with one JSON object and nothing else:\n{"reading": <number>}'


class ReadingReply(BaseModel):
    """The reply's schema: the number of a reading."""

    reading: int = Field(validation_alias=AliasChoices("reading", "number", "choice", "answer"))
    rationale: str = Field(
        default="",
        validation_alias=AliasChoices("rationale", "reason"),
        description="one sentence: why this reading asks what the question asks",
    )


class Asked(NamedTuple):
    """A question and its readings, likeliest first; `question_id` is what calls are charged to."""

    question: str
    question_id: str
    readings: tuple[OtherReading, ...]


@dataclasses.dataclass(frozen=True)
class Choice:
    """What a model says of the readings of a question.

    Attributes:
        logits: of each reading, higher is likelier; None where the model gave nothing readable.
        usage: calls, tokens, seconds.
        error: kind of failure; None where there are logits.
        detail: the failure in words.
        notes: what was cut of a prompt, or asked again in vain.
        rationale: why, where reasons are asked for.
    """

    logits: tuple[float, ...] | None
    usage: Usage
    error: FailureKind | None = None
    detail: str = ""
    notes: tuple[str, ...] = ()
    rationale: str | None = None


def choose_by_model(
    backend: Backend,
    asked: Sequence[Asked],
    *,
    pointwise: bool = False,
    seed: int = 0,
    repair: bool = False,
) -> list[Choice]:
    """Let a language model weigh the readings of each question.

    Args:
        backend: who answers.
        asked: questions with their readings.
        pointwise: put each reading to the model by itself, which requires log-probabilities of
            yes and no.
        seed: of the order of a list.
        repair: allow one more call for a list's reply that cannot be read.

    Returns:
        One choice a question, in order; a failure is a choice without logits.

    >>> from jaxkg.adjudicate.scripted import Scripted
    >>> readings = tuple(OtherReading(text, 0.4, ("x",)) for text in ("its age", "its name"))
    >>> says = Scripted(lambda r: Reply("yes", alternatives=(("yes", -0.1), ("no", -2.1))))
    >>> choose_by_model(says, [Asked("how old is it", "q", readings)], pointwise=True)[0].logits
    (2.0, 2.0)
    """
    if pointwise:
        return _by_points(backend, asked)
    return _by_list(backend, asked, seed, repair)


def _point(backend: Backend, asked: Asked, reading: OtherReading) -> Request:
    """One reading, to be said yes or no to; what comes before it is the same for all."""
    user = _USER.format(
        question=block([asked.question], "question"), reading=block([_told(reading)])
    )
    return Request(
        messages=(Message("system", _SYSTEM), Message("user", user)),
        max_tokens=1,
        seed=backend.manner.seed,
        question=asked.question_id or asked.question,
        stage=STAGE,
        alternatives=_ALTERNATIVES,
        extra=backend.manner.extra,
    )


def _by_points(backend: Backend, asked: Sequence[Asked]) -> list[Choice]:
    """A logit for each reading by itself, all of them in one batch."""
    replies = backend.complete(
        [_point(backend, each, some) for each in asked for some in each.readings]
    )
    choices, place = [], 0
    for each in asked:
        mine = replies[place : place + len(each.readings)]
        place += len(mine)
        cost = usage(mine, stage=STAGE)
        failed = next((reply for reply in mine if reply.error is not None), None)
        odds = [_log_odds(reply) for reply in mine]
        if failed is not None:
            choices.append(Choice(None, cost, failed.error, failed.detail))
        elif None in odds:
            said = next(reply.text for reply, some in zip(mine, odds) if some is None)
            detail = f"neither yes nor no: {line(said)[:80]!r}"
            choices.append(Choice(None, cost, "unparsed", detail))
        else:
            choices.append(Choice(tuple(some for some in odds if some is not None), cost))
    return choices


def _log_odds(reply: Reply) -> float | None:
    """log P(yes) - log P(no); what is not told is as unlikely as the least that is."""
    if not reply.alternatives:
        return None
    least = min(value for _, value in reply.alternatives)
    mass = {"yes": 0.0, "no": 0.0}
    for token, value in reply.alternatives:
        word = token.strip().casefold()
        if word in mass:
            mass[word] += math.exp(value)
    if not any(mass.values()):
        return None
    yes, no = (math.log(mass[word]) if mass[word] else least for word in ("yes", "no"))
    return yes - no


def _by_list(backend: Backend, asked: Sequence[Asked], seed: int, repair: bool) -> list[Choice]:
    """A vote, or two, for one reading of a list."""
    orders = [_shuffled(each, seed) for each in asked]
    first = ask(backend, [_listed(*pair) for pair in zip(asked, orders)], repair=repair)
    back = {
        place: order[::-1]
        for place, (outcome, order) in enumerate(zip(first, orders))
        if outcome.value is not None and (order[0] == 0 or _picked(outcome, order) != 0)
    }
    again = [_listed(asked[place], order) for place, order in back.items()]
    told = dict(zip(back, ask(backend, again, repair=repair)))
    return [
        _voted(len(each.readings), outcome, order, told.get(place), back.get(place, []))
        for place, (each, outcome, order) in enumerate(zip(asked, first, orders))
    ]


def _voted(
    count: int,
    first: Outcome[ReadingReply],
    order: Sequence[int],
    second: Outcome[ReadingReply] | None,
    back: Sequence[int],
) -> Choice:
    """The votes of one order or both."""
    cost = first.usage if second is None else first.usage + second.usage
    notes = tuple(dict.fromkeys(each.note for each in (first, second) if each and each.note))
    if first.value is None:
        return Choice(None, cost, first.error, first.detail, notes)
    logits = [0.0] * count
    logits[_picked(first, order)] += VOTE
    if second is not None and second.value is not None:
        logits[_picked(second, back)] += VOTE
    elif second is not None:
        notes = (*notes, f"the model was asked in one order alone ({second.error})")
    return Choice(tuple(logits), cost, notes=notes, rationale=first.value.rationale.strip() or None)


def _shuffled(asked: Asked, seed: int) -> list[int]:
    order = list(range(len(asked.readings)))
    random.Random(f"{seed}:{asked.question}").shuffle(order)
    return order


def _picked(outcome: Outcome[ReadingReply], order: Sequence[int]) -> int:
    assert outcome.value is not None
    return order[outcome.value.reading - 1]


def _listed(asked: Asked, order: Sequence[int]) -> Prompted[ReadingReply]:
    """All readings, in an order, of which one is to be chosen."""
    lines = (
        f"{number}. {_told(asked.readings[place])} (chance {asked.readings[place].confidence:.2f})"
        for number, place in enumerate(order, start=1)
    )
    user = _LIST_USER.format(question=block([asked.question], "question"), readings=block(lines))
    return Prompted(
        messages=(Message("system", _LIST_SYSTEM), Message("user", user)),
        schema=ReadingReply,
        form=_FORM,
        check=functools.partial(_outside, len(order)),
        question=asked.question_id or asked.question,
        stage=STAGE,
        max_tokens=96,
        offered={"reading": range(1, len(order) + 1)},
        reason="rationale",
    )


def _outside(most: int, reply: ReadingReply) -> str | None:
    if 1 <= reply.reading <= most:
        return None
    return f"{reply.reading} is no reading offered; give 1 to {most}"


def _told(reading: OtherReading) -> str:
    """A reading in words, and what it answers."""
    more = f"; and {reading.more:,} more" if reading.more else ""
    shown = cut("; ".join(map(line, reading.preview)), _LONGEST) + more
    return f"{cut(line(reading.reading), _LONGEST)}: {shown}"
