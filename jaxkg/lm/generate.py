"""Text generation: batched, jitted, with a key-value cache, greedy or sampled, free or constrained.

Shapes are buckets, so a few programs serve prompts of all lengths. A row's result depends neither
on its padding nor on the other rows of its batch.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from jaxkg.errors import JaxkgError
from jaxkg.lm.grammar import Grammar, Written, advance, allowed, begin
from jaxkg.lm.model import Cache, Llama, causal_mask
from jaxkg.tensors import bucket

_STEPS = 16
"""Tokens between two looks at the stop strings."""


@dataclasses.dataclass(frozen=True)
class Generated:
    """What was written behind one prompt.

    Attributes:
        tokens: without the one that ended it.
        finish: "stop" at an end token or a stop string, "length" at the limit.
        cut: where a stop string begins in the decoded text; None where none came.
    """

    tokens: tuple[int, ...]
    finish: Literal["stop", "length"]
    cut: int | None = None


class Choice(NamedTuple):
    """How the next token of each row is chosen."""

    temperature: jax.Array  # [B] float32, 0 takes the likeliest
    top_p: jax.Array  # [B] float32, share of the probability that is drawn from
    key: jax.Array  # [B] keys


class State(NamedTuple):
    """Between two tokens; S slots hold the prompt's T tokens and the N that follow."""

    cache: Cache
    valid: jax.Array  # [B, S] bool, slots with a token of the text
    position: jax.Array  # [B] int32, of the next token in its text
    logits: jax.Array  # [B, V] float32, of the next token
    tokens: jax.Array  # [B, N] int32, written so far
    length: jax.Array  # [B] int32, how many, without the end
    done: jax.Array  # [B] bool
    written: Written | None
    step: jax.Array  # [] int32


def prefill(
    model: Llama, tokens: jax.Array, valid: jax.Array, grammar: Grammar | None, *, new: int
) -> State:
    """Read the prompts.

    Args:
        model: weights.
        tokens: [B, T] int32, padded on either side.
        valid: [B, T] bool, tokens of a prompt; at least one a row.
        grammar: what may be written; None allows everything.
        new: N, most tokens to follow.
    """
    rows, length = tokens.shape
    position = jnp.maximum(jnp.cumsum(valid.astype(jnp.int32), axis=1) - 1, 0)
    mask = causal_mask(jnp.where(valid, 0, -1))
    states, cache = model(tokens, position, mask)
    # The last token of a prompt, wherever its padding is.
    last = length - 1 - jnp.argmax(valid[:, ::-1], axis=1)
    state = jnp.take_along_axis(states, last[:, None, None], axis=1)[:, 0]
    kind = model.embedding[...].dtype
    wider = ((0, 0), (0, 0), (0, new), (0, 0), (0, 0))
    return State(
        cache=jax.tree.map(lambda some: jnp.pad(some.astype(kind), wider), cache),
        valid=jnp.pad(valid, ((0, 0), (0, new))),
        position=jnp.max(position, axis=1) + 1,
        logits=model.logits(state),
        tokens=jnp.zeros((rows, new), jnp.int32),
        length=jnp.zeros(rows, jnp.int32),
        done=jnp.zeros(rows, bool),
        written=None if grammar is None else begin(grammar),
        step=jnp.zeros((), jnp.int32),
    )


