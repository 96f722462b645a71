"""Shared words of the numeric stages: ragged expansion, uniqueness, groups, back-pointers."""

from jaxkg.low_rank import LowRank, low_rank_sum
from jaxkg.ops.atomics import spare_float_atomics
from jaxkg.ops.backtrack import edges_to
from jaxkg.ops.ragged import Ragged, Stretches, expand_ragged, running_sum, stretches, top_in_group
from jaxkg.ops.unique import first_of_each, may_hold, put_in

__all__ = [
    "LowRank",
    "Ragged",
    "Stretches",
    "edges_to",
    "expand_ragged",
    "first_of_each",
    "low_rank_sum",
    "may_hold",
    "put_in",
    "running_sum",
    "stretches",
    "top_in_group",
]

spare_float_atomics()
