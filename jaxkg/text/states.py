"""Texts token by token: the states below a BERT's upper layers, and these layers to train.

The lower layers stay as they are, so a text goes through them once, whatever is learnt above.
"""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from jaxkg.text.bert import Bert, BertConfig, Layer, load_bert
from jaxkg.text.minilm import text_batches, tokenizer_of
from jaxkg.text.weights import MINILM, find_weights, read_json, read_tensors

if TYPE_CHECKING:
    from tokenizers import Tokenizer


@dataclasses.dataclass(frozen=True)
class TokenStates:
    """States of Q texts, end to end.

    Attributes:
        states: [N, D] float16.
        spans: [N, 2] int32, characters of each token; empty for a mark.
        offsets: [Q + 1] int64, first token of each text.
    """

    states: np.ndarray
    spans: np.ndarray
    offsets: np.ndarray

    def table(self, rows: Sequence[int], width: int) -> tuple[np.ndarray, np.ndarray]:
        """[B, T, D] float16 states of some texts, and [B] int32 how many each has of them."""
        table = np.zeros((len(rows), width, self.states.shape[1]), np.float16)
        lengths = np.zeros(len(rows), np.int32)
        for place, row in enumerate(rows):
            first, last = self.offsets[row : row + 2].tolist()
            lengths[place] = min(width, last - first)
            table[place, : lengths[place]] = self.states[first : first + lengths[place]]
        return table, lengths

    def within(self, row: int, span: tuple[int, int]) -> list[int]:
        """Places of the tokens of a text that overlap a span of its characters."""
        spans = self.spans[self.offsets[row] : self.offsets[row + 1]]
        begins, ends = spans.T
        return np.flatnonzero((ends > begins) & (begins < span[1]) & (ends > span[0])).tolist()


@dataclasses.dataclass(frozen=True)
class TokenReader:
    """A BERT cut in two.

    Attributes:
        name, revision: of the model.
        config: its sizes.
        upper: weights of its upper layers, to start from: leaves as `reread` takes them.
        longest: tokens of a text that are read.
    """

    name: str
    revision: str
    config: BertConfig
    upper: tuple[jax.Array, ...]
    longest: int
    lower: Bert
    tokenizer: Tokenizer

    @classmethod
    def open(cls, source: str | os.PathLike[str] | None = None, *, upper: int = 2) -> TokenReader:
        """Load a model.

        Args:
            source: see `find_weights`; None takes all-MiniLM-L6-v2.
            upper: layers that are left to be trained.

        Raises:
            JaxkgError: no weights are found, a library is missing, or the model is another kind.
        """
        folder = find_weights(source)
        tokenizer, revision = tokenizer_of(folder)
        config = BertConfig.from_dict(read_json(folder / "config.json"))
        model = load_bert(config, read_tensors(folder / "model.safetensors"))
        layers = list(model.layers)
        model.layers = nnx.List(layers[:-upper])
        leaves = tuple(jax.tree.leaves(nnx.split(nnx.List(layers[-upper:]))[1]))
        name = MINILM if source is None else os.fspath(source)
        longest = min(256, config.max_position_embeddings)
        tokenizer.no_padding()
        tokenizer.enable_truncation(longest)
        return cls(name, revision, config, leaves, longest, model, tokenizer)

    def read(self, texts: Sequence[str]) -> TokenStates:
        """Texts through the lower layers."""
        found = self.tokenizer.encode_batch(list(texts))
        lengths = [len(some.ids) for some in found]
        offsets = np.r_[0, np.cumsum(lengths)].astype(np.int64)
        states = np.zeros((offsets[-1], self.config.hidden_size), np.float16)
        graph, weights = nnx.split(self.lower)
        for rows, count, width in text_batches(lengths, self.longest):
            ids = np.zeros((count, width), np.int32)
            sizes = np.ones(count, np.int32)
            for place, row in enumerate(rows.tolist()):
                ids[place, : lengths[row]] = found[row].ids
                sizes[place] = lengths[row]
            read = np.asarray(_lower(graph, weights, ids, sizes))
            for place, row in enumerate(rows.tolist()):
                states[offsets[row] : offsets[row + 1]] = read[place, : lengths[row]]
        spans = [np.array(some.offsets, np.int32).reshape(-1, 2) for some in found]
        return TokenStates(states, np.concatenate(spans or [np.zeros((0, 2), np.int32)]), offsets)


@functools.partial(jax.jit, static_argnums=0)
def _lower(graph: nnx.GraphDef[Bert], weights: nnx.State, ids: jax.Array, lengths: jax.Array):
    return nnx.merge(graph, weights)(ids, lengths).astype(jnp.float16)


@functools.cache
def _upper(config: BertConfig, count: int) -> tuple[Any, Any]:
    def layers() -> nnx.List[Layer]:
        made = (Layer(config, dtype=jnp.float32, rngs=nnx.Rngs(0)) for _ in range(count))
        return nnx.List(made)

    graph, state = nnx.split(nnx.eval_shape(layers))
    return graph, jax.tree.structure(state)


_LEAVES = 12
"""Arrays of a layer."""


def reread(
    config: BertConfig, upper: tuple[jax.Array, ...], states: jax.Array, lengths: jax.Array
) -> jax.Array:
    """Token states through upper layers; pure.

    Args:
        config: of the model.
        upper: weights, see `TokenReader`.
        states: [B, T, D] float32.
        lengths: [B] int32, at least 1.

    Returns:
        [B, T, D] float32; rows past a length are meaningless.
    """
    graph, structure = _upper(config, len(upper) // _LEAVES)
    there = jnp.arange(states.shape[1], dtype=jnp.int32)[None, :] < lengths[:, None]
    bias = jnp.where(there, 0.0, -jnp.inf)[:, None, None, :]
    for layer in nnx.merge(graph, jax.tree.unflatten(structure, upper)):
        states = layer(states, bias)
    return states
