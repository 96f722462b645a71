"""Hypervectors for `conformance_cases.py`: function and inputs by seed."""

import jax
import numpy as np
from drawn import floats, ints, mask, path

from jaxkg.score import hdc

ALGEBRA = hdc.operator("ghrr-haar", 16, m=2, layout="pair")
SYMBOLS, QUERIES, PATHS = 6, 3, 5
TRIE = hdc.build_trie(np.array([[0, 1], [0, 2], [3, -1], [5, 5]]))


def symbols(seed, count=SYMBOLS):
    """Unitary blocks, as every table has them."""
    return jax.device_get(ALGEBRA.random((count,), key=jax.random.key(seed)))


def scored(seed):
    return floats(seed, QUERIES, PATHS), np.abs(floats(seed + 1, QUERIES, PATHS))


CASES = {
    "score.hdc.encode": (
        lambda some, valid: hdc.encode(ALGEBRA, some, valid),
        lambda s: (symbols(s, 2), mask(1, 2)),
    ),
    "score.hdc.encode_paths": (
        lambda table, paths: hdc.encode_paths(ALGEBRA, table, paths),
        lambda s: (symbols(s), path(s, PATHS)),
    ),
    "score.hdc.encode_bundle": (
        lambda table, paths, weights: hdc.encode_bundle(ALGEBRA, table, paths, weights),
        lambda s: (symbols(s), path(s, PATHS), np.abs(floats(s, PATHS))),
    ),
    "score.hdc.encode_trie": (
        lambda table, trie: hdc.encode_trie(ALGEBRA, table, trie),
        lambda s: (symbols(s), TRIE),
    ),
    "score.hdc.similarity_matrix": (
        lambda *tables: hdc.similarity_matrix(ALGEBRA, *tables),
        lambda s: (symbols(s, QUERIES), symbols(s + 1)),
    ),
    "score.hdc.hop_contributions": (
        lambda table, query, codes: hdc.hop_contributions(ALGEBRA, table, query, codes),
        lambda s: (symbols(s), symbols(s + 1, 1)[0], ints(s, SYMBOLS, 2)),
    ),
    "score.hdc.idf": (
        lambda frequency: hdc.idf(frequency, 100, scaled=True),
        lambda s: (np.abs(floats(s, PATHS)),),
    ),
    "score.hdc.calibrate": (
        hdc.calibrate,
        lambda s: (*scored(s), ints(s, 3, QUERIES, PATHS)),
    ),
    "score.hdc.grid_search": (
        lambda *args: hdc.grid_search(*args, alphas=(0.0, 0.2), betas=(0.0, 0.1), decays=(0.8,)),
        lambda s: (
            *scored(s),
            ints(s, 3, QUERIES, PATHS),
            mask(s, QUERIES, PATHS),
            mask(s + 1, QUERIES, PATHS),
        ),
    ),
    "score.hdc.label_coordinates": (
        lambda vectors, key: hdc.label_coordinates(ALGEBRA, vectors, bandwidth=0.7, key=key),
        lambda s: (floats(s, SYMBOLS, 4), jax.random.key(s)),
    ),
    "score.hdc.label_symbols": (
        lambda vectors, groups, key: hdc.label_symbols(
            ALGEBRA, vectors, bandwidth=0.7, groups=groups, key=key
        ),
        lambda s: (floats(s, SYMBOLS, 4), ints(s, 2, SYMBOLS), jax.random.key(s)),
    ),
    "score.hdc.symbols_at": (
        lambda coordinates, key: hdc.symbols_at(ALGEBRA, coordinates, key=key),
        lambda s: (floats(s, SYMBOLS, ALGEBRA.coordinates), jax.random.key(s)),
    ),
    "score.hdc.project_text": (
        lambda vectors, key: hdc.project_text(ALGEBRA, vectors, key=key),
        lambda s: (floats(s, QUERIES, 4), jax.random.key(s)),
    ),
}
