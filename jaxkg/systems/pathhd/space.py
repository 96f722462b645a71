"""The hypervector space of one graph: relation symbols, listed schemas, texts placed among them.

A question taken apart in the order of its hops, by its own words and nothing else.

What a question says nearest to its topic it asks first: "who is [the brother of] Alien['s
director]" goes to the director, then to the brother. The words after the topic come first, in their
order, then those before it, the nearest first; the sequence is cut where its parts read most like
relation labels.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence

import jax
import numpy as np

from jaxkg.kg.schema import count_schemas, list_schemas, schema_graph
from jaxkg.score import hdc
from jaxkg.score.hdc.similarity import Packed, pack
from jaxkg.systems.pathhd.queries import ProjectedQuery, Space, TextQuery
from jaxkg.tensors import TensorGraph, bucket, pad
from jaxkg.text import label_words
from jaxkg.text.hashing import Encoder
from jaxkg.types import NULL
from jaxkg.words import TOPIC_WORD


def hop_texts(
    masked: Sequence[str], hops: int, likeness: Callable[[Sequence[str]], np.ndarray]
) -> list[list[str]]:
    """The words of every hop, for paths of 1, 2, ... L hops.

    Args:
        masked: question texts, their topics masked.
        hops: L.
        likeness: of texts, how much each is like the relation label that it is most like.

    Returns:
        L(L + 1) / 2 texts a question: that of the path of one hop, the two of two hops, ... A
        question of fewer words than hops gives all its words to each.

    >>> score = {"'s director": 1.0, "who is the brother of": 1.0}
    >>> like = lambda texts: np.array([score.get(text, 0.0) for text in texts])
    >>> hop_texts([f"who is the brother of {TOPIC_WORD} 's director"], 2, like)
    [["who is the brother of 's director", "'s director", 'who is the brother of']]
    """
    sides = [_sides(text) for text in masked]
    wanted = [_pieces(len(before) + len(after), hops) for before, after in sides]
    texts = [[_text(side, *piece) for piece in pieces] for side, pieces in zip(sides, wanted)]
    distinct = list(dict.fromkeys(text for pieces in texts for text in pieces))
    near = dict(zip(distinct, likeness(distinct).tolist())) if distinct else {}
    rows = []
    for side, pieces, words in zip(sides, wanted, texts):
        size = len(side[0]) + len(side[1])
        score = {piece: near[text] for piece, text in zip(pieces, words)}
        parts: list[str] = []
        for length in range(1, hops + 1):
            cut = _best_cut(score, size, length) if length <= size else [(0, size)] * length
            parts += [_text(side, *piece) for piece in cut]
        rows.append(parts)
    return rows


def _sides(text: str) -> tuple[list[str], list[str]]:
    """Words before the topic, and after it; without a topic all are before."""
    before, _, after = text.partition(TOPIC_WORD)
    return before.split(), after.replace(TOPIC_WORD, " ").split()


def _text(sides: tuple[list[str], list[str]], first: int, last: int) -> str:
    """Places of the sequence, read as the question reads them."""
    before, after = sides
    ahead = len(before) + len(after) - last, len(before) + len(after) - first
    return " ".join([*before[ahead[0] : ahead[1]], *after[first:last]])


def _pieces(size: int, hops: int) -> list[tuple[int, int]]:
    """Stretches of the sequence that a cut into at most L parts may have."""
    inner = range(1, size) if hops > 1 else ()
    ends = [(0, size), *((0, cut) for cut in inner), *((cut, size) for cut in inner)]
    middle = [(a, b) for a in inner for b in inner if a < b] if hops > 2 else []
    return list(dict.fromkeys([*ends, *middle]))


def _best_cut(score: dict[tuple[int, int], float], size: int, parts: int) -> list[tuple[int, int]]:
    """The cut into so many parts whose likeness adds up to most; the first of equals."""
    best: dict[int, tuple[float, list[tuple[int, int]]]] = {0: (0.0, [])}
    for part in range(parts):
        last = part == parts - 1
        grown: dict[int, tuple[float, list[tuple[int, int]]]] = {}
        for begin, (total, cut) in best.items():
            for end in (size,) if last else range(begin + 1, size - (parts - part - 2)):
                option = total + score[begin, end], [*cut, (begin, end)]
                if end not in grown or option[0] > grown[end][0]:
                    grown[end] = option
        best = grown
    return best[size][1]


_CHUNK = 256
"""Symbols made at a time: the exponential of a matrix wants a dozen times its memory."""

_LISTED_FLOATS = 1 << 26
"""Numbers (256 MB) that listed schemas may take; beyond that candidates are grown."""

_BLOCK = 128
"""Schemas compared at a time: few enough that most of a block begin with one relation."""


@dataclasses.dataclass(frozen=True, eq=False)
class SymbolSpace:
    """Symbols of a graph's relations and what can be compared with them.

    Attributes:
        algebra: the operator.
        space: table of symbols, on the device.
        encoder: of label and question texts; None for random symbols without any.
        bandwidth: of the labels' symbols; None where symbols are random.
        key: of everything drawn.
        labels: [R, E] float32 vectors of the relation labels, of length 1; None without an encoder.
    """

    algebra: hdc.Algebra
    space: Space
    encoder: Encoder | None
    bandwidth: float | None
    key: jax.Array
    labels: np.ndarray | None = None

    @classmethod
    def build(
        cls,
        algebra: hdc.Algebra,
        relations: Sequence[str],
        *,
        encoder: Encoder | None = None,
        bandwidth: float | None = None,
        key: jax.Array,
    ) -> SymbolSpace:
        """Draw or derive the symbols.

        Args:
            algebra: the operator.
            relations: R names.
            encoder: texts to vectors; needed for symbols from labels and for text queries.
            bandwidth: see `hdc.label_symbols`, for label vectors of length 1; None draws random
                symbols.
            key: of the symbols and projections.
        """
        vectors = None
        if encoder is not None:
            vectors = _unit(encoder([label_words(name) for name in relations]))
        codes = 2 * len(relations)
        if bandwidth is None or vectors is None:
            table = jax.jit(lambda key: algebra.random((codes,), key=key))(key)
            bandwidth = None
        else:
            rows = np.tile(vectors, (2, 1))
            groups = np.repeat(np.arange(2, dtype=np.int32), len(relations))
            table = _symbols(algebra, rows, groups, bandwidth, key)
        return cls(algebra, Space(table, key), encoder, bandwidth, key, vectors)

    def text_query(self, masked: Sequence[str], *, hops: int | None = None) -> TextQuery:
        """Questions placed among labels; `bandwidth` and `encoder` must be there.

        Args:
            masked: question texts, their topics masked.
            hops: L, of a query that carries the order of its hops: each hop's text is halfway
                between its own words, see `hop_texts`, and all of them. None has one text.
        """
        vectors = self._read(masked)[:, None]
        if hops is not None:
            parts = hop_texts(masked, hops, self._likeness)
            distinct = list(dict.fromkeys(text for texts in parts for text in texts))
            row = dict(zip(distinct, self._read(distinct)))
            own = np.array([[row[text] for text in texts] for texts in parts], np.float32)
            vectors = _unit(vectors + own)
        flat = vectors.reshape(-1, vectors.shape[2])
        project = _coordinates(self.algebra)
        parts = [np.asarray(project(chunk, self.bandwidth, self.key)) for chunk in _chunks(flat)]
        return TextQuery(np.concatenate(parts)[: len(flat)].reshape(*vectors.shape[:2], -1))

    def _likeness(self, texts: Sequence[str]) -> np.ndarray:
        assert self.labels is not None
        return (self._read(texts) @ self.labels.T).max(axis=1)

    def projected_query(self, masked: Sequence[str]) -> ProjectedQuery:
        """Questions through a fixed random matrix (PathHD, Eq. 2); `encoder` must be there."""
        vectors = self._read(masked)
        project = _projection(self.algebra)
        key = jax.random.fold_in(self.key, 1)
        parts = [np.asarray(project(chunk, key)) for chunk in _chunks(vectors)]
        return ProjectedQuery(np.concatenate(parts)[: len(masked)])

    def _read(self, masked: Sequence[str]) -> np.ndarray:
        assert self.encoder is not None
        vectors = self.encoder([text.replace(TOPIC_WORD, " ") for text in masked])
        return _unit(vectors)


@dataclasses.dataclass(frozen=True, eq=False)
class ListedSchemas:
    """All relation paths of a small relation-schema graph, encoded.

    Attributes:
        paths: [C, N, L] int32 in blocks of one length, by first relation; rows of NULL are padding.
        encoded: their [C, N] hypervectors, flattened.
        count: schemas without the padding.
    """

    paths: jax.Array
    encoded: Packed
    count: int


def listed_schemas(
    tensors: TensorGraph, symbols: SymbolSpace, *, hops: int, precision: str
) -> ListedSchemas | None:
    """Encode every schema; None where the graph has too many to hold."""
    graph = tensors.graph
    follows = schema_graph(
        np.asarray(graph.run_offsets), np.asarray(graph.run_relation), graph.num_relations
    )
    count = count_schemas(follows, hops)
    if count * symbols.algebra.floats > _LISTED_FLOATS:
        return None
    paths = list_schemas(follows, hops)
    length = np.sum(paths != NULL, axis=1)
    blocks = []
    for hop in range(1, hops + 1):
        same_length = paths[length == hop]
        padded = pad(same_length, -(-len(same_length) // _BLOCK) * _BLOCK)
        blocks.append(padded.reshape(-1, _BLOCK, hops))
    table = np.concatenate(blocks)
    trie = hdc.build_trie(table.reshape(-1, hops), bucket=functools.partial(bucket, steps=4))
    encoded = _encoded(symbols.algebra, precision)(symbols.space.table, trie)
    return ListedSchemas(jax.device_put(table), encoded, count)


def key_of(seed: int) -> jax.Array:
    """The key of a seed as `jax.random.key` has it, made without a program.

    >>> [jax.random.key_data(key_of(seed)).tolist() for seed in (7, -1)]
    [[0, 7], [0, 4294967295]]
    >>> jax.random.key_data(jax.random.key(-1)).tolist()
    [0, 4294967295]
    """
    bits = jax.device_put(np.array([0, seed % 2**32], np.uint32))
    return jax.random.wrap_key_data(bits, impl="threefry2x32")


@functools.cache
def _encoded(algebra: hdc.Algebra, precision: str):
    def run(table: jax.Array, trie: hdc.Trie) -> Packed:
        rows = pack(jax.vmap(algebra.flatten)(hdc.encode_trie(algebra, table, trie)), precision)
        return jax.tree.map(lambda x: x.reshape(-1, _BLOCK, *x.shape[1:]), rows)

    return jax.jit(run)


@functools.cache
def _coordinates(algebra: hdc.Algebra):
    return jax.jit(
        lambda vectors, bandwidth, key: hdc.label_coordinates(
            algebra, vectors, bandwidth=bandwidth, key=key
        )
    )


@functools.cache
def _projection(algebra: hdc.Algebra):
    return jax.jit(
        lambda vectors, key: algebra.flatten(hdc.project_text(algebra, vectors, key=key))
    )


@functools.cache
def _at(algebra: hdc.Algebra):
    return jax.jit(
        lambda coordinates, groups, key: hdc.symbols_at(
            algebra, coordinates, groups=groups, key=key
        )
    )


def _symbols(
    algebra: hdc.Algebra, vectors: np.ndarray, groups: np.ndarray, bandwidth: float, key: jax.Array
) -> jax.Array:
    """`hdc.label_symbols`, a chunk at a time."""
    parts = []
    for first, chunk in zip(range(0, len(vectors), _CHUNK), _chunks(vectors)):
        coordinates = _coordinates(algebra)(chunk, bandwidth, key)
        group = np.zeros(len(chunk), np.int32)
        group[: len(groups) - first] = groups[first : first + len(chunk)]
        parts.append(_at(algebra)(coordinates, group, key))
    # On the host: to join and to cut are programs of their own on a device.
    return jax.device_put(np.concatenate(jax.device_get(parts))[: len(vectors)])


def _chunks(vectors: np.ndarray):
    """Rows in pieces of few sizes, the last padded with zeros."""
    size = min(_CHUNK, bucket(len(vectors)))
    for first in range(0, len(vectors), size):
        chunk = vectors[first : first + size]
        yield np.pad(chunk, ((0, size - len(chunk)), (0, 0)))


def _unit(vectors: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return (vectors / np.where(length > 0, length, 1)).astype(np.float32)
