"""Texts token by token: the states below a BERT's upper layers, and these layers to train.

The lower layers stay as they are, so a text goes through them once, whatever is learnt above.
"""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np

from jaxkg.text.bert import states_of, through
from jaxkg.text.bert_weights import Bert, BertConfig, Dense, Layer, Norm, load_bert
from jaxkg.text.minilm import padded, revision_of, text_batches, tokenizer_of
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
        tokenizer, revision = tokenizer_of(folder), revision_of(folder)
        config = BertConfig.from_dict(read_json(folder / "config.json"))
        bert = jax.device_put(load_bert(config, read_tensors(folder / "model.safetensors")))
        lower = bert._replace(layers=bert.layers[:-upper])
        leaves = tuple(jax.tree.leaves(bert.layers[-upper:]))
        name = MINILM if source is None else os.fspath(source)
        longest = min(256, config.max_position_embeddings)
        tokenizer.no_padding()
        tokenizer.enable_truncation(longest)
        return cls(name, revision, config, leaves, longest, lower, tokenizer)

    def read(self, texts: Sequence[str]) -> TokenStates:
        """Texts through the lower layers."""
        encodings = self.tokenizer.encode_batch(list(texts))
        lengths = [len(encoding.ids) for encoding in encodings]
        offsets = np.r_[0, np.cumsum(lengths)].astype(np.int64)
        states = np.zeros((offsets[-1], self.config.hidden_size), np.float16)
        for rows, count, width in text_batches(lengths, self.longest):
            table = padded([encodings[row].ids for row in rows.tolist()], count, width)
            read = np.asarray(_lower(self.lower, *table, config=self.config))
            for place, row in enumerate(rows.tolist()):
                states[offsets[row] : offsets[row + 1]] = read[place, : lengths[row]]
        spans = [np.array(encoding.offsets, np.int32).reshape(-1, 2) for encoding in encodings]
        return TokenStates(states, np.concatenate(spans or [np.zeros((0, 2), np.int32)]), offsets)


@functools.partial(jax.jit, static_argnames="config")
def _lower(bert: Bert, ids: jax.Array, lengths: jax.Array, *, config: BertConfig) -> jax.Array:
    return states_of(bert, ids, lengths, config=config).astype(jnp.float16)


def _layers(leaves: Sequence[jax.Array]) -> Iterator[Layer]:
    """Layers of their arrays, two a part."""
    each = 2 * len(Layer._fields)
    for first in range(0, len(leaves), each):
        pairs = zip(leaves[first : first + each : 2], leaves[first + 1 : first + each : 2])
        norm, other, *products = pairs
        yield Layer(Norm(*norm), Norm(*other), *(Dense(*pair) for pair in products))


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
    return through(tuple(_layers(upper)), states, lengths, config=config)
