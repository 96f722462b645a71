"""What PathHD's steps hand to one another."""

from __future__ import annotations

import dataclasses

import numpy as np

from jaxkg.systems.pathhd.queries import Query
from jaxkg.systems.paths import RelationPaths


@dataclasses.dataclass(frozen=True)
class Asked:
    """Q questions as queries.

    Attributes:
        query: of all of them, on the host.
        confidence: [Q] of the planner; 1 for queries from text.
        complete: [Q] bool, False where planning outgrew the largest bucket.
        visited: [Q, 2] nodes and edges visited by planning; None where nobody counted.
    """

    query: Query
    confidence: np.ndarray
    complete: np.ndarray
    visited: np.ndarray | None


@dataclasses.dataclass(frozen=True)
class Retrieved:
    """Candidate relation paths of each question, best calibrated score first.

    Attributes:
        relations: [Q, K, L] int32 codes, NULL-padded.
        similarity: [Q, K] float32, -inf where there are fewer than K.
        score: [Q, K] float32, calibrated.
        complete: [Q] bool, False where the search outgrew the largest bucket.
        visited: [Q, 2] nodes and edges visited; None where nobody counted.
    """

    relations: np.ndarray
    similarity: np.ndarray
    score: np.ndarray
    complete: np.ndarray
    visited: np.ndarray | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Schemas(RelationPaths):
    """Candidates as relation paths that weigh their calibrated scores, -inf where there are fewer.

    Attributes:
        query: what they are similar to.
        similarity: [Q, K] float32.
    """

    query: Query
    similarity: np.ndarray