def decode(
    model: Llama,
    state: State,
    choice: Choice,
    grammar: Grammar | None,
    *,
    until: jax.Array,
    end: Sequence[int],
    sampled: bool,
) -> State:
    """Write on until every row is done or `until` tokens are written.

    Args:
        model: weights.
        state: from `prefill` or from an earlier call.
        choice: of every row; its temperature and top_p are read only where `sampled`.
        grammar: that of `prefill`.
        until: [] int32, at most N.
        end: tokens that end a row.
        sampled: False takes the likeliest token in every row.
    """
    vocab_size = model.config.vocab_size
    prompt = state.valid.shape[1] - state.tokens.shape[1]

    def one(now: State) -> State:
        logits = now.logits
        if grammar is not None and now.written is not None:
            within = allowed(grammar, now.written, vocab_size) | now.done[:, None]
            logits = jnp.where(within, logits, -jnp.inf)
        token = jnp.argmax(logits, axis=-1).astype(jnp.int32)
        if sampled:
            drawn = jax.vmap(_draw, in_axes=(0, 0, 0, 0, None))(logits, *choice, now.step)
            token = jnp.where(choice.temperature > 0, drawn, token)
        ended = functools.reduce(jnp.logical_or, [token == each for each in end])
        writes = ~now.done & ~ended
        column = jnp.where(writes, token, 0)[:, None]
        slot = prompt + now.step
        valid = jax.lax.dynamic_update_slice(now.valid, writes[:, None], (jnp.int32(0), slot))
        states, cache = model(column, now.position[:, None], valid[:, None, :], now.cache, slot)
        return State(
            cache=cache,
            valid=valid,
            position=now.position + 1,
            logits=model.logits(states[:, 0]),
            tokens=jax.lax.dynamic_update_slice(now.tokens, column, (jnp.int32(0), now.step)),
            length=now.length + writes.astype(jnp.int32),
            done=now.done | ended,
            written=None
            if grammar is None or now.written is None
            else advance(grammar, now.written, token),
            step=now.step + 1,
        )

    return jax.lax.while_loop(lambda now: (now.step < until) & ~jnp.all(now.done), one, state)


def _draw(
    logits: jax.Array, temperature: jax.Array, top_p: jax.Array, key: jax.Array, step: jax.Array
) -> jax.Array:
    """A token of one row, [V] float32 logits, among the likeliest that together have `top_p`.

    Reference: Holtzman et al., "The curious case of neural text degeneration", 2020.
    """
    scaled = logits / jnp.maximum(temperature, 1e-6)
    order = jnp.argsort(-scaled)
    probability = jax.nn.softmax(scaled)[order]
    # The likeliest stays whatever top_p is.
    kept = jnp.cumsum(probability) - probability < top_p
    kept = kept.at[0].set(True)
    ranked = jnp.where(kept, scaled[order], -jnp.inf)
    return order[jax.random.categorical(jax.random.fold_in(key, step), ranked)].astype(jnp.int32)


@functools.partial(jax.jit, static_argnames=("graphdef", "new"))
def _prefill(
    graphdef: Any, weights: Any, tokens: jax.Array, valid: jax.Array, grammar: Grammar | None,
    new: int,
) -> State:  # fmt: skip
    return prefill(nnx.merge(graphdef, weights), tokens, valid, grammar, new=new)


@functools.partial(
    jax.jit, static_argnames=("graphdef", "end", "sampled"), donate_argnames=("state",)
)
def _decode(
    graphdef: Any, weights: Any, state: State, choice: Choice, grammar: Grammar | None,
    until: jax.Array, end: tuple[int, ...], sampled: bool,
) -> State:  # fmt: skip
    model = nnx.merge(graphdef, weights)
    return decode(model, state, choice, grammar, until=until, end=end, sampled=sampled)


