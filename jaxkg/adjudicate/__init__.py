"""ASK: the only folder that talks to a language model.

One small interface, `complete(batch of Request) -> batch of Reply`, with an async twin. Backends:
`OpenAIBackend` (any endpoint of the OpenAI protocol), `Scripted`, `Replay`. Wrappers: `Cache`
(disk), `Budget`, `Meter`, `Echo`. `connect` puts the usual ones together. Methods do not call
`complete` themselves but `ask`, which sends a pydantic schema, reads the reply tolerantly, repairs
once and counts what fails. `adjudicate` is PathHD's one-shot decision over the paths of an answer.
"""

from jaxkg.adjudicate.ask import Outcome, Prompted, aask, ask, tally
from jaxkg.adjudicate.backend import Backend
from jaxkg.adjudicate.budget import Budget, Caps
from jaxkg.adjudicate.cache import Cache, Replay
from jaxkg.adjudicate.connect import connect
from jaxkg.adjudicate.echo import Echo
from jaxkg.adjudicate.match import Candidates
from jaxkg.adjudicate.meter import Meter
from jaxkg.adjudicate.one_shot import aadjudicate, adjudicate
from jaxkg.adjudicate.openai_backend import OpenAIBackend
from jaxkg.adjudicate.prices import PriceTable, Rates
from jaxkg.adjudicate.probe import check
from jaxkg.adjudicate.requests import Message, Reply, Request
from jaxkg.adjudicate.retry import Backoff
from jaxkg.adjudicate.scripted import Scripted

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
    "aadjudicate",
    "aask",
    "adjudicate",
    "ask",
    "check",
    "connect",
    "tally",
]
