"""PathHD: hyperdimensional path retrieval, at most one call to a language model.

| | |
|---|---|
| `system` | `PathHD`: read, retrieve, ground |
| `records` | what these steps hand to one another |
| `space` | symbols of a graph's relations, listed schemas, texts placed among labels |
| `queries` | query hypervectors: bundles of plans, texts, projections (Eq. 2 to 4) |
| `jaxkg.search.hypervectors` | the nearest relation paths, listed or grown (Eq. 5, Algorithm 1) |
| `calibration`, `fit` | schema frequencies, weights found on validation questions (Eq. 6 and 7) |
| `answers`, `explain` | the schemas that reach an entity, and how much each hop contributed |

Reference: "PathHD: efficient large language model reasoning over knowledge graphs via
hyperdimensional retrieval".
"""

from jaxkg.systems.pathhd.calibration import Calibration
from jaxkg.systems.pathhd.fit import fit_calibration
from jaxkg.systems.pathhd.records import Asked, Retrieved
from jaxkg.systems.pathhd.settings import PathHDSettings, QueryKind
from jaxkg.systems.pathhd.system import PathHD

__all__ = [
    "Asked",
    "Calibration",
    "PathHD",
    "PathHDSettings",
    "QueryKind",
    "Retrieved",
    "fit_calibration",
]
