"""ASK: the only folder that talks to a language model.

One small interface, `complete(batch of Request) -> batch of Reply`. Backends:
`OpenAIBackend` (any endpoint of the OpenAI protocol), `Scripted`, `Replay`. Wrappers: `Cache`
(disk), `Budget`, `Meter`, `Echo`. `connect` puts the usual ones together. Methods do not call
`complete` themselves but `ask`, which sends a pydantic schema, reads the reply tolerantly, repairs
once and counts what fails; or they yield prompts to `rounds.in_rounds`, which asks those of several
questions together. `adjudicate` is PathHD's one-shot decision over the paths of an answer.
"""

from jaxkg.adjudicate.around.budget import Budget, Caps
from jaxkg.adjudicate.around.cache import Cache, Replay
from jaxkg.adjudicate.around.echo import Echo
from jaxkg.adjudicate.around.meter import Meter
from jaxkg.adjudicate.ask import Outcome, Prompted, ask, tally
from jaxkg.adjudicate.backend import Backend
from jaxkg.adjudicate.calls.one_shot import adjudicate
from jaxkg.adjudicate.connect import connect
from jaxkg.adjudicate.endpoint.openai import OpenAIBackend
from jaxkg.adjudicate.endpoint.prices import PriceTable, Rates
from jaxkg.adjudicate.endpoint.probe import check
from jaxkg.adjudicate.reading.match import Candidates
from jaxkg.adjudicate.requests import Message, Reply, Request
from jaxkg.adjudicate.scripted import Scripted
from jaxkg.wire.retry import Backoff

__all__ = [
    "Backend",
    "Backoff",
    "Budget",
    "Cache",
    "Candidates",
    "Caps",
    "Echo",
    "Message",
    "Meter",
    "OpenAIBackend",
    "Outcome",
    "PriceTable",
    "Prompted",
    "Rates",
    "Replay",
    "Reply",
    "Request",
    "Scripted",
    "adjudicate",
    "ask",
    "check",
    "connect",
    "tally",
]
