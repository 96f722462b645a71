import jax
import numpy as np

from jaxkg.ops import edges_to
from jaxkg.types import Frontier


def frontier(edge, parent):
    size = len(edge)
    zeros = np.zeros(size, np.int32)
    return Frontier(
        row=zeros,
        node=zeros,
        edge=np.asarray(edge, np.int32),
        parent=np.asarray(parent, np.int32),
        valid=np.ones(size, bool),
        needed=np.int32(size),
        overflow=np.bool_(False),
    )


TRAIL = (
    frontier([-1, -1], [-1, -1]),
    frontier([10, 11, 12], [1, 0, 1]),
    frontier([20, 21, 22, 23], [2, 2, 0, 1]),
)


def test_walks_are_read_backwards_and_told_forwards():
    hop = np.asarray([2, 2, 2, 1, 1, 0], np.int32)
    slot = np.asarray([0, 2, 3, 2, 0, 1], np.int32)
    got = jax.jit(edges_to)(TRAIL, hop, slot)
    assert got.tolist() == [[12, 20], [10, 22], [11, 23], [12, -1], [10, -1], [-1, -1]]


def test_no_slot_has_no_walk():
    got = jax.jit(edges_to)(TRAIL, np.asarray([2, 1], np.int32), np.asarray([-1, -1], np.int32))
    assert got.tolist() == [[-1, -1], [-1, -1]]