def generate(
    model: Llama,
    prompts: Sequence[Sequence[int]],
    *,
    end: Sequence[int],
    max_tokens: int = 64,
    temperature: float | Sequence[float] = 0.0,
    top_p: float | Sequence[float] = 1.0,
    seeds: Sequence[int] | None = None,
    grammar: Grammar | None = None,
    stop: Sequence[str] = (),
    text_of: Callable[[Sequence[int]], str] | None = None,
) -> list[Generated]:
    """Continue prompts, all in one batch.

    Args:
        model: weights.
        prompts: token ids, at least one each.
        end: tokens that end a row.
        max_tokens: most tokens to write.
        temperature: 0 takes the likeliest token; one number, or one a prompt.
        top_p: share of the probability that is drawn from; one number, or one a prompt.
        seeds: of the draws, one a prompt; what is drawn depends on nothing else.
        grammar: restricts what is written, one row a prompt.
        stop: texts that end a row, which `cut` then shows the place of.
        text_of: decodes tokens, for `stop`.

    Returns:
        One continuation per prompt.

    Raises:
        JaxkgError: an empty prompt, more tokens than the model has positions for, or settings
            outside their range.
    """
    if not prompts:
        return []
    if max_tokens < 1 or not all(prompts) or not end:
        raise JaxkgError("max_tokens is at least 1, a prompt and `end` have at least one token")
    longest = max(map(len, prompts))
    if longest + max_tokens > (most := model.config.max_position_embeddings):
        raise JaxkgError(
            f"a prompt of {longest} tokens and {max_tokens} new ones are more than the model's "
            f"{most} positions; shorten the prompt or lower max_tokens"
        )
    if stop and text_of is None:
        raise JaxkgError("stop strings need text_of, which decodes tokens")
    if grammar is not None and grammar.root.shape != (len(prompts),):
        raise JaxkgError(f"the grammar has {len(grammar.root)} rows for {len(prompts)} prompts")
    rows, length = bucket(len(prompts), floor=1), bucket(longest, floor=16, steps=2)
    new = bucket(max_tokens, floor=_STEPS)
    tokens, valid = np.zeros((rows, length), np.int32), np.zeros((rows, length), bool)
    for row, prompt in enumerate(prompts):
        tokens[row, -len(prompt) :], valid[row, -len(prompt) :] = prompt, True
    valid[len(prompts) :, -1] = True
    heat = _column(temperature, len(prompts), rows, "temperature")
    share = _column(top_p, len(prompts), rows, "top_p")
    if heat.min() < 0 or share.min() <= 0 or share.max() > 1:
        raise JaxkgError("temperature is at least 0, top_p in (0, 1]")
    drawn = [seed % 2**32 for seed in (range(len(prompts)) if seeds is None else seeds)]
    if len(drawn) != len(prompts):
        raise JaxkgError(f"{len(drawn)} seeds for {len(prompts)} prompts")
    key = jax.vmap(jax.random.key)(np.resize(np.array(drawn, np.uint32), rows))
    choice = Choice(jnp.asarray(heat), jnp.asarray(share), key)
    if grammar is not None:
        wider: dict[str, Any] = {
            name: np.resize(getattr(grammar, name), rows) for name in ("root", "most", "least")
        }
        grammar = dataclasses.replace(grammar, **wider)
    graphdef, weights = nnx.split(model)
    state = _prefill(graphdef, weights, tokens, valid, grammar, new)
    state = state._replace(done=np.arange(rows) >= len(prompts))
    cuts: dict[int, int] = {}
    until = 0
    while True:
        until = min(max_tokens, until + _STEPS) if stop else max_tokens
        state = _decode(
            graphdef, weights, state, choice, grammar, np.int32(until),
            tuple(end), bool(heat.max() > 0),
        )  # fmt: skip
        done, count, ids = jax.device_get((state.done, state.length, state.tokens))
        if stop and text_of:
            for row in set(range(len(prompts))) - set(cuts):
                text = text_of(ids[row, : count[row]].tolist())
                if found := [at for each in stop if (at := text.find(each)) >= 0]:
                    cuts[row] = min(found)
        done = done | np.isin(np.arange(rows), list(cuts))
        if done.all() or until == max_tokens:
            break
        state = state._replace(done=done)
    return [
        Generated(
            tuple(ids[row, : count[row]].tolist()),
            "stop" if done[row] else "length",
            cuts.get(row),
        )
        for row in range(len(prompts))
    ]


def _column(value: float | Sequence[float], count: int, rows: int, name: str) -> np.ndarray:
    """[rows] float32; what pads the batch repeats the given."""
    values = np.atleast_1d(np.asarray(value, np.float32))
    if values.shape not in ((1,), (count,)):
        raise JaxkgError(f"{name} is one number or {count}, not {len(values)}")
    return np.resize(np.resize(values, count), rows)
