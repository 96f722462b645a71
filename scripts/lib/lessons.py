"""Lessons for a small model that judges paths or plans: what it is shown, and what to choose."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence

from jaxkg.adjudicate.calls.one_shot import STAGE as ADJUDICATE
from jaxkg.adjudicate.calls.one_shot import adjudication_prompt, found_by_query, offered
from jaxkg.adjudicate.calls.planning import STAGE as PLAN
from jaxkg.adjudicate.calls.planning import Wanted, plan_prompt
from jaxkg.adjudicate.requests import Request
from jaxkg.answer import Answer
from jaxkg.errors import JaxkgError
from jaxkg.lm.offers import Offer, mask_topics, read_offer
from jaxkg.lm.packing import Example
from jaxkg.lm.tokenizer import LMTokenizer


def offer_of_answer(answer: Answer, *, top_k: int | None = None) -> Offer | None:
    """What `jaxkg.adjudicate.adjudicate` would offer of an answer's paths; None without paths."""
    lines = offered(answer.paths, top_k=top_k, stands_for=found_by_query(answer))
    messages = adjudication_prompt(answer.question, lines)
    return read_offer(Request(messages, stage=ADJUDICATE)) if lines else None


def offer_of_plan(wanted: Wanted, *, hops: int) -> Offer | None:
    """What `jaxkg.adjudicate.calls.planning.plan_relations` would offer."""
    masked = mask_topics(wanted.question, wanted.topics).partition("\n")[0]
    wanted = dataclasses.replace(wanted, masked=masked)
    return read_offer(Request(plan_prompt(wanted, hops=hops), stage=PLAN))


def teach(tokenizer: LMTokenizer, offer: Offer, chosen: Sequence[str]) -> Example:
    """An example for a compact model: what `LocalLM` shows it, and what to choose.

    Args:
        tokenizer: of the model.
        offer: what is offered.
        chosen: numbers of path lines, or relations of a plan, in order; see `Offer.options`.

    Raises:
        JaxkgError: something is chosen that is not offered.
    """
    options = offer.options(compact=True)
    if unknown := [name for name in chosen if name not in options]:
        raise JaxkgError(f"{unknown[0]!r} is not offered")
    return Example.of_chat(tokenizer, offer.turns((), compact=True), chosen)


def bearing(offer: Offer, names: Collection[str]) -> list[str]:
    """Numbers of the path lines most of whose ends are among some names.

    >>> bearing(Offer("adjudicate", "?", ends=(("A", "B"), ("C",), ("A", "C", "D"))), {"A", "B"})
    ['1']
    """
    return [
        str(number)
        for number, ends in enumerate(offer.ends, start=1)
        if 2 * sum(name in names for name in ends) > len(ends)
    ]
