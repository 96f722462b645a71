"""BERT in numpy: a few texts are encoded before JAX is imported and a program compiled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from jaxkg.deadline import check
from jaxkg.text.bert_weights import Bert, BertConfig, Dense, Layer, Norm

_TOKENS = 4096
"""Tokens of a batch at most, so that its states stay in the caches."""
_ERF = (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)


def vectors_on_host(
    bert: Bert, texts: Sequence[Sequence[int]], *, config: BertConfig
) -> np.ndarray:
    """Mean of the tokens of each text, of length 1; as `jaxkg.text.bert` to float32's last digits.

    Args:
        bert: weights, float32 arrays of the host.
        texts: word pieces of each of Q texts, one at least.
        config: of the weights.

    Returns:
        [Q, D] float32.
    """
    vectors = np.zeros((len(texts), config.hidden_size), np.float32)
    for rows, states in _batches(bert, texts, config):
        vectors[rows] = states.sum(axis=1)
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


def states_on_host(
    bert: Bert, texts: Sequence[Sequence[int]], *, config: BertConfig
) -> list[np.ndarray]:
    """[T, D] float32 states of the tokens of each text; see `vectors_on_host`."""
    by_row: dict[int, np.ndarray] = {}
    for rows, states in _batches(bert, texts, config):
        by_row.update(zip(rows.tolist(), states))
    return [by_row[row] for row in range(len(texts))]


def _batches(
    bert: Bert, texts: Sequence[Sequence[int]], config: BertConfig
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Texts of one length together: their rows, and [B, T, D] states."""
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    for length in np.unique(lengths).tolist():
        alike = np.flatnonzero(lengths == length)
        size = max(1, _TOKENS // length)
        for first in range(0, len(alike), size):
            rows = alike[first : first + size]
            yield rows, _states(bert, np.array([texts[row] for row in rows.tolist()]), config)


def _states(bert: Bert, ids: np.ndarray, config: BertConfig) -> np.ndarray:
    """[B, T] word pieces, texts of one length, to [B, T, D] float32."""
    added = np.asarray(bert.positions[: ids.shape[1]]) + np.asarray(bert.types[0])
    states = _normed(bert.norm, np.asarray(bert.words)[ids] + added, config)
    for layer in bert.layers:
        check()
        states = _layer(layer, states, config)
    return states


def _layer(layer: Layer, states: np.ndarray, config: BertConfig) -> np.ndarray:
    batch, tokens, width = states.shape
    heads = config.num_attention_heads
    parts = _product(layer.qkv, states).reshape(batch, tokens, 3, heads, width // heads)
    query, key, value = parts.transpose(2, 0, 3, 1, 4)
    logits = (query * np.float32((width // heads) ** -0.5)) @ key.swapaxes(-1, -2)
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    mixed = (weights @ value).transpose(0, 2, 1, 3).reshape(states.shape)
    added = states + _product(layer.attended, mixed)
    states = _normed(layer.after_attention, added, config)
    inner = _product(layer.inner, states)
    inner *= np.float32(0.5) * (1 + _erf(inner * np.float32(0.5**0.5)))  # GELU
    return _normed(layer.after_outer, states + _product(layer.outer, inner), config)


def _product(dense: Dense, states: np.ndarray) -> np.ndarray:
    flat = states.reshape(-1, states.shape[-1]) @ np.asarray(dense.kernel)
    return (flat + np.asarray(dense.bias)).reshape(*states.shape[:-1], -1)


def _normed(norm: Norm, states: np.ndarray, config: BertConfig) -> np.ndarray:
    away = states - states.mean(axis=-1, keepdims=True)
    variance = np.square(away).mean(axis=-1, keepdims=True)
    scale = 1 / np.sqrt(variance + np.float32(config.layer_norm_eps))
    return away * scale * np.asarray(norm.scale) + np.asarray(norm.bias)


def _erf(x: np.ndarray) -> np.ndarray:
    """The error function to 1.5e-7: Abramowitz and Stegun, "Handbook of mathematical functions",
    1964, 7.1.26."""
    size = np.abs(x)
    inverse = 1 / (1 + np.float32(0.3275911) * size)
    polynomial = np.zeros_like(inverse)
    for factor in _ERF:
        polynomial = (polynomial + np.float32(factor)) * inverse
    return np.copysign(1 - polynomial * np.exp(-size * size), x)
