"""Sentence vectors from a small BERT (all-MiniLM-L6-v2 by default)."""

from __future__ import annotations

import copy
import functools
import hashlib
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from jaxkg.deadline import check
from jaxkg.errors import JaxkgError, how_to_install
from jaxkg.text.bert_on_host import states_on_host, vectors_on_host
from jaxkg.text.bert_weights import Bert, BertConfig, changed, load_bert
from jaxkg.text.encoder import Change
from jaxkg.text.weights import MINILM, find_weights, read_json, read_tensors

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_WIDTHS = (8, 12, 20, 32, 64, 128, 256, 512)
"""Tokens of a padded text, one compiled program each."""

_BETWEEN = (8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64, 96, 128, 192, 256, 384, 512)
"""The same of texts so many alike that further programs are worth it."""

_FILLED = 2
"""Full batches of a width between from which on they are."""

_SHARED = (8, 32, 128, 512)
"""The same of short batches where texts are so many that these are a small part of them."""

_SO_MANY = 512
"""Texts of a call from which on they are."""

_ROWS = (1, 8)
"""Texts of a batch that is short."""

_ALONE = 12
"""Tokens of a text alone at least: four more cost less than a program for them."""

_MANY, _TOKENS = 64, 1024
"""Texts of a full batch at least, and tokens where texts are short."""

_FULL = 0.75
"""Share of a full batch from which on one costs less than short ones."""

_CALL = 24
"""What a batch costs beside its tokens, in tokens."""

_ON_HOST = 512
"""Texts that take less time than importing JAX and compiling programs for them."""

_SHORTEST = 0.6
"""Texts down to this share of a width are taken as similar."""


