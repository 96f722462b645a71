"""PathHD as the command builds it, its calibration fitted to questions where there are some."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from jaxkg.kg import Topics, find_topics, read_questions
from jaxkg.learn.supervision import answer_rows
from jaxkg.records import Question
from jaxkg.systems.parts import Built, Parts
from jaxkg.systems.pathhd.answers import right_shares
from jaxkg.systems.pathhd.calibration import Calibration
from jaxkg.systems.pathhd.records import Retrieved
from jaxkg.systems.pathhd.settings import PathHDSettings
from jaxkg.systems.pathhd.system import PathHD

_VALIDATED = 500


def fit_calibration(
    qa: PathHD,
    training: Sequence[Question],
    validation: Sequence[Question],
    *,
    scaled: bool = False,
    candidates: int = 8,
) -> Calibration:
    """Schema frequencies from training questions, weights from validation (PathHD, App. I.4).

    Args:
        qa: the system; its own calibration is not used.
        training: questions, whose answers are not looked at.
        validation: questions with answers; their best candidates are executed.
        scaled: see `hdc.idf`.
        candidates: how many of them.
    """
    codes = 2 * qa.kg.num_relations
    counted = Calibration.counted(
        _candidates(qa, training)[0].relations, num_codes=codes, scaled=scaled
    )
    candidates_of, topics = _candidates(qa, validation)
    candidates_of = dataclasses.replace(
        candidates_of,
        relations=candidates_of.relations[:, :candidates],
        similarity=candidates_of.similarity[:, :candidates],
        score=candidates_of.score[:, :candidates],
    )
    grounded = qa.ground(candidates_of, topics, count=candidates)
    gold = [set(answer_rows(qa.kg, question)) for question in validation]
    hit = right_shares(grounded, gold, qa.named)
    # Candidates that reach nothing are passed over when questions are answered.
    similarity = np.where(grounded.used, candidates_of.similarity, -np.inf)
    return counted.fitted(similarity, candidates_of.relations, hit, num_codes=codes)


def calibrated(qa: PathHD, questions: Sequence[Question]) -> PathHD:
    """The system with its schemas counted in training questions (Eq. 7).

    Weights are those of its settings; where these have none, they are found on every tenth question
    (500 at most), which is then not counted.

    Args:
        qa: any.
        questions: for training; those that weights are found on need answers.
    """
    given = Calibration.weighted(qa.settings)
    if given is None:
        aside = set(range(0, len(questions), 10)[:_VALIDATED])
        parts: tuple[list[Question], list[Question]] = ([], [])
        for place, question in enumerate(questions):
            parts[place in aside].append(question)
        return dataclasses.replace(qa, calibration=fit_calibration(qa, *parts))
    counted = Calibration.counted(
        _candidates(qa, questions)[0].relations,
        num_codes=2 * qa.kg.num_relations,
        alpha=given.alpha,
        beta=given.beta,
        decay=given.decay,
    )
    return dataclasses.replace(qa, calibration=counted)


def _candidates(qa: PathHD, questions: Sequence[Question]) -> tuple[Retrieved, list[Topics]]:
    plain, topics = dataclasses.replace(qa, calibration=None), find_topics(qa.linker, questions)
    return plain.retrieve(plain.read(questions, topics), topics), topics


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
    built = parts.over(
        PathHD.build,
        None if untrained else parts.planner,
        encoder=encoder,
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
