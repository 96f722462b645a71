"""PathHD as the command builds it."""

from __future__ import annotations

import dataclasses

from jaxkg.kg import read_questions
from jaxkg.systems.parts import Built, Parts
from jaxkg.systems.pathhd.calibration import Calibration
from jaxkg.systems.pathhd.fit import calibrated
from jaxkg.systems.pathhd.settings import PathHDSettings
from jaxkg.systems.pathhd.system import PathHD


def from_parts(parts: Parts) -> Built:
    """With a planner, or untrained, as `query` says.

    `calibrate=FILE` counts schemas in training questions, see `calibrated`; with
    `calibration=FILE.npz` what was counted is kept there, and alone it is opened.
    """
    untrained = parts.wishes.get("query") in ("text", "ordered", "projection")
    encoder = parts.encoder if untrained else None
    # The paper's model judges the paths of three schemas; else an answer is the best schema's.
    published = parts.wishes.get("prompt") in ("a", "b") or parts.wishes.get("offered") == "paths"
    judged = parts.judges_paths or (parts.offered and published)
    top_k = 3 if judged else 1
    counted, file = (parts.wishes.get(name) for name in ("calibrate", "calibration"))
    own = ("calibrate", "calibration", *(["encoder"] if untrained else []))
    settings = parts.settings(PathHDSettings, *own, top_k=top_k)
    built = PathHD.build(
        parts.kg,
        None if untrained else parts.planner,
        encoder=encoder,
        tensors=parts.tensors,
        linker=parts.linker,
        settings=settings,
        refiner=parts.backend,
        seed=parts.seed,
    )
    marks = parts.marks(settings)
    if counted is None and file is None:
        return Built(built, marks)
    relations, hops = parts.kg.relations, built.hops
    if counted is not None:
        built = calibrated(built, read_questions(counted))
        if file is not None and built.calibration is not None:
            built.calibration.save(file, relations, hops)
    elif file is not None:
        known = Calibration.open(file, relations, hops)
        built = dataclasses.replace(built, calibration=known)
    return Built(built, marks | {"calibration": repr(built.calibration)})
