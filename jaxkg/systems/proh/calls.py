"""What one question is reasoned on with, and its calls, counted by module."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel

from jaxkg.adjudicate import Outcome, Prompted
from jaxkg.adjudicate.requests import OUTAGES
from jaxkg.adjudicate.rounds import Steps
from jaxkg.records import Usage
from jaxkg.systems.proh.retrieval import Retriever
from jaxkg.systems.proh.settings import ProhSettings

T = TypeVar("T", bound=BaseModel)

MODULES = ("anchor", "plan", "states", "retrieve", "answer")
"""PRoH, Figure 6: graph anchoring, plan initialisation, state search, answer and path retrieval,
final answer."""


@dataclasses.dataclass
class Calls:
    """What is asked of a model on behalf of one question.

    Attributes:
        charge: id of the question, which pays.
        modules: calls, tokens, seconds and price by module.
        faults: what failed, "kind: detail (while ...)", calls held back by a budget aside.
        notes: what of prompts was not shown because it was too long.
        priced: False once a reply came whose price is not known.
        held: why a budget held a call back; "" where none did.
        outage: the fault that every further call would end in; "" where there is none.
        idle: seconds spent waiting beyond what its own calls take, for other questions.
    """

    charge: str
    modules: dict[str, dict[str, float]] = dataclasses.field(default_factory=dict)
    faults: list[str] = dataclasses.field(default_factory=list)
    notes: list[str] = dataclasses.field(default_factory=list)
    held: str = ""
    priced: bool = True
    outage: str = ""
    idle: float = 0.0

    @property
    def stopped(self) -> bool:
        """True once nothing more is asked."""
        return bool(self.held or self.outage)

    @property
    def answered(self) -> bool:
        """True where any call had a reply."""
        return any(spent["completion_tokens"] for spent in self.modules.values())

    def ask(self, prompted: Sequence[Prompted[T]]) -> Steps[list[T | None]]:
        """The replies, None for what failed."""
        if self.stopped or not prompted:
            return [None] * len(prompted)
        paused = time.perf_counter()
        charged = [dataclasses.replace(each, question=self.charge) for each in prompted]
        outcomes: list[Outcome[T]] = yield charged
        waited = time.perf_counter() - paused
        self.idle += waited - max(outcome.usage.seconds for outcome in outcomes)
        for outcome in outcomes:
            usage = outcome.usage
            spent = self.modules.setdefault(
                outcome.stage,
                {"calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "seconds": 0, "price": 0},
            )
            for name in spent:
                spent[name] += getattr(usage, name) or 0
            if outcome.note and outcome.note not in self.notes:
                self.notes.append(outcome.note)
            self.priced &= usage.price is not None
            if outcome.error == "budget":
                self.held = self.held or outcome.detail
            elif outcome.error is not None:
                fault = f"{outcome.error}: {outcome.detail} (in module {outcome.stage})"
                self.faults.append(fault)
                if outcome.error in OUTAGES:
                    self.outage = self.outage or fault
        return [outcome.value for outcome in outcomes]

    def usage(self, seconds: float) -> Usage:
        """What the question has cost; `seconds` is from its start to its end."""

        def total(name: str) -> float:
            return sum(spent[name] for spent in self.modules.values())

        return Usage(
            calls=int(total("calls")),
            prompt_tokens=int(total("prompt_tokens")),
            completion_tokens=int(total("completion_tokens")),
            price=total("price") if self.priced else None,
            seconds=seconds - self.idle,
            stages={module: self.modules[module]["seconds"] for module in self.modules},
        )

    def report(self) -> dict[str, Any]:
        """Plain values for a trace, every module that was called."""
        return {name: dict(self.modules[name]) for name in MODULES if name in self.modules}


class Reasoner(NamedTuple):
    """What one question is reasoned on with: a hypergraph, a model, and the knobs."""

    retriever: Retriever
    calls: Calls
    settings: ProhSettings