class MiniLM:
    """A sentence encoder: word pieces, BERT, mean of the tokens, length 1.

    A process that has not imported JAX yet encodes a few texts on the host.

    Attributes:
        name: of the model.
        revision: digest of weights and tokenizer, and the dtype of the matrix products; vectors of
            two revisions must not be mixed.
        dimension: of the vectors.
        config: of the BERT.
        longest: tokens of a text that are read, the two marks included; the rest is cut off, as
            the model was trained.

    Example:
        >>> encode = MiniLM.open()  # doctest: +SKIP
        >>> encode(["who directed Alien?", "the director of Alien"]).shape  # doctest: +SKIP
        (2, 384)
    """

    def __init__(
        self,
        config: BertConfig,
        weights: Bert,
        tokenizer: Tokenizer,
        *,
        name: str,
        revision: str,
        longest: int = 256,
    ) -> None:
        self.name = name
        self.revision = revision
        self.longest = longest
        self.dimension = config.hidden_size
        self._tokenizer = tokenizer
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(longest)
        self.config = config
        self._host: Bert | None = weights  # until a device has them
        self._placed: dict[Any, Bert] = {}
        self._based_on: tuple[MiniLM, Change] | None = None
        self._made: dict[str, MiniLM] = {}

    @classmethod
    def open(
        cls,
        source: str | os.PathLike[str] | None = None,
        *,
        dtype: Literal["float32", "bfloat16"] = "float32",
    ) -> MiniLM:
        """Load an encoder.

        Args:
            source: folder or hub name, see `find_weights`; any BERT whose sentence vector is the
                mean of its tokens.
            dtype: of the matrix products.

        Raises:
            JaxkgError: no weights are found, a library is missing, or the model is another kind.
        """
        folder = find_weights(source)
        with ThreadPoolExecutor(1) as beside:  # a second core has nothing to do yet
            revision = beside.submit(revision_of, folder)
            tokenizer = tokenizer_of(folder)
            config = BertConfig.from_dict(read_json(folder / "config.json"))
            _check_pooling(folder)
            tensors = read_tensors(folder / "model.safetensors")
            limits = folder / "sentence_bert_config.json"
            longest = config.max_position_embeddings
            if limits.exists():
                longest = min(longest, int(read_json(limits).get("max_seq_length") or longest))
            return cls(
                config,
                load_bert(config, tensors, dtype=_dtype(dtype)),
                tokenizer,
                name=MINILM if source is None else os.fspath(source),
                revision=f"{revision.result()}-{dtype}",
                longest=longest,
            )

    @property
    def weights(self) -> Bert:
        """On the default device, where they stay."""
        import jax

        [device] = jax.device_put(np.zeros(0)).devices()
        if device not in self._placed:
            self._placed[device] = self._made_there()
            self._host = None
        return self._placed[device]

    def _made_there(self) -> Bert:
        import jax

        if self._based_on is None:
            # From another device by way of the host: what has a place is not moved.
            elsewhere = next(iter(self._placed.values()), None)
            return jax.device_put(self._host or jax.tree.map(np.asarray, elsewhere))
        base, change = self._based_on
        weights = base.weights
        # On the host: a program for a few small products takes longer than they do.
        depth = max((len(first) for first, _ in change.values()), default=0)
        before = len(weights.layers) - depth
        last = jax.tree.map(np.asarray, weights.layers[before:])
        weights = weights._replace(layers=weights.layers[:before] + last)
        return jax.device_put(changed(weights, change))

    def _on_host(self, texts: int) -> Bert | None:
        """The weights, where that many texts are encoded before JAX is there."""
        if "jax" in sys.modules or texts > _ON_HOST:
            return None
        if self._host is None and self._based_on is not None:
            base, change = self._based_on
            weights = base._on_host(texts)
            self._host = None if weights is None else changed(weights, change)
        weights = self._host
        floats = weights is not None and weights.layers[0].qkv.kernel.dtype == np.float32
        return weights if floats else None

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        """Encode texts.

        Returns:
            [Q, D] float32 of length 1.
        """
        if not len(texts):
            return np.zeros((0, self.dimension), np.float32)
        if (host := self._on_host(len(texts))) is not None:
            once = list(dict.fromkeys(texts))
            states = vectors_on_host(host, self.pieces(once), config=self.config)
            place = {text: row for row, text in enumerate(once)}
            return states[[place[text] for text in texts]]
        from jaxkg.text.bert import sentence_vectors

        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for rows, states in self._run(sentence_vectors, self.pieces(texts)):
            check()
            vectors[rows] = np.asarray(states)[: len(rows)]
        return vectors

    def states(self, texts: Sequence[str]) -> list[np.ndarray]:
        """States of the tokens of texts, the two marks included.

        Returns:
            Q times [T, D] float32.
        """
        ids = self.pieces(texts)
        if (host := self._on_host(len(texts))) is not None:
            return states_on_host(host, ids, config=self.config)
        from jaxkg.text.bert import token_states

        states: dict[int, np.ndarray] = {}
        for rows, batch in self._run(token_states, ids):
            table = np.asarray(batch)
            states.update((row, table[n, : len(ids[row])]) for n, row in enumerate(rows.tolist()))
        return [states[row] for row in range(len(texts))]

    def _run(self, program: Any, ids: list[list[int]]) -> list[tuple[np.ndarray, Any]]:
        """What a program makes of texts of similar length together, with their rows."""
        weights, flying = self.weights, []
        for rows, count, width in text_batches([len(pieces) for pieces in ids], self.longest):
            check()
            table = padded([ids[row] for row in rows.tolist()], count, width)
            flying.append((rows, program(weights, *table, config=self.config)))
        return flying

    def pieces(self, texts: Sequence[str]) -> list[list[int]]:
        """Numbers of the word pieces of each text, the two marks included."""
        return [encoding.ids for encoding in self._tokenizer.encode_batch(list(texts))]

    def changed(self, change: Change) -> MiniLM:
        """The same encoder with low-rank changes of its last layers, made once; what compiles is
        shared.

        Args:
            change: of the kernels, see `jaxkg.text.bert_weights.changed`.
        """
        digest = digest_of(change)
        if digest not in self._made:
            encoder = copy.copy(self)
            encoder.revision, encoder._made = f"{self.revision}-{digest}", {}
            encoder._host, encoder._placed, encoder._based_on = None, {}, (self, change)
            self._made[digest] = encoder
        return self._made[digest]


