"""Arrays and graphs of the conformance cases, drawn by seed."""

import numpy as np
from random_graphs import random_graph_from


def rng(seed):
    return np.random.default_rng(seed)


def graph(seed):
    return random_graph_from(seed).graph


def ints(seed, high, *shape, low=0):
    return rng(seed).integers(low, high, shape).astype(np.int32)


def floats(seed, *shape):
    return rng(seed).normal(size=shape).astype(np.float32)


def mask(seed, *shape):
    return rng(seed).random(shape) < 0.7


def path(seed, *shape):
    """Relation paths of two hops at most over six codes, -1 past the end."""
    codes = ints(seed, 6, *shape, 2, low=-1)
    codes[..., 1] = np.where(codes[..., 0] == -1, -1, codes[..., 1])
    return codes
