"""PathHD: hyperdimensional path retrieval, at most one call to a language model.

| | |
|---|---|
| `system` | `PathHD`: link, read, retrieve, ground, answer, explain |
| `space` | symbols of a graph's relations, listed schemas, texts placed among labels |
| `queries` | query hypervectors: bundles of plans, texts, projections (Eq. 2 to 4) |
| `retrieval` | the nearest relation paths, listed or grown (Eq. 5, Algorithm 1) |
| `calibration` | schema frequencies, weights found on validation questions (Eq. 6 and 7) |
| `answers`, `explain` | cited answers, and how much each hop contributed |

Reference: "PathHD: efficient large language model reasoning over knowledge graphs via
hyperdimensional retrieval".
"""

from jaxkg.systems.pathhd.calibration import Calibration, fit_calibration
from jaxkg.systems.pathhd.settings import PathHDSettings, QueryKind
from jaxkg.systems.pathhd.system import Asked, PathHD, Retrieved

__all__ = [
    "Asked",
    "Calibration",
    "PathHD",
    "PathHDSettings",
    "QueryKind",
    "Retrieved",
    "fit_calibration",
]