def digest_of(change: Change) -> str:
    """What tells one change of an encoder from another."""
    digest = hashlib.sha256()
    for name, pair in sorted(change.items()):
        digest.update(name.encode())
        for array in pair:
            digest.update(np.asarray(array, np.float32).tobytes())
    return digest.hexdigest()[:16]


def padded(texts: Sequence[Sequence[int]], count: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """[count, width] int32 word pieces of texts, and [count] int32 lengths: 1 of empty rows."""
    table, lengths = np.zeros((count, width), np.int32), np.ones(count, np.int32)
    for row, pieces in enumerate(texts):
        table[row, : len(pieces)] = pieces
        lengths[row] = len(pieces)
    return table, lengths


def text_batches(lengths: Sequence[int], longest: int) -> Iterator[tuple[np.ndarray, int, int]]:
    """Texts of similar length together: (rows, padded number of rows, padded number of tokens).

    A few batches of few rows cost less than one of many that stay empty; what rows are left in a
    batch go to the next shorter texts.
    """
    many_texts = len(lengths) >= _SO_MANY
    kinds = (_WIDTHS, _BETWEEN, _SHARED if many_texts else _WIDTHS)
    widths, between, apart = ([*(w for w in kind if w < longest), longest] for kind in kinds)
    order = np.argsort(lengths, kind="stable")[::-1]
    falling = np.asarray(lengths)[order]
    ends = np.searchsorted(-falling, -np.array([0, *between]))
    first = 0
    while first < len(order):
        place = int(np.searchsorted(between, falling[first]))
        width, alike = between[place], ends[place] - first
        if alike < _FILLED * max(_MANY, _TOKENS // width):
            width = widths[int(np.searchsorted(widths, width))]
        few = _ROWS[1]
        fewest = few if many_texts else _ROWS[0]
        many = max(_MANY, _TOKENS // width)
        least = _SHORTEST * width if width > widths[0] else 0
        similar = int(np.searchsorted(-falling, -least, side="right")) - first
        size = fewest
        if similar > _FULL * many:
            size = many
        elif similar * (width + _CALL) > few * width + _CALL:
            size = few
        if size < many:
            width = apart[int(np.searchsorted(apart, width))]
        if size == 1:
            width = max(width, min(_ALONE, longest))
        yield order[first : first + size], size, width
        first += size


def revision_of(folder: Path) -> str:
    """Digest of the weights and the tokenizer of a folder."""
    digest = hashlib.sha256()
    for name in ("tokenizer.json", "model.safetensors"):
        with (folder / name).open("rb") as file:
            hashlib.file_digest(file, lambda: digest)
    return digest.hexdigest()[:16]


def tokenizer_of(folder: Path) -> Tokenizer:
    """The tokenizer of a folder of weights.

    Raises:
        JaxkgError: the library is missing, or the file is damaged.
    """
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise JaxkgError(
            f"a sentence encoder needs tokenizers: {how_to_install('text')}"
        ) from error
    path = folder / "tokenizer.json"
    text = path.read_text(encoding="utf-8")
    try:
        return Tokenizer.from_str(text)
    except Exception as error:
        raise JaxkgError(f"{path} is no tokenizer: {error}") from error


def _check_pooling(folder: Path) -> None:
    path = folder / "1_Pooling" / "config.json"
    if path.exists() and not read_json(path).get("pooling_mode_mean_tokens", True):
        raise JaxkgError(f"{path}: this encoder takes the mean of the tokens, the model does not")


def _dtype(name: str) -> np.dtype:
    if name == "bfloat16":
        import ml_dtypes  # which JAX brings

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(name)


@functools.cache
def default_encoder() -> MiniLM:
    """The all-MiniLM-L6-v2 of this process, loaded once.

    Raises:
        JaxkgError: see `find_weights`.
    """
    return MiniLM.open()
