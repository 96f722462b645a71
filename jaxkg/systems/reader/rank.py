"""The ranker: a line and a small perceptron over the views of a reading.

Trained by `scripts/reader/training`; one question's readings are too few to compile a
program for.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np


def rank_on_host(params: Mapping[str, np.ndarray], views: np.ndarray) -> np.ndarray:
    """Scores of readings, as `training.fit.rank` of `scripts/reader`, in numpy.

    Args:
        params: arrays of `init_ranker`, as numpy.
        views: [..., F] float32, standardised.

    Returns:
        [...] float32.
    """
    hidden = np.tanh(views @ params["inner"] + params["bias"])
    return views @ params["line"] + hidden @ params["outer"]
