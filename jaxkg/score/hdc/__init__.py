"""Hyperdimensional computing in JAX: six binding operators, one interface, exact retrieval.

    algebra     `Algebra`: a record of pure functions (bind, unbind, bundle, similarity, ...)
    ghrr        non-commutative unitary blocks: Haar, Householder, diagonal
    circular    HRR and FHRR
    elementwise real, bipolar (XOR), binary/bipolar mix
    symbols     symbols that carry the meaning of their labels; text projection
    encode      sequences and weighted bundles of sequences
    similarity  queries x candidates as one matrix product; float32, bfloat16, int8
    trie        a given list of paths, prefixes shared
    explain     what each hop contributes
    calibration PathHD, Eq. 6 and 7
    capacity    bounds and simulations

    >>> import jax
    >>> from jaxkg.score import hdc
    >>> algebra = hdc.ghrr(blocks=256, m=4)
    >>> table = algebra.random((10,), key=jax.random.key(0))
    >>> query = hdc.encode(algebra, table[jax.numpy.array([3, 1, 4])])
    >>> paths = hdc.encode_paths(algebra, table, jax.numpy.array([[1, 3, 4], [3, 1, 4]]))
    >>> hdc.similarity_matrix(algebra, query[None], paths).argmax().item()
    1

Method: "PathHD: efficient LLM reasoning over knowledge graphs via hyperdimensional retrieval".
"""

from __future__ import annotations

from typing import Any

from jaxkg.errors import JaxkgError
from jaxkg.score.hdc.algebra import Algebra
from jaxkg.score.hdc.calibration import GridSearch, calibrate, grid_search, idf
from jaxkg.score.hdc.circular import fhrr, hrr
from jaxkg.score.hdc.elementwise import bipolar, mix, real
from jaxkg.score.hdc.explain import HopContributions, hop_contributions
from jaxkg.score.hdc.ghrr import ghrr
from jaxkg.score.hdc.similarity import similarity_matrix
from jaxkg.score.hdc.symbols import (
    encode,
    encode_bundle,
    encode_paths,
    label_coordinates,
    label_symbols,
    project_text,
    symbols_at,
)
from jaxkg.score.hdc.trie import Trie, build_trie, encode_trie

__all__ = [
    "OPERATORS",
    "Algebra",
    "GridSearch",
    "HopContributions",
    "Trie",
    "bipolar",
    "build_trie",
    "calibrate",
    "encode",
    "encode_bundle",
    "encode_paths",
    "encode_trie",
    "fhrr",
    "ghrr",
    "grid_search",
    "hop_contributions",
    "hrr",
    "idf",
    "label_coordinates",
    "label_symbols",
    "mix",
    "operator",
    "project_text",
    "real",
    "similarity_matrix",
    "symbols_at",
]

OPERATORS = (
    "ghrr-haar",
    "ghrr-householder",
    "ghrr-diagonal",
    "fhrr",
    "hrr",
    "hrr-unitary",
    "real",
    "bipolar",
    "mix",
)
"""Names that `operator` knows: the rows of PathHD, Table 3, and their variants."""


def operator(name: str, dimension: int = 4096, *, m: int = 4, **options: Any) -> Algebra:
    """An algebra by name and dimension, for tables that compare them.

    Args:
        name: one of `OPERATORS`; its `Algebra.name`.
        dimension: d; for GHRR a multiple of m^2.
        m: block size of GHRR.
        **options: of the constructor (`dtype`, `layout`, ...).

    Raises:
        JaxkgError: an unknown name or a dimension that m^2 does not divide.
    """
    if name not in OPERATORS:
        raise JaxkgError(f"operator {name!r} is unknown: use one of {', '.join(OPERATORS)}")
    if not name.startswith("ghrr"):
        if name.startswith("hrr"):
            return hrr(dimension, unitary=name == "hrr-unitary", **options)
        return {"fhrr": fhrr, "real": real, "bipolar": bipolar, "mix": mix}[name](
            dimension, **options
        )
    blocks, rest = divmod(dimension, m * m)
    if rest:
        raise JaxkgError(
            f"dimension {dimension} is not a multiple of m^2 = {m * m}: "
            f"use {max(blocks, 1) * m * m} or {(blocks + 1) * m * m}"
        )
    return ghrr(blocks, m, family=name.removeprefix("ghrr-"), **options)
