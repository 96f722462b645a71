"""How well a sentence says what a question asks: late interaction with coverage both ways.

Every word of the question looks for what in the sentence explains it, and every word of the
sentence for what in the question calls for it ("density" is called for by nothing in "what is the
population of Texas"). The likeness of two words is the cosine of their states in a text encoder
and of a learned projection of them (Khattab and Zaharia, "ColBERT", 2020); H heads weigh the words.
Written once over an array namespace: numpy for one question, `jax.numpy` in training and batches.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.query import Entities, Query, Step, Value
from jaxkg.readings.say import say

WORDS = (28, 36)
"""Tokens of a question and of a sentence that are looked at."""
_SHARP = 4.0
"""Factor of the logits by which words are weighed."""

Params = Mapping[str, Any]


PARTS = ("score", "explained", "uncalled", "weight", "unexplained")
"""What `pair_parts` tells of a sentence, in order."""


def pair_parts(
    params: Params, question: Any, asked: Any, sentences: Any, said: Any, *, xp: Any = np
) -> Any:
    """Return how well sentences say what a question asks, higher scores are better; pure.

    The score, then what each of four coverages adds to it by the line: the share of the question
    that is explained, what of the sentence nothing calls for (negative), the sentence's weight, and
    what of the question nothing explains (negative).

    Args:
        params: `project` [D, P], `asks` and `says` [D, H], `line` [4H], `inner` [4H, K], `outer`
            [K], for H heads and K hidden units.
        question: [Q, D] states of the question's tokens, float32.
        asked: [Q] bool, its tokens.
        sentences: [C, S, D] states of the sentences' tokens, float32.
        said: [C, S] bool, their tokens.
        xp: array namespace.

    Returns:
        [C, 5] float32, as `PARTS`.

    >>> states, there = np.ones((3, 5, 8), np.float32), np.ones((3, 5), bool)
    >>> sizes = dict(project=(8, 4), asks=(8, 2), says=(8, 2), line=8, inner=(8, 3), outer=3)
    >>> params = {name: np.ones(size, np.float32) for name, size in sizes.items()}
    >>> pair_parts(params, states[0], there[0], states, there).shape
    (3, 5)
    """
    one, other = _unit(question, xp), _unit(sentences, xp)
    left = _standard(xp.matmul(question, params["project"]), xp)
    right = _standard(xp.matmul(sentences, params["project"]), xp)
    alike = xp.einsum("qd,csd->cqs", one, other)
    alike = alike + xp.einsum("qd,csd->cqs", left, right) / left.shape[-1]
    alike = xp.where(asked[None, :, None] & said[:, None, :], alike, -1.0)
    explained, called = alike.max(-1), alike.max(-2)
    asks = _SHARP * xp.matmul(one, params["asks"])
    there = said.astype(xp.float32)[..., None]
    says = _softplus(_SHARP * xp.matmul(other, params["says"]), xp) * there
    share = xp.exp(asks - asks.max(0, keepdims=True)) * asked.astype(xp.float32)[:, None]
    share = share / share.sum(0, keepdims=True)
    weight = _softplus(asks, xp) * asked.astype(xp.float32)[:, None]
    coverage = xp.concatenate(
        [
            5 * xp.einsum("qh,cq->ch", share, explained),
            -(says * (1 - called)[..., None]).sum(1),
            says.sum(1) / 10,
            -xp.einsum("qh,cq->ch", weight, 1 - explained),
        ],
        -1,
    )
    hidden = xp.tanh(xp.matmul(coverage, params["inner"]))
    scores = xp.matmul(coverage, params["line"]) + xp.matmul(hidden, params["outer"])
    parts = (coverage * params["line"][None]).reshape(len(coverage), 4, -1).sum(-1)
    return xp.concatenate([scores[:, None], parts], -1)


def padded_states(
    states: Sequence[np.ndarray], width: int, count: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return [C, width, D] float32 states of texts and [C, width] bool, which are tokens.

    Args:
        states: of each text, [T, D]; what lies beyond the width is not looked at.
        width: tokens of a text.
        count: C; None takes as many as there are texts.
    """
    rows = len(states) if count is None else count
    table = np.zeros((rows, width, states[0].shape[1]), np.float32)
    there = np.zeros((rows, width), bool)
    for row, some in enumerate(states):
        size = min(width, len(some))
        table[row, :size], there[row, :size] = some[:size], True
    return table, there


@dataclasses.dataclass(frozen=True)
class PairScorer:
    """Scores query graphs of one graph by the sentences that say them.

    Attributes:
        kg: the graph.
        states: [T, D] token states of each of some texts, see `jaxkg.text.encoder.token_encoder`.
        params: of `pair_parts`.
    """

    kg: KnowledgeGraph
    states: Callable[[Sequence[str]], list[np.ndarray]]
    params: Mapping[str, np.ndarray]

    def parts(self, question: str, queries: Sequence[Query]) -> np.ndarray:
        """Return [C, 5] float32 of C query graphs, one at least, for a question; see `pair_parts`.

        Closures are said as plain steps: the sentences that the scorer learnt from have none.
        """
        said = [say(self.kg, without_closures(query)) for query in queries]
        once = list(dict.fromkeys(said))
        place = {sentence: row for row, sentence in enumerate(once)}
        first, *others = self.states([question, *once])
        asked, there = padded_states([first], WORDS[0])
        parts = pair_parts(self.params, asked[0], there[0], *padded_states(others, WORDS[1]))
        return parts[[place[sentence] for sentence in said]]


def without_closures(query: Any) -> Any:
    """Return a query graph whose closures are plain steps, or none where they may take none.

    >>> pets = Step(Entities(("pet",)), ("^subclass of",), closure="*")
    >>> without_closures(Step(pets, ("^type",))) == Step(Entities(("pet",)), ("^type",))
    True
    """
    if isinstance(query, tuple):
        return tuple(map(without_closures, query))
    if not dataclasses.is_dataclass(query) or isinstance(query, Entities | Value):
        return query
    if isinstance(query, Step) and query.closure == "*":
        return without_closures(query.source)
    fields = dataclasses.fields(query)
    changed: dict[str, Any] = {f.name: without_closures(getattr(query, f.name)) for f in fields}
    if isinstance(query, Step):
        changed["closure"] = ""
    return type(query)(**changed)


def _unit(states: Any, xp: Any) -> Any:
    return states / (xp.sqrt((states * states).sum(-1, keepdims=True)) + 1e-6)


def _standard(states: Any, xp: Any) -> Any:
    away = states - states.mean(-1, keepdims=True)
    return away / xp.sqrt((away * away).mean(-1, keepdims=True) + 1e-5)


def _softplus(at: Any, xp: Any) -> Any:
    return xp.logaddexp(at, 0.0)
