"""Text generation: batched, jitted, with a key-value cache, greedy or sampled, free or constrained.

Shapes are buckets, so a few programs serve prompts of all lengths. A row's result depends neither
on its padding nor on the other rows of its batch.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from jaxkg.errors import JaxkgError
from jaxkg.lm.grammar import Grammar, Written, advance, allowed, begin
from jaxkg.lm.model import Cache, Llama, causal_mask
from jaxkg.tensors import bucket


@dataclasses.dataclass(frozen=True)
class Generated:
    """What was written behind one prompt.

    Attributes:
        tokens: without the one that ended it.
        finish: "stop" at an end token, "length" at the limit.
    """

    tokens: tuple[int, ...]
    finish: Literal["stop", "length"]


class Choice(NamedTuple):
    """How the next token of each row is chosen."""

    temperature: jax.Array  # [B] float32, 0 takes the likeliest
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
        state: from `prefill`.
        choice: of every row; its temperature is read only where `sampled`.
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
            drawn = jax.vmap(_draw, in_axes=(0, 0, 0, None))(logits, *choice, now.step)
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


def _draw(logits: jax.Array, temperature: jax.Array, key: jax.Array, step: jax.Array) -> jax.Array:
    """A token of one row, [V] float32 logits."""
    scaled = logits / jnp.maximum(temperature, 1e-6)
    return jax.random.categorical(jax.random.fold_in(key, step), scaled).astype(jnp.int32)


@functools.partial(jax.jit, static_argnames=("graphdef", "new"))
def _prefill(graphdef: Any, weights: Any, *given: Any, new: int) -> State:
    return prefill(nnx.merge(graphdef, weights), *given, new=new)


@functools.partial(jax.jit, static_argnames=("graphdef", "end", "sampled"), donate_argnums=2)
def _decode(
    graphdef: Any, weights: Any, *given: Any, until: jax.Array, end: tuple[int, ...], sampled: bool
) -> State:
    model = nnx.merge(graphdef, weights)
    return decode(model, *given, until=until, end=end, sampled=sampled)


def generate(
    model: Llama,
    prompts: Sequence[Sequence[int]],
    *,
    end: Sequence[int],
    max_tokens: int = 64,
    temperature: float | Sequence[float] = 0.0,
    seeds: Sequence[int] | None = None,
    grammar: Grammar | None = None,
) -> list[Generated]:
    """Continue prompts, all in one batch.

    Args:
        model: weights.
        prompts: token ids, at least one each.
        end: tokens that end a row.
        max_tokens: most tokens to write.
        temperature: 0 takes the likeliest token; one number, or one a prompt.
        seeds: of the draws, one a prompt; what is drawn depends on nothing else.
        grammar: restricts what is written, one row a prompt.

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
    if grammar is not None and grammar.root.shape != (len(prompts),):
        raise JaxkgError(f"the grammar has {len(grammar.root)} rows for {len(prompts)} prompts")
    rows, length = bucket(len(prompts), floor=1), bucket(longest, floor=16, steps=2)
    new = bucket(max_tokens, floor=16)
    tokens, valid = np.zeros((rows, length), np.int32), np.zeros((rows, length), bool)
    for row, prompt in enumerate(prompts):
        tokens[row, -len(prompt) :], valid[row, -len(prompt) :] = prompt, True
    valid[len(prompts) :, -1] = True
    heat = np.atleast_1d(np.asarray(temperature, np.float32))
    if heat.shape not in ((1,), (len(prompts),)):
        raise JaxkgError(f"temperature is one number or {len(prompts)}, not {len(heat)}")
    if heat.min() < 0:
        raise JaxkgError("temperature is at least 0")
    heat = np.resize(np.resize(heat, len(prompts)), rows)
    drawn = [seed % 2**32 for seed in (range(len(prompts)) if seeds is None else seeds)]
    if len(drawn) != len(prompts):
        raise JaxkgError(f"{len(drawn)} seeds for {len(prompts)} prompts")
    key = jax.vmap(jax.random.key)(np.resize(np.array(drawn, np.uint32), rows))
    choice = Choice(jnp.asarray(heat), key)
    if grammar is not None:
        wider: dict[str, Any] = {
            name: np.resize(getattr(grammar, name), rows) for name in ("root", "most", "least")
        }
        grammar = dataclasses.replace(grammar, **wider)
    graphdef, weights = nnx.split(model)
    state = _prefill(graphdef, weights, tokens, valid, grammar, new=new)
    state = state._replace(done=np.arange(rows) >= len(prompts))
    limits: dict[str, Any] = {"until": np.int32(max_tokens), "end": tuple(end)}
    sampled = bool(heat.max() > 0)
    state = _decode(graphdef, weights, state, choice, grammar, sampled=sampled, **limits)
    done, count, ids = jax.device_get((state.done, state.length, state.tokens))
    return [
        Generated(tuple(ids[row, : count[row]].tolist()), "stop" if done[row] else "length")
        for row in range(len(prompts))
    ]
